#!/bin/sh
# What git's hooks ask, and those of agents' programs, as far as a shell can answer it: Node takes 70 ms to start, and mostly there is
# nothing to judge.
# usage: hook.sh NAME ARGUMENTS..., called by the section that `git handoff hooks install` writes.

set -f # git's words are no patterns
LF='
'

main() {
  case $hook in
    pre-commit) pre_commit "$@" ;;
    prepare-commit-msg) prepare_commit_msg "$@" ;;
    pre-merge-commit) pre_merge_commit "$@" ;;
    pre-push) pre_push "$@" ;;
    reference-transaction) reference_transaction "$@" ;;
    pre-receive) start_node "$@" ;;
    agent-event) agent_event "$@" ;;
    status-line) status_line "$@" ;;
    *) echo "git-handoff: there is no hook called '$hook'." >&2 && exit 2 ;;
  esac
}

# No record waits for a commit, and nothing is staged under .handoff: nothing to do.
pre_commit() {
  ! is_pending || start_node "$@"
  git diff-index --cached --quiet HEAD -- .handoff 2>/dev/null
  case $? in
    0) exit 0 ;;
    1) start_node "$@" ;;
  esac
  [ -z "$(git ls-files --cached -- .handoff)" ] || start_node "$@" # no commit yet
}

# Whether HEAD lacks the newest record of a session. A rebase gets none.
is_pending() {
  find_git_dir
  [ -d "$git_dir/handoff-pending" ] || return 1
  [ ! -d "$git_dir/rebase-merge" ] && [ ! -d "$git_dir/rebase-apply" ] || return 1
  set +f
  for mark in "$git_dir"/handoff-pending/*; do
    [ -f "$mark" ] && IFS= read -r path <"$mark" || continue
    git rev-parse --quiet --verify "HEAD:$path" >/dev/null 2>&1 || { set -f && return 0; }
  done
  set -f
  return 1
}

# Adds the trailers of whoever's session is open in this work tree. No Node.
prepare_commit_msg() {
  find_git_dir
  find_session || exit 0
  show_life
  # who rebases moves commits that are somebody's already
  [ ! -d "$git_dir/rebase-merge" ] && [ ! -d "$git_dir/rebase-apply" ] || exit 0
  # a message of comments alone is empty, and must stay so: git gives up on it
  [ -n "$(sed '/^. -\{24\} >8 -\{24\}$/,$d' "$1" | git stripspace --strip-comments)" ] || exit 0
  message=$1
  # that of a merge has no line end, and trailers would become part of its subject
  [ -z "$(tail -c 1 "$message")" ] || echo >>"$message"
  set --
  while IFS= read -r trailer; do
    case $trailer in Handoff-*': '?*) set -- "$@" --trailer "$trailer" ;; esac
  done <"$trailers"
  [ $# -eq 0 ] ||
    git interpret-trailers --in-place --no-divider --if-exists addIfDifferent "$@" "$message" ||
    warn 'the trailers were not added.'
  exit 0
}

# Who commits, as every verb finds out: the session that is named, else that of the identity that is, else the only one. Where nobody
# can tell, no session is named. Of the identity there is a file, so no other name leads anywhere.
find_session() {
  set +f
  set -- "$git_dir"/handoff-sessions/*
  set -f
  [ -f "$1" ] || return 1
  identity=${HANDOFF_IDENTITY-}
  for trailers; do
    [ -z "${HANDOFF_SESSION-}" ] || {
      IFS=' ' read -r _ session <"$trailers" || continue
      case $session in "${HANDOFF_SESSION##*/}"*) return 0 ;; *) continue ;; esac
    }
    [ -n "$identity" ] || [ $# -eq 1 ] || identity=$(git config handoff.identity) || break
    [ "${identity:-${trailers##*/}}" != "${trailers##*/}" ] || return 0
  done
  return 1
}

# Whoever commits is at work: a sign of life of the session that the trailers name, as Node writes it.
show_life() {
  name_session || return 0
  [ ! -f "$beat" ] || write_life
}

# Its id, and where its signs of life are.
name_session() {
  IFS=' ' read -r _ session <"$trailers" || return 1
  case $session in '' | *[!0-9a-f-]*) return 1 ;; esac
  find_state
  beat=$state/sessions/$session/heartbeat
}

write_life() {
  boot=null
  uptime=0
  if [ -r /proc/sys/kernel/random/boot_id ] && [ -r /proc/uptime ]; then
    IFS= read -r boot </proc/sys/kernel/random/boot_id && boot="\"$boot\""
    IFS=' ' read -r uptime _ </proc/uptime
  fi
  # a file that is replaced is whole whenever somebody reads it
  {
    printf '{"boot":%s,"uptime":%s,"at":"%s"}\n' "$boot" "$uptime" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$beat.$$" &&
      mv -f "$beat.$$" "$beat" || rm -f "$beat.$$"
  } 2>/dev/null
}

# Of all work trees of the repository.
find_state() {
  common=$git_dir
  [ ! -f "$git_dir/commondir" ] || { IFS= read -r common <"$git_dir/commondir" && common=$git_dir/$common; }
  state=${HANDOFF_STATE:-$common/handoff}
}

find_git_dir() {
  git_dir=${GIT_DIR-}
  [ -n "$git_dir" ] || { [ -d .git ] && git_dir=.git; } || git_dir=$(git rev-parse --git-dir)
}

