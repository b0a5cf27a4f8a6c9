"""Texts as words of a command line: what is named in a hint can be copied into a shell as it stands."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


def word(text: str) -> str:
    """``text`` as one word of a command line that can be copied into a shell."""
    if text and _PLAIN.issuperset(text):
        return text
    if text.isprintable():
        return "'" + text.replace("'", "'\\''") + "'"
    out = []
    for char in text:
        if char in "\\'":
            out.append("\\" + char)
        elif char.isprintable():
            out.append(char)
        else:
            kind = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"
            out += [f"\\x{byte:02x}" for byte in char.encode("utf-8", kind)]
    return "$'" + "".join(out) + "'"
