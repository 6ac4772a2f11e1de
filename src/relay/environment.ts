/**
 * What an agent is started with: all that its starter has, the configuration of its program with it, but for what says where the
 * starter is or in whose name it acts. A program that was told that it runs inside of another one behaves like a part of it.
 */
export function carriedEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && isCarried(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}

function isCarried(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !OF_THE_STARTER.test(name);
}

const OF_THE_STARTER = new RegExp(
  `^(?:${[
    'TMUX|TMUX_PANE|STY|TERM|TERM_PROGRAM|TERM_PROGRAM_VERSION|TERM_SESSION_ID|COLUMNS|LINES',
    'PWD|OLDPWD|SHLVL|_|PPID|npm_\\w+|INIT_CWD',
    'HANDOFF_IDENTITY|HANDOFF_SESSION|HANDOFF_PREVIOUS_SESSION|HANDOFF_PROMPT|HANDOFF_RELAY',
    'GIT_DIR|GIT_WORK_TREE|GIT_INDEX_FILE|GIT_PREFIX|GIT_OBJECT_DIRECTORY|GIT_COMMON_DIR|GIT_QUARANTINE_PATH|GIT_EXEC_PATH',
    'CLAUDECODE|CLAUDE_CODE_(?:ENTRYPOINT|SSE_PORT|SESSION_ID|CHILD_SESSION|EXECPATH)|CLAUDE_(?:PROJECT_DIR|ENV_FILE|PLUGIN_ROOT|PLUGIN_DATA|EFFORT|PID)',
    'AI_AGENT|CODEX_(?:THREAD_ID|SANDBOX\\w*|MANAGED_\\w+|CI)',
    'GEMINI_(?:SESSION_ID|CWD|PROJECT_DIR|PLANS_DIR|CLI)|OPENCODE|OPENCODE_(?:PID|CALLER|RUN_ID|PROCESS_ROLE)',
    'COPILOT_(?:PROJECT_DIR|CLI|RUN_APP|LOADER_PID|CLI_BINARY_VERSION|AGENT_SESSION_ID|AGENT)',
  ].join('|')})$`,
);
