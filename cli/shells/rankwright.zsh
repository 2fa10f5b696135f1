#compdef rankwright
# Completion of rankwright for zsh. The program itself knows what comes next; this asks it.
_rankwright() {
  local -a lines found
  local line word files
  lines=("${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${lines[@]}"; do
    word="${line%%$'\t'*}"
    case "$line" in
      '') ;;
      :files) files=yes ;;
      *$'\t'*) found+=("${word//:/\\:}:${line#*$'\t'}") ;;
      *) found+=("${word//:/\\:}") ;;
    esac
  done
  (( $#found )) && _describe -V rankwright found
  if [[ -n $files ]]; then
    compset -P '--*='
    _files
  fi
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _rankwright "$@"
else
  compdef _rankwright rankwright
fi
