"""``git lock guide``: what an agent has to know, printed, or put where agent programs read it."""

import os

from gitlock.domain.quoting import word
from gitlock.entrypoints import envelope, exitcodes
from gitlock.entrypoints.cli.asking import site_of
from gitlock.entrypoints.cli.options import Command, Given, Option
from gitlock.entrypoints.cli.output import Answer, hint, warning
from gitlock.entrypoints.wording import held_by, visible
from gitlock.errors import RepositoryError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitlock.usecases.guiding import Spot
    from gitlock.wiring.site import Site

ACTIONS = ("write", "check", "remove")
DONE_WORDS = {"write": "written", "remove": "removed"}


def answer(given: Given) -> Answer:
    """Prints the guide; or writes, compares or removes the paragraph or the skills."""
    chosen = [name for name in ACTIONS if given.flag(name)]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(f'--{name}' for name in chosen)} exclude one another")
    if not chosen:
        if given.arguments:
            raise UsageError("a file is named only with --write, --check or --remove", hint="git lock guide --write")
        return _shown(skills=given.flag("skills"))
    action = chosen[0]
    site = _site(given)
    spots = _skills(given, site, action) if given.flag("skills") else _paragraphs(given, site, action)
    if action == "check":
        return _compared(given, site, spots)
    held = _held(given, site, [spot.path for spot in spots if spot.changes])
    if held is not None:
        return held
    from gitlock.usecases.guiding import tidy, write

    write(spots)
    if action == "remove" and given.flag("skills"):
        tidy(spots)
    return _written(given, site, spots, action)


def _shown(*, skills: bool) -> Answer:
    from gitlock.entrypoints.cli import guidance

    texts = [skill.text for skill in guidance.skills()] if skills else [guidance.guide()]
    return Answer(
        lines=[text.rstrip("\n") for text in texts],
        data=lambda: {"action": "show", "places": [], "guide": guidance.facts()},
    )


def _site(given: Given) -> "Site | None":
    """Where we stand; None outside of every repository, where that is no matter."""
    try:
        return site_of(given)
    except RepositoryError:
        if given.arguments:
            return None
        raise


def _paragraphs(given: Given, site: "Site | None", action: str) -> "list[Spot]":
    from gitlock.entrypoints.cli.guidance import paragraph as text
    from gitlock.usecases.guiding import no_paragraph, paragraph, paragraph_files

    files = [(path, os.path.dirname(path)) for path in _named(given, site)]
    if not files:
        top = _top(site)
        files = [(path, top) for path in paragraph_files(top, present=action == "remove")]
    return [no_paragraph(*file) if action == "remove" else paragraph(*file, text()) for file in files]


def _skills(given: Given, site: "Site | None", action: str) -> "list[Spot]":
    from gitlock.entrypoints.cli.guidance import is_as_made, skills
    from gitlock.usecases.guiding import existing, no_skill, skill, skill_folders

    named = _named(given, site)
    for folder in named:
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise UsageError(f"'{visible(folder)}' is no folder: --skills goes into folders of skills")
    folders = [(folder, existing(folder)) for folder in named]
    if not folders:
        top = _top(site)
        folders = [(folder, os.path.realpath(top)) for folder in skill_folders(top)]
    wanted = [(folder, one) for folder in folders for one in skills()]
    if action == "remove":
        return [no_skill(*folder, one.name, is_as_made) for folder, one in wanted]
    return [skill(*folder, one.name, one.text, is_as_made) for folder, one in wanted]


def _top(site: "Site | None") -> str:
    assert site is not None
    return site.repository.require_top()


def _named(given: Given, site: "Site | None") -> list[str]:
    """The files or folders that were named, from the folder where the person stands."""
    here = os.getcwd()
    if site is not None and site.repository.top is not None:
        here = os.path.join(site.repository.top, site.repository.prefix)
    for name in given.arguments:
        if not name or "\0" in name:
            raise UsageError("a name is empty, or holds a NUL byte")
    return list(dict.fromkeys(os.path.normpath(os.path.join(here, name)) for name in given.arguments))


def _held(given: Given, site: "Site | None", paths: list[str]) -> Answer | None:
    """The refusal where another holds one of the files that are to be changed: the rule is for us as well."""
    if site is None or site.repository.top is None or not os.path.isdir(site.store_folder):
        return None
    from gitlock.domain.lease import INTENT
    from gitlock.usecases.report import holders_of

    top = os.path.realpath(site.repository.top).rstrip("/") + "/"
    inside = [os.path.realpath(path) for path in paths]
    names = [path.removeprefix(top) for path in inside if path.startswith(top)]
    snapshot = site.store.read()
    for result in holders_of(names, snapshot, site.facts, site.fold, site.policy, site.agent.kind):
        for one in result.leases:
            if one.lease.belongs_to(site.agent.id) or one.lease.mode == INTENT or result.policy != "enforce":
                continue
            path = _shown_path(site, top + result.claim)
            said = f"'{visible(path)}' is held by {held_by(one.lease, snapshot.now, one.state)}; nothing was written"
            next_one = f"git lock request {word(path)} -m 'why you need it'"
            fault = envelope.error("held", said, next_one)
            return Answer(exitcodes.HELD, fault=fault, data=_data(_action(given), []))
    return None


