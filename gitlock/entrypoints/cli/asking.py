"""What most commands begin and end with: the site, the arguments as claims, and what the agent must be told."""

from gitlock.domain.holding import Beat
from gitlock.domain.instant import Instant
from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import hint, warning
from gitlock.entrypoints.wording import ended_line, low_line, revived_line, word
from gitlock.usecases.reading import Argument
from gitlock.wiring.site import Site, open_site


def site_of(given: Given) -> Site:
    """Where we stand, as whoever the options say."""
    return open_site(given.text("agent"), given.text("kind"))


def claim_arguments(given: Given) -> tuple[Argument, ...]:
    """Everything that was named as a claim, in whatever form."""
    return (
        *(Argument(text) for text in given.arguments),
        *(Argument(text, "path") for text in given.many("path")),
        *(Argument(text, "glob") for text in given.many("glob")),
        *(Argument(text, "key") for text in given.many("key")),
    )


def told(beat: Beat, now: Instant, notice: str = "") -> list[str]:
    """Everything about the agent's own leases that it must not miss: they never end silently."""
    lines = [warning(notice)] if notice else []
    lines += [warning(ended_line(ended, now)) for ended in beat.ended]
    if beat.ended:
        lines.append(hint("git lock mine (reports this once more, and then no longer)"))
    lines += [warning(revived_line(lease)) for lease in beat.revived]
    lines += [warning(line) for lease in beat.held if (line := low_line(lease, now)) is not None]
    return lines


def retyped(given: Given) -> str:
    """The claim arguments as one could type them again."""
    words = [word(text) for text in given.arguments]
    for form in ("path", "glob", "key"):
        words += [f"--{form} {word(text)}" for text in given.many(form)]
    return " ".join(words)
