#!/usr/bin/env bash
# Runs the gate: annotations into the log, the report into the summary of the job, the verdict into the outputs. It ends
# well when the gate says no, so that the report is still posted; the last step of the action fails then.
set -euo pipefail

report=$RUNNER_TEMP/git-handoff-report.md
annotations=$RUNNER_TEMP/git-handoff-annotations
verdict=$RUNNER_TEMP/git-handoff-verdict.json
errors=$RUNNER_TEMP/git-handoff-errors

# The target branch as it is now: the base that the event names may be older, and know a key that was revoked since.
fetch_target() {
  local ref=refs/remotes/origin/$GITHUB_BASE_REF
  git fetch --quiet --no-tags --no-recurse-submodules origin "+refs/heads/$GITHUB_BASE_REF:$ref" ||
    echo 'The target branch could not be fetched again: it is judged as it was checked out.'
  BASE=$ref
}

# A name becomes a commit. git would take a tag by the name of a branch for the branch, even by its full name where there is
# no such branch; whoever may push a tag must not choose what is judged.
resolve() {
  local oid
  case $1 in refs/*) git show-ref --verify --quiet "${1%%[~^]*}" || return 1 ;; esac
  oid=$(git -c core.warnAmbiguousRefs=true rev-parse --verify --end-of-options "$1^{commit}" 2>"$errors") || return 1
  ! grep -q 'is ambiguous' "$errors" || return 1
  echo "$oid"
}

judge() {
  "$PROGRAM" gate --base="$base" --head="$head" ${ROOT:+--root="$ROOT"} --format="$1"
}

# true or false, if it is a verdict of the gate, and on this change; a program that is none may end well too.
read_verdict() {
  node -e '
    const [file, base, head] = process.argv.slice(1);
    const verdict = JSON.parse(require("node:fs").readFileSync(file, "utf8"));
    if (verdict.base !== base || verdict.head !== head || typeof verdict.pass !== "boolean") process.exit(1);
    console.log(verdict.pass);
  ' "$verdict" "$base" "$head" 2>/dev/null
}

# Words of others in a log: the runner must not take a line of theirs for a command.
quote() {
  local token
  token=$(node -p 'crypto.randomUUID()')
  echo "::stop-commands::$token"
  cat "$1"
  echo "::$token::"
}

finish() {
  {
    echo "pass=$1"
    echo "report=$report"
  } >>"$GITHUB_OUTPUT"
  cat "$report" >>"$GITHUB_STEP_SUMMARY"
  exit 0
}

not_judged() {
  [ ! -s "$errors" ] || quote "$errors"
  echo "::error title=git-handoff::The change could not be judged: $1"
  printf '%s\n' '<!-- git-handoff gate -->' '## ❌ git-handoff: not judged' '' \
    'The check could not run, so the change must not be merged. The log of the job says why.' >"$report"
  finish false
}

: >"$errors"
[ -n "$ROOT" ] ||
  echo '::warning title=git-handoff::No root is given, so the branch vouches for itself. Set the input root to what git handoff trust prints.'
[ "$(git rev-parse --is-shallow-repository)" = false ] ||
  echo '::warning title=git-handoff::This clone has no whole history. Give actions/checkout the input fetch-depth: 0.'

if [ -z "$BASE" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then fetch_target 2>"$errors"; fi
if [ -z "$BASE" ] || [ -z "$HEAD" ]; then not_judged 'this event names no change; set the inputs base and head.'; fi
base=$(resolve "$BASE") || not_judged 'its base is not in this clone, or its name means more than one thing.'
head=$(resolve "$HEAD") || not_judged 'its head is not in this clone, or its name means more than one thing.'

told=0
judge json >"$verdict" 2>"$errors" || told=$?
[ "$told" -le 1 ] || not_judged "git handoff gate ended with $told."
pass=$(read_verdict) || not_judged 'what the program says is no verdict of git handoff gate on this change.'
case $pass$told in true0 | false1) ;; *) not_judged "git handoff gate ended with $told, and says pass: $pass." ;; esac

code=0
judge github >"$annotations" 2>"$errors" || code=$?
if [ "$code" != "$told" ] || [ ! -s "$annotations" ]; then not_judged "git handoff gate ended with $told, and then with $code."; fi
cat "$annotations"
[ ! -s "$errors" ] || quote "$errors"

again=0
judge markdown >"$report" 2>"$errors" || again=$?
[ "$again" = "$code" ] || not_judged "git handoff gate ended with $code, and then with $again."
finish "$pass"
