#!/usr/bin/env bash
# The step of action.yml: runs `dormouse ask`, and writes the outputs of the step. What comes from
# outside reaches the command as an argument and the runner with its delimiters escaped: it is never
# run, and adds no command or output of its own.
set -uo pipefail

# Text for a workflow command.
escaped() {
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '%s' "${text//$'\n'/%0A}"
}

# An output whose value may have several lines. The delimiter cannot be guessed.
output() {
  local delimiter
  delimiter=dormouse-$(cat /proc/sys/kernel/random/uuid)
  printf '%s<<%s\n%s\n%s\n' "$1" "$delimiter" "$2" "$delimiter" >>"$GITHUB_OUTPUT"
}

stop() {
  printf '::error::%s\n' "$(escaped "$2")"
  output status failed
  exit "$1"
}

command -v dormouse >/dev/null || stop 1 "dormouse is not in PATH: install it on the runner."
[ -n "${DORMOUSE_TOKEN-}" ] || stop 6 "The input token is empty: is the secret set for this repository?"
printf '::add-mask::%s\n' "$DORMOUSE_TOKEN"

arguments=(ask "$ASK_QUESTION" --project "$ASK_PROJECT" --key "$ASK_KEY" --votes "$ASK_VOTES")
[ -z "$ASK_TIMEOUT" ] || arguments+=(--timeout "$ASK_TIMEOUT")
case $ASK_KIND in
  approve) arguments+=(--approve) ;;
  answer) ;;
  *) stop 2 "The input kind must be approve or answer." ;;
esac
each_line() {
  local line
  while IFS= read -r line; do
    [ -z "$line" ] || arguments+=("$1" "$line")
  done <<<"$2"
}
each_line --argument "$ASK_ARGUMENTS"
each_line --by "$ASK_BY"
each_line --choices "$ASK_CHOICES"

answer=$(dormouse "${arguments[@]}")
exit_status=$?
case $exit_status in
  0) status=answered; [ "$ASK_KIND" = approve ] && status=approved ;;
  11) status=denied ;;
  12) status=expired ;;
  13) status=cancelled ;;
  *) status=failed ;;
esac
output answer "$answer"
output status "$status"
if [ "$exit_status" -eq 0 ]; then
  printf '::notice::%s\n' "$(escaped "$ASK_QUESTION: $answer")"
else
  printf '::error::%s\n' "$(escaped "$ASK_QUESTION: $status")"
fi
exit "$exit_status"
