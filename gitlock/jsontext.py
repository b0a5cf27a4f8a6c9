"""JSON for processes that live 15 milliseconds: the C scanner and string encoder of the standard library, without
the ``json`` package around them (importing it costs more than half a bare interpreter; see docs/performance.md).

``loads`` and ``dumps`` mean what ``json``'s mean, with these differences: ``NaN``, ``Infinity`` and ``1e999`` are
refused both ways, a parse error of any kind is a plain ``ValueError``, output is compact ASCII, and a name that is not
UTF-8 (surrogate escapes) survives the round trip as ``\\udcXX``.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not allowed")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0.0:
        raise ValueError(f"{text} is too large a number")
    return number


class _Context:
    """What the scanner reads its options from."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = staticmethod(_finite)
    parse_int = int
    parse_constant = staticmethod(_refuse)
    memo: "dict[str, str]" = {}


_quote: "Callable[[str], str]"

try:  # both names are private to CPython: without them the public, slower ones do
    from _json import encode_basestring_ascii as _c_quote
    from _json import make_scanner as _make_scanner

    _scan: "Callable[[str, int], tuple[object, int]]" = _make_scanner(_Context)  # type: ignore[arg-type]
    _quote = _c_quote
except ImportError:
    from json import JSONDecoder
    from json.encoder import encode_basestring_ascii as _py_quote

    _scan = JSONDecoder(parse_constant=_refuse, parse_float=_finite).scan_once  # type: ignore[attr-defined]
    _quote = _py_quote


def loads(text: str) -> object:
    """The value that ``text`` holds; ``ValueError`` for anything else, nesting that is too deep included."""
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON value") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    except SystemError:  # before Python 3.12 the scanner finds its own error only where json.decoder was imported
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError(f"text after the value, at character {end}")
    return value


def dumps(value: object) -> str:
    """``value`` as compact ASCII JSON; ``ValueError`` or ``TypeError`` for what JSON can't say."""
    kind = type(value)
    if kind is str:
        return _quote(value)  # type: ignore[arg-type]
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if kind is int:
        return int.__repr__(value)
    if kind is float:
        text = float.__repr__(value)
        if text in ("nan", "inf", "-inf"):
            raise ValueError(f"{text} is not allowed")
        return text
    if kind is dict:
        return "{" + ",".join([_quote(k) + ":" + dumps(v) for k, v in value.items()]) + "}"  # type: ignore[attr-defined]
    if kind is list or kind is tuple:
        return "[" + ",".join([dumps(item) for item in value]) + "]"  # type: ignore[attr-defined]
    raise TypeError(f"{kind.__name__} has no JSON form")
