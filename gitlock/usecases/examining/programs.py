"""Do the agent programs that are set up here really ask us before they edit, and do they understand the answer?

What is set up is fed (``gitlock.usecases.examining.feeding``), with the command exactly as the settings file has it.
What a repository brought is run only if it is git-lock that it runs: who asks a doctor has not agreed to anything else.
"""

import os
import re

from gitlock.domain.programs import PLUGIN, PROGRAMS
from gitlock.domain.quoting import word
from gitlock.domain.registering import INCOMPLETE
from gitlock.usecases.examining.dialects import DIALECTS, REFUSED, SILENT
from gitlock.usecases.examining.feeding import (
    ANOTHER,
    BARE,
    BARE_PATH,
    FREE,
    HELD,
    LATE,
    LIMIT,
    NOT_BEGUN,
    OWN,
    SLOW,
    Feed,
    feed_all,
)
from gitlock.usecases.examining.finding import BAD, NOTE, OK, Finding
from gitlock.usecases.settings.documents import BROKEN
from gitlock.usecases.settings.places import SHARED, USER
from gitlock.usecases.settings.reading import Registration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gitlock.domain.instant import Instant
    from gitlock.domain.programs import Program
    from gitlock.git.process import Git
    from gitlock.usecases.examining.feeding import Fed
    from gitlock.usecases.settings.reading import Entry

SHOWN = 120  # characters of what a command said
_BY_PLUGIN = "the plugin git-lock"

_GUARD = r"(?:command -v git-lock >/dev/null 2>&1 \|\| exit 0; )?"
# Each word can be read in one way only: what a repository brought must not keep us busy.
_OPTION = r" --?[\w-]+(?:=[\w./+@-]+| [\w./+@][\w./+@-]*)?"
_PLAIN = re.compile(rf"{_GUARD}(git-lock|git lock|/[\w./+@-]*/git-lock) agent-hook(?:{_OPTION})*")


def set_up(setup: "Iterable[Registration]", program: str) -> "list[Registration]":
    """Those of one program in which we are named."""
    return [one for one in setup if one.program.name == program and one.entries]


def examine_programs(
    setup: "list[Registration]",
    top: str,
    environ: "Mapping[str, str]",
    git: "Git",
    now: "Callable[[], Instant]",
    trusted: "frozenset[str]",
) -> list[Finding]:
    """What is found out about each program that is set up. ``environ`` names neither a session nor a repository;
    ``trusted`` are the git-lock programs that the person runs anyway, by their real paths."""
    wanted = [(one, entry) for one in setup for entry in _asked(one)[:1] if _may_run(one, entry, trusted)]
    fed = feed_all((feed for one, entry in wanted for feed in _feeds(one, entry)), environ, git, now)
    findings: list[Finding] = []
    for name, program in PROGRAMS.items():
        there = [one for one in setup if one.program.name == name]
        ours = set_up(setup, name)
        for one in there:
            findings += _about_file(one, top, bool(ours))
        for one in ours:
            findings += _about_events(one, top) or _about_answers(one, top, fed)
        findings += _twice(program, ours, top)
    return [*findings, *_bare(wanted, fed), *_read_by_others(setup, top)]


def shown_path(path: str, top: str, home: str | None = None) -> str:
    """A settings file as one names it: from the top of the worktree, or from home."""
    if path.startswith(top + os.sep):
        return path[len(top) + 1 :]
    home = home or os.path.expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + os.sep) else path


def setup_command(one: "Registration") -> str:
    """What writes this file anew."""
    scope = {USER: " --user", SHARED: " --shared"}.get(one.scope, "")
    return f"git lock setup {one.program.name}{scope}"


def _asked(one: "Registration") -> "list[Entry]":
    """The entries that are run before the program's tool edits a file."""
    dialect = DIALECTS[one.program.name]
    before = [entry for entry in one.entries if entry.event in dialect.payloads]
    return [entry for entry in before if not dialect.matches or entry.meets(dialect.tools[0])]


