# Completion for fish 3.2 and later, of `git lock …` as well as `git-lock …`.
#
#   git lock completion fish > ~/.config/fish/conf.d/git-lock.fish
#
# (In completions/ it would be read for `git-lock` alone: fish looks there for what stands first on the line.)
# What is completed comes from anybody: fish quotes it, and nothing here evaluates it.

# What only git-lock knows.
function __git_lock_words
    command git lock complete-words $argv[1] 2>/dev/null </dev/null
end

# The command that was typed, or nothing.
function __git_lock_command
    for word in (commandline -opc)[2..]
        if not string match -q -- '-*' $word
            echo -- $word
            return
        end
    end
end

function __git_lock_bare
    test -z (__git_lock_command | string collect -a)
end

function __git_lock_at
    contains -- (__git_lock_command | string collect -a) $argv
end

# What follows `git lock`, as if it followed `git-lock`.
function __git_lock_after_git
    set -l words (commandline -opc)
    set -l at (contains -i -- lock $words)
    or return
    set -e words[1..$at]
    complete -C "git-lock "(string join -- ' ' (string escape -- $words) '')(commandline -ct)
end

# Whether another command is being typed, after `--`.
function __git_lock_runs
    __git_lock_at @RUNS@
    and contains -- -- (commandline -opc)
end

function __git_lock_run
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words)
    set -e words[1..$at]
    complete -C (string join -- ' ' (string escape -- $words) '')(commandline -ct)
end

complete -c git-lock -e
complete -c git-lock -f
complete -c git -n '__fish_git_using_command lock' -f -k -a '(__git_lock_after_git)'
complete -c git-lock -n __git_lock_bare -l version -d 'Say which version this is'
complete -c git-lock -s h -l help -d 'Explain the command'
complete -c git-lock -n __git_lock_runs -a '(__git_lock_run)'
@COMMANDS@
@TABLE@
