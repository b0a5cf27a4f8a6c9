"""Reading a program's input: every field may be missing, or of any type; what is not understood is not there."""

from gitlock import jsontext

ID_LIMIT = 200  # characters of an id
PATHS_LIMIT = 2000  # paths of one call
PATH_LIMIT = 4096  # bytes of a path (PATH_MAX)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Record = dict[str, object]


def text_of(record: "Record", *names: str) -> str:
    """The first of these fields that holds a text; empty where none does."""
    for name in names:
        value = record.get(name)
        if type(value) is str and value:
            return value
    return ""


def id_of(record: "Record", *names: str) -> str:
    """The same for an id, which no program makes long."""
    return text_of(record, *names)[:ID_LIMIT]


def record_of(record: "Record", *names: str) -> "Record":
    """The first of these fields that holds an object, or a text that is one; empty where none does."""
    for name in names:
        value = record.get(name)
        if type(value) is str and value[:1] == "{":
            try:
                value = jsontext.loads(value)
            except ValueError:
                continue
        if type(value) is dict:
            return value
    return {}


def texts_of(record: "Record", name: str) -> tuple[str, ...]:
    """The texts of a field that holds a list of them."""
    value = record.get(name)
    return tuple(one for one in value if type(one) is str and one) if type(value) is list else ()


def command_of(record: "Record", *names: str) -> str:
    """A shell command: a text, or the words ``["bash", "-lc", "…"]`` of which the last is one."""
    for name in names:
        value = record.get(name)
        if type(value) is str and value:
            return value
        if type(value) is list and len(value) == 3 and value[1] in ("-c", "-lc") and type(value[2]) is str:
            return value[2]
    return ""


def is_ours(prompt: str) -> bool:
    """Whether a prompt is nobody's but our own word at the end of a turn, which some programs hand in as one."""
    return prompt.startswith("git-lock: ")


def as_paths(*found: str) -> tuple[str, ...]:
    """What may be paths, each once."""
    kept = [one for one in dict.fromkeys(found) if one and "\0" not in one and len(one) <= PATH_LIMIT]
    return tuple(kept[:PATHS_LIMIT])


def answer(record: "Record") -> str:
    """An answer as one line of JSON. Characters of other scripts stay as they are where they can."""
    return jsontext.dumps(record) + "\n"
