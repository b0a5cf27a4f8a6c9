"""What most commands begin and end with: the site, the arguments as claims, and what the agent must be told."""

from gitlock.entrypoints.cli.options import Given
from gitlock.entrypoints.cli.output import hint, warning
from gitlock.wiring.site import Site, open_site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from gitlock.domain.beat import Beat
    from gitlock.domain.instant import Instant
    from gitlock.domain.lease import Ended
    from gitlock.usecases.reading import Argument


def site_of(given: Given) -> Site:
    """Where we stand, as whoever the options say."""
    return open_site(given.text("agent"), given.text("kind"))


def claim_arguments(given: Given) -> "tuple[Argument, ...]":
    """Everything that was named as a claim, in whatever form."""
    from gitlock.usecases.reading import Argument

    return (
        *(Argument(text) for text in given.arguments),
        *(Argument(text, "path") for text in given.many("path")),
        *(Argument(text, "glob") for text in given.many("glob")),
        *(Argument(text, "key") for text in given.many("key")),
    )


def told(
    site: Site, beat: "Beat", now: "Instant", notice: str = "", *, said: "tuple[Ended, ...]" = (),
    shown: "Collection[str]" = (),
) -> list[str]:  # fmt: skip
    """Everything about the agent's own leases that it must not miss: they never end silently; and what others say to
    it. ``said`` are ends, ``shown`` requests that the answer itself tells."""
    from gitlock.entrypoints.wording import ended_line, low_line, revived_line

    lines = [warning(notice)] if notice else []
    ended = [one for one in beat.ended if one not in said]
    lines += [warning(ended_line(one, now)) for one in ended]
    if ended:
        lines.append(hint("git lock mine (reports this once more, and then no longer)"))
    lines += [warning(revived_line(lease)) for lease in beat.revived]
    lines += [warning(line) for lease in beat.held if (line := low_line(lease, now)) is not None]
    if beat.offers:
        from gitlock.entrypoints.wording import offer_lines

        lines += offer_lines(beat.offers, now)
    return lines + heard(site, now, shown)


def heard(site: Site, now: "Instant", shown: "Collection[str]" = ()) -> list[str]:
    """What others ask, and answered: their words, attributed, and nothing around them. ``shown`` are ids of requests
    that the answer itself shows."""
    if not site.store.has_requests():
        return []
    from gitlock.entrypoints.wording import heard_lines
    from gitlock.usecases.hearing import hear

    return heard_lines(
        [one for one in hear(site.store, site.agent, site.fold, site.facts) if one.id not in shown], site.agent.id, now
    )


def retyped(given: Given) -> str:
    """The claim arguments as one could type them again."""
    from gitlock.domain.quoting import word

    words = [word(text) for text in given.arguments]
    for form in ("path", "glob", "key"):
        words += [f"--{form} {word(text)}" for text in given.many(form)]
    return " ".join(words)
