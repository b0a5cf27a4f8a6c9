#!/bin/sh
# git-lock stub v1 @DIGEST@
#
# Asks git-lock about what git is going to do or has done, then runs the hook that was here before: it lies beside this
# file, and its name ends in ".before-git-lock". `git lock install` wrote this file; `git lock uninstall` takes it away
# and puts the other one back. Change nothing here: an edited copy is left alone by both.
# In the folder agentlocks-hooks, this is what git's own configuration names (git 2.54 and later); git itself runs the
# hook of the hooks folder after it.
#
# Every name begins with gl_: one that is in the environment already would reach the next hook with our value.

gl_hook=@HOOK@
gl_python=@PYTHON@
gl_start=@START@
gl_program=@PROGRAM@
gl_fine=@FINE@ # yes: sh and the disk here tell the times of two files apart below a second
gl_framework=@FRAMEWORK@ # yes: the hook beside us is that of pre-commit or prek, which run us once they are reinstalled
gl_wanted=@WANTED@ # the settings that git-lock reads
gl_way=@WAY@ # folder: git found us in the hooks folder; configured: through its configuration

gl_newline='
'
gl_saved=no # yes: what git wrote to us is in gl_input
gl_input=

# What git does not go on without. The others (commit-msg, and what comes after the fact) never stop anything.
gl_gate=no
case $gl_hook in pre-* | prepare-commit-msg) gl_gate=yes ;; esac

# Called as the "hook from before": whoever stands in our place has asked already, and chaining would never end.
case $0 in *.before-git-lock) exit 0 ;; esac

