# Completion for bash 3.2 and later: of `git-lock …`, and of `git lock …` where git's own completion is loaded.
#
#   eval "$(git lock completion bash)"     in ~/.bashrc, or
#   git lock completion bash > ~/.local/share/bash-completion/completions/git-lock
#
# What is completed comes from anybody: it is compared, quoted and shown, and never evaluated.

# Sets `takes`, `rest` and `options` to what the command $1 takes.
__git_lock_about() {
	case $1 in
@TABLE@
	*) takes= rest= options= ;;
	esac
}

# Sets `typed` to the words of the line up to the cursor, as they were typed. Bash splits them at `=`, `:` and `@` as
# well; what no space divides is put together again.
__git_lock_split() {
	local line=${COMP_LINE:0:COMP_POINT} word rest i
	typed=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		rest=${line#"${line%%[![:space:]]*}"}
		if [[ $rest == "$word"* ]]; then
			local after=${rest#"$word"}
		else
			word=$rest after=
		fi
		if ((i)) && [[ $rest == "$line" ]]; then
			typed[${#typed[@]} - 1]+=$word
		else
			typed[${#typed[@]}]=$word
		fi
		line=$after
	done
}

# Reads $1, a word that is being typed: `plain` is what it means so far, `quote` the quote that is open, `keep` how many
# characters of `plain` stand before the part that readline replaces. Fails where only the shell could tell.
__git_lock_read() {
	local text=$1 char i breaks=${COMP_WORDBREAKS//[\"\'[:space:]]/}
	plain= quote= keep=0
	for ((i = 0; i < ${#text}; i++)); do
		char=${text:i:1}
		if [[ $quote == "'" ]]; then
			[[ $char == "'" ]] && return 1
			plain+=$char
		elif [[ $char == \\ ]]; then
			i=$((i + 1)) char=${text:i:1}
			[[ $quote == '"' && $char != [\"\\\$\`] ]] && plain+=\\
			plain+=$char
		elif [[ $char == [\$\`] ]]; then
			return 1
		elif [[ $char == '"' ]]; then
			[[ $quote ]] && return 1
			quote=$char keep=${#plain}
		elif [[ $char == "'" && -z $quote ]]; then
			quote=$char keep=${#plain}
		else
			[[ -z $quote && $char == @ ]] && keep=${#plain} # readline breaks words before it, not after it
			plain+=$char
			[[ -z $quote && $char != @ && $breaks == *"$char"* ]] && keep=${#plain}
		fi
	done
	return 0
}

# Adds those of the lines in $2 that go on where the word `cur` stands, each after $1, quoted as `cur` is.
__git_lock_reply() {
	local lead=$1 word rest apostrophe="'\\''" # in a variable: bash 3.2 reads quotes in a replacement otherwise
	while IFS= read -r word; do
		word=$lead$word
		[[ $word != "$lead" && $word == "$plain"* ]] || continue
		rest=${word:keep}
		case $quote in
		\')
			rest=${rest//\'/$apostrophe} ;;
		\")
			[[ $rest == *!* ]] && continue # no quoting inside double quotes keeps history expansion away
			rest=${rest//\\/\\\\} rest=${rest//\"/\\\"} rest=${rest//\$/\\\$} rest=${rest//\`/\\\`} ;;
		*)
			[[ $rest ]] && printf -v rest %q "$rest"
			[[ $spaced ]] || rest+=' ' ;;
		esac
		COMPREPLY[${#COMPREPLY[@]}]=$rest
	done <<<"$2"
}

# What only git-lock knows. `__git` is of git's completion: it keeps a `-C DIR` that was typed.
__git_lock_words() {
	if declare -F __git >/dev/null; then
		__git lock complete-words "$1"
	else
		git lock complete-words "$1"
	fi 2>/dev/null </dev/null
}

# Offers what the kind $1 stands for, after $2.
__git_lock_offer() {
	local lead=$2 plain quote keep newline=$'\n'
	case $1 in
	files) return ;; # bash's own
	'')
		compopt +o default +o bashdefault 2>/dev/null
		return
		;;
	esac
	__git_lock_read "$cur" || return
	case $1 in
	*'|'*) __git_lock_reply "$lead" "${1//|/$newline}" ;;
	new)
		__git_lock_reply "$lead" "$(__git_lock_words keys)"
		[[ ${#COMPREPLY[@]} -gt 0 ]] && __git_lock_reply '' "$(compgen -f -- "$plain")"
		;;
	commands) __git_lock_reply '' "$(compgen -c -- "$plain" | sort -u)" ;;
	*)
		compopt -o nosort 2>/dev/null
		__git_lock_reply "$lead" "$(__git_lock_words "$1")"
		;;
	esac
}

# Sets `value` to what the option $1 takes; fails for a flag.
__git_lock_value() {
	local item
	for item in $options; do
		if [[ $item == "$1="* ]]; then
			value=${item#*=}
			return 0
		fi
	done
	return 1
}

# Completes the last of the words, which are those after `git lock`.
__git_lock_complete() {
	local IFS=$' \t\n' cur=${!#} word spaced= command= takes= rest= options= value= wanted= ended=
	COMPREPLY=()
	compopt +o nospace 2>/dev/null && spaced=1
	while (($# > 1)); do
		word=$1
		shift
		if [[ -z $command ]]; then
			[[ $word == -* ]] || { command=$word && __git_lock_about "$word"; }
		elif [[ $wanted ]]; then
			wanted= # it was the value of the option before it
		elif [[ $ended ]]; then
			ended=after
		elif [[ $word == -- ]]; then
			ended=just
		elif [[ $word != -* || $word == *=* ]]; then
			:
		elif __git_lock_value "$word"; then
			wanted=1
		fi
	done
	if [[ -z $command ]]; then
		case $cur in
		-*) __git_lock_offer '-h|--help|--version' ;;
		*) __git_lock_offer '@COMMANDS@' ;;
		esac
	elif [[ $wanted ]]; then
		__git_lock_offer "$value"
	elif [[ $ended && $rest ]]; then # another command: its name, and after that bash's own
		[[ $ended == just ]] && __git_lock_offer commands
	elif [[ -z $ended && $cur == --*=* ]]; then
		__git_lock_value "${cur%%=*}" && __git_lock_offer "$value" "${cur%%=*}="
	elif [[ -z $ended && $cur == -* ]]; then
		local names= item
		for item in $options; do
			names+="${item%%=*}|"
		done
		__git_lock_offer "$names"
	else
		__git_lock_offer "$takes"
	fi
}

# Git's completion calls this for `git lock …`, and for an alias of it: then the words that the alias stands for come
# first.
_git_lock() {
	local typed at=1 before word expansion
	before=()
	__git_lock_split
	while ((at < ${#typed[@]} - 1)); do
		case ${typed[at]} in
		-C | -c | --git-dir | --work-tree | --namespace | --config-env) at=$((at + 2)) ;;
		-*) at=$((at + 1)) ;;
		*) break ;;
		esac
	done
	if [[ ${typed[at]} != lock ]]; then
		IFS=$' \t\n' read -r -d '' -a expansion <<<"$(__git config --get "alias.${typed[at]}" 2>/dev/null)"
		local seen=
		for word in ${expansion[@]+"${expansion[@]}"}; do
			if [[ $seen ]]; then
				before[${#before[@]}]=$word
			elif [[ $word == lock ]]; then
				seen=1
			fi
		done
	fi
	((at + 1 < ${#typed[@]})) || typed[${#typed[@]}]=
	__git_lock_complete ${before[@]+"${before[@]}"} "${typed[@]:at+1}"
}

_git_lock_main() {
	local typed
	__git_lock_split
	__git_lock_complete "${typed[@]:1}"
}

complete -o bashdefault -o default -o nospace -F _git_lock_main git-lock
