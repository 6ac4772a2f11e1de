import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import type { DocumentKind } from '../../src/core/record/kinds.ts';
import { parseAs } from '../../src/core/record/record.ts';
import { recordId } from '../../src/core/record/verify.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { type Draft, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import {
  identityOf,
  type NamedKey,
  policyAfter,
  publicLine,
  reopen,
  signDocument,
  writePolicy,
} from '../threats/forge.ts';
import {
  addRecord,
  keyFor,
  openSession,
  type RandomSession,
  sealOf,
  someMaintainer,
  type World,
} from './random-world.ts';
import { code, identityAfter, taskFields, thoughtSince } from './scenario.ts';

/** Something that somebody does to the work tree. It may be honest, mistaken or hostile: nobody asks. */
export type RandomStep = (world: World) => Promise<void> | void;

const TASKS = ['P0.1', 'P0.2', 'P0.3'];

function identities({ place }: World): string[] {
  return readdirSync(join(place.dir, '.handoff/identities'));
}

function document(world: World, path: string, fields: YamlMap & { kind: DocumentKind }): void {
  const { chance } = world.dice;
  const signers: NamedKey[] = [someMaintainer(world)];
  const other = someMaintainer(world);
  if (chance(0.3) && other[0] !== signers[0]![0]) signers.push(other);
  writeBytes(world.place.dir, `.handoff/${path}`, signDocument(fields, signers));
}

function changeKeys(world: World, name: string, change: (keys: KeyField[]) => KeyField[]): void {
  const path = `identities/${name}/identity.yaml`;
  const { fields } = parseAs(readFileSync(join(world.place.dir, '.handoff', path)), 'identity');
  const keys = change(fields.keys);
  document(world, path, identityAfter(world.place, name, { keys: keys as never }));
}

interface KeyField {
  key: string;
  state: string;
}

const rotate: RandomStep = (world) => {
  const name = world.dice.pick(identities(world).filter((each) => each !== 'maintainer'));
  const key = publicLine(keyFor(world, name));
  changeKeys(world, name, (keys) => [
    { key, state: 'active' },
    ...keys.map((each) => (each.state === 'active' ? { ...each, state: 'retired' } : each)),
  ]);
};

const revoke: RandomStep = (world) => {
  const { pick, chance } = world.dice;
  const fresh = chance(0.6);
  const name = pick(identities(world).filter((each) => each !== 'bot'));
  const key = fresh ? [{ key: publicLine(keyFor(world, name)), state: 'active' }] : [];
  const hit = pick([0, 1]);
  changeKeys(world, name, (keys) => [
    ...key,
    ...keys.map((each, at) => (at >= hit || keys.length === 1 ? { ...each, state: 'revoked' } : each)),
  ]);
};

/** By the verb, with what it signs anew. Not every key can be: it says so, and nothing is changed. */
const revokeByVerb: RandomStep = async (world) => {
  const { pick, chance } = world.dice;
  const name = pick(identities(world));
  await reopen(world.place)
    .handoff.identity.revoke({ name, resignAll: chance(0.5), as: 'maintainer', commit: false })
    .catch(() => {});
};

const resign: RandomStep = async ({ place }) => {
  await reopen(place)
    .handoff.identity.resign({ all: true, as: 'maintainer', commit: false })
    .catch(() => {});
};

const changeRole: RandomStep = (world) => {
  const name = world.dice.pick(identities(world));
  const role = world.dice.pick(['agent', 'agent', 'maintainer', 'bot']);
  document(world, `identities/${name}/identity.yaml`, identityAfter(world.place, name, { role }));
};

const addIdentity: RandomStep = (world) => {
  const isSecond = !identities(world).includes('second');
  const name = isSecond ? 'second' : `agent-${++world.serial}`;
  const role = isSecond ? 'maintainer' : 'agent';
  const fields = identityOf(world.place, name, keyFor(world, name), { role });
  document(world, `identities/${name}/identity.yaml`, fields);
};

const defineTask: RandomStep = (world) => {
  const { pick, chance } = world.dice;
  const id = pick(TASKS);
  const path = `tasks/${id}.yaml`;
  const extra: YamlMap = chance(0.3) ? { proof: 'seal' } : {};
  try {
    const { fields, signedBytes } = parseAs(readFileSync(join(world.place.dir, '.handoff', path)), 'task-definition');
    const prev = recordId(signedBytes, nodeHashes);
    document(world, path, taskFields(world.place, id, { version: fields.version + 1, prev, ...extra }));
  } catch {
    document(world, path, taskFields(world.place, id, extra));
  }
};

