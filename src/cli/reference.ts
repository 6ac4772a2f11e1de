// What is true of every command: the man page and docs/commands.md both say it, in these words.

export const DESCRIPTION =
  'Agents and people leave signed records in .handoff, committed to git, so that whoever continues the work can ' +
  'check who did what. The root of trust is pinned in each clone; every record is verified against it.';

export const EXIT_STATUS: readonly [string, string][] = [
  ['0', 'Done.'],
  ['1', 'Refused: a check says no.'],
  ['2', 'Wrong usage or bad input.'],
  ['3', 'Someone else holds it; try later, or take it over with --force where a verb has it.'],
  ['4', 'The environment: no repository, not initialised, no key, I/O failure.'],
];

export const ENVIRONMENT: readonly [string, string][] = [
  [
    'HANDOFF_IDENTITY',
    'Who acts, where --as does not say. Without it whoever has the only open session in the work tree acts, else ' +
      'handoff.identity decides, else it is bot.',
  ],
  [
    'HANDOFF_SESSION',
    'The session that is meant, by its id or the beginning of it, where --session does not say; default: the one the ' +
      'work tree is in.',
  ],
  [
    'HANDOFF_KEYS',
    'Where private keys are, outside every work tree; default: git-handoff/keys in $XDG_CONFIG_HOME, else in ~/.config.',
  ],
  [
    'HANDOFF_STATE',
    'Where locks, the journals of sessions, drafts, what was seen of the policy, and caches are: an absolute path. ' +
      'Default: handoff in the common git directory, which all work trees share.',
  ],
  [
    'HANDOFF_TMUX_SOCKET',
    'The tmux server in which agent run opens terminals: a path, or a name. Default: the one that you are inside of, else ' +
      'one of its own, called git-handoff.',
  ],
  ['HANDOFF_PROMPT', 'Set by agent run for a command that is no runtime: what it is told first.'],
  ['HANDOFF_PREVIOUS_SESSION', 'Set by agent run: the session that an agent continues.'],
  ['HANDOFF_RELAY', 'Set for a successor: the relay that started it.'],
  ['NO_COLOR', 'If it is not empty, nothing is coloured; default: colours on a terminal only.'],
  ['FORCE_COLOR', 'Colours without a terminal too; 0 or false: none. NO_COLOR comes first.'],
];

/** Keys of git config. */
export const CONFIGURATION: readonly [string, string][] = [
  [
    'handoff.identity',
    'Who acts, where neither --as, HANDOFF_IDENTITY nor the only open session in the work tree says.',
  ],
  ['handoff.runtime', 'The program that agent run starts: claude, codex, gemini, opencode or copilot.'],
  [
    'handoff.notify',
    'A command that is run for each step of a relay, with JSON on standard input: a program and its arguments, which no shell reads.',
  ],
  [
    'handoff.signingKey',
    'An OpenSSH ed25519 key to sign with, before those in HANDOFF_KEYS: the path of either half. The private half may ' +
      'be in an ssh-agent.',
  ],
  [
    'handoff.root',
    'The root that is pinned: a repository with another one is refused. Set by init, by trust, and by the first verify.',
  ],
  [
    'handoff.remote',
    "A remote on which locks are taken too, so that sessions on several machines keep out of each other's way. " +
      'Without it locks hold on this machine. --local goes on without it once.',
  ],
  [
    'handoff.budget.seconds, .refs, .commits, .merges, .bytes, .memory',
    'What judging one push, or one gate, may cost: 120 seconds, 10000 refs, 100000 commits, 512 merges that are made again, ' +
      '64m bytes in .handoff, 256m bytes of memory that git takes at once. Beyond it the push is refused: over_budget, ' +
      'too_large, too_many_merges. A number, perhaps with k, m or g.',
  ],
  [
    'handoff.witness',
    'Public keys of witnesses, with spaces between: ledger verify checks their cosignatures where the ledger has any.',
  ],
];
