"""The map file ``.gitlock.toml``: text to ``Policy``, checked to the last field.

No policy is ever guessed from a broken file: every fault is a ``ConfigError`` that names ``.gitlock.toml:LINE``.
"""

from gitlock.domain.duration import parse_duration
from gitlock.domain.key import semantic_key
from gitlock.domain.lease import TTL_LIMIT
from gitlock.domain.pattern import parse_pattern
from gitlock.domain.policy import MAP_FILE, MAP_FILE_LIMIT, MODES, KeyRule, Policy
from gitlock.errors import ConfigError, UsageError
from gitlock.wiring.plaintoml import read_plain

_PARTS = 30  # of a dotted name; ours have two
_SHOWN = 60  # characters of a value that a message shows

_WORDS = {
    ("policy", "mode"): MODES,
    ("policy", "unclaimed"): ("reject", "claim", "allow"),
    ("policy", "humans"): MODES,
    ("policy", "on_error"): ("closed", "open"),
    ("policy", "on_missing"): ("open", "closed"),
    ("policy", "verify"): ("always", "respect"),
    ("policy", "release_on"): ("never", "commit", "push"),
    ("policy", "publish"): ("never", "push", "auto"),
    ("policy", "breaking"): ("reason", "approval"),
}
_SECTIONS = {
    "policy": {name for section, name in _WORDS if section == "policy"} | {"open", "receipts", "grant_after"},
    "defaults": {"ttl", "auto_ttl"},
    "spawn": {"path", "branch", "setup"},
    "key": {"name", "paths", "takes", "ttl", "mode"},
}


