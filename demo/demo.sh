#!/usr/bin/env bash
# Two agents share one repository: every command below is really run, and its result is checked. The demo fails if a
# step does not end as it says. `make demo` calls this with git-lock on the PATH; nothing outside a temporary folder
# is read or written.
set -eu

command -v git-lock >/dev/null || { echo "git-lock is not on the PATH: run 'make demo'" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Nobody's own settings, hooks or agent session take part.
for name in $(compgen -v GIT_ || true) $(compgen -v GITLOCK_ || true) CI; do
    [ "$name" = GIT_EXEC_PATH ] || unset "$name"
done
export HOME=$scratch GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$scratch/gitconfig GIT_PAGER=cat
git config --global user.name "Dana Dev"
git config --global user.email dana@example.com
git config --global init.defaultBranch main
git config --global advice.detachedHead false

if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
    bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' magenta=$'\e[35m' blue=$'\e[34m' plain=$'\e[0m'
else
    bold='' dim='' green='' magenta='' blue='' plain=''
fi

steps=0

# A heading and a sentence about what comes.
say() {
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
    [ $# -lt 2 ] || printf '%s%s%s\n' "$dim" "$2" "$plain"
}

# run AGENT STATUS COMMAND [TEXT…]: shows the command and what it answers; both the status and each text must be there.
run() {
    local agent=$1 wanted=$2 command=$3 color=$green folder=$scratch/$1 status=0 text
    shift 3
    case $agent in bob) color=$magenta ;; dana) color=$blue folder=$scratch/shop ;; esac
    printf '\n%s%s $%s %s\n' "$color" "$agent" "$plain" "$command"
    if [ "$agent" = dana ]; then
        (cd "$folder" && bash -c "$command") >"$scratch/output" 2>&1 || status=$?
    else
        (cd "$folder" && GITLOCK_AGENT=$agent bash -c "$command") >"$scratch/output" 2>&1 || status=$?
    fi
    wrapped <"$scratch/output"
    [ "$status" = 0 ] || printf '%s(exit code %s)%s\n' "$dim" "$status" "$plain"
    [ "$status" = "$wanted" ] || fail "'$command' ended with $status, not with $wanted"
    for text in "$@"; do
        grep -qF -e "$text" "$scratch/output" || fail "'$command' does not say: $text"
    done
    steps=$((steps + 1))
}

# Lines of more than 79 columns go on in the next one, indented.
wrapped() {
    awk -v room=79 -v scratch="$scratch/" '{
        gsub(scratch, "")
        line = $0
        while (length(line) > room) {
            at = room
            while (at > 40 && substr(line, at + 1, 1) != " ") at--
            if (at == 40) at = room
            print substr(line, 1, at)
            rest = substr(line, at + 1)
            sub(/^ +/, "", rest)
            line = "      " rest
        }
        print line
    }'
}

fail() {
    printf '\nthe demo failed: %s\n' "$1" >&2
    exit 1
}

# A repository with one commit, and a worktree for each agent.
mkdir -p "$scratch/shop/src/auth" "$scratch/shop/src/api"
cd "$scratch/shop"
git init --quiet
printf 'def login(name):\n    return name\n' >src/auth/login.py
printf 'def session(user):\n    return user\n' >src/auth/session.py
printf 'def users():\n    return []\n' >src/api/users.py
printf '# Shop\n' >README.md
printf 'version = 1\n' >.gitlock.toml
git add .
git commit --quiet -m "first"
main=$(git symbolic-ref --short HEAD)
git worktree add --quiet -b alice "$scratch/alice"
git worktree add --quiet -b bob "$scratch/bob"

say "One repository, a worktree for each of two agents." \
    "An agent is whoever GITLOCK_AGENT names; dana, without one, is a person."
run dana 0 "git lock install" "enforced here by: pre-commit"
run alice 0 "git lock whoami" "alice (agent): from GITLOCK_AGENT"

say "1. Who wants to change something claims it first."
run alice 0 "git lock claim 'src/auth/*' -m 'new login'" "claimed 'src/auth/*' as alice" "covers 2 tracked files"

say "2. Whether two claims overlap is decided exactly." \
    "An overlap is shown by a path that both cover; without one, both are granted."
run bob 10 "git lock claim 'src/**/login.*'" "'src/auth/*' is held by alice" "both cover 'src/auth/login."
run bob 0 "git lock claim 'src/**' '!src/auth/**' -m 'rename users'" "claimed 'src/** !src/auth/**' as bob"

say "3. Git refuses to commit what another agent holds." \
    "--no-verify skips pre-commit, not the second look of prepare-commit-msg."
echo 'LIMIT = 3' >>"$scratch/bob/src/auth/login.py"
run bob 1 "git commit -am 'limit logins'" "'src/auth/login.py' is held by alice"
run bob 1 "git commit --no-verify -am 'limit logins'" "'src/auth/login.py' is held by alice"
run bob 0 "git lock who src/auth/login.py" "src/auth/login.py: alice since"

say "4. Hand-over: alice commits and lets go, bob claims and commits."
echo 'TTL = 60' >>"$scratch/alice/src/auth/session.py"
run alice 0 "git commit -am 'sessions end'" "sessions end"
run alice 0 "git lock release 'src/auth/*'" "released 'src/auth/*'"
run bob 0 "git lock claim 'src/auth/*' -m 'limit logins'" "claimed 'src/auth/*' as bob"
run bob 0 "git commit -am 'limit logins'" "limit logins"

say "5. A merge passes, although it brings in paths that the other holds." \
    "They are bob's work. Only what alice herself changes in the merge would count."
run alice 0 "git merge -m 'take in the limit' bob" "src/auth/login.py"

say "6. What nobody claimed is refused too, until it is claimed."
echo 'Sells things.' >>"$scratch/alice/README.md"
run alice 0 "git add README.md"
run alice 1 "git commit -m 'say what it is'" "'README.md' is not claimed by you"
run alice 0 "git lock claim --staged -m 'say what it is'" "README.md"
run alice 0 "git commit -m 'say what it is'" "say what it is"

say "7. Asking: bob holds src/auth/*, alice needs one file of it." \
    "Granting hands over just what was asked for, in one step and with a new fence."
run alice 0 "git lock request src/auth/login.py -m 'one line in it'" "asked bob to let go"
run bob 0 "git lock inbox" "alice asks for 'src/auth/login.py'"
request=$(cd "$scratch/bob" && GITLOCK_AGENT=bob git lock inbox | sed -n '1s/ .*//p')
run bob 0 "git lock grant $request" "is alice's now"
run bob 0 "git lock mine" "src/auth/* !src/auth/login.py"

say "8. A command under a lease waits its turn, and keeps others out." \
    "A wait that could never end is refused at once; who can't wait takes a ticket."
run bob 15 "git lock run deploy:web -- git lock claim deploy:web --wait --agent alice" \
    "this wait would never end"
run alice 0 "git lock claim deploy:web" "claimed 'deploy:web' as alice"
run bob 21 "git lock claim deploy:web --ticket" "queued for 'deploy:web'"

say "9. Everybody sees who holds what, and what happened."
run dana 0 "git lock" "src/auth/*" "README.md" "enforced here by: pre-commit"
run dana 0 "git lock history" "refuse" "release"

say "10. spawn makes a worktree for an agent: branch, identity and claims at once." \
    "retire takes it away, but never work: here, a file that nobody committed."
run dana 0 "git lock spawn carol --claim docs/ -m 'write docs'" "spawned carol in" "'docs/'"
ln -s "$scratch/shop.agents/carol" "$scratch/carol"
mkdir "$scratch/carol/docs"
echo 'How to buy.' >"$scratch/carol/docs/buying.md"
run dana 17 "git lock retire carol" "docs/buying.md"
run carol 0 "git add docs && git commit -m 'how to buy'" "how to buy"
run dana 0 "git lock agents" "carol"

say "11. The merge check reads which leases a branch's commits were made under." \
    "The runner of a CI needs nothing but the repository. What eve adds has none."
run carol 0 "git log -1 --format=%B" "Lock-Agent: carol" "Lock-Lease:"
git clone --quiet --no-local --branch agent/carol "$scratch/shop" "$scratch/runner"
echo 'Cheap.' >"$scratch/runner/README.md"
run runner 0 "git lock ci --base origin/$main" "clear"
run runner 0 "git -c user.name=eve -c user.email=eve@example.org commit -am 'cheap'" "cheap"
run runner 22 "git lock ci --base origin/$main" "README.md"

say "12. Agent programs ask before they edit, once setup has told them to." \
    "Two sessions of Claude Code in one worktree: what it would ask is asked here."
run dana 0 "git lock setup claude" "Claude Code is set up" ".claude/settings.local.json"
for session in first second; do
    printf '{"hook_event_name": "PreToolUse", "session_id": "%s", "cwd": "%s", "tool_name": "Edit",
        "tool_input": {"file_path": "setup.cfg"}}' "$session" "$scratch/shop" >"$scratch/$session.json"
done
run dana 0 "git-lock agent-hook --harness claude <../first.json"
run dana 0 "git lock who setup.cfg" "setup.cfg: claude-first since"
run dana 0 "git-lock agent-hook --harness claude <../second.json" '"deny"' "is held by claude-first"

printf '\n%sAll %s steps ended as they should.%s\n' "$bold" "$steps" "$plain"
