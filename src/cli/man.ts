import { AUDIENCES, type Command, type Example, GLOBAL_FLAGS, isFamily, type Verb } from './command.ts';
import { COMMANDS } from './commands/table.ts';
import { synopsis, visibleFlags } from './help.ts';

/** git-handoff(1), which `git handoff --help` opens. */
export function formatManual(version: string): string {
  return `${[
    `.TH GIT\\-HANDOFF 1 "" "git\\-handoff ${version}" "Git Handoff Manual"`,
    ...section('NAME', 'git\\-handoff \\- hand work from one agent to the next, signed and verifiable'),
    ...section(
      'SYNOPSIS',
      '.B git handoff',
      '[\\fB\\-C\\fR \\fIdir\\fR] [\\fB\\-\\-json\\fR] \\fIverb\\fR [\\fIoptions\\fR]',
    ),
    ...section('DESCRIPTION', ...DESCRIPTION.map(escapeRoff)),
    ...section('OPTIONS', ...GLOBAL_FLAGS.flatMap(({ flags, about }) => item(flags, about))),
    ...AUDIENCES.flatMap(audienceSection),
    ...section('EXIT STATUS', ...EXIT_STATUS.flatMap(([code, meaning]) => item(code, meaning))),
    ...section('ENVIRONMENT', ...ENVIRONMENT.flatMap(([name, meaning]) => item(name, meaning))),
    ...section('CONFIGURATION', ...CONFIGURATION.flatMap(([name, meaning]) => item(name, meaning))),
    ...section('SEE ALSO', '.BR git (1),', '.BR ssh\\-keygen (1)'),
  ].join('\n')}\n`;
}

const DESCRIPTION = [
  'Agents and people leave signed records in .handoff, committed to git, so that whoever continues the work can ' +
    'check who did what. The root of trust is pinned in each clone; every record is verified against it.',
];

const EXIT_STATUS: readonly [string, string][] = [
  ['0', 'Done.'],
  ['1', 'Refused: a check says no.'],
  ['2', 'Wrong usage or bad input.'],
  ['3', 'Someone else holds it; try later, or take it over with --force where a verb has it.'],
  ['4', 'The environment: no repository, not initialised, no key, I/O failure.'],
];

const ENVIRONMENT: readonly [string, string][] = [
  [
    'HANDOFF_IDENTITY',
    'Who acts, where --as does not say. Without it handoff.identity decides, else the session of the work tree, else ' +
      'it is bot.',
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
  ['NO_COLOR', 'If it is not empty, nothing is coloured; default: colours on a terminal only.'],
  ['FORCE_COLOR', 'Colours without a terminal too; 0 or false: none. NO_COLOR comes first.'],
];

/** Keys of git config. */
const CONFIGURATION: readonly [string, string][] = [
  ['handoff.identity', 'Who acts, where neither --as nor HANDOFF_IDENTITY says.'],
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
    'handoff.budget.seconds, .refs, .commits, .merges, .bytes',
    'What judging one push, or one gate, may cost: 120 seconds, 10000 refs, 100000 commits, 512 merges that are made again, ' +
      '64m bytes in .handoff. Beyond it the push is refused: over_budget, too_large, too_many_merges. A number, ' +
      'perhaps with k, m or g.',
  ],
  [
    'handoff.witness',
    'Public keys of witnesses, with spaces between: ledger verify checks their cosignatures where the ledger has any.',
  ],
];

function audienceSection(audience: string): string[] {
  const commands = COMMANDS.filter((command) => command.audience === audience);
  return commands.length === 0 ? [] : section(audience.toUpperCase(), ...commands.flatMap(formatCommand));
}

function formatCommand(command: Command): string[] {
  if (!isFamily(command)) return formatVerb(command, '');
  const head = subsection(`git handoff ${command.name}`, command.purpose);
  return [...head, ...command.verbs.flatMap((verb) => formatVerb(verb, command.name))];
}

function formatVerb(verb: Verb, family: string): string[] {
  return [
    ...subsection(synopsis(verb, family), verb.purpose),
    ...verb.args.flatMap(({ name, about }) => item(name, about)),
    ...visibleFlags(verb).flatMap(({ flags, about }) => item(flags, about)),
    ...formatExamples(verb.examples),
  ];
}

function formatExamples(examples: readonly Example[]): string[] {
  return ['.PP', 'Examples:', ...examples.flatMap(({ run, does }) => item(run, does))];
}

function section(title: string, ...body: string[]): string[] {
  return [`.SH "${title}"`, ...body];
}

function subsection(title: string, text: string): string[] {
  return [`.SS "${escapeRoff(title).replaceAll('"', '\\(dq')}"`, escapeRoff(text)];
}

function item(term: string, text: string): string[] {
  return ['.TP', `\\fB${escapeRoff(term)}\\fR`, escapeRoff(text)];
}

/** A dash that can be copied, a backslash that shows, and no line that roff takes for a request. */
function escapeRoff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...').replace(/^[.']/gm, '\\&$&');
}
