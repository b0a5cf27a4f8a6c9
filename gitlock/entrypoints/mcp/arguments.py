"""What the tools take, in words that a model reads: each argument once, with its description."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from gitlock.entrypoints.mcp.claiming import PATIENCE

NONE: list[str] = []  # the default of a list; nobody changes it


def _as_list(value: object) -> object:
    """A model that has one claim may well forget the brackets."""
    return [value] if isinstance(value, str) else value


Claims = Annotated[
    list[str],
    BeforeValidator(_as_list),
    Field(
        description="Paths, patterns or keys: src/login.py, src/auth/* (whatever is below src/auth), **/*.py, "
        "!src/auth/gen (keeps something out), deploy:staging. Relative to folder; an absolute path decides "
        "the worktree."
    ),
]
Folder = Annotated[
    str | None,
    Field(description="The folder that you work in, if that is not the one that this server was started for."),
]
Who = Annotated[
    str | None,
    Field(
        description="Who you are. Leave it out, unless an answer with the id which-agent asks for it, or you are a "
        "sub-agent: then your parent's name, a slash, and your own."
    ),
]
Reason = Annotated[str, Field(description="Why, in a few words; whoever is refused because of you reads it.")]
Ttl = Annotated[
    str | None,
    Field(
        description="How long it lasts without a sign of life: 90s, 20m, 2h, 1d. By default an hour; your work "
        "renews it."
    ),
]
Mode = Annotated[
    Literal["exclusive", "shared", "intent"],
    Field(
        description="exclusive: you change it. shared: you rely on it, and nobody may change it meanwhile. intent: you "
        "only announce it, and nobody is stopped."
    ),
]
Wait = Annotated[bool, Field(description="If it is held: wait in the queue, first come, first served.")]
Timeout = Annotated[
    str | None, Field(description=f"Wait, but at most that long: 90s, 20m, 2h. With wait alone it is {PATIENCE}.")
]
Ticket = Annotated[
    bool,
    Field(
        description="If it is held: do not block, but take a place in the queue that outlives this call (code 21); "
        "come back with resume."
    ),
]
Resume = Annotated[
    str | None, Field(description="The id of a ticket: take what it is offered, or hear how many are before you.")
]
DryRun = Annotated[bool, Field(description="Change nothing; answer as the real call would.")]
Everything = Annotated[bool, Field(description="Everything that you hold.")]
Message = Annotated[
    str,
    Field(
        description="What you need it for, and for how long; 500 characters at most. The holder reads it as your words."
    ),
]
Shared = Annotated[bool, Field(description="Ask to share it only.")]
RequestId = Annotated[str | None, Field(description="The request that you answer.")]
Reply = Annotated[
    Literal["grant", "decline"] | None,
    Field(description="grant hands the asked part of your lease to the asker, in one step; decline keeps it."),
]
Why = Annotated[str, Field(description="With decline: why not, or how soon.")]