pre_merge_commit() {
  branch=$(git symbolic-ref -q HEAD) && is_protected "$branch" || exit 0
  start_node "$@"
}

# <local ref> <local oid> <remote ref> <remote oid>: only the first may have spaces.
pre_push() {
  read_input
  IFS=$LF
  for line in $input; do
    line=${line% *}
    is_protected "${line##* }" || continue
    unset IFS
    judge "$input" "$@"
  done
  exit 0
}

# <old> <new> <ref>. What is ordinary passes here; the rest is judged.
reference_transaction() {
  [ "${1-}" = prepared ] || exit 0
  read_input
  case $input in *' refs/heads/'*) ;; *) exit 0 ;; esac
  judged=
  IFS=$LF
  for line in $input; do
    case $line in *' refs/heads/'*) ;; *) continue ;; esac
    is_protected "${line##* }" || continue
    ref=${line##* }
    line=${line% *}
    look_at "${line% *}" "${line#* }" "$ref"
  done
  unset IFS
  [ -z "$judged" ] || judge "$judged" "$@"
  exit 0
}

# OLD NEW REF
look_at() {
  case $2 in
    ref:*) return ;;
    *[!0]*) ;;
    *) ! is_deleted || warn "$3 is protected, and is deleted here. A guarded server keeps it."; return ;;
  esac
  old=$1
  case $old in *[!0]*) ;; *) old=$(git rev-parse -q --verify "$3") || return 0 ;; esac
  ! is_next "$2" "$old" "${3#refs/heads/}" || return 0
  known=$(git for-each-ref --format='%(objectname)' "refs/remotes/*/${3#refs/heads/}")
  # shellcheck disable=SC2086 # one word a line
  brought=$(git rev-list --max-count=2 --parents "$2" --not "$old" $known --) || brought=unknown$LF
  case $brought in
    '') git merge-base --is-ancestor "$old" "$2" || warn "$3 goes back: it loses commits that it had." ;;
    *"$LF"* | *' '*' '*) judged="$judged$old $2 $3$LF" ;;
    *) is_new "$2" "$old" "${3#refs/heads/}" || judged="$judged$old $2 $3$LF" ;;
  esac
}

# Or only packed, by gc: then its file goes, and nothing is locked.
is_deleted() {
  [ -e "$(git rev-parse --git-path packed-refs.lock)" ]
}

# A commit that no other branch has: made here, by commit, amend or one cherry-pick. The push judges it.
is_new() {
  [ -n "$(new_commits "$@")" ]
}

# And right on top of the branch: this answers for almost every commit, with one process.
is_next() {
  [ "$(new_commits "$@")" = "$1 $2" ]
}

# NEW OLD BRANCH
new_commits() {
  git rev-list --max-count=2 --parents "$1" --not "$2" --exclude="$3" --branches --remotes --
}

# A shell reads lines byte by byte: a few are faster so, many by another process.
read_input() {
  input=
  count=0
  while [ $count -lt 16 ] && IFS= read -r line; do
    input=$input$line$LF
    count=$((count + 1))
  done
  [ $count -lt 16 ] || input=$input$(cat)
}

# The list of the newest policy in the work tree. Where none is in sight, Node looks at what the usual names hold.
is_protected() {
  [ -n "${protected-}" ] || read_protected
  case $protected in *"$LF$1$LF"*) return 0 ;; *) return 1 ;; esac
}

read_protected() {
  policy=
  set +f
  for file in .handoff/policy/[0-9]*.yaml; do
    case $file in *.pending.yaml) continue ;; esac
    [ "${#file}" -lt "${#policy}" ] || policy=$file # 10000 comes after 9999
  done
  set -f
  protected=${LF}refs/heads/main${LF}refs/heads/master$LF
  [ -f "$policy" ] || return 0
  protected=$LF
  while IFS= read -r row; do
    case $row in
      '  - refs/'*) protected=$protected${row#  - }$LF ;;
      '  - "refs/'*'"') row=${row#  - ?} && protected=$protected${row%?}$LF ;;
    esac
  done <"$policy"
}

# INPUT ARGUMENTS...
judge() {
  find_program
  lines=$1
  shift
  printf '%s\n' "$lines" | "$node" "$program" hooks run "$hook" -- "$@" >&2
  exit $?
}

start_node() {
  find_program
  exec "$node" "$program" hooks run "$hook" -- "$@" >&2
}

# The program is beside this file, wherever a link to it is.
find_program() {
  node=${HANDOFF_NODE:-node}
  command -v "$node" >/dev/null 2>&1 || node=node
  command -v "$node" >/dev/null 2>&1 || give_up 'node was not found'
  self=$0
  while [ -h "$self" ]; do
    target=$(readlink "$self") || give_up "$self leads nowhere"
    case $target in /*) self=$target ;; *) self=$(dirname "$self")/$target ;; esac
  done
  program=$(dirname "$self")/cli.cjs
  [ -f "$program" ] || give_up "$program is gone"
}

# Advice may be missed; the server's word may not.
give_up() {
  [ "$hook" != agent-event ] || exit 0
  [ "$hook" != pre-receive ] || {
    echo "git-handoff: $1. Nothing can be judged, so nothing is accepted." >&2
    exit 1
  }
  warn "$1, so $hook checked nothing."
  exit 0
}

warn() {
  echo "git-handoff: warning: $1" >&2
}

. ./event.sh # the build puts it here

hook=${1-}
[ $# -eq 0 ] || shift
main "$@"
