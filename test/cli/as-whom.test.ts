import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFamily } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { disposableDirectory, git, isolatedEnv } from '../temporary.ts';
import { run } from './cli.ts';

// Every verb that writes says as whom, in text and in JSON: one story in which each of them is called.

/** Of a record: `identity` and `session_id`. Of a document, which no session writes: who signed it. */
type Kind = 'record' | 'document' | 'signed_by';

interface Said {
  verb: string;
  args?: string[];
  as: string;
  kind: Kind;
  /** What is done first, without a verb. */
  first?(dir: string): void;
}

const donna = (verb: string, ...args: string[]): Said => ({ verb, args, as: 'donna', kind: 'record' });
const ada = (kind: Kind, verb: string, ...args: string[]): Said => ({ verb, args, as: 'ada', kind });

const STORY: Said[] = [
  ada('document', 'init'),
  ada('signed_by', 'identity add', 'donna'),
  ada('signed_by', 'identity add', 'lola'),
  ada('document', 'task add', 'T1', '--title', 'One'),
  ada('document', 'task add', 'T2', '--title', 'Two'),
  ada('document', 'task edit', 'T1', '--priority', '2'),
  ada('signed_by', 'policy set', 'stale_after', '700'),
  donna('claim', 'T2'),
  donna('unclaim', 'T2'),
  donna('start'),
  donna('note', 'tabs'),
  donna('checkpoint'),
  donna('decide', '--title', 'Tabs', 'No tabs.'),
  donna('wip open', 'tabs', 'half'),
  donna('wip close', 'tabs'),
  donna('signal send', 'lola', 'look'),
  donna('claim', 'T1'),
  { ...donna('thought', 'T1', 'Made it.'), first: (dir) => commit(dir, 'a.txt') },
  donna('task update', 'T1', '--status', 'done'),
  donna('done', 'T2', 'Nothing to do.', '--no-code'),
  donna('heartbeat'),
  donna('audit start', '--intent', 'look closely'),
  { ...donna('reconcile'), first: (dir) => git(dir, 'revert', '--no-edit', 'HEAD') },
  ada('record', 'start'),
  ada('record', 'review', 'T2', '--verdict', 'approve', 'Right.'),
  ada('record', 'waiver', 'HEAD', '--reason', 'by hand'),
  donna('wrap', '--message', 'Done.'),
  { ...donna('seal'), args: [] },
  { verb: 'pickup', as: 'lola', kind: 'record' },
  { verb: 'accept', args: ['I go on.'], as: 'lola', kind: 'record' },
  ada('document', 'ledger append'),
  { ...ada('record', 'release', 'LOLA', '--reason', 'gone') },
  donna('salvage', 'LOLA', '--force'),
  {
    ...ada('signed_by', 'identity skill', 'donna', 'skill.md'),
    first: (dir) => writeFileSync(join(dir, 'skill.md'), 'Be brief.\n'),
  },
  ada('signed_by', 'identity rotate', 'donna'),
  ada('signed_by', 'identity revoke', 'lola'),
];

/** They sign nothing, or only what others say. */
const OTHERS = new Set(
  [
    'restore batons decisions signal-pending wip-list status sessions log show task-list task-show task-graph next escalate',
    'verify gate trust audit-verify prove check-proof root keygen identity-keygen identity-list identity-export policy-show',
    'ledger-verify ledger-key hooks-install hooks-uninstall hooks-status hooks-run completion doctor mcp',
    'agent-list agent-attach agent-stop relay-list relay-show relay-watch relay-drive agent-event connect disconnect',
    'agent-run relay-start relay-retry relay-abandon relay-force', // of an agent in a terminal: its identity, in tests of their own
    'identity-resign policy-sign', // which say "Signed by", each with what it is: their own tests read it
  ]
    .join(' ')
    .split(' '),
);

function commit(dir: string, name: string): void {
  writeFileSync(join(dir, name), `${name}\n`);
  git(dir, 'add', name);
  git(dir, 'commit', '--quiet', '--message', name);
}

function place(): { dir: string; env: NodeJS.ProcessEnv } {
  const { path, remove } = disposableDirectory();
  afterAll(remove);
  const dir = join(path, 'work');
  git('/', 'init', '--quiet', '--initial-branch=main', dir);
  return { dir, env: { ...isolatedEnv, HANDOFF_KEYS: join(path, 'keys') } };
}

/** The story as a process each; what each of them printed. */
function tell(...flags: string[]): string[] {
  const { dir, env } = place();
  const answers: string[] = [];
  let lola = '';
  for (const { verb, args = [], as, first } of STORY) {
    first?.(dir);
    const words = [...verb.split(' '), ...args.map((arg) => (arg === 'LOLA' ? lola : arg))];
    const named = verb === 'seal' ? ['--session', sessionOf(dir, env, 'donna')] : ['--as', as];
    const { code, stdout, stderr } = run([...words, ...named, ...flags], { cwd: dir, env });
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`);
    if (verb === 'pickup') lola = sessionOf(dir, env, 'lola');
    answers.push(stdout);
  }
  return answers;
}

function sessionOf(dir: string, env: NodeJS.ProcessEnv, identity: string): string {
  const { sessions } = JSON.parse(run(['sessions', '--json'], { cwd: dir, env }).stdout);
  return sessions.find((each: { identity: string }) => each.identity === identity).session_id;
}

const shown: { text: string[]; json: string[] } = { text: [], json: [] };
beforeAll(() => Object.assign(shown, { text: tell(), json: tell('--json') }));
const rows = STORY.map((said, at) => [[said.verb, ...(said.args ?? [])].join(' '), said, at] as const);

describe('says as whom', () => {
  test.each(rows)('%s', (_, { as, kind }, at) => {
    expect(shown.text[at]).toMatch(new RegExp(`\\b${as}\\b`));
    const answer = JSON.parse(shown.json[at]!);
    const said = kind === 'signed_by' ? answer.signed_by : [answer.identity];
    expect(said).toEqual([as]);
    if (kind === 'record') expect(answer.session_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('no verb is left out', () => {
    const names = COMMANDS.flatMap((command) =>
      isFamily(command) ? command.verbs.map(({ name }) => `${command.name} ${name}`) : [command.name],
    );
    const told = new Set(STORY.map(({ verb }) => verb));
    expect(names.filter((name) => !told.has(name) && !OTHERS.has(name.replace(' ', '-')))).toEqual([]);
  });
});
