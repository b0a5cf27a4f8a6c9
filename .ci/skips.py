"""Fails when a test was skipped that need not have been: a skip is a test that this change did not pass.

Usage: skips.py REPORT.xml ALLOWED
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


def allowed(path: str) -> list[re.Pattern[str]]:
    """The patterns of the allow-list; a pattern without a why beside it is refused."""
    patterns = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            pattern, mark, why = line.partition("  # ")
            if not mark or not why.strip():
                sys.exit(f"{path}:{number}: no why beside '{line.strip()}'")
            patterns.append(re.compile(pattern.strip()))
    return patterns


def skipped(path: str) -> list[tuple[str, str]]:
    """Name and reason of each test that was skipped."""
    found = []
    for case in ElementTree.parse(path).iter("testcase"):
        for skip in case.iter("skipped"):
            if skip.get("type") != "pytest.xfail":
                found.append((f"{case.get('classname')}::{case.get('name')}", skip.get("message") or ""))
    return found


def main(report: str, allow_list: str) -> int:
    """Names what was skipped without leave."""
    patterns = allowed(allow_list)
    bad = [
        (name, reason)
        for name, reason in skipped(report)
        if not any(pattern.search(reason) or pattern.fullmatch(name) for pattern in patterns)
    ]
    for name, reason in bad:
        print(f"skipped without leave: {name}: {reason}", file=sys.stderr)
    if bad:
        print(f"{len(bad)} skipped; what may be skipped, and why, is listed in {allow_list}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