def _feeds(one: "Registration", entry: "Entry") -> "list[Feed]":
    name = one.program.name
    return [Feed(name, entry, where, with_) for where, with_ in ((HELD, OWN), (FREE, OWN), (HELD, BARE))]


def _may_run(one: "Registration", entry: "Entry", trusted: "frozenset[str]") -> bool:
    """Whether this runs git-lock and nothing else; a person's own file may say more. A path has to lead to one that
    the person has: a file of that name may have come with this worktree, another one, or anything else. Where none is
    there, it is safe to try, and shows what the program would see."""
    if one.scope == USER:
        return True
    found = _PLAIN.fullmatch(entry.shown)
    if found is None:
        return False
    return found[1][:1] != "/" or os.path.realpath(found[1]) in trusted or not os.path.lexists(found[1])


def _about_file(one: "Registration", top: str, named: bool) -> "Iterable[Finding]":
    """A file that its program can't read, or that switches hooks off."""
    name, title, path = one.program.name, one.program.title, shown_path(one.file, top)
    if one.state == BROKEN:
        what = f"'{path}' {one.why}, so {title} may pass over all that it says"
        yield Finding(name, BAD if named or one.named else NOTE, what, setup_command(one))  # shows the line
    if one.switch is not None and named:
        file, how = one.switch
        what = f"{title} asks nobody: {how} in '{shown_path(file, top)}'"
        yield Finding(name, BAD, what, f"switch hooks on in {word(file)}")


def _about_events(one: "Registration", top: str) -> list[Finding]:
    """What keeps the hook from being asked at all."""
    program, path = one.program, shown_path(one.file, top)
    name, dialect = program.name, DIALECTS[program.name]
    known = {asked.event for asked in program.events} | dialect.events
    wrong = sorted({entry.event for entry in one.entries} - known)
    if dialect.is_strict:
        wrong = sorted({*wrong, *one.strangers} - known)
    findings = []
    if wrong:
        names = ", ".join(f"'{event}'" for event in wrong[:3])
        so = "it passes over the whole file" if dialect.is_strict else "it never runs what stands under that name"
        what = f"{program.title} has no event {names} ('{path}'): {so}"
        findings.append(Finding(name, BAD, what, setup_command(one)))
        if dialect.is_strict:
            return findings
    if not _asked(one):
        what = f"{program.title} does not ask before its tool {dialect.tools[0]} edits a file ('{path}')"
        return [*findings, Finding(name, BAD, what, setup_command(one))]
    return findings


def _about_answers(one: "Registration", top: str, fed: "Mapping[Feed, Fed]") -> "Iterable[Finding]":
    program, entry = one.program, _asked(one)[0]
    path = shown_path(one.plugin if one.plugin is not None and entry.by_plugin else one.file, top)
    held, free, _ = (fed.get(feed) for feed in _feeds(one, entry))
    if held is None or free is None:
        what = f"what '{path}' runs before an edit may be more than git-lock, so it was not tried: {entry.shown}"
        yield Finding(program.name, NOTE, what[:300], setup_command(one))
        return
    fault = _fault(program, held, free)
    if fault:
        yield Finding(program.name, BAD, f"{fault} ('{path}': {entry.shown})", setup_command(one))
        return
    seconds = f"{held.seconds:.2f} s"
    what = f"a refused edit was answered as {program.title} wants it, in {seconds} ({path})"
    yield Finding(program.name, OK, what)
    if held.seconds > SLOW:
        yield Finding(program.name, NOTE, f"each edit of {program.title} waits {seconds} for that answer", None)
    if one.state == INCOMPLETE:
        yield Finding(program.name, NOTE, f"'{path}' is not as setup would write it: {one.why}", setup_command(one))


