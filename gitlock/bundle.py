"""Our modules out of one file instead of fifty: what the hooks and the quick commands load, as ready code.

To find, open and read a module costs as much as to run it, and fifty of them cost as much as a bare interpreter (see
docs/performance.md). The file lies in ``__pycache__`` beside Python's own byte code, and is as good as that: of each
module it keeps the source's size and time, and where either differs the ordinary import has the module. It can be
deleted at any time. The command line makes it (``gitlock.bundling``); whoever can't write there goes without.
"""

import marshal
import os
import sys
from _frozen_importlib_external import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType

    Kept = tuple[bool, int, int, int, int]  # a package?, the source's size and time, where the code begins, its length

VERSION = f"2 {sys.version}"  # marshalled code is good for one build of Python only
HEAD = 1 << 14  # bytes that are read at first: the index takes about half of them

_HERE = os.path.dirname(__file__)
_Spec = type(__spec__)
_Module = type(sys)


def bundle_file() -> str:
    """Where this interpreter's bundle lies."""
    tag = f"{sys.implementation.cache_tag}{sys.flags.optimize or ''}"
    return f"{_HERE}/__pycache__/bundle.{tag}.bin"


def source_file(name: str, package: bool) -> str:
    """The source of one of our modules."""
    path = _HERE + name[len("gitlock") :].replace(".", "/")
    return path + "/__init__.py" if package else path + ".py"


class _Loader(SourceFileLoader):
    """The ordinary loader, but for where the code comes from."""

    def __init__(self, name: str, path: str, code: bytes) -> None:
        self.name = name
        self.path = path
        self.code = code

    def get_code(self, fullname: str) -> "CodeType | None":
        code: CodeType = marshal.loads(self.code)  # noqa: S302 - as good as the byte code beside it
        return code


class Bundle:
    """A finder that stands before the ordinary ones. ``fresh`` turns False at the first module that has changed."""

    def __init__(
        self, fd: int = -1, start: int = 0, kept: "dict[str, Kept] | None" = None, groups: "dict[str, list[str]] | None" = None
    ) -> None:
        self.path = bundle_file()
        self.kept = kept or {}
        self.groups = groups or {}
        self.fresh = bool(kept)
        self._fd = fd
        self._start = start  # where the codes begin in the file

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """What the import system asks; None for what it has to find by itself."""
        entry = self.kept.get(name)
        if entry is None:
            return None
        package, size, time, begin, length = entry
        source = source_file(name, package)
        try:
            found = os.stat(source)
        except OSError:
            return None
        if found.st_size != size or found.st_mtime_ns != time:
            self.fresh = False
            return None
        code = os.pread(self._fd, length, self._start + begin)
        if len(code) != length:
            return None
        spec = _Spec(name, _Loader(name, source, code), origin=source, is_package=package)
        if package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        spec.has_location = True
        spec.cached = self.path
        return spec

    def load(self, group: str) -> None:
        """Loads modules that will be wanted, each after those that it imports, without the import system's ceremony.

        Only a matter of speed: what is not in the bundle, or in the wrong order, is imported as usual.
        """
        for name in self.groups.get(group, ()):
            if name in sys.modules:
                continue
            spec = self.find_spec(name)
            if spec is None:
                continue
            loader = spec.loader
            parent, _, last = name.rpartition(".")
            module = _Module(name)
            module.__spec__ = spec
            module.__loader__ = loader
            module.__file__ = spec.origin
            module.__package__ = parent
            if spec.submodule_search_locations is not None:
                module.__path__ = spec.submodule_search_locations
                module.__package__ = name
            sys.modules[name] = module
            try:
                assert isinstance(loader, _Loader)
                exec(marshal.loads(loader.code), module.__dict__)  # noqa: S102, S302 - what an import does
            except BaseException:
                del sys.modules[name]
                raise
            setattr(sys.modules[parent], last, module)


def use_bundle() -> Bundle:
    """Puts the finder in place; an empty one where there is no bundle that can be used."""
    try:
        fd = os.open(bundle_file(), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        head = os.pread(fd, HEAD, 0)
        size = int(head[:8])
        if len(head) < 8 + size:
            head = os.pread(fd, 8 + size, 0)
        version, kept, groups = marshal.loads(head[8 : 8 + size])  # noqa: S302
    except (OSError, ValueError, EOFError, TypeError):
        return Bundle()
    if version != VERSION:
        return Bundle()
    bundle = Bundle(fd, 8 + size, kept, groups)
    sys.meta_path.insert(0, bundle)
    return bundle