def _action(given: Given) -> str:
    return next(name for name in ACTIONS if given.flag(name))


def _written(given: Given, site: "Site | None", spots: "list[Spot]", action: str) -> Answer:
    done = DONE_WORDS[action]
    places = [(spot, done if spot.changes else spot.state) for spot in spots]
    lines = []
    for spot in spots:
        path = visible(_shown_path(site, spot.path))
        if action == "remove":
            gone = spot.changes and spot.after is None and not given.flag("skills")
            how = "removed from" if spot.changes else "not in"
            lines.append(f"removed {path}, in which was nothing else" if gone else f"{how} {path}")
        else:
            how = "made" if spot.before is None else "refreshed in" if spot.state == "old" else "added to"
            lines.append(f"{how if spot.changes else 'up to date:'} {path}")
    if given.flag("skills"):
        lines = [line.replace("removed from", "removed").replace("refreshed in", "refreshed") for line in lines]
    notes = [*_long(site, spots)] if action == "write" else []
    top = site.repository.top if site is not None else None
    below = os.path.join(os.path.realpath(top), "") if top is not None else None
    written = [os.path.realpath(spot.path) for spot in spots if spot.changes] if action == "write" else []
    if below is not None and any(path.startswith(below) for path in written):
        notes.append(hint("commit it, so that every worktree and clone has it"))
    nothing = f"no {'skill' if given.flag('skills') else 'paragraph'} of git-lock's is here"
    return Answer(lines=lines or [nothing], notes=notes, data=_data(action, places))


def _long(site: "Site | None", spots: "list[Spot]") -> list[str]:
    return [
        warning(f"'{visible(_shown_path(site, spot.path))}' is so long that Codex will not read to the end of it")
        for spot in spots
        if spot.long
    ]


def _compared(given: Given, site: "Site | None", spots: "list[Spot]") -> Answer:
    places = [(spot, spot.state) for spot in spots]
    words = {"same": "up to date:", "old": "not as git-lock has it now:", "missing": "missing in"}
    if given.flag("skills"):
        words["missing"] = "missing:"
    lines = [f"{words[state]} {visible(_shown_path(site, spot.path))}" for spot, state in places]
    drifted = [spot for spot, state in places if state != "same"]
    data = _data("check", places)
    if not drifted:
        return Answer(lines=lines, notes=_long(site, spots), data=data)
    named = " ".join(["", *map(word, given.arguments)])
    command = f"git lock guide --write{' --skills' if given.flag('skills') else ''}{named}"
    files = f"{len(drifted)} of {len(spots)} files" if len(spots) > 1 else "the file"
    said = f"{files} {'is' if len(drifted) == 1 else 'are'} not up to date"
    return Answer(
        exitcodes.ERROR, lines=lines, notes=_long(site, spots), fault=envelope.error("drift", said, command), data=data
    )


def _shown_path(site: "Site | None", path: str) -> str:
    """A path as one would type it here."""
    if site is None or site.repository.top is None:
        return path
    folder = os.path.realpath(os.path.dirname(path))
    here = os.path.realpath(os.path.join(site.repository.top, site.repository.prefix))
    near = os.path.relpath(os.path.join(folder, os.path.basename(path)), here)
    return near if len(near) < len(path) else path


def _data(action: str, places: "list[tuple[Spot, str]]") -> dict[str, object]:
    return {
        "action": action,
        "places": [
            {"path": envelope.name(spot.path), "state": state, **envelope.raw([spot.path])} for spot, state in places
        ],
        "guide": None,
    }


COMMAND = Command(
    "guide",
    "what an agent has to know, to be read once",
    answer,
    text=(
        "Prints how to work under leases, and what each exit code asks for; with --json also every command and option. "
        "--write puts a paragraph that points here between two marks into AGENTS.md of this worktree, and into "
        "CLAUDE.md and GEMINI.md where they are there and do not import it, or into FILE; every other byte stays as it "
        "was. --skills puts the skills into .agents/skills and .claude/skills, or into folders that are named."
    ),
    arguments="[FILE...]",
    options=(
        Option("--write", help="Put the paragraph in, or bring it up to date."),
        Option("--check", help="Change nothing: end with 1 where it is missing or not up to date."),
        Option("--remove", help="Take it out again, and leave what was there before."),
        Option("--skills", help="The skills in place of the paragraph; FILE is then a folder of skills."),
    ),
    codes=(exitcodes.DONE, exitcodes.ERROR, exitcodes.USAGE, exitcodes.HELD, exitcodes.REFUSED, exitcodes.UNCHECKED),
    examples=("git lock guide", "git lock guide --write", "git lock guide --write --skills", "git lock guide --check"),
)