const changePolicy: RandomStep = (world) => {
  const { place, dice } = world;
  const newest = Math.max(...readdirSync(join(place.dir, '.handoff/policy')).map((name) => Number.parseInt(name, 10)));
  const change: YamlMap = dice.pick<YamlMap>([
    { limits: { record_bytes: dice.pick([2500, 5000, 262144]), records_per_push: 10000 } },
    { stale_after: 100 + dice.below(900) },
    { exempt: dice.pick([[], ['docs'], ['docs/']]) },
    { sections: dice.pick([[], ['Current work']]) },
  ]);
  writePolicy(place, newest + 1, policyAfter(place, newest, change), [someMaintainer(world)]);
};

/** A session that begins, or goes on, under any key that its identity ever had. */
const work: RandomStep = async (world) => {
  const { pick, chance } = world.dice;
  const open = world.sessions.filter(({ records }) => !records.some(({ kind }) => kind === 'baton'));
  const isNew = open.length === 0 || chance(0.6);
  const name = pick([...world.keys.keys()]);
  const predecessor = world.sessions.length > 0 && chance(0.4) ? pick(world.sessions) : null;
  const session = isNew ? openSession(world, name, predecessor) : pick(open);
  const key = pick(world.keys.get(session.identity)!);
  if (isNew) addRecord(world, session, opening(predecessor), key);
  const count = 1 + world.dice.below(3);
  for (let n = 0; n < count; n++) addRecord(world, session, await someDraft(world, session), key);
  if (chance(0.6)) addRecord(world, session, { kind: 'baton', summary: 'so far', body: 'so far\n' }, key);
  if (chance(0.4)) addRecord(world, session, sealOf(session), key);
};

function opening(predecessor: RandomSession | null): Draft {
  if (!predecessor) return { kind: 'start', head: null };
  const baton = predecessor.records.findLast(({ kind }) => kind === 'baton')?.id ?? null;
  return { kind: 'pickup', predecessor_session_id: predecessor.id, baton, head: null, signals: [], released: [] };
}

async function someDraft(world: World, session: RandomSession): Promise<Draft> {
  const { pick, chance, below } = world.dice;
  const task_id = pick(TASKS);
  const lock = chance(0.3) ? { lock: { task: task_id, token: 1 + below(6) } } : {};
  const head = git(world.place.dir, 'rev-parse', 'HEAD');
  const drafts: Draft[] = [
    { kind: 'note', text: 'x'.repeat(pick([10, 10, 3000])) },
    { kind: 'wip', key: pick(['a', 'b']), state: 'open', text: 'begun' },
    { kind: 'signal', to: pick([...world.keys.keys()]), type: 'message', text: 'hello' },
    { kind: 'task', task_id, status: pick(['in_progress', 'done', 'blocked']) },
    { kind: 'waiver', commit_sha: head, reason: 'mine' },
    { ...(await thoughtSince(world.place, 'main')), task_id },
  ];
  const thought = world.sessions.flatMap(({ records }) => records).find(({ kind }) => kind === 'thought');
  if (thought) drafts.push({ kind: 'review', task_id, thought: thought.id, verdict: 'approve', checked: [] });
  return session.records.length > 40 ? drafts[0]! : { ...pick(drafts), ...lock };
}

const writeCode: RandomStep = (world) => {
  code(world.place, { [`src/file-${world.dice.below(4)}.ts`]: `${++world.serial}\n` });
};

/** Bytes of something that is there become others, or go. */
const spoil: RandomStep = (world) => {
  const { pick, chance } = world.dice;
  const path = pick(git(world.place.dir, 'ls-files', '.handoff').split('\n'));
  const file = join(world.place.dir, path);
  if (chance(0.5)) rmSync(file, { force: true });
  else writeFileSync(file, readFileSync(file, 'utf8').replace(/[a-z]+\n/, 'other\n'));
};

/** Says again what a document said some commits ago. */
const restore: RandomStep = (world) => {
  const paths = git(world.place.dir, 'ls-files', '.handoff/identities', '.handoff/tasks').split('\n');
  const back = world.dice.pick(['HEAD~1', 'HEAD~2', 'HEAD~4']);
  try {
    git(world.place.dir, 'checkout', '--quiet', back, '--', world.dice.pick(paths));
  } catch {
    // it was not there then
  }
};

/** The same step several times is likelier. */
export const RANDOM_STEPS: readonly [string, RandomStep][] = [
  ['work', work],
  ['work', work],
  ['work', work],
  ['code', writeCode],
  ['rotate', rotate],
  ['revoke', revoke],
  ['revoke by verb', revokeByVerb],
  ['resign', resign],
  ['role', changeRole],
  ['identity', addIdentity],
  ['task', defineTask],
  ['policy', changePolicy],
  ['spoil', spoil],
  ['restore', restore],
];
