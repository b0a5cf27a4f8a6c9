"""Which files a patch names: Codex's ``*** Begin Patch`` form, and the headers of a unified diff."""

_HEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def is_patch(text: str) -> bool:
    """Whether this is a patch of the form ``*** Begin Patch``."""
    return text.lstrip().startswith("*** Begin Patch")


def patch_paths(text: str) -> list[str]:
    """Every path of a ``*** Begin Patch`` form, both sides of a move, each once, in order."""
    found = {}
    for line in text.splitlines():
        for head in _HEADS:
            if line.startswith(head) and line[len(head) :].strip():
                found[line[len(head) :].strip()] = True
    return list(found)


def diff_paths(text: str, strip: int) -> list[str]:
    """The files that a unified diff changes, ``strip`` leading folders taken off as ``patch -pN`` does."""
    found = {}
    before = ""
    for line in text.splitlines():
        if line.startswith("--- "):
            before = line[4:]
        elif line.startswith("+++ ") and before:
            for side in (before, line[4:]):
                name = side.partition("\t")[0].strip()
                rest = name.split("/")[strip:]
                if name != "/dev/null" and rest:
                    found["/".join(rest)] = True
            before = ""
    return list(found)
