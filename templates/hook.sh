#!/bin/sh
# git-lock stub v1 @DIGEST@
#
# Asks git-lock about this commit, then runs the hook that was here before: it lies beside this file, and its name
# ends in ".before-git-lock". `git lock install` wrote this file; `git lock uninstall` takes it away and puts the other
# one back. Change nothing here: an edited copy is left alone by both.
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

# Called as the "hook from before": whoever stands in our place has asked already, and chaining would never end.
case $0 in *.before-git-lock) exit 0 ;; esac

gl_chain() {
    [ -n "${GITLOCK_PROBE-}" ] && exit 23
    [ "$gl_way" = configured ] && exit 0
    case $0 in */*) gl_beside=${0%/*} ;; *) gl_beside=. ;; esac
    gl_beside=$gl_beside/$gl_hook.before-git-lock
    [ -f "$gl_beside" ] && [ -x "$gl_beside" ] || exit 0
    [ "$gl_framework" = yes ] && [ -n "${PRE_COMMIT_RUNNING_LEGACY-}${PREK_RUNNING_LEGACY-}" ] && exit 0
    exec "$gl_beside" "$@"
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
prepare-commit-msg | post-commit)
    [ -f "$gl_judged" ] && read -r gl_pid gl_word gl_line 2>/dev/null <"$gl_judged"
    ;;
esac
if [ "$gl_pid" = "$gl_git" ]; then
    if [ "$gl_hook" = post-commit ]; then
        [ "$gl_word" = clear ] && gl_chain "$@"
    elif [ "$gl_fine" = yes ]; then
        # The same index, as its time says: a hook between the two that adds files makes it newer.
        gl_index=${GIT_INDEX_FILE:-$gl_dir/index}
        [ -f "$gl_index" ] && ! [ "$gl_index" -nt "$gl_judged" ] && ! [ "$gl_judged" -nt "$gl_index" ] && gl_chain "$@"
    fi
fi

# What git-lock will want to know of git, asked while Python is still starting. A failure is no matter: git-lock asks
# again, and hears why. It also asks again where it wants other settings than this stub knows of.
gl_ask() {
    GIT_OPTIONAL_LOCKS=0
    LC_ALL=C
    export GIT_OPTIONAL_LOCKS LC_ALL
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

# The question. No hook of ours reads standard input: it belongs to the hook from before.
gl_status=127
if [ -f "$gl_python" ] && [ -x "$gl_python" ] && [ -s "$gl_start" ]; then
    gl_ask 2>/dev/null </dev/null | GITLOCK_GIT_PID=$gl_git "$gl_python" -I -S -X utf8 "$gl_start" \
        --asked "$gl_wanted" "$gl_hook" "$@"
    gl_status=$?
fi
case $gl_status in
126 | 127)
    if [ -f "$gl_program" ] && [ -x "$gl_program" ]; then
        GITLOCK_GIT_PID=$gl_git "$gl_program" hook "$gl_hook" "$@" </dev/null
        gl_status=$?
    fi
    ;;
esac
case $gl_status in
126 | 127)
    if command -v git-lock >/dev/null 2>&1; then
        GITLOCK_GIT_PID=$gl_git git-lock hook "$gl_hook" "$@" </dev/null
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
    [ "$gl_hook" = post-commit ] && gl_chain "$@"
    exit "$gl_status"
    ;;
esac

# No answer. What one hook of a git process has said, those after it need not repeat.
gl_told=no
[ "$gl_pid" = "$gl_git" ] && [ "$gl_word" = unanswered ] && gl_told=yes
gl_say_once() {
    [ "$gl_told" = yes ] && return
    gl_say "$1"
    echo "$gl_git unanswered" 2>/dev/null >"$gl_judged"
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
if [ "$gl_hook" = post-commit ]; then
    gl_say_once "$gl_what; the commit is made, and was not recorded"
    gl_chain "$@"
fi
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