def parse_map_file(data: bytes, source: str = MAP_FILE) -> Policy:
    """The policy that the file states; ``ConfigError`` names the line of the first fault."""
    if len(data) > MAP_FILE_LIMIT:
        raise ConfigError(f"{source} is larger than {MAP_FILE_LIMIT >> 20} MiB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _fault(source, data[: error.start].count(b"\n") + 1, "this is not UTF-8") from None
    plain = read_plain(text)
    if plain is not None:
        return _Reader(text, plain, source).policy()
    import tomllib

    _refuse_long_names(text, source)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        head, _, place = said.rpartition(" (at line ")
        line = int(place.partition(",")[0]) if place[:1].isdigit() else text.count("\n") + 1
        raise _fault(source, line, (head or said)[:1].lower() + (head or said)[1:]) from None
    except RecursionError:
        raise _fault(source, 1, "nested too deep") from None
    except ValueError:  # Python's own: an integer of more than 4300 digits
        line = next((n for n, row in enumerate(text.split("\n"), 1) if _has_huge_number(row)), 1)
        raise _fault(source, line, "this number is too large") from None
    return _Reader(text, document, source).policy()


def _fault(source: str, line: int, why: str) -> ConfigError:
    return ConfigError(f"{source}:{line}: {why}", hint=f"correct line {line} of {source}")


def _refuse_long_names(text: str, source: str) -> None:
    """``a.a.a…``: what reads TOML takes the square of its length for it, hours for a file within its limit."""
    import re

    for number, row in enumerate(text.split("\n"), 1):
        if row.count(".") > _PARTS:
            plain = re.sub(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', "q", row)
            if re.search(rf"(?:[\w-]+\s*\.\s*){{{_PARTS}}}", plain):
                raise _fault(source, number, f"a name of more than {_PARTS} parts")


def _has_huge_number(row: str) -> bool:
    import re

    return re.search(r"\d{4301}", row.replace("_", "")) is not None


def _shown(value: object) -> str:
    """A value as a message shows it: short, whatever it is."""
    try:
        text = repr(value)
    except ValueError:
        return "a number that is too large"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class _Reader:
    def __init__(self, text: str, document: dict[str, object], source: str) -> None:
        self.rows = text.split("\n")
        self.document = document
        self.source = source
        self.lines: dict[str, int] = {}
        self.key_lines: list[int] | None = None

    def policy(self) -> Policy:
        fields: dict[str, object] = {}
        for name, value in self.document.items():
            if name == "version":
                if type(value) is not int or value != 1:
                    raise self.fault(self.line_of(None, name), f"version {_shown(value)} is not understood (1 is)")
            elif name not in _SECTIONS:
                raise self.fault(self.line_of(None, name), f"unknown field '{name}'")
        if "version" not in self.document:
            raise self.fault(1, "the version is missing: version = 1")
        for section in ("policy", "defaults", "spawn"):
            table = self.document.get(section, {})
            if not isinstance(table, dict):
                raise self.fault(self.line_of(None, section), f"'{section}' must be a table")
            for name, value in table.items():
                line = self.line_of(section, name)
                self.lines[name if section != "spawn" else f"spawn.{name}"] = line
                self.known(section, name, line)
                self.setting(fields, section, name, value, line)
        keys = self.document.get("key", [])
        if not isinstance(keys, list):
            raise self.fault(self.line_of(None, "key"), "'key' must be written as [[key]]")
        rules = tuple(self.key(number, entry) for number, entry in enumerate(keys))
        names = set()
        for rule in rules:
            if rule.name in names:
                raise self.fault(rule.line, f"the key '{rule.name}' is declared twice")
            names.add(rule.name)
        return Policy(**fields, keys=rules, source=self.source, lines=self.lines)  # type: ignore[arg-type]

    def setting(self, fields: dict[str, object], section: str, name: str, value: object, line: int) -> None:
        if (section, name) in _WORDS:
            allowed = _WORDS[(section, name)]
            if value not in allowed:
                raise self.fault(line, f"'{name}' must be one of {', '.join(allowed)}, not {_shown(value)}")
            fields[name] = value
        elif name == "open":
            fields["open_paths"] = self.patterns(value, name, line)
        elif name == "receipts":
            if not isinstance(value, bool):
                raise self.fault(line, f"'{name}' must be true or false")
            fields[name] = value
        elif name == "grant_after":
            fields[name] = None if value == "" else self.duration(value, name, line)
        elif section == "defaults":
            fields[name] = self.duration(value, name, line)
        else:
            if name == "setup":
                if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                    raise self.fault(line, "'setup' must be a list of commands")
            elif not isinstance(value, str):
                raise self.fault(line, f"'{name}' must be text")
            fields.setdefault("spawn", {})[name] = value  # type: ignore[index]

    def key(self, number: int, entry: object) -> KeyRule:
        line = self.line_of_key(number)
        if not isinstance(entry, dict):
            raise self.fault(line, "'key' must be written as [[key]]")
        for name in entry:
            self.known("key", name, self.line_below(line, name))
        for needed in ("name", "paths"):
            if needed not in entry:
                raise self.fault(line, f"this key has no '{needed}'")
        name = entry["name"]
        try:
            semantic_key(name if isinstance(name, str) else _shown(name))
        except UsageError as error:
            raise self.fault(self.line_below(line, "name"), str(error)) from None
        takes, mode, ttl = entry.get("takes", "parts"), entry.get("mode"), entry.get("ttl")
        if takes not in ("parts", "whole"):
            raise self.fault(self.line_below(line, "takes"), f"'takes' must be parts or whole, not {_shown(takes)}")
        if mode is not None and mode not in MODES:
            why = f"'mode' must be one of {', '.join(MODES)}, not {_shown(mode)}"
            raise self.fault(self.line_below(line, "mode"), why)
        return KeyRule(
            name=name,
            paths=self.patterns(entry["paths"], "paths", self.line_below(line, "paths")),
            takes=takes,
            ttl=None if ttl is None else self.duration(ttl, "ttl", self.line_below(line, "ttl")),
            mode=mode,
            line=line,
        )

    def patterns(self, value: object, name: str, line: int) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fault(line, f"'{name}' must be a list of patterns")
        found = []
        for item in value:
            bang = "!" if item[:1] == "!" else ""
            try:
                found.append(bang + parse_pattern(item[len(bang) :]).text)
            except UsageError as error:
                raise self.fault(line, f"'{name}': {error}") from None
        if found and all(item[:1] == "!" for item in found):
            raise self.fault(line, f"'{name}' only excludes")
        return tuple(found)

    def duration(self, value: object, name: str, line: int) -> float:
        if not isinstance(value, str):
            raise self.fault(line, f"'{name}' must be a duration in quotes, as in \"20m\"")
        try:
            return parse_duration(value, limit=TTL_LIMIT)
        except UsageError as error:
            raise self.fault(line, f"'{name}': {error}") from None

    def known(self, section: str, name: str, line: int) -> None:
        if name not in _SECTIONS[section]:
            raise self.fault(line, f"unknown field '{name}' in [{section}]")

    def fault(self, line: int, why: str) -> ConfigError:
        return _fault(self.source, line, why)

    # TOML's reader gives no places, so the lines are found again in the text; the messages need no more than that.

    def line_of(self, section: str | None, name: str) -> int:
        at = 0
        if section is not None:
            at = next((n for n, row in enumerate(self.rows) if row.split("#")[0].strip() == f"[{section}]"), 0)
        return self.line_below(at + 1, name) if section is not None else self.line_below(1, name)

    def line_below(self, line: int, name: str) -> int:
        for number in range(line - 1, len(self.rows)):
            word = self.rows[number].partition("=")[0].strip().strip("\"'[] ")
            if word == name or word.startswith(name + "."):
                return number + 1
        return line

    def line_of_key(self, number: int) -> int:
        if self.key_lines is None:
            self.key_lines = [n for n, row in enumerate(self.rows, 1) if row.replace(" ", "").startswith("[[key]]")]
        return self.key_lines[number] if number < len(self.key_lines) else 1
