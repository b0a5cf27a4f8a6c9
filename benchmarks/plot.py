"""Draws docs/performance.svg from what start.py, store.py and peers.py found, and prints their tables.

    python benchmarks/plot.py FOLDER [--out FILE]

FOLDER holds start.json, store.json, peers.json and avoided.json: what each program prints with --json. Which are not
there are not drawn. The picture is plain SVG, and takes the reader's choice of light or dark.
"""

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from measure import BARE, Row, Table

OUT = Path(__file__).resolve().parents[1] / "docs/performance.svg"
WIDTH, LEFT, RIGHT = 900, 310, 60
LINE = 24  # between two rows
STYLE = """
  svg { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
  .paper { fill: #ffffff } text { fill: #1f2328 } .dim { fill: #59636e } .head { font-weight: 600 }
  .grid { stroke: #d1d9e0 } .one { stroke: #59636e; stroke-dasharray: 4 3 } .axis { stroke: #59636e }
  .peer { fill: #818b98; stroke: #818b98 } .ours { fill: #0969da; stroke: #0969da }
  .second { fill: #bc4c00; stroke: #bc4c00 } .bound { stroke-width: 2 } text.ours, text.second { stroke: none }
  .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #f0f6fc } .dim { fill: #9198a1 }
    .grid { stroke: #3d444d } .one { stroke: #9198a1 } .axis { stroke: #9198a1 }
    .peer { fill: #9198a1; stroke: #9198a1 } .ours { fill: #4493f8; stroke: #4493f8 }
    .second { fill: #f0883e; stroke: #f0883e }
  }
"""

OURS = "git-lock, and what it may take at most"
GROWTH = re.compile(r"(check|claim), ([\d,]+) leases")


class Found(NamedTuple):
    """One table of one program, and the bounds that belong to it."""

    program: str
    title: str
    table: Table
    bounds: Mapping[str, float]
    load: str


class Figure(NamedTuple):
    """What store.py says: how much, of what, and the bound; ``least`` where more is better."""

    name: str
    value: float
    of: str
    bound: float | None
    least: bool = False


def read(folder: Path) -> tuple[list[Found], dict[str, str]]:
    """Every table that is there, and what the programs left out."""
    found: list[Found] = []
    left_out: dict[str, str] = {}
    for program in ("start", "peers", "avoided"):
        file = folder / f"{program}.json"
        if not file.exists() or not file.stat().st_size:
            continue
        said = json.loads(file.read_text())
        left_out.update(said.get("left_out", {}))
        load = ", ".join(map(str, said.get("load", ())))
        found += [Found(program, title, table, bounds, load) for title, table, bounds in tables(said, program)]
    return found, left_out


def read_figures(folder: Path) -> list[Figure]:
    """What store.py found."""
    file = folder / "store.json"
    said = json.loads(file.read_text() or "{}") if file.exists() else {}
    return [Figure(**{name: one[name] for name in Figure._fields if name in one}) for one in said.get("figures", ())]


def tables(said: Any, title: str) -> Iterator[tuple[str, Table, Mapping[str, float]]]:
    """The tables in one program's JSON, however deep they lie."""
    if not isinstance(said, dict):
        return
    if "rows" in said:
        rows = [Row(**row) for row in said["rows"]]
        yield title, Table(said["baseline"], said["rounds"], rows), said.get("bounds", {})
        return
    for name, part in said.items():
        yield from tables(part, title if name == "tables" else name)


