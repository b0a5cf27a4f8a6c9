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
    "spawn": (
        "gitlock.entrypoints.cli.commands.spawn", "COMMAND", "make a worktree for an agent, with its claims"
    ),
    "agents": ("gitlock.entrypoints.cli.commands.agents", "COMMAND", "who is at work, where, and who needs attention"),
    "state": (
        "gitlock.entrypoints.cli.commands.state", "COMMAND", "say that you work, wait for a person, are idle or done"
    ),
    "overlap": (
        "gitlock.entrypoints.cli.commands.overlap", "COMMAND", "what agents reserve, change, or would conflict in"
    ),
    "scratch": (
        "gitlock.entrypoints.cli.commands.scratch", "COMMAND", "a folder of your own, outside of every worktree"
    ),
    "note": ("gitlock.entrypoints.cli.commands.note", "COMMAND", "the one file that a branch's agents share"),
    "wait": ("gitlock.entrypoints.cli.commands.wait", "COMMAND", "block until a claim is free; take nothing"),
    "request": ("gitlock.entrypoints.cli.commands.request", "REQUEST", "ask the holders to let go"),
    "inbox": ("gitlock.entrypoints.cli.commands.request", "INBOX", "what is asked of me"),
    "grant": ("gitlock.entrypoints.cli.commands.request", "GRANT", "hand what was asked for to the asker"),
    "decline": ("gitlock.entrypoints.cli.commands.request", "DECLINE", "answer a request with no"),
    "escalate": ("gitlock.entrypoints.cli.commands.request", "ESCALATE", "ask a person to look"),
    "break": ("gitlock.entrypoints.cli.commands.breaking", "BREAK", "drop somebody's lease"),
    "steal": ("gitlock.entrypoints.cli.commands.breaking", "STEAL", "drop somebody's lease and take it"),
    "acquire": ("gitlock.entrypoints.cli.commands.acquire", "COMMAND", "claim, wait for it, and print only the token"),
    "publish": ("gitlock.entrypoints.cli.commands.publish", "PUBLISH", "tell other clones what is held here"),
    "fetch": ("gitlock.entrypoints.cli.commands.publish", "FETCH", "hear what other clones hold"),
    "gc": ("gitlock.entrypoints.cli.commands.gc", "COMMAND", "remove what has ended"),
    "history": ("gitlock.entrypoints.cli.commands.history", "COMMAND", "what happened, with the reasons"),
    "whoami": ("gitlock.entrypoints.cli.commands.whoami", "COMMAND", "who am I here, and why"),
    "retire": ("gitlock.entrypoints.cli.commands.retire", "COMMAND", "remove an agent's worktree, and lose nothing"),
    "restore": ("gitlock.entrypoints.cli.commands.restore", "COMMAND", "bring back a worktree that was retired"),
    "trust": ("gitlock.entrypoints.cli.commands.trust", "COMMAND", "a person approves set-up commands"),
    "install": ("gitlock.entrypoints.cli.commands.install", "INSTALL", "make commits in this clone ask first"),
    "uninstall": ("gitlock.entrypoints.cli.commands.install", "UNINSTALL", "take our hooks away again"),
    "setup": ("gitlock.entrypoints.cli.commands.setup", "COMMAND", "make an agent program ask before it edits"),
    "doctor": ("gitlock.entrypoints.cli.commands.doctor", "COMMAND", "is everything in order here?"),
    "ci": ("gitlock.entrypoints.cli.commands.ci", "COMMAND", "may this branch land in its base?"),
    "agent-hook": (
        "gitlock.entrypoints.cli.commands.agent_hook", "COMMAND", "what an agent program runs at each of its events"
    ),
    "guide": ("gitlock.entrypoints.cli.commands.guide", "COMMAND", "what an agent has to know, to be read once"),
    "mcp": ("gitlock.entrypoints.cli.commands.mcp", "COMMAND", "an MCP server for agent programs"),
    "completion": (
        "gitlock.entrypoints.cli.commands.completion", "COMMAND", "print a script that completes these commands"
    ),
    "install-man": (
        "gitlock.entrypoints.cli.commands.install_man", "COMMAND", "put the manual page where man looks"
    ),
    "complete-words": ("gitlock.entrypoints.cli.commands.complete_words", "COMMAND", "words for a shell's completion"),
    "receive-ledgers": (
        "gitlock.entrypoints.cli.commands.receive_ledgers", "COMMAND", "check ledgers that are pushed here"
    ),
    "overview": ("gitlock.entrypoints.cli.commands.overview", "COMMAND", "who holds what, and is it enforced here"),
}  # fmt: skip
# Not in the help: those are for programs, or (the overview) what `git lock` alone says.
HIDDEN = ("complete-words", "overview", "receive-ledgers")
ALIASES = {
    "ls": "list",
    "log": "history",
    "unlock": "release",
    "lock": "acquire",
    "force-release": "break",
    "prune": "gc",
}