def _fault(program: "Program", held: "Fed", free: "Fed | None") -> str:
    """Why the answers are not what they should be; empty where they are."""
    if NOT_BEGUN in (held.heard, free.heard if free is not None else ""):
        return "there was no time to try it: other hooks took too long"
    if held.heard == LATE:
        return f"the hook gave no answer within {LIMIT:g} s, and then {program.title} goes on"
    if held.code in (126, 127):
        so = "every edit is refused" if held.heard == REFUSED else "edits go unchecked"
        return f"{program.title} can't start the hook, and {so}: {_said(held)}"
    if held.heard == SILENT:
        return f"{program.title} would edit a file that another holds: the hook said nothing{_why(held)}"
    if held.heard != REFUSED:
        return f"{program.title} would not take the answer for a refusal: {_said(held)}"
    if ANOTHER not in held.text:
        return f"something refuses the edit, and it is not git-lock: {_said(held)}"
    if free is not None and free.heard != SILENT:
        return f"an edit of a file that nobody holds is not let through: {_said(free)}"
    return ""


def _why(fed: "Fed") -> str:
    why = fed.logged or fed.err.strip()
    return f" ({why[:SHOWN]})" if why else ""


def _said(fed: "Fed") -> str:
    """What came instead, in short."""
    if fed.heard == LATE:
        return f"nothing within {LIMIT:g} s"
    text = " ".join((fed.err.strip() or fed.out.strip() or fed.logged).split())
    said = f"'{text[:SHOWN]}'" if text else "nothing"
    return f"exit {fed.code}, {said}" if fed.code else said


def _twice(program: "Program", own: "list[Registration]", top: str) -> "Iterable[Finding]":
    """Two files that both make the program ask: nothing is wrong by that, but everything takes twice as long."""
    ways = {
        _BY_PLUGIN if entry.by_plugin and program.shape != PLUGIN else shown_path(one.file, top): (
            entry.line, entry.words, entry.by_plugin
        )
        for one in own for entry in _asked(one)
    }  # fmt: skip
    # Claude Code runs a line once, however many of its files have it; what a plugin has it runs besides.
    if len(ways) > 1 and (program.name != "claude" or len(set(ways.values())) > 1):
        what = f"{program.title} asks twice for each edit: by {' and by '.join(ways)}"
        by_hand = [one for one in own if any(not entry.by_plugin for entry in _asked(one))]
        scope = " --user" if any(one.scope == USER for one in by_hand) else ""
        yield Finding(program.name, NOTE, what, f"git lock setup {program.name}{scope} --remove")


def _read_by_others(setup: "list[Registration]", top: str) -> "Iterable[Finding]":
    """Programs that run another one's project files as well, and have their own."""
    readers: dict[str, list[str]] = {}
    for name, program in PROGRAMS.items():
        own = {one.file for one in set_up(setup, name)}
        others = [one.file for other in program.reads for one in set_up(setup, other) if one.scope != USER]
        for path in dict.fromkeys(others) if own and name != "vscode" else ():  # whose own file is Copilot's
            if path not in own:
                readers.setdefault(path, []).append(program.title)
    for path, titles in readers.items():
        what = f"'{shown_path(path, top)}' may be run by {', '.join(titles)} too: each edit is asked about twice then"
        yield Finding("programs", NOTE, what, None)


def _bare(wanted: "list[tuple[Registration, Entry]]", fed: "Mapping[Feed, Fed]") -> "Iterable[Finding]":
    """What fails only where a program was started by something that has not read the person's profile."""
    titles = []
    for one, entry in wanted:
        held, free, bare = (fed[feed] for feed in _feeds(one, entry))
        if not _fault(one.program, held, free) and _fault(one.program, bare, None):
            titles.append(one.program.title)
    if titles:
        what = (
            f"with a bare PATH ({BARE_PATH}), as a desktop or a service may start it, the hook gives no answer and "
            f"edits go unchecked: {', '.join(dict.fromkeys(titles))}"
        )
        command = f"env -i HOME=\"$HOME\" PATH={BARE_PATH} sh -c 'command -v git; command -v git-lock'"
        yield Finding("programs", NOTE, what, command)
