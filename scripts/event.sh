# What hooks of agents' programs call, as far as a shell can answer it: a prompt or a tool is a sign of life, and takes no Node.
# Whatever is wrong, nothing is said and 0 is returned: a program holds its agent, or troubles its user, for anything else. What the
# program writes is not read here: where it works is where it starts its hooks.

# RUNTIME EVENT [--as NAME]
agent_event() {
  find_place || exit 0
  name_event "${1-}" "${2-}" || start_event "$@"
  case $#:${3-} in
    2:) ;;
    4:--as) HANDOFF_IDENTITY=$4 HANDOFF_SESSION= ;;
    *) start_event "$@" ;;
  esac
  find_state
  case $state in /*) ;; *) exit 0 ;; esac
  stamp_arrival
  case $event in prompt | stop | session_end) ! is_relayed || start_event "$@" ;; esac
  find_session && name_session && [ -f "$beat" ] || exit 0
  case $event in prompt | stop) echo "$event" >"$state/sessions/$session/agent-turn" ;; esac
  is_fresh || write_life
  is_answered || start_event "$@"
  exit 0
} 2>/dev/null

# The work tree around this directory, if somebody uses git-handoff in it. Found without a process, which would take longer than the rest.
find_place() {
  top=$PWD
  while [ ! -e "$top/.git" ]; do
    [ -n "$top" ] || return 1
    top=${top%/*}
  done
  [ -d "$top/.handoff" ] || return 1
  git_dir=$top/.git
  [ ! -d "$git_dir" ] || return 0
  IFS= read -r line <"$git_dir" || [ -n "$line" ] || return 1
  case $line in
    'gitdir: /'*) git_dir=${line#gitdir: } ;;
    'gitdir: '*) git_dir=$top/${line#gitdir: } ;;
    *) return 1 ;;
  esac
  [ -f "$git_dir/HEAD" ] || git_dir=$(git rev-parse --absolute-git-dir) # a path may have a line break
}

# The events at which there may be nothing to say, as programs name them. Others, and names in another case, are for Node.
name_event() {
  runtime=$1
  case "$1 $2" in
    'claude UserPromptSubmit' | 'codex UserPromptSubmit' | 'gemini BeforeAgent' | 'opencode chat.message' | \
      'copilot userPromptSubmitted') event=prompt ;;
    'claude PreToolUse' | 'claude PostToolUse' | 'claude PostToolUseFailure' | 'claude SubagentStart' | 'claude SubagentStop' | \
      'codex PreToolUse' | 'codex PostToolUse' | 'codex PermissionRequest' | 'codex SubagentStart' | 'codex SubagentStop' | \
      'gemini BeforeTool' | 'gemini AfterTool' | 'opencode tool.execute.before' | 'opencode tool.execute.after' | \
      'copilot preToolUse' | 'copilot postToolUse' | 'copilot subagentStop') event=tool ;;
    'claude Stop' | 'codex Stop' | 'gemini AfterAgent' | 'opencode session.idle' | 'copilot agentStop') event=stop ;;
    'claude PostCompact' | 'codex PostCompact') event=compacted ;; # and a session start, where there is something to say
    'claude SessionEnd' | 'codex SessionEnd' | 'gemini SessionEnd' | 'opencode session.deleted' | \
      'copilot sessionEnd') event=session_end ;;
    *) return 1 ;;
  esac
}

# When an event arrived last is the time of a file.
stamp_arrival() {
  folder=$state/runtimes/$runtime
  [ -d "$folder" ] || mkdir -p "$folder" || return 0
  echo >"$folder/$event"
}

# Whether somebody is being replaced here: each relay that is not over has an entry.
is_relayed() {
  set +f
  set -- "$state"/relays/open/*
  set -f
  [ -e "$1" ]
}

# Whether its last sign of life is of this very second: then another one would say no more, and take two processes.
is_fresh() {
  [ -r /proc/sys/kernel/random/boot_id ] && [ -r /proc/uptime ] && IFS= read -r last <"$beat" || return 1
  IFS= read -r boot </proc/sys/kernel/random/boot_id && IFS=' ' read -r uptime _ </proc/uptime || return 1
  case $last in *"\"$boot\",\"uptime\":${uptime%%.*}"[.,]*) ;; *) return 1 ;; esac
}

# Whether there is nothing to say. Node leaves a mark where a prompt is to be told something, and one for the last stop.
is_answered() {
  marks=$state/sessions/$session/agent
  case $event in
    prompt) is_bound && [ ! -e "$marks-reminder" ] && [ ! -e "$marks-held" ] && [ ! -e "$marks-forgot" ] ;;
    stop) [ ! -e "$marks-held" ] && is_unchanged ;;
  esac
}

# Whether it is known which terminal the agent of this session runs in.
is_bound() {
  [ -z "${TMUX_PANE-}" ] || [ -e "$state/agents/$session.json" ]
}

# RUNTIME [COMMAND]: the status line of a program, which alone is told how full its context is. That is kept; what is shown is the
# user's own line, by the command that stands in ours, or in their own settings.
status_line() {
  input=$(cat)
  top= state= session= percent=
  keep_context "$1" 2>/dev/null
  own=${2-}
  [ -n "$own" ] || [ -n "${HANDOFF_STATUS_LINE-}" ] || find_own_line "$1" 2>/dev/null
  [ -n "$own" ] || show_line
  export HANDOFF_STATUS_LINE=1 # a command that leads back here finds nothing more
  printf '%s\n' "$input" | sh -c "$own"
  exit $?
}

keep_context() {
  find_place && find_state && find_session && name_session && [ -f "$beat" ] || return 0
  case $state in /*) ;; *) return 0 ;; esac
  case $input in *'"context_window"'*'"used_percentage"'*) ;; *) return 0 ;; esac
  percent=${input#*'"context_window"'}
  percent=${percent#*'"used_percentage"'}
  percent=${percent#*:}
  percent=${percent#"${percent%%[! ]*}"}
  percent=${percent%%[,\}]*}
  case $percent in '' | *[!0-9.]* | .* | *.*.* | ????????????????????*) percent= && return 0 ;; esac
  used=$state/sessions/$session/agent-context
  at=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  printf '{"runtime":"%s","used_percentage":%s,"at":"%s"}\n' "$1" "$percent" "$at" >"$used.$$" &&
    mv -f "$used.$$" "$used" || rm -f "$used.$$"
}

# What the user would see without us. Node reads the settings, and only where they have changed.
find_own_line() {
  [ "$1" = claude ] || return 0
  # an agent may stand in a repository within its own, of which nobody was asked whether what it brings may run
  shared=/dev/null
  case $input in *'"project_dir":"'"$top"'"'* | *'"project_dir": "'"$top"'"'*) shared=$top/.claude/settings.json ;; esac
  users=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json
  grep -q '"statusLine"' "$shared" "$users" || return 0
  kept=
  [ -z "$session" ] || kept=$state/runtimes/claude-status-line
  [ -z "$kept" ] || [ "$shared" != /dev/null ] || kept=$kept-users
  if [ -n "$kept" ] && [ "$kept" -nt "$users" ] && { [ ! -e "$shared" ] || [ "$kept" -nt "$shared" ]; }; then
    own=$(cat "$kept")
    return 0
  fi
  node=${HANDOFF_NODE:-node}
  own=$("$node" -e '
    for (const path of process.argv.slice(1)) {
      try {
        const line = JSON.parse(require("fs").readFileSync(path, "utf8")).statusLine;
        if (typeof line?.command === "string") { process.stdout.write(line.command); break; }
      } catch {}
    }' "$shared" "$users")
  [ -z "$kept" ] || { mkdir -p "$state/runtimes" && printf '%s' "$own" >"$kept.$$" && mv -f "$kept.$$" "$kept"; }
}

# Where the user has no line of their own.
show_line() {
  [ -z "$session" ] || printf '%s %.8s%s\n' "${trailers##*/}" "$session" "${percent:+ ${percent%%.*} %}"
  exit 0
}

# Since the last stop was looked at: no commit, no record, no policy. A file that is not there cannot tell.
is_unchanged() {
  for path in "$git_dir/HEAD" "$git_dir/logs/HEAD" "$state/sessions/$session/records" "$top/.handoff/policy"; do
    [ -e "$path" ] && [ "$marks-stop" -nt "$path" ] || return 1
  done
}

start_event() {
  find_program
  "$node" "$program" agent-event "$@" 2>/dev/null
  exit 0
}
