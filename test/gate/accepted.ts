import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import type { Place } from '../handoff.ts';
import { disposableDirectory, git } from '../temporary.ts';
import { reopen } from '../threats/forge.ts';
import { RANDOM_STEPS } from './random-steps.ts';
import { activeAgents, addRecord, forgetDropped, openSession, openWorld, type World } from './random-world.ts';
import { branch, checkout, code, headOf, judge, thoughtSince } from './scenario.ts';

/** What a run did, for whoever has to find out why. */
export interface Run {
  accepted: number;
  refused: number;
  trace: string[];
}

/**
 * THREATS 64: whatever the gate lets in, nobody is stopped by it. Changes of a few random steps each; those that pass become the
 * protected branch, and then everything has to work: `verify`, `status`, `next`, and the next honest change.
 */
export async function runChanges(place: Place, seed: number, changes: number): Promise<Run> {
  const world = openWorld(place, seed);
  const run: Run = { accepted: 0, refused: 0, trace: [`seed ${seed}`] };
  for (let n = 0; n < changes; n++) {
    branch(place, `change-${n}`, 'main');
    const names = await someSteps(world);
    run.trace.push(names.join(', '));
    commit(place);
    const { pass, findings } = await judge(place);
    if (pass) await accept(world, run);
    else run.trace.push(`  refused: ${[...new Set(findings.map(({ code }) => code))].join(' ')}`);
    run[pass ? 'accepted' : 'refused']++;
    drop(world);
  }
  return run;
}

async function someSteps(world: World): Promise<string[]> {
  const count = 1 + world.dice.below(3);
  const names: string[] = [];
  for (let n = 0; n < count; n++) {
    const [name, step] = world.dice.pick(RANDOM_STEPS);
    await step(world);
    names.push(name);
    if (name === 'code') continue;
    commit(world.place);
  }
  return names;
}

function commit({ dir }: Place): void {
  git(dir, 'add', '--all', '--', '.handoff');
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'a change');
}

function drop(world: World): void {
  git(world.place.dir, 'checkout', '--quiet', '--force', 'main');
  forgetDropped(world);
}

async function accept(world: World, { trace }: Run): Promise<void> {
  const { place } = world;
  git(place.dir, 'branch', '--force', 'main', 'HEAD');
  checkout(place, 'main');
  await assertUsable(place, trace);
  await assertPickedUp(world, trace);
  await assertHonestPasses(world, trace);
  if (world.dice.chance(0.4)) await assertAppends(place, trace);
}

/** A maintainer appends, if one is left who can. */
async function assertAppends(place: Place, trace: string[]): Promise<void> {
  const base = headOf(place.dir);
  try {
    await reopen(place).handoff.ledger.append({ as: 'maintainer' });
  } catch (error) {
    trace.push(`  no append: ${error instanceof HandoffError ? error.code : error}`);
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(?:no_key|not_entitled|nothing_sealed|unknown_identity)$/),
    });
    return;
  }
  trace.push('  append');
  const { findings } = await judge(place, base);
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors, `${trace.join('\n')}`).toEqual([]);
  await assertUsable(place, trace);
}

async function assertUsable(place: Place, trace: readonly string[]): Promise<void> {
  const { findings } = await reopen(place).handoff.verify({ rev: 'main' });
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors, trace.join('\n')).toEqual([]);
  await reopen(place).handoff.status();
  await reopen(place).handoff.next();
  await reopen(place).handoff.log({ limit: 5 });
}

/** Somebody whose key counts takes up the work in another clone, by the verbs, and what they push would be let in. */
async function assertPickedUp(world: World, trace: readonly string[]): Promise<void> {
  const { place, dice } = world;
  const agents = await activeAgents(world);
  if (agents.length === 0) return;
  const [name, key] = dice.pick(agents);
  const { path, remove } = disposableDirectory();
  const [dir, keys] = [join(path, 'clone'), join(path, 'keys')];
  git('/', 'clone', '--quiet', '--shared', place.dir, dir);
  mkdirSync(join(keys, place.root.slice(0, 12)), { recursive: true });
  const pem = key.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(join(keys, place.root.slice(0, 12), `${name}.pem`), pem, { mode: 0o600 });
  const at = reopen(place, dir, { ...place.env, HANDOFF_KEYS: keys });
  const told = `${trace.join('\n')}\nthen a pickup by ${name}`;
  try {
    await at.handoff.pickup({ as: name });
    await at.handoff.wrap({ as: name, message: 'done', commit: true });
    const { findings } = await judge(at, 'refs/remotes/origin/main');
    const errors = findings.filter(({ severity }) => severity === 'error');
    expect(errors, told).toEqual([]);
  } catch (error) {
    throw error instanceof HandoffError
      ? new Error(`${told}: ${error.code} ${error.message}`, { cause: error })
      : error;
  } finally {
    remove();
  }
}

/** Somebody whose key counts does what everybody does. It becomes the protected branch as well. */
async function assertHonestPasses(world: World, trace: string[]): Promise<void> {
  const { place, dice } = world;
  const agents = await activeAgents(world);
  if (agents.length === 0) return;
  const [name, key] = dice.pick(agents);
  branch(place, `honest-${++world.serial}`);
  const base = headOf(place.dir);
  code(place, { [`src/honest-${world.serial % 3}.ts`]: `${world.serial}\n` });
  const session = openSession(world, name, null);
  addRecord(world, session, { kind: 'start', head: null }, key);
  addRecord(world, session, { ...(await thoughtSince(place, base)), task_id: 'H1' }, key);
  addRecord(world, session, { kind: 'baton', summary: 'done', body: 'done\n' }, key);
  commit(place);
  const { findings } = await judge(place);
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors, `${trace.join('\n')}\nthen an honest change by ${name}`).toEqual([]);
  git(place.dir, 'branch', '--force', 'main', 'HEAD');
  checkout(place, 'main');
}
