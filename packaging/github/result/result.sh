#!/usr/bin/env bash
# The step of action.yml: reports the outcome of the job with `dormouse result` or `dormouse error`.
set -uo pipefail

stop() {
  printf '::error::%s\n' "$2"
  exit "$1"
}

command -v dormouse >/dev/null || stop 1 "dormouse is not in PATH: install it on the runner."
[ -n "${DORMOUSE_TOKEN-}" ] || stop 6 "The input token is empty: is the secret set for this repository?"
printf '::add-mask::%s\n' "$DORMOUSE_TOKEN"
case $RESULT_CALL in
  pnd_*) ;;
  *) stop 2 "The input call must be the id of a pending call (pnd_…)." ;;
esac

if [ "$RESULT_STATUS" != success ]; then
  printf '%s' "${RESULT_ERROR:-The job ended with status $RESULT_STATUS: $RESULT_RUN}" |
    dormouse error "$RESULT_CALL" -
elif [ -n "$RESULT_VALUE" ] && python3 -c 'import json, sys; json.loads(sys.argv[1])' \
    "$RESULT_VALUE" 2>/dev/null; then
  dormouse result "$RESULT_CALL" --json-value "$RESULT_VALUE"
else
  printf '%s' "${RESULT_VALUE:-$RESULT_RUN}" | dormouse result "$RESULT_CALL" -
fi
