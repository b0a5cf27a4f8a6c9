"""The machine, and other programs that do what we do."""

import os

from gitlock.domain.quoting import word
from gitlock.git.hooks.managers import read_script
from gitlock.usecases.examining.finding import BAD, NOTE, OK, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.git.process import Git
    from gitlock.stores.files.medium import Medium

# Folders and files in which other lock tools for agents keep theirs.
SIBLINGS = (
    (".agentlocks", "agent-locks"),
    (".agent-locks", "agent-locks"),
    (".agents-locks", "agents-locks"),
    (".agent-claims", "agent-claims"),
    (".agentmutex", "agentmutex"),
    (".agent-mail", "agent mail"),
    (".mcp_agent_mail", "mcp_agent_mail"),
    (".mcp-agent-mail", "mcp_agent_mail"),
    (".dibs", "dibs"),
)
_IN_GIT = (("lfs/lockcache.db", "git-lfs"), ("lfs/cache/locks", "git-lfs"), ("hooks/hooks.d", "a hook chain"))

SKEW = 2.0  # seconds between our clock and the disk's
MERGES = (2, 38)  # the first git that can tell what it merges by itself


def siblings(top: str, common_dir: str, home: str | None) -> list[Finding]:
    """Stores of other tools; they know nothing of our leases, nor we of theirs."""
    places = [(os.path.join(top, name), tool) for name, tool in SIBLINGS]
    places += [(os.path.join(common_dir, name), tool) for name, tool in _IN_GIT]
    if home:
        places.append((os.path.join(home, ".agentmutex"), "agentmutex"))
    found = [(path, tool) for path, tool in places if os.path.lexists(path)]
    if b"lockable" in read_script(os.path.join(top, ".gitattributes")) and not any(t == "git-lfs" for _, t in found):
        found.append((os.path.join(top, ".gitattributes"), "git-lfs"))
    return [
        Finding("siblings", NOTE, f"{tool} is used here as well ('{path}'): it and git-lock know nothing of each other")
        for path, tool in found
    ]


def program(git: "Git", path: str, own: str | None) -> list[Finding]:
    """Whose program `git lock` starts. Git looks in its own folder first, then along the PATH, then for an alias."""
    alias = git.line("config", "--get", "alias.lock")
    folders = [folder for folder in (git.line("--exec-path"), *path.split(os.pathsep)) if folder]
    found = next((one for one in (os.path.join(folder, "git-lock") for folder in folders) if _runs(one)), None)
    if found is None:
        if alias is not None:
            what = f"`git lock` is your alias '{alias}', as no git-lock is on the PATH"
            return [Finding("program", BAD, what, "git config --show-origin --get alias.lock")]
        return [Finding("program", NOTE, "git-lock is not on the PATH: hooks find it, `git lock` does not")]
    findings = []
    if own is not None and os.path.realpath(found) != os.path.realpath(own):
        ours = b"gitlock" in read_script(found)
        if ours:
            findings.append(Finding("program", NOTE, f"`git lock` is another installation, '{found}', not '{own}'"))
        else:
            what = f"`git lock` is another program, '{found}': ours is '{own}'"
            findings.append(Finding("program", BAD, what, f"{word(own)} doctor"))
    if alias is not None:
        what = f"the alias 'lock' ('{alias}') is never used: git prefers the program"
        findings.append(Finding("program", NOTE, what, "git config --show-origin --get alias.lock"))
    return findings or [Finding("program", OK, f"`git lock` is '{found}'")]


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def git_version(git: "Git") -> list[Finding]:
    """What this git is too old for."""
    words = (git.line("--version") or "").split()
    numbers = tuple(int(part) for part in words[2].split(".")[:2] if part.isdigit()) if len(words) > 2 else ()
    if len(numbers) < 2 or numbers >= MERGES:
        return []
    what = f"git {words[2]} can't tell what it merges by itself (2.38 can): merges are warned about, never refused"
    return [Finding("git", NOTE, what)]


def medium(found: "Medium", boot: str) -> list[Finding]:
    """Whether the disk and the clock can keep what a lock promises."""
    findings = []
    where = f"'{found.folder}'"
    if found.network:
        what = (
            f"{where} lies on {found.kind} ({found.source}): between machines that use it, nobody is excluded for sure"
        )
        findings.append(Finding("disk", NOTE, what, "git config gitlock.store files:/a/folder/on/a/local/disk"))
    if found.error:
        what = f"nothing can be written in {where} ({found.error}), so that nothing can be claimed"
        findings.append(Finding("disk", NOTE, what))
    if found.locks is False:
        what = f"the file system of {where} ({found.kind}) can't lock files, so that nothing can be claimed"
        findings.append(Finding("disk", BAD, what, "git config gitlock.store files:/a/folder/on/a/local/disk"))
    if found.fine is False:
        findings.append(Finding("disk", NOTE, f"the times of files in {where} are coarse: no check takes a short cut"))
    if found.skew is not None and abs(found.skew) > SKEW:
        what = f"the disk's clock and this machine's are {abs(found.skew):.0f} s apart"
        findings.append(Finding("clock", NOTE, what))
    if not boot:
        what = "this system does not tell one boot from another: the wall clock counts"
        findings.append(Finding("clock", NOTE, what))
    return findings or [Finding("disk", OK, f"the file system ({found.kind}) locks files, and its times are fine")]
