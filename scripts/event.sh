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
    prompt) [ ! -e "$marks-reminder" ] && [ ! -e "$marks-held" ] && [ ! -e "$marks-forgot" ] ;;
    stop) [ ! -e "$marks-held" ] && is_unchanged ;;
  esac
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
