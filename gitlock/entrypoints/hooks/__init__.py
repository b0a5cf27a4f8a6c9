"""Git's hooks. They run before every commit, so they import little and start git before they import the rest."""

COMMITS = ("pre-commit", "pre-merge-commit", "prepare-commit-msg")  # they judge what a commit changes
GATES = (*COMMITS, "pre-push")  # the hooks that can refuse
HOOKS = (*COMMITS, "commit-msg", "post-commit", "post-checkout", "post-merge", "post-rewrite", "pre-push")