gl_chain() {
    [ -n "${GITLOCK_PROBE-}" ] && exit 23
    [ "$gl_way" = configured ] && exit 0
    case $0 in */*) gl_beside=${0%/*} ;; *) gl_beside=. ;; esac
    gl_beside=$gl_beside/$gl_hook.before-git-lock
    [ -f "$gl_beside" ] && [ -x "$gl_beside" ] || exit 0
    [ "$gl_framework" = yes ] && [ -n "${PRE_COMMIT_RUNNING_LEGACY-}${PREK_RUNNING_LEGACY-}" ] && exit 0
    [ "$gl_saved" = yes ] || exec "$gl_beside" "$@"
    [ -n "$gl_input" ] || exec "$gl_beside" "$@" </dev/null
    exec "$gl_beside" "$@" <<gl_end
$gl_input
gl_end
}

gl_say() {
    echo "git-lock: $1" >&2
}

gl_slurp() {
    gl_text=
    while IFS= read -r gl_line || [ -n "$gl_line" ]; do
        gl_text=$gl_text${gl_text:+$gl_newline}$gl_line
    done 2>/dev/null <"$1"
}

# Adds the trailers that pre-commit has left to a message given with -m or -F. Fails where more than that may be needed
# (an editor, older receipts, what may be a comment): then git-lock does it.
gl_sign() {
    [ "${GIT_EDITOR-}" = : ] && [ "${2-}" = message ] || return 1
    gl_message=$1
    gl_some=
    gl_count=0
    while IFS= read -r gl_line || [ -n "$gl_line" ]; do
        gl_count=$((gl_count + 1))
        [ "$gl_count" -lt 200 ] || return 1
        case $gl_line in
        Lock-* | '#'*) return 1 ;;
        Signed-off-by:*) ;;
        *[![:space:]]*) gl_some=yes ;;
        esac
    done 2>/dev/null <"$gl_message"
    [ "$gl_some" = yes ] && [ -f "$gl_dir/gitlock-receipt" ] || return 1
    set --
    gl_count=none
    while [ "$gl_count" != 0 ] && IFS= read -r gl_line; do
        if [ "$gl_count" = none ]; then
            gl_count=${gl_line#"$gl_git "}
            case $gl_count in '' | *[!0-9]*) return 1 ;; esac
        else
            set -- "$@" --trailer "$gl_line"
            gl_count=$((gl_count - 1))
        fi
    done 2>/dev/null <"$gl_dir/gitlock-receipt"
    [ "$gl_count" = 0 ] || return 1
    git -c trailer.separators=: -c core.commentChar='#' interpret-trailers --in-place --no-divider \
        --where end --if-exists add --if-missing add "$@" "$gl_message" 2>/dev/null </dev/null
}

# Whether a message has our trailers.
gl_is_signed() {
    gl_count=0
    while IFS= read -r gl_line; do
        case $gl_line in "Lock-Agent: "*) return 0 ;; esac
        gl_count=$((gl_count + 1))
        [ "$gl_count" -lt 200 ] || return 1
    done 2>/dev/null <"$1"
    return 1
}

# After a checkout: one of files (agents do that all the time) and a worktree that was just added are nobody's news.
# Neither is what the pre-commit framework does while it hides unstaged edits.
if [ "$gl_hook" = post-checkout ]; then
    [ "${3-}" = 0 ] && gl_chain "$@"
    [ -n "${_PRE_COMMIT_SKIP_POST_CHECKOUT-}" ] && gl_chain "$@"
    case ${1-} in *[!0]*) ;; *) gl_chain "$@" ;; esac
fi

# Where we are. Git sets GIT_DIR in linked worktrees and submodules, and starts us at the top of the worktree.
gl_dir=${GIT_DIR:-.git}
if [ -f "$gl_dir" ]; then
    gl_slurp "$gl_dir"
    gl_dir=${gl_text#gitdir: }
fi
gl_common=$gl_dir
if [ -f "$gl_dir/commondir" ]; then
    gl_slurp "$gl_dir/commondir"
    case $gl_text in
    /*) gl_common=$gl_text ;;
    ?*) gl_common=$gl_dir/$gl_text ;;
    esac
fi

# A repository that git-lock does not manage.
# (The mark outlives a store that was deleted: then it is not known what is held, and that is not "nothing".)
[ -d "$gl_common/agentlocks" ] || [ -f "$gl_common/agentlocks.mark" ] ||
    git cat-file -e HEAD:.gitlock.toml 2>/dev/null </dev/null || gl_chain "$@"

# The git that runs us. The pre-commit framework and prek stand between, when they run the hook that they had found.
gl_git=$PPID
if [ -n "${PRE_COMMIT_RUNNING_LEGACY-}${PREK_RUNNING_LEGACY-}" ] && [ -r "/proc/$PPID/stat" ]; then
    read -r gl_line 2>/dev/null <"/proc/$PPID/stat"
    gl_line=${gl_line##*) ? }
    gl_git=${gl_line%% *}
fi

# Git 2.54 and later may ask us twice for one hook: through the configuration first, then through the folder. A hook
# manager may do so once more. Who is asked first leaves a note, and who comes after in the same git process goes on.
# It names one hook only, so that a note which outlived its process (ids are used again) opens one gate of two at most.
if [ -z "${GITLOCK_PROBE-}" ]; then
    gl_asked=$gl_dir/gitlock-asked
    gl_line=
    [ "$gl_way" = folder ] && [ -f "$gl_asked" ] && read -r gl_line 2>/dev/null <"$gl_asked"
    echo "$gl_git $gl_hook $gl_way" 2>/dev/null 1<>"$gl_asked" # not ">": to cut a file short costs a write to the disk
    [ "$gl_line" = "$gl_git $gl_hook configured" ] && gl_chain "$@"
fi

# The mode that was last in force, and what a missing program means, known before anything can fail.
gl_mode=enforce
gl_word=
gl_closed=
[ -f "$gl_common/agentlocks/mode" ] && read -r gl_word gl_closed gl_line 2>/dev/null <"$gl_common/agentlocks/mode"
case $gl_word in enforce | warn | off) gl_mode=$gl_word ;; esac

# What the same git process was told a moment ago, by pre-commit or pre-merge-commit.
gl_judged=$gl_dir/gitlock-judged
gl_pid=
gl_word=
case $gl_hook in
prepare-commit-msg | commit-msg | post-commit | post-rewrite)
    [ -f "$gl_judged" ] && read -r gl_pid gl_word gl_line 2>/dev/null <"$gl_judged"
    ;;
esac
if [ "$gl_pid" = "$gl_git" ]; then
    if [ "$gl_hook" = post-commit ]; then
        [ "$gl_word" = clear ] && gl_chain "$@"
    elif [ "$gl_hook" = post-rewrite ]; then
        [ "$gl_word" != unanswered ] && [ "${1-}" = amend ] && gl_chain "$@"
    elif [ "$gl_hook" = commit-msg ]; then
        # "receipt" in the note: there are trailers for the message. Without an editor, prepare-commit-msg added them.
        case $gl_word$gl_line in
        unanswered*) ;;
        *receipt*) [ "${GIT_EDITOR-}" = : ] && gl_is_signed "$1" && gl_chain "$@" ;;
        *) gl_chain "$@" ;;
        esac
    elif [ "$gl_fine" = yes ]; then
        # The same index, as its time says: a hook between the two that adds files makes it newer.
        gl_index=${GIT_INDEX_FILE:-$gl_dir/index}
        if [ -f "$gl_index" ] && ! [ "$gl_index" -nt "$gl_judged" ] && ! [ "$gl_judged" -nt "$gl_index" ]; then
            # "receipt" in the note: there are trailers for the message.
            # An amend has those of the whole commit, which pre-commit does not know of.
            case ${2-}$gl_line in
            commit*) ;;
            *receipt*) gl_sign "$@" && gl_chain "$@" ;;
            *) gl_chain "$@" ;;
            esac
        fi
    fi
fi

# What git-lock will want to know of git, asked while Python is still starting. A failure is no matter: git-lock asks
# again, and hears why. It also asks again where it wants other settings than this stub knows of.
gl_ask() {
    GIT_OPTIONAL_LOCKS=0
    LC_ALL=C
    export GIT_OPTIONAL_LOCKS LC_ALL
    if [ "$gl_hook" = pre-push ]; then
        gl_tell
        printf '=%s\0' $?
    fi
    git -c core.fsmonitor=false config -z --get-regexp "$gl_wanted"
    printf '=%s\0' $?
    git -c core.fsmonitor=false cat-file --batch <<gl_end
HEAD:.gitlock.toml
:.gitlock.toml
gl_end
    printf '=%s\0' $?
    [ "$gl_hook" = pre-commit ] || return 0
    git -c core.fsmonitor=false diff-index --cached --no-renames --ita-invisible-in-index --ignore-submodules=none \
        --name-status -z HEAD --
    printf '=%s\0' $?
}

# The question. Standard input belongs to the hook from before. Of a push, we read it as well, and hand it on.
# (Through a command where there is one: a shell reads a byte at a time, and a push may have thousands of refs.)
if [ "$gl_hook" = pre-push ] && ! [ -t 0 ]; then
    if command -v cat >/dev/null 2>&1; then
        gl_input=$(cat 2>/dev/null)
    else
        while IFS= read -r gl_line; do
            gl_input=$gl_input${gl_input:+$gl_newline}$gl_line
        done 2>/dev/null
    fi
    gl_saved=yes
fi
gl_tell() {
    if [ -z "$gl_input" ]; then
        return 0
    elif command -v cat >/dev/null 2>&1; then
        cat <<gl_end
$gl_input
gl_end
    else
        printf '%s\n' "$gl_input"
    fi
}
gl_run() {
    if [ -n "$gl_input" ]; then
        GITLOCK_GIT_PID=$gl_git "$@" <<gl_end
$gl_input
gl_end
    else
        GITLOCK_GIT_PID=$gl_git "$@" </dev/null
    fi
}
gl_status=127
if [ -f "$gl_python" ] && [ -x "$gl_python" ] && [ -s "$gl_start" ]; then
    gl_ask 2>/dev/null </dev/null | GITLOCK_GIT_PID=$gl_git "$gl_python" -I -S -X utf8 "$gl_start" \
        --asked "$gl_wanted" "$gl_hook" "$@"
    gl_status=$?
fi
case $gl_status in
126 | 127)
    if [ -f "$gl_program" ] && [ -x "$gl_program" ]; then
        gl_run "$gl_program" hook "$gl_hook" "$@"
        gl_status=$?
    fi
    ;;
esac
case $gl_status in
126 | 127)
    if command -v git-lock >/dev/null 2>&1; then
        gl_run git-lock hook "$gl_hook" "$@"
        gl_status=$?
    fi
    ;;
esac

# A rehearsal by `git lock doctor`: no hook from before runs, and nothing that was said means "go on".
[ -n "${GITLOCK_PROBE-}" ] && exit 23

# The answers: 0 go on, 22 a violation, 20 could not check and the policy blocks.
case $gl_status in
0) gl_chain "$@" ;;
20 | 22)
    [ "$gl_gate" = yes ] || gl_chain "$@"
    exit "$gl_status"
    ;;
esac

# No answer. What one hook of a git process has said, those after it need not repeat.
gl_told=no
[ "$gl_pid" = "$gl_git" ] && [ "$gl_word" = unanswered ] && gl_told=yes
gl_say_once() {
    [ "$gl_told" = yes ] && return
    gl_say "$1"
    echo "$gl_git unanswered" 2>/dev/null 1<>"$gl_judged" # not ">": on a pipe, that would wait for a reader
}
gl_missing=no
case $gl_status in
126 | 127)
    gl_missing=yes
    gl_what="could not be started for $gl_hook (status $gl_status: moved or uninstalled)"
    ;;
*)
    if [ "$gl_status" -gt 128 ]; then
        gl_what="was killed during $gl_hook (signal $((gl_status - 128)))"
    else
        gl_what="broke off during $gl_hook (status $gl_status)"
    fi
    ;;
esac
case $gl_hook in
post-commit) gl_say_once "$gl_what; the commit is made, and was not recorded" ;;
commit-msg) gl_say_once "$gl_what; the commit goes on without receipts in its message" ;;
post-*) gl_say_once "$gl_what; git has done what it was told to, and it was not recorded" ;;
esac
[ "$gl_gate" = yes ] || gl_chain "$@"
gl_word=$(git config --get gitlock.mode 2>/dev/null </dev/null)
case $gl_word in enforce | warn | off) gl_mode=$gl_word ;; esac
if [ "$gl_mode" != enforce ]; then
    gl_say_once "$gl_what; not checked, and not stopped (mode $gl_mode)"
    gl_chain "$@"
fi
if [ "$gl_missing" = yes ]; then
    gl_word=$(git config --get gitlock.onMissing 2>/dev/null </dev/null)
    case $gl_word in open | closed) gl_closed=$gl_word ;; esac
    if [ "$gl_closed" != closed ]; then
        gl_say_once "$gl_what; not checked, and not stopped. To mend it, install git-lock and run: git lock install"
        gl_chain "$@"
    fi
    gl_what="$gl_what, and the policy is to stop then (on_missing is closed)"
fi
if [ -n "${GITLOCK_BYPASS-}" ]; then
    gl_say_once "$gl_what; not checked, and not stopped (GITLOCK_BYPASS is set)"
    gl_chain "$@"
fi
gl_say "$gl_what; refused, as nothing was checked. Try again, or set GITLOCK_BYPASS=reason to go on unchecked"
exit 20
