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
    "run": ("gitlock.entrypoints.cli.commands.run", "COMMAND", "hold a lease while a command runs"),
    "wait": ("gitlock.entrypoints.cli.commands.wait", "COMMAND", "block until a claim is free; take nothing"),
    "request": ("gitlock.entrypoints.cli.commands.request", "REQUEST", "ask the holders to let go"),
    "inbox": ("gitlock.entrypoints.cli.commands.request", "INBOX", "what is asked of me"),
    "grant": ("gitlock.entrypoints.cli.commands.request", "GRANT", "hand what was asked for to the asker"),
    "decline": ("gitlock.entrypoints.cli.commands.request", "DECLINE", "answer a request with no"),
    "escalate": ("gitlock.entrypoints.cli.commands.request", "ESCALATE", "ask a person to look"),
    "break": ("gitlock.entrypoints.cli.commands.breaking", "BREAK", "drop somebody's lease"),
    "steal": ("gitlock.entrypoints.cli.commands.breaking", "STEAL", "drop somebody's lease and take it"),
    "acquire": ("gitlock.entrypoints.cli.commands.acquire", "COMMAND", "claim, wait for it, and print only the token"),
    "gc": ("gitlock.entrypoints.cli.commands.gc", "COMMAND", "remove what has ended"),
    "history": ("gitlock.entrypoints.cli.commands.history", "COMMAND", "what happened, with the reasons"),
    "whoami": ("gitlock.entrypoints.cli.commands.whoami", "COMMAND", "who am I here, and why"),
    "install": ("gitlock.entrypoints.cli.commands.install", "INSTALL", "make commits in this clone ask first"),
    "uninstall": ("gitlock.entrypoints.cli.commands.install", "UNINSTALL", "take our hooks away again"),
    "doctor": ("gitlock.entrypoints.cli.commands.doctor", "COMMAND", "is everything in order here?"),
    "completion": (
        "gitlock.entrypoints.cli.commands.completion", "COMMAND", "print a script that completes these commands"
    ),
    "install-man": (
        "gitlock.entrypoints.cli.commands.install_man", "COMMAND", "put the manual page where man looks"
    ),
    "complete-words": ("gitlock.entrypoints.cli.commands.complete_words", "COMMAND", "words for a shell's completion"),
    "overview": ("gitlock.entrypoints.cli.commands.overview", "COMMAND", "who holds what, and is it enforced here"),
}  # fmt: skip
HIDDEN = ("complete-words", "overview")  # not in the help: one is for programs, the other is what `git lock` alone says
ALIASES = {
    "ls": "list",
    "log": "history",
    "unlock": "release",
    "lock": "acquire",
    "force-release": "break",
    "prune": "gc",
}
