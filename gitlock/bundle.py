"""Our modules out of one file instead of fifty: what the hooks and the quick commands load, as ready code.

To find, open and read a module costs as much as to run it, and fifty of them cost as much as a bare interpreter (see
docs/performance.md). The file lies in ``__pycache__`` beside Python's own byte code, and is as good as that: of each
module it keeps the source's size and time, and where either differs the ordinary import has the module. It can be
deleted at any time. The command line makes it (``gitlock.bundling``); whoever can't write there goes without.

    eight digits, the length of the index
    the index: the version, the length of all codes, each module, each group (see ``Bundle``), marshalled
    the code of each module, and then of each group, marshalled
"""

import marshal
import os
import sys
from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType
    from typing import Any

    # What it is, the size and time of its file, where the code is, how long; and the file, if it is none of ours.
    Kept = tuple[int, int, int, int, int, str]
    Group = tuple[list[str], int, int]  # the modules, where their code is, how long

MODULE, PACKAGE, EXTENSION = 0, 1, 2

VERSION = f"6 {sys.version}"  # marshalled code is good for one build of Python only
HEAD = 1 << 15  # bytes that are read at first: the index takes about half of them

_HERE = os.path.dirname(__file__)
_Spec = type(__spec__)
_Module = type(sys)


def bundle_file() -> str:
    """Where this interpreter's bundle lies."""
    tag = f"{sys.implementation.cache_tag}{sys.flags.optimize or ''}"
    return f"{_HERE}/__pycache__/bundle.{tag}.bin"


def source_file(name: str, package: bool) -> str:
    """The source of one of our modules."""
    path = _HERE + name[7:].replace(".", "/")
    return path + "/__init__.py" if package else path + ".py"


class _Loader(SourceFileLoader):
    """The ordinary loader, but for where the code comes from."""

    def __init__(self, name: str, path: str, bundle: "Bundle") -> None:
        self.name = name
        self.path = path
        self.bundle = bundle

    def get_code(self, fullname: str) -> "CodeType | None":
        _, _, _, begin, length, _ = self.bundle.kept[fullname]
        code: CodeType | None = self.bundle.read(begin, length)
        return code if code is not None else super().get_code(fullname)


class Bundle:
    """A finder that stands before the ordinary ones, of the modules that are ``kept`` as they were.

    A group is modules that are loaded together. ``fresh`` turns False at the first module that has changed.
    """

    def __init__(
        self, fd: int, start: int, kept: "dict[str, Kept]", groups: "dict[str, Group]"
    ) -> None:
        self.kept = kept
        self.groups = groups
        self.fresh = bool(kept)
        self._fd = fd
        self._start = start  # where the codes begin in the file
        self._path = bundle_file()

    def read(self, begin: int, length: int) -> "Any":
        """What is marshalled there; None where it can't be read."""
        try:
            return marshal.loads(os.pread(self._fd, length, self._start + begin))  # noqa: S302 - as good as byte code
        except (OSError, EOFError, ValueError, TypeError):
            self.fresh = False
            return None

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> "ModuleSpec | None":
        """What the import system asks; None for what it has to find by itself."""
        entry = self.kept.get(name)
        if entry is None:
            return None
        kind, size, time, _, _, source = entry
        source = source or source_file(name, kind == PACKAGE)
        try:
            found = os.stat(source)
        except OSError:
            found = None
        if found is None or found.st_size != size or found.st_mtime_ns != time:
            self.fresh = False
            return None
        if kind == EXTENSION:
            return _Spec(name, ExtensionFileLoader(name, source), origin=source)
        spec = _Spec(name, _Loader(name, source, self), origin=source, is_package=kind == PACKAGE)
        if kind == PACKAGE:
            spec.submodule_search_locations = [source[:-12]]
        spec.has_location = True
        spec.cached = self._path
        return spec

    def load(self, group: str) -> None:
        """Loads modules that will be wanted, each after those that it imports, without the import system's ceremony.

        Only a matter of speed: where one of them has changed, all are imported as usual.
        """
        if group not in self.groups:
            return
        names, begin, length = self.groups[group]
        specs = [self.find_spec(name) for name in names]
        if not self.fresh:
            return
        for spec, code in zip(specs, self.read(begin, length) or (), strict=False):
            assert spec is not None
            name = spec.name
            if name in sys.modules:
                continue
            parent, _, last = name.rpartition(".")
            module = _Module(name)
            module.__spec__ = spec
            module.__loader__ = spec.loader
            module.__file__ = spec.origin
            module.__package__ = parent
            if spec.submodule_search_locations is not None:
                module.__path__ = spec.submodule_search_locations
                module.__package__ = name
            sys.modules[name] = module
            try:
                exec(code, module.__dict__)  # noqa: S102 - what an import does
            except BaseException:
                del sys.modules[name]
                raise
            if parent:
                setattr(sys.modules[parent], last, module)


def use_bundle() -> Bundle:
    """Puts the finder in place; an empty one where there is no bundle that can be used."""
    try:
        fd = os.open(bundle_file(), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        head = os.pread(fd, HEAD, 0)
        size = int(head[:8])
        if len(head) < 8 + size:
            head = os.pread(fd, 8 + size, 0)
        version, length, kept, groups = marshal.loads(head[8 : 8 + size])  # noqa: S302
        whole = os.fstat(fd).st_size == 8 + size + length
    except (OSError, ValueError, EOFError, TypeError):
        return Bundle(-1, 0, {}, {})
    if version != VERSION or not whole:
        return Bundle(-1, 0, {}, {})
    bundle = Bundle(fd, 8 + size, kept, groups)
    sys.meta_path.insert(0, bundle)
    return bundle
