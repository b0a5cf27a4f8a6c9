"""The merge check as platforms read it: workflow commands and a summary (GitHub), Code Quality (GitLab), SARIF.

Sources: docs.github.com, "Workflow commands for GitHub Actions" (escapes: ``%``, CR and LF in values, ``:`` and ``,``
in properties as well; ten annotations of a level are shown for a step); docs.gitlab.com, "Code Quality" (the fields of
a report); OASIS, "SARIF Version 2.1.0". What a repository says is data here too: a path may look like a command.
"""

import html
import os
from urllib.parse import quote

from gitlock import jsontext
from gitlock.digest import sha256_hex
from gitlock.domain.merging import Finding
from gitlock.domain.value import Value
from gitlock.entrypoints.cli.mergewords import TITLES, Told, count, finding_text, head_lines, next_command, notices
from gitlock.entrypoints.wording import visible

ANNOTATIONS = 10  # of one level that GitHub shows for a step
ROWS = 500  # of a summary's table: GitHub takes a mebibyte

RULES = {
    "held": "The path is held by another agent, and the branch has no earlier receipt for it.",
    "unclaimed": "The policy demands claims, and no receipt on the branch covers the path.",
    "overtaken": "Somebody else took a later lease on the path and landed a change of it: rebase and look again.",
}


class Row(Value):
    """One finding with its words; ``line`` is the first line of the file that the branch changes, where there is
    one."""

    __slots__ = ("finding", "line", "text")

    def __init__(self, finding: Finding, text: str, line: int | None) -> None:
        self.finding = finding
        self.text = text
        self.line = line

    @property
    def stops(self) -> bool:
        return self.finding.mode == "enforce"


def rows_of(told: Told, lines: "dict[str, int | None]") -> list[Row]:
    """The findings, those that stop first."""
    found = [Row(one, finding_text(one, told), lines.get(one.path)) for one in told.check.judged.findings]
    return sorted(found, key=lambda row: not row.stops)


# -- GitHub


def github_lines(told: Told, rows: list[Row], report: list[str]) -> list[str]:
    """The report, and an annotation for each finding as far as they are shown. While the report is written no line of
    it is taken for a command."""
    end = os.urandom(16).hex()
    lines = [f"::stop-commands::{end}", *report, f"::{end}::"]
    for level, stops in (("error", True), ("warning", False)):
        these = [row for row in rows if row.stops is stops]
        shown = these if len(these) <= ANNOTATIONS else these[: ANNOTATIONS - 1]
        for row in shown:
            properties = {"file": visible(row.finding.path), "title": f"git-lock: {TITLES[row.finding.kind]}"}
            if row.line is not None:
                properties["line"] = str(row.line)
            lines.append(_command(level, properties, row.text))
        if len(these) > len(shown):
            more = count(len(these) - len(shown), "more path")
            lines.append(_command(level, {"title": "git-lock"}, f"and {more}: see the job's summary"))
    lines += [_command("notice", {"title": "git-lock"}, text) for text in notices(told)[:ANNOTATIONS]]
    return lines


def github_error(message: str, hint: str | None) -> str:
    """The annotation of a check that could not be made."""
    text = f"could not check: {visible(message)}" + (f" ({visible(hint)})" if hint else "")
    return _command("error", {"title": "git-lock"}, text)


def _command(level: str, properties: dict[str, str], text: str) -> str:
    words = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {words}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(told: Told, rows: list[Row], result: str) -> str:
    """A job's summary: what was compared, a table of the findings, and the warnings."""
    lines = [f"### git-lock: {_cell(result)}", "", *(f"{_cell(line.strip())}  " for line in head_lines(told)), ""]
    if rows:
        lines += ["| path | | why | next |", "|---|---|---|---|"]
        for row in rows[:ROWS]:
            what = TITLES[row.finding.kind] if row.stops else f"{TITLES[row.finding.kind]} (a warning)"
            cells = (_code(visible(row.finding.path)), what, _cell(row.text), _code(next_command(row.finding, told)))
            lines.append(f"| {' | '.join(cells)} |")
        if len(rows) > ROWS:
            lines.append(f"\nand {count(len(rows) - ROWS, 'more path')}")
        lines.append("")
    lines += [f"* {_cell(text)}" for text in notices(told)[:ROWS]]
    return "\n".join(lines) + "\n"


_MARKUP = {char: f"&#{ord(char)};" for char in "\\`*_{}[]()#+-!|~@:"}


def _cell(text: str) -> str:
    """Text of a table's cell: no character of it is markup, a link or somebody's name."""
    return "".join(_MARKUP.get(char, char) for char in html.escape(text, quote=False))


def _code(text: str) -> str:
    return f"<code>{_cell(text)}</code>"


# -- GitLab


def gitlab_report(rows: list[Row]) -> str:
    """A Code Quality report."""
    return jsontext.dumps(
        [
            {
                "description": f"git-lock: {row.text}",
                "check_name": f"git-lock/{row.finding.kind}",
                "fingerprint": _fingerprint(row),
                "severity": "blocker" if row.stops else "minor",
                "location": {"path": visible(row.finding.path), "lines": {"begin": row.line or 1}},
            }
            for row in rows
        ]
    )


def _fingerprint(row: Row) -> str:
    """The same for the same finding, whenever it is made."""
    return sha256_hex(f"{row.finding.kind}\0{row.finding.path}".encode("utf-8", "surrogateescape"))


# -- SARIF


def sarif(rows: list[Row], version: str) -> str:
    """A log of one run."""
    rules = [
        {"id": name, "shortDescription": {"text": TITLES[name]}, "fullDescription": {"text": text}}
        for name, text in RULES.items()
    ]
    results = []
    for row in rows:
        place: dict[str, object] = {"artifactLocation": {"uri": _uri(row.finding.path), "uriBaseId": "%SRCROOT%"}}
        if row.line is not None:
            place["region"] = {"startLine": row.line}
        results.append(
            {
                "ruleId": row.finding.kind,
                "level": "error" if row.stops else "warning",
                "message": {"text": row.text},
                "locations": [{"physicalLocation": place}],
                "partialFingerprints": {"gitLock/v1": _fingerprint(row)},
            }
        )
    return jsontext.dumps(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {"driver": {"name": "git-lock", "version": version, "rules": rules}},
                    "invocations": [{"executionSuccessful": True}],
                    "results": results,
                }
            ],
        }
    )


def _uri(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"), safe="/")