class Drawing:
    """Shapes, from the top down."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.y = 16

    def text(self, x: float, y: float, words: str, style: str = "", anchor: str = "start") -> None:
        where = f'x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}"'
        self.parts.append(f"<text {where}>{escape(words)}</text>")

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>')

    def dot(self, x: float, y: float, style: str, size: float = 5) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" class="{style}"/>')

    def whole(self, description: str) -> str:
        """The file."""
        body = "\n".join(f"  {part}" for part in self.parts)
        size = f'width="{WIDTH}" height="{self.y}" viewBox="0 0 {WIDTH} {self.y}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(description)}">\n'
            f"<style>{STYLE}</style>\n"
            f'  <rect class="paper" width="{WIDTH}" height="{self.y}" rx="6"/>\n{body}\n</svg>\n'
        )


def scale(value: float, lowest: float, highest: float, begin: float, end: float) -> float:
    """Where a value lies on a logarithmic scale."""
    inside = min(max(value, lowest), highest)
    part = (math.log(inside) - math.log(lowest)) / (math.log(highest) - math.log(lowest))
    return begin + part * (end - begin)


def ratios(draw: Drawing, found: list[Found]) -> None:
    """Each program as a dot, with its quartiles; a bare Python is 1."""
    groups = [one for one in found if one.table.baseline == BARE]
    lowest, highest = 0.05, 32.0

    def x(value: float) -> float:
        return scale(value, lowest, highest, LEFT, WIDTH - RIGHT)

    draw.y += 12
    draw.text(16, draw.y, "Time of whole processes, as multiples of a bare Python (logarithmic)", "head")
    draw.y += 10
    top = draw.y
    shapes = len(draw.parts)
    for group in groups:
        draw.y += LINE
        draw.text(16, draw.y, OURS if group.program == "start" else group.title, "dim")
        for row in group.table.rows:
            if row.name == BARE:
                continue
            draw.y += LINE
            style = "ours" if row.name.startswith("git-lock") or group.program == "start" else "peer"
            draw.text(LEFT - 14, draw.y, row.name, anchor="end")
            draw.line(x(row.lowest), draw.y - 4, x(row.highest), draw.y - 4, style)
            draw.dot(x(row.ratio), draw.y - 4, style)
            draw.text(x(row.highest) + 10, draw.y, f"{row.ratio:.2f}")
            if row.name in group.bounds:
                at = x(group.bounds[row.name])
                draw.line(at, draw.y - 12, at, draw.y + 4, f"{style} bound")
        draw.y += 4
    draw.y += 10
    over, draw.parts = draw.parts[shapes:], draw.parts[:shapes]
    for mark in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20):
        draw.line(x(mark), top, x(mark), draw.y, "one" if mark == 1 else "grid")
        draw.text(x(mark), draw.y + 16, f"{mark:g}x", "dim", "middle")
    draw.parts += over
    draw.y += 34
    draw.text(LEFT, draw.y, "dot: median; line: quartiles; upright stroke: the bound of the specification", "dim")
    draw.y += 16


def curves(figures: list[Figure]) -> dict[str, dict[int, float]]:
    """For check and for claim: number of leases → time as a multiple of that with ten."""
    made: dict[str, dict[int, float]] = {}
    for figure in figures:
        matched = GROWTH.fullmatch(figure.name)
        if matched:
            made.setdefault(matched[1], {10: 1.0})[int(matched[2].replace(",", ""))] = figure.value
    return made


def growth(draw: Drawing, figures: list[Figure]) -> None:
    """How check and claim grow with the number of leases."""
    height, highest = 190, 8.0
    draw.y += 22
    draw.text(16, draw.y, "check and claim with more leases, as multiples of those with 10 (both logarithmic)", "head")
    top = draw.y + 14
    bottom = top + height

    def x(count: float) -> float:
        return scale(count, 10, 10_000, LEFT, WIDTH - RIGHT - 60)

    def y(value: float) -> float:
        return scale(value, 0.8, highest, bottom, top)

    for mark in (1, 2, 4, 8):
        draw.line(LEFT, y(mark), WIDTH - RIGHT - 60, y(mark), "grid")
        draw.text(LEFT - 14, y(mark) + 4, f"{mark}x", "dim", "end")
    for count in (10, 100, 1_000, 10_000):
        draw.line(x(count), top, x(count), bottom, "grid")
        draw.text(x(count), bottom + 18, f"{count:,} leases" if count == 10 else f"{count:,}", "dim", "middle")
    bounds = {figure.name: figure.bound for figure in figures}
    for (name, points), style in zip(curves(figures).items(), ("ours", "second"), strict=False):
        path = " ".join(f"{x(count):.1f},{y(ratio):.1f}" for count, ratio in points.items())
        draw.parts.append(f'<polyline points="{path}" class="line {style}" style="fill: none"/>')
        for count, ratio in points.items():
            draw.dot(x(count), y(ratio), style, 4)
        last = max(points)
        draw.text(x(last) + 12, y(points[last]) + 4, f"{name} {points[last]:.2f}x", style)
        for count in points:
            most = bounds.get(f"{name}, {count:,} leases")
            if most is not None:
                draw.line(x(count) - 9, y(most), x(count) + 9, y(most), f"{style} bound")
    draw.y = bottom + 40
    draw.text(LEFT, draw.y, "stroke across: the bound of the specification", "dim")
    draw.y += 16


def show(found: list[Found], figures: list[Figure], left_out: Mapping[str, str]) -> None:
    """The tables, with their bounds."""
    for one in found:
        print(f"== {one.program}: {one.title} ({one.table.rounds} rounds{', load ' + one.load if one.load else ''})")
        heading, *lines = one.table.text().splitlines()
        print(heading)
        for row, line in zip(one.table.rows, lines, strict=True):
            most = one.bounds.get(row.name)
            print(line if most is None else f"{line}   bound {most:g}{'' if row.ratio <= most else ', NOT met'}")
        print()
    if figures:
        print("== store")
    for figure in figures:
        bound = "" if figure.bound is None else f"   bound {'>=' if figure.least else '<='} {figure.bound:g}"
        print(f"{figure.name:<58} {figure.value:8.2f} {figure.of}{bound}")
    for name, why in left_out.items():
        print(f"left out: {name}: {why}")


def main() -> int:
    """Reads, prints, draws."""
    parser = argparse.ArgumentParser(description="Draws what the benchmarks found.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    found, left_out = read(asked.folder)
    figures = read_figures(asked.folder)
    if not found and not figures:
        print(f"plot.py: nothing in {asked.folder}: run the other programs with --json first", file=sys.stderr)
        return 1
    show(found, figures, left_out)
    draw = Drawing()
    ratios(draw, [one for one in found if one.program in ("start", "peers")])
    if curves(figures):
        growth(draw, figures)
    asked.out.write_text(draw.whole("git-lock and its peers, as multiples of a bare Python"))
    print(f"drawn: {asked.out.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
