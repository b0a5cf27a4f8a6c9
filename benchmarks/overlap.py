"""What overlap and coverage cost: microseconds a pair, milliseconds for hostile input, whole processes for many paths.

The bounds are those of the specification: an ordinary pair in at most 1/500 of interegular's time for the same pair
(compared where that library is installed), hostile input in at most 50 ms of CPU, a claim against 10,000 live patterns
in at most 1/50 of testing every pair, and 10,000 / 100,000 changed paths against 1,000 leases in at most 5 / 17 bare
Pythons.

    python benchmarks/overlap.py [--rounds N]
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import ROUNDS, compare

from gitlock.domain.footprint import Footprint
from gitlock.domain.overlap import STEPS, contains, covers, overlap
from gitlock.domain.pattern import PLAIN, Fold, anchor_candidates

ORDINARY = r"""
    src/auth/login.py src/auth/* src/auth/** src/**/login.* src/auth/*.ts **/*.py **/*.ts src/*.go src/*.py docs/**
    docs/guide/*.md **/auth lib/core/ lib/core/util.js test/**/test_*.py package.json db/migrations/** db/schema.sql
    app/\[id\]/page.tsx app/**/page.* *.md src/api/v[12]/*.py src/api/v?/user.py **/conftest.py web/static/css/*.css
    web/static/** infra/k8s/*.y*ml .github/workflows/*.yml src/auth
""".split()  # noqa: SIM905

FOLDERS = "src lib app auth api core db ui util test docs web user admin model form main".split()  # noqa: SIM905
ENDINGS = "py ts go md js css".split()  # noqa: SIM905


def per_call(work: Callable[[], object], calls: int, repeat: int = 7) -> float:
    """Microseconds of CPU for one of the calls that ``work`` makes: the median of some runs, after one to warm up."""
    took = []
    for _ in range(repeat + 1):
        begin = time.process_time()
        work()
        took.append(time.process_time() - begin)
    return statistics.median(took[1:]) / calls * 1e6


def ordinary() -> None:
    one = [Footprint.of([text]) for text in ORDINARY]
    pairs = [(a, b) for a in one for b in one]
    routes = [(a.routes()[0][0], b.routes()[0][0]) for a, b in pairs]
    apart = [pair for pair in pairs if not overlap(*pair).meets]
    meeting = [pair for pair in pairs if overlap(*pair).meets]
    narrowed = [(Footprint.of(["**"], [ORDINARY[k], "**/*.md"]), b) for k, b in enumerate(one)]
    for name, work, calls in (
        ("parse and compile a pattern", lambda: [Footprint.of([text]).routes() for text in ORDINARY], len(ORDINARY)),
        ("does a pattern cover a path", lambda: [covers(f, "src/auth/login.py") for f in one], len(one)),
        ("do two patterns meet (yes or no)", lambda: [p.meets(q) for p, q in routes], len(routes)),
        ("two footprints, apart", lambda: [overlap(a, b) for a, b in apart], len(apart)),
        ("two footprints that meet, with a witness", lambda: [overlap(a, b) for a, b in meeting], len(meeting)),
        ("with two exclusions", lambda: [overlap(a, b) for a, b in narrowed], len(narrowed)),
        ("contains", lambda: [contains(a, b) for a, b in pairs], len(pairs)),
    ):
        many = max(1, 20_000 // calls)
        took = per_call(lambda: [work() for _ in range(many)], calls * many)  # noqa: B023
        print(f"  {name:<42} {took:8.2f} us")
    print(f"  ({len(meeting)} of the {len(pairs)} pairs meet)")
    against_interegular(pairs)


def against_interegular(pairs: list[tuple[Footprint, Footprint]]) -> None:
    """The same pairs as products of finite automata."""
    try:
        from interegular import parse_pattern as parse_expression  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        print("  interegular is not installed: not compared")
        return
    machines = {}
    for text in ORDINARY:
        machines[text] = parse_expression(expression(text)).to_fsm()
    chosen = random.Random(1).sample(pairs, 60)
    theirs, ours, bare = [], [], []
    for a, b in chosen:
        left, right = machines[a.include[0].text], machines[b.include[0].text]
        theirs.append(per_call(lambda: (left & right).empty(), 1, 1))  # noqa: B023, PLW0108
        ours.append(per_call(lambda: [overlap(a, b) for _ in range(200)], 200, 3))  # noqa: B023
        p, q = a.routes()[0][0], b.routes()[0][0]
        bare.append(per_call(lambda: [p.meets(q) for _ in range(200)], 200, 3))  # noqa: B023
        assert (left & right).empty() != overlap(a, b).meets, (a, b)
    print(f"  interegular, its machines ready: {statistics.median(theirs):.0f} us a pair (median of 60); that is")
    for what, times in (("yes or no", bare), ("with a witness", ours)):
        ratio = statistics.median(t / o for t, o in zip(theirs, times, strict=True))
        print(f"    {ratio:5.0f} times ours, {what} ({sum(theirs) / sum(times):.0f} times in all)")


def expression(text: str) -> str:
    """A pattern of ORDINARY as a regular expression."""
    *folders, last = text.split("/")
    found = ""
    for name in folders:
        found += "([^/]+/)*" if name == "**" else one_name(name) + "/"
    if last in ("", "*", "**"):
        return found + ".+"
    literal = not any(char in last.replace("\\[", "") for char in "*?[")
    return found + one_name(last) + ("(/.+)?" if literal else "")


def one_name(name: str) -> str:
    name = name.replace("\\[", "\0").replace("\\]", "\1").replace(".", "\\.").replace("?", "[^/]").replace("*", "[^/]*")
    return name.replace("\0", "\\[").replace("\1", "\\]")


def hostile() -> Iterator[tuple[str, Footprint, Footprint]]:
    """Footprints that are made to cost as much as can be."""
    draw = random.Random(7)

    def name(length: int) -> str:
        return "".join(draw.choice(["*", "a", "b", "?", "[ab]", "[!a]", "[!b]"]) for _ in range(length))

    def deep(length: int) -> str:
        return "/".join(draw.choice(["**", "*a*", "*b?", "[ab]*", "?*", "*[!a]*b", "a", "*"]) for _ in range(length))

    of = Footprint.of
    letters = "abcdefghijklmnopqrstuvwxyz"
    classes = "".join(f"[{a}{b}]" for a in "abcdefghijklmnop" for b in "qrstuvwxyzABCDEF")
    every = letters + letters.upper() + "0123456789"
    stars = "/".join(["**", "*a*"] * 31)
    yield "62 stars and **", of([stars], ["**/c*"]), of([stars.replace("a", "b")], ["**/*d"])
    yield "62 exclusions *x*", of(["**"], [f"**/*{c}*" for c in every]), of(["**/*.py"])
    forth, back = "*" + "*".join(letters) + "*", "*" + "*".join(letters[::-1]) + "*"
    yield "the alphabet and back", of([forth], ["*z*y*"]), of([back], ["*m*n*o*"])
    yield "256 classes", of(["*" + classes[:508] + "*x*"]), of([classes])
    parts = [f"*{classes[k : k + 800]}*" for k in range(0, 256, 4)]
    yield "64 exclusions of 200 classes", of(["*" + classes[:508] + "*"], parts), of([classes])
    far = ["**/a/" + "*/" * k + "b" for k in range(30)]
    yield "name at a distance", of(["**"], far), of(["**/[ab]"], ["**/b/" + "*/" * k for k in range(30)])
    for k in range(10):
        yield f"deep {k}", of([deep(60)], [deep(60) for _ in range(32)]), of([deep(60)], [deep(60) for _ in range(32)])
        yield (
            f"names {k}",
            of([f"*{name(60)}*"], [f"*{name(draw.randint(3, 20))}*" for _ in range(32)]),
            of([f"*{name(60)}*"], [f"*{name(draw.randint(3, 20))}*" for _ in range(32)]),
        )
        yield (
            f"small {k}",
            of([f"**/*{name(6)}*/**/{name(5)}"], [f"**/{name(draw.randint(2, 6))}/**" for _ in range(32)]),
            of([f"**/*{name(6)}*"], [f"**/{name(draw.randint(2, 6))}" for _ in range(32)]),
        )


def worst() -> None:
    took: list[tuple[float, str, str]] = []
    for fold in (PLAIN, Fold(True, False)):
        for name, a, b in hostile():
            a.routes(fold), b.routes(fold)
            for what, ask in (("overlap", overlap), ("contains", contains)):
                took.append((per_call(lambda: ask(a, b, fold), 1, 3) / 1000, what, name))  # noqa: B023
    took.sort(reverse=True)
    for milliseconds, what, name in took[:3]:
        print(f"  {what:<8} of '{name}'".ljust(44), f"{milliseconds:8.1f} ms")
    print(f"  {len(took)} questions, median {took[len(took) // 2][0]:.2f} ms, budget {STEPS} steps")


def leases(count: int, anywhere: float = 0.05, spread: int = 4) -> list[str]:
    """Patterns as agents claim them: files, folders, files of one kind; this part of them at any depth."""
    draw = random.Random(count)

    def folder() -> str:
        return "/".join(f"{draw.choice(FOLDERS)}{draw.randrange(spread) or ''}" for _ in range(draw.randint(1, 4)))

    made = []
    for k in range(count):
        kind = draw.random()
        if kind < anywhere:
            made.append(f"**/{draw.choice(FOLDERS) if k % 40 else '*_'}{k}.{draw.choice(ENDINGS)}")
        elif kind < 0.5:
            made.append(f"{folder()}/{draw.choice(FOLDERS)}{draw.randint(0, 99)}.{draw.choice(ENDINGS)}")
        elif kind < 0.75:
            made.append(f"{folder()}/**")
        elif kind < 0.9:
            made.append(f"{folder()}/*.{draw.choice(ENDINGS)}")
        else:
            made.append(f"{folder()}/**/{draw.choice(FOLDERS)}.*")
    return made


def changes(count: int) -> list[str]:
    """Changed paths, ten to a folder."""
    draw = random.Random(count)
    made = []
    for _ in range(count // 10):
        folder = "/".join(draw.choice(FOLDERS) + draw.choice(["", "1", "2", "3"]) for _ in range(draw.randint(2, 5)))
        made += [f"{folder}/{draw.choice(FOLDERS)}{draw.randint(0, 999)}.{draw.choice(ENDINGS)}" for _ in range(10)]
    return made


def against_live(count: int) -> None:
    """A new claim against many live patterns: those that its anchor leaves, found by dictionary; and all of them.

    The index is the smallest there is: what a store keeps beside its leases. Below a folder are all anchors that it
    begins, at or above it those that ``anchor_candidates`` lists.
    """
    live = [Footprint.of([text]) for text in leases(count, 2 / count, 40)]
    new = [footprint for text in leases(200, 0, 40) if (footprint := Footprint.of([text])).include[0].anchor][:40]
    at: dict[str, list[Footprint]] = {}
    below: dict[str, list[Footprint]] = {}
    for footprint in live:
        anchor = footprint.include[0].anchor
        at.setdefault(anchor, []).append(footprint)
        for above in anchor_candidates(anchor.rstrip("/")):
            below.setdefault(above.rstrip("/"), []).append(footprint)
    for footprint in (*live, *new):
        footprint.routes()

    def every() -> list[int]:
        return [sum(overlap(one, other).meets for other in live) for one in new]

    left: list[int] = []

    def near() -> list[int]:
        found = []
        for one in new:
            place = one.include[0].anchor.rstrip("/")
            close = {id(other): other for anchor in anchor_candidates(place) for other in at.get(anchor, ())}
            close.update({id(other): other for other in below.get(place, ())})
            left.append(len(close))
            found.append(sum(overlap(one, other).meets for other in close.values()))
        return found

    assert every() == near()
    scan, filtered = per_call(every, len(new), 3), per_call(near, len(new), 3)
    print(
        f"  {count:>6} live: every pair {scan:7.0f} us, by anchor {filtered:6.0f} us, 1/{scan / filtered:.0f};"
        f" a median of {statistics.median(left):.0f} candidates, {len(at.get('', ()))} of them live everywhere"
    )


WORKER = """
import sys
from gitlock.domain.coverage import Coverage
from gitlock.domain.footprint import Footprint
with open(sys.argv[1]) as file:
    leases = file.read().split("\\n")
with open(sys.argv[2]) as file:
    paths = file.read().split("\\n")
coverage = Coverage([(k, Footprint.of([text])) for k, text in enumerate(leases)])
covered = 0
for path in paths:
    if coverage.tags_covering(path):
        covered += 1
"""


def many_paths(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        works = {}
        for leases_count in (10, 1_000, 10_000):
            Path(folder, f"l{leases_count}").write_text("\n".join(leases(leases_count)))
        for count in (100, 10_000, 100_000):
            Path(folder, f"p{count}").write_text("\n".join(changes(count)))
        sizes = ((100, 1_000), (10_000, 10), (10_000, 1_000), (10_000, 10_000), (100_000, 1_000), (100_000, 10_000))
        for count, leases_count in sizes:
            works[f"{count:,} paths, {leases_count:,} leases"] = [
                sys.executable, "-c", WORKER, f"{folder}/l{leases_count}", f"{folder}/p{count}",
            ]  # fmt: skip
        compare(works, rounds=rounds).show()


def main() -> int:
    """Prints every figure."""
    parser = argparse.ArgumentParser(description="Times overlap and coverage.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true", help="the table of processes as JSON")
    asked = parser.parse_args()
    print("ordinary patterns, CPU time:")
    ordinary()
    print("hostile input, CPU time:")
    worst()
    print("a claim against live patterns, CPU time:")
    for count in (100, 1_000, 10_000):
        against_live(count)
    print("which leases cover each path, whole process:")
    many_paths(asked.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
