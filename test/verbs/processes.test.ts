import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Handoff } from '../../src/index.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';

const fresh = template(({ handoff }) => handoff.task.add({ id: 'T1', title: 'count' }));

type Verb = (handoff: Handoff) => Promise<unknown>;

/** The path of the last one that erin wrote. */
function baton({ dir }: { dir: string }): string {
  return git(dir, 'ls-files', '.handoff/sessions/erin/*-baton.md');
}

it('no verb of a session starts more than three git processes, and those that only look start one', async () => {
  const place = fresh();
  const trace = join(place.dir, '..', 'trace');
  const NONE: string[] = [];
  const READS = ['cat-file'];
  const LOOKS = ['cat-file', 'status']; // what saving takes is in saved.test.ts
  const verbs: [string, Verb, string[]][] = [
    ['start', (handoff) => handoff.start({ as: 'donna', intent: 'count' }), READS],
    ['note', (handoff) => handoff.note({ text: 'one' }), NONE],
    ['checkpoint', (handoff) => handoff.checkpoint({}), READS],
    ['decide', (handoff) => handoff.decide({ title: 'two', text: 'three' }), NONE],
    ['wip', (handoff) => handoff.wip.open({ key: 'four', text: 'five' }), NONE],
    ['signal', (handoff) => handoff.signal.send({ name: 'erin', text: 'six' }), NONE],
    ['task list', (handoff) => handoff.task.list(), READS],
    ['task graph', (handoff) => handoff.task.graph(), READS],
    ['next', (handoff) => handoff.next(), READS],
    ['claim', (handoff) => handoff.claim({ id: 'T1' }), READS],
    ['task update', (handoff) => handoff.task.update({ id: 'T1', progress: 5 }), READS],
    ['note under a claim', (handoff) => handoff.note({ text: 'mine' }), NONE],
    ['unclaim', (handoff) => handoff.unclaim({ id: 'T1' }), READS],
    ['heartbeat', (handoff) => handoff.heartbeat({}), NONE],
    ['status', (handoff) => handoff.status(), READS],
    ['sessions', (handoff) => handoff.sessions(), READS],
    ['note --commit', (handoff) => handoff.note({ text: 'seven', commit: true }), READS],
    ['wrap', (handoff) => handoff.wrap({ message: 'eight' }), LOOKS],
    ['pickup', (handoff) => handoff.pickup({ as: 'erin' }), READS],
    ['log', (handoff) => handoff.log({}), ['cat-file', 'diff-index']],
    ['verify', (handoff) => handoff.verify(), READS],
    ['audit start', (handoff) => handoff.audit.start({ intent: 'nine' }), READS],
    ['audit verify', (handoff) => handoff.audit.verify(), ['cat-file', 'ls-tree']],
    ['seal', (handoff) => handoff.seal(), READS],
    ['seal, once more', (handoff) => handoff.seal(), READS],
    ['root', (handoff) => handoff.root(), READS],
    ['ledger append', (handoff) => handoff.ledger.append(), READS],
    ['wrap --seal', (handoff) => handoff.wrap({ message: 'ten', seal: true }), LOOKS],
    ['ledger append, once more', (handoff) => handoff.ledger.append(), READS],
    ['ledger verify', (handoff) => handoff.ledger.verify(), READS],
    ['prove', (handoff) => handoff.prove({ record: baton(place) }), READS],
  ];
  for (const [name, verb, processes] of verbs) {
    rmSync(trace, { force: true });
    // as a process of its own would: git is started anew
    const { handoff } = open(place, { env: { GIT_TRACE: trace } });
    await verb(handoff);
    await handoff.close();
    // those that git starts itself included
    const lines = existsSync(trace) ? readFileSync(trace, 'utf8') : '';
    expect([...lines.matchAll(/built-in: git (\S+)/g)].map(([, command]) => command).sort(), name).toEqual(processes);
  }
});
