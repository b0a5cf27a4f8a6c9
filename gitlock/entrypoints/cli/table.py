"""The commands by name: where each one lives, and one line about it, so that help needs no import.

A row's module is a text: the command line starts other entry points without knowing them.
"""

COMMANDS: dict[str, tuple[str, str, str]] = {
    "claim": ("gitlock.entrypoints.cli.commands.claim", "COMMAND", "take a lease on paths, patterns or keys"),
    "release": ("gitlock.entrypoints.cli.commands.release", "COMMAND", "give leases back, whole or in part"),
    "renew": ("gitlock.entrypoints.cli.commands.renew", "COMMAND", "extend leases"),
    "mine": ("gitlock.entrypoints.cli.commands.mine", "COMMAND", "do I still hold what I think I hold?"),
    "check": ("gitlock.entrypoints.cli.commands.check", "COMMAND", "may I change these paths?"),
    "list": ("gitlock.entrypoints.cli.commands.list", "COMMAND", "every live lease"),
    "status": ("gitlock.entrypoints.cli.commands.status", "COMMAND", "one claim: held, free, or expired"),
    "who": ("gitlock.entrypoints.cli.commands.who", "WHO", "who holds this path"),
    "which": ("gitlock.entrypoints.cli.commands.who", "WHICH", "which keys and policy a path maps to"),
    "history": ("gitlock.entrypoints.cli.commands.history", "COMMAND", "what happened, with the reasons"),
    "whoami": ("gitlock.entrypoints.cli.commands.whoami", "COMMAND", "who am I here, and why"),
    "install": ("gitlock.entrypoints.cli.commands.install", "INSTALL", "make commits in this clone ask first"),
    "uninstall": ("gitlock.entrypoints.cli.commands.install", "UNINSTALL", "take our hooks away again"),
    "doctor": ("gitlock.entrypoints.cli.commands.doctor", "COMMAND", "is everything in order here?"),
    "overview": ("gitlock.entrypoints.cli.commands.overview", "COMMAND", "who holds what, and is it enforced here"),
}
ALIASES = {"ls": "list", "log": "history", "unlock": "release"}
