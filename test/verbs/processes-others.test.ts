import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { bindVerbs, VERBS } from '../../src/verbs/table.ts';
import { commitAll } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';
import { type Call, expectStarted, shim } from './git-calls.ts';

// The verbs that processes.test.ts and processes-shim.test.ts do not call. Decision 0038: none is left out.

const fresh = template(async (place) => {
  await place.handoff.task.add({ id: 'T1', title: 'count' });
  commitAll(place, 'tasks');
});

const NONE: string[] = [];
const READS = ['cat-file'];
const COMMITS = ['cat-file', 'commit'];

it('no other verb starts more than three git processes either', async () => {
  const place = fresh();
  const { handoff } = open(place);
  const old = (await handoff.start({ as: 'erin' })).session_id;
  const { session_id } = await handoff.start({ as: 'donna' });
  const { delta_id } = await handoff.note({ text: 'one', as: 'donna' });
  await handoff.identity.add({ name: 'second', role: 'maintainer' });
  await handoff.policy.set({ key: 'root.keys', value: 'maintainer,second' });
  await handoff.policy.set({ key: 'root.threshold', value: '2', as: 'maintainer' });
  const calls: [string, Call, string[]][] = [
    ['policy sign', (each) => each.policy.sign({ as: 'second' }), COMMITS],
    ['wip open', (each) => each.wip.open({ key: 'x', text: 'y', as: 'donna' }), NONE],
    ['wip close', (each) => each.wip.close({ key: 'x', as: 'donna' }), READS],
    ['signal pending', (each) => each.signal.pending({ as: 'donna' }), READS],
    ['task show', (each) => each.task.show({ id: 'T1' }), READS],
    ['task add', (each) => each.task.add({ id: 'T2', title: 'more' }), COMMITS],
    ['show', (each) => each.show({ record: delta_id }), ['cat-file', 'diff-index']],
    ['show of a session', (each) => each.showNamed({ record: session_id }), ['cat-file', 'diff-index']],
    ['wrap --draft', (each) => each.wrapDraft({ as: 'donna' }), ['cat-file', 'log', 'status']],
    ['release', (each) => each.release({ target: old, reason: 'gone', as: 'donna' }), READS],
    ['identity keygen', (each) => each.identity.keygen({ name: 'frank' }), READS],
    ['identity export', (each) => each.identity.export(), READS],
    ['identity rotate', (each) => each.identity.rotate({ name: 'donna' }), COMMITS],
    ['identity revoke', (each) => each.identity.revoke({ name: 'erin' }), COMMITS],
    ['identity resign', (each) => each.identity.resign({ all: true }), READS],
    ['ledger key', (each) => each.ledger.key(), READS],
  ];
  for (const [name, call, processes] of calls) await expectStarted(place, name, call, processes);
});

it('nor does one about agents and their programs, but for salvage, which starts four', async () => {
  const place = fresh();
  const { handoff } = open(place);
  const { session_id } = await handoff.start({ as: 'donna' });
  await handoff.wrap({ message: 'Go on.', as: 'donna' });
  const lost = (await handoff.pickup({ as: 'erin' })).session_id;
  await handoff.identity.add({ name: 'frank' });
  const text = Buffer.from('Be brief.\n');
  const calls: [string, Call, string[]][] = [
    ['accept', (each) => each.accept({ text: 'I go on.', as: 'erin' }), READS],
    ['agent list', (each) => each.agent.list(), READS],
    ['relay list', (each) => each.relay.list(), NONE],
    ['relay trigger', (each) => each.relay.trigger({ agent: session_id, reason: 'manual' }), READS],
    // a pickup, a draft and a wrap in one: each looks at what is not committed
    [
      'salvage',
      (each) => each.salvage({ target: lost, as: 'frank', force: true }),
      [...READS, 'log', 'status', 'status'],
    ],
    ['identity skill', (each) => each.identity.skill({ name: 'donna', text }), COMMITS],
    ['connect', (each) => each.connect({ runtime: ['claude'] }), NONE],
    ['disconnect', (each) => each.disconnect(), NONE],
  ];
  for (const [name, call, processes] of calls) await expectStarted(place, name, call, processes);
});

it('what sets up a clone starts at most three', async () => {
  const place = fresh();
  const program = { node: process.execPath, hook: join(place.dir, '../hook.sh') };
  for (const call of [
    (handoff) => handoff.hooks.status(),
    (handoff) => handoff.hooks.install(),
    (handoff) => handoff.hooks.uninstall(),
    (handoff) => handoff.doctor(),
  ] satisfies Call[]) {
    const { env, started } = shim(place);
    const repository = openRepositoryAt(place.dir, { env: { ...place.env, ...env }, host: nodeHost, program });
    await call(bindVerbs(VERBS, repository) as Parameters<Call>[0]);
    await repository.close();
    expect(started().length, String(call)).toBeLessThanOrEqual(3);
  }
});

/** Reads a file, and the repository only for a key that nobody named; the others need an agent in a terminal, which takes longer than git. */
const ELSEWHERE = [
  ...['agent.run', 'agent.attach', 'agent.stop'],
  ...['relay.start', 'relay.show', 'relay.retry', 'relay.abandon', 'relay.force', 'relay.drive', 'checkProof'],
];

it('each verb is called by one of these tests', () => {
  const tests = readdirSync(import.meta.dirname).filter((name) => /^processes.*\.test\.ts$/.test(name));
  const texts = tests.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n');
  const called = new Set([...texts.matchAll(/\b(?:handoff|each|again)\.([\w.]+)\(/g)].map(([, name]) => name));
  const missing = namesOf(VERBS).filter((name) => !called.has(name) && name !== 'init');
  expect(missing).toEqual(ELSEWHERE);
});

function namesOf(table: object, before = ''): string[] {
  return Object.entries(table).flatMap(([name, entry]) =>
    typeof entry === 'function' ? [before + name] : namesOf(entry, `${before}${name}.`),
  );
}
