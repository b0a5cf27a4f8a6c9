#!/bin/sh
# The merge check of git-lock on a server of one's own. Copy to hooks/pre-receive of the bare repository, executable;
# git-lock has to be on the PATH of whoever runs it (pip install git-lock).
#
# Pushes to the branch that HEAD names are judged, and to those that gitlock.protected names:
#     git config --add gitlock.protected 'release/*'
# Those may not be rewound either (push --force), unless `git config gitlock.rewind true` says so.
# A refusal refuses the whole push. Could not check (20) refuses as well: nothing lands unseen.

# What is pushed as a ledger has to be one: one that can't be read would stop every merge check.
lines=$(cat)
case $lines in
*refs/agentlocks/*) printf '%s\n' "$lines" | git lock receive-ledgers >&2 || exit 1 ;;
esac

protected=$(git symbolic-ref -q HEAD | sed 's|^refs/heads/||'; git config --get-all gitlock.protected)
status=0
while read -r old new ref; do
    case $ref in refs/heads/*) branch=${ref#refs/heads/} ;; *) continue ;; esac
    # A branch that is made or deleted lands nothing in what was there.
    case $old in *[!0]*) ;; *) continue ;; esac
    case $new in *[!0]*) ;; *) continue ;; esac
    judged=no
    while read -r pattern; do
        # shellcheck disable=SC2254 # a pattern is meant
        case $branch in $pattern) judged=yes ;; esac
    done <<end
$protected
end
    [ "$judged" = yes ] || continue
    # A rewind is no merge: it takes away what has landed, and no check has judged that.
    if ! git --no-replace-objects merge-base --is-ancestor "$old" "$new" &&
        [ "$(git config --type=bool --get gitlock.rewind)" != true ]; then
        echo "git-lock: push refused: '$branch' would lose commits that have landed in it" >&2
        echo "hint: git pull --rebase, and push without --force (the server's owner: git config gitlock.rewind true)" >&2
        status=1
        continue
    fi
    git lock ci --base "$old" --head "$new" --format text </dev/null >&2 || status=1
done <<pushed
$lines
pushed
exit $status
