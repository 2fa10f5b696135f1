# Completion of rankwright for bash. The program itself knows what comes next; this asks it.
_rankwright() {
  local current="${COMP_WORDS[COMP_CWORD]}" word _
  [[ $current == = ]] && current= # bash cuts --flag=value into three words
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o filenames 2>/dev/null # folders end in a slash; blanks are quoted
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("$word")
    fi
  done < <("${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _rankwright rankwright
