import { expect, test } from 'vitest';
import { auditDifference } from '../../src/audit/delta/delta.ts';
import { readDifferences } from '../../src/audit/delta/differences.ts';
import { auditLedgerStep } from '../../src/audit/delta/ledger.ts';
import { assertTiles } from '../../src/audit/ledger/audit.ts';
import { readLedger } from '../../src/audit/ledger/ledger.ts';
import { find, type Source } from '../../src/audit/source/source.ts';
import { openTree } from '../../src/audit/source/tree-source.ts';
import { loadTrust } from '../../src/audit/trust/trust.ts';
import type { Finding } from '../../src/core/error.ts';
import { LEDGER } from '../../src/core/paths.ts';
import { nodeSuite } from '../../src/crypto.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { openSealedSessions } from '../../src/sealing/ledger/sealed-sessions.ts';
import type { Place } from '../handoff.ts';
import { commitHandoff, sealedSession } from '../ledger/sealed.ts';
import { type Step, seal } from '../sealing.ts';
import { template } from '../threats/forge.ts';

// An agent chooses the ids of its sessions. However alike they begin, nothing is listed or read more than once.

const COUNT = 12;
const STEPS: Step[] = [{ kind: 'start', intent: 'one of many' }, seal(), { kind: 'note', text: 'more' }, seal(1)];

/** Sessions of one identity whose ids begin alike, each with two seals, committed. */
function commitAlike(place: Place, count = COUNT, day = '20'): void {
  for (let n = 10; n < 10 + count; n++) {
    const at = `2026-02-${day}T14:30:${n}.123Z`;
    sealedSession(place, { sessionId: `aaaaaaaa-51cf-4c61-9a39-2b7fd2f9${day}${n}`, at, clock: n * 10 }, STEPS);
  }
  commitHandoff(place);
}

const alike = template(async (here) => {
  commitAlike(here);
  await here.handoff.ledger.append();
});

/** How often each folder of a session was listed, and each file of one read; only what was touched twice is told. */
function counting(source: Source): { source: Source; again(): string[] } {
  const times = new Map<string, number>();
  const count = (path: string) => times.set(path, (times.get(path) ?? 0) + 1);
  const counted: Source = {
    ...source,
    list(folder) {
      count(folder.path);
      return source.list(folder);
    },
    read(file, limit) {
      count(file.path);
      return source.read(file, limit);
    },
    readAll(files, limit) {
      for (const { path } of files) count(path);
      return source.readAll(files, limit);
    },
  };
  const isInSession = (path: string) => path.split('/').length > 3 && path.startsWith('.handoff/sessions/');
  const again = () => [...times].filter(([path, n]) => isInSession(path) && n > 1).map(([path, n]) => `${n} × ${path}`);
  return { source: counted, again };
}

async function opened({ dir, env }: Place, rev: string) {
  const store = openNativeStore({ dir, env });
  const tree = await openTree(store, rev);
  const trust = (await loadTrust(tree, nodeSuite, () => {}))!;
  return { tree, trust, close: () => store.close() };
}

test('when the gate looks for the seals of an append', async () => {
  const here = alike();
  const [before, now] = [await opened(here, 'HEAD~1'), await opened(here, 'HEAD')];
  const { source, again } = counting(now.tree);
  const step = { before: before.tree, now: source };
  const findings: Finding[] = [];
  const ledgers = { before: null, now: await find(source, LEDGER) };
  const changes = await readDifferences(step, ledgers, (found) => findings.push(found));
  await auditLedgerStep(step, changes, { trust: now.trust, suite: nodeSuite }, (found) => findings.push(found));
  expect(findings).toEqual([]);
  expect(again()).toEqual([]);
  await Promise.all([before.close(), now.close()]);
});

test('when all entries of a ledger are compared with the tree', async () => {
  const { tree, trust, close } = await opened(alike(), 'HEAD');
  const { source, again } = counting(tree);
  const sessions = await openSealedSessions(source, () => {});
  await assertTiles((await readLedger(source))!, trust.repoId, nodeSuite, sessions.assertThere);
  expect(sessions.counts()).toEqual({ unsealed: 0, pending: 0 });
  expect(again()).toEqual([]);
  await close();
});

test('when sessions arrive, and those that were there are searched for copies of them', async () => {
  const here = alike();
  commitAlike(here, COUNT, '21');
  const [before, now] = [await opened(here, 'HEAD~1'), await opened(here, 'HEAD')];
  const { source, again } = counting(before.tree);
  const { findings } = await auditDifference({ before: source, now: now.tree }, before.trust, { suite: nodeSuite });
  expect(findings).toEqual([]);
  expect(again()).toEqual([]);
  await Promise.all([before.close(), now.close()]);
});
