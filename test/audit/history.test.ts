import { createHash, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readHistory } from '../../src/audit/history/history.ts';
import { openIndex } from '../../src/audit/source/index-source.ts';
import { openTree } from '../../src/audit/source/tree-source.ts';
import { loadTrust } from '../../src/audit/trust/trust.ts';
import type { Finding } from '../../src/core/error.ts';
import type { History } from '../../src/core/session/history.ts';
import { newestBaton, openWip, pendingSignals } from '../../src/core/session/history-queries.ts';
import { nodeSuite } from '../../src/crypto.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import type { GitStore } from '../../src/git/objects/store.ts';
import {
  commitAll,
  type Draft,
  newKey,
  type Place,
  STORY,
  type Written,
  writeBytes,
  writeSession,
} from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';

const fresh = template();

interface Reading {
  history: History;
  findings: string[];
  /** How many trees and records were read, those of policies and identities not counted. */
  trees: number;
  records: number;
}

/** Reads as a new process would; without a cache when `cached` is false. */
async function read(place: Place, { rev = 'HEAD', cached = true } = {}): Promise<Reading> {
  const { store, trees } = counting(place);
  const source = await openTree(store, rev);
  const report = (found: Finding): void => void findings.push(found);
  const findings: Finding[] = [];
  const trust = (await loadTrust(source, nodeSuite, report))!;
  trees.count = 0;
  let records = 0;
  const cacheFolder = cached ? cacheFolderOf(place) : null;
  const found = await readHistory(source, trust, {
    suite: nodeSuite,
    cacheFolder,
    onProgress(checked) {
      records = checked;
    },
  });
  const shown = found.findings.map(({ code, path }) => `${code} ${path!.slice(path!.lastIndexOf('/') + 1)}`);
  return { history: found.history, findings: shown, trees: trees.count, records };
}

function cacheFolderOf({ dir }: Place): string {
  return join(dir, '.git/handoff/cache/history-test');
}

/** The state of HEAD. */
function cacheFileOf(place: Place): string {
  return join(cacheFolderOf(place), git(place.dir, 'rev-parse', 'HEAD:.handoff/sessions'));
}

function counting({ dir, env }: Place): { store: GitStore; trees: { count: number } } {
  const inner = openNativeStore({ dir, env });
  onTestFinished(() => inner.close());
  const trees = { count: 0 };
  const readTree: GitStore['readTree'] = (rev) => {
    trees.count++;
    return inner.readTree(rev);
  };
  const store = new Proxy(inner, {
    get: (target, key) => {
      const value = key === 'readTree' ? readTree : Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store, trees };
}

/** With the cache and without it every answer is the same. SPEC §7.4 */
async function readBoth(place: Place, rev = 'HEAD'): Promise<Reading> {
  const cached = await read(place, { rev });
  const afresh = await read(place, { rev, cached: false });
  expect(cached.history).toEqual(afresh.history);
  expect(cached.findings).toEqual(afresh.findings);
  return cached;
}

/** The same session each time, a few records longer. */
function growingSession(place: Place, number: number, identity = 'donna'): (drafts: Draft[]) => Written[] {
  const sessionId = `${String(number).padStart(8, '0')}-51cf-4c61-9a39-2b7fd2f9a1de`;
  const all: Draft[] = [{ kind: 'start' }];
  return (drafts) => {
    all.push(...drafts);
    return writeSession(place, all, { sessionId, identity, clock: number * 100 });
  };
}

const note: Draft = { kind: 'note', text: 'on we go' };

describe('what is read', () => {
  it('nothing below .handoff when nothing changed, whatever else did', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    const first = await read(place);
    expect(first.records).toBe(4);
    writeBytes(place.dir, 'code.js', 'export {};\n');
    commitAll(place);
    const second = await read(place);
    expect(second).toEqual({ ...first, trees: 1, records: 0 });
    expect(newestBaton(second.history)?.summary).toBe('half way');
  });

  it('only the folder that is new or has grown', async () => {
    const place = fresh();
    const grow = growingSession(place, 1);
    for (let at = 0; at < 5; at++) writeSession(place, STORY);
    writeSession(place, STORY, { identity: 'erin' });
    grow([note]);
    commitAll(place);
    expect((await readBoth(place)).records).toBe(26);
    grow([note]);
    commitAll(place);
    expect((await readBoth(place)).records).toBe(3);
    writeSession(place, STORY, { identity: 'erin' });
    commitAll(place);
    expect((await readBoth(place)).records).toBe(4);
  });

  it('all of the index, which has no name', async () => {
    const place = fresh();
    writeSession(place, STORY);
    git(place.dir, 'add', '--all');
    const { store } = counting(place);
    const source = await openIndex({ dir: place.dir, env: place.env }, store);
    const trust = (await loadTrust(source, nodeSuite, () => {}))!;
    const { history } = await readHistory(source, trust, { suite: nodeSuite, cacheFolder: cacheFolderOf(place) });
    expect(history.clock).toBe(4);
    expect(existsSync(cacheFolderOf(place))).toBe(false);
  });

  it('an empty history where there is no session', async () => {
    const { history, findings } = await readBoth(fresh());
    expect({ clock: history.clock, findings }).toEqual({ clock: 0, findings: [] });
  });
});

describe('another branch', () => {
  it('is read anew, and again from the cache when it comes back', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    git(place.dir, 'checkout', '--quiet', '-b', 'topic');
    writeSession(place, STORY, { clock: 10 });
    commitAll(place);
    expect((await readBoth(place)).records).toBe(4);
    git(place.dir, 'checkout', '--quiet', 'main');
    expect((await readBoth(place)).records).toBe(0);
    writeSession(place, STORY, { clock: 20, identity: 'erin' });
    commitAll(place);
    expect((await readBoth(place)).records).toBe(4);
    git(place.dir, 'checkout', '--quiet', 'topic');
    expect((await readBoth(place)).records).toBe(0);
    git(place.dir, 'merge', '--quiet', '--no-edit', 'main');
    expect((await readBoth(place)).records).toBe(4);
  });

  it('that lacks records, or has others, is no growth', async () => {
    const place = fresh();
    const grow = growingSession(place, 1);
    grow([note]);
    commitAll(place);
    grow([note]);
    commitAll(place);
    await readBoth(place);
    expect((await readBoth(place, 'HEAD~1')).history.clock).toBe(102);
    git(place.dir, 'checkout', '--quiet', '-b', 'other', 'HEAD~1');
    growingSession(place, 1)([{ kind: 'note', text: 'another story' }, note, note]);
    commitAll(place);
    rmSync(cacheFolderOf(place), { recursive: true });
    await readBoth(place, 'main');
    expect((await readBoth(place)).history.clock).toBe(104);
  });

  it('whose objects are gone by now is not missed', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    git(place.dir, 'checkout', '--quiet', '-b', 'topic');
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    git(place.dir, 'checkout', '--quiet', 'main');
    git(place.dir, 'branch', '--quiet', '-D', 'topic');
    git(place.dir, 'reflog', 'expire', '--expire=now', '--all');
    git(place.dir, 'gc', '--quiet', '--prune=now');
    expect((await readBoth(place)).records).toBe(4);
  });
});

describe('trust', () => {
  it('a revoked key takes back what the cache had of it', async () => {
    const place = fresh();
    writeSession(place, STORY);
    writeSession(place, STORY, { identity: 'erin' });
    commitAll(place);
    expect((await readBoth(place)).history.sessions).toHaveLength(2);
    await place.handoff.identity.revoke({ name: 'donna' });
    const { history, findings } = await readBoth(place);
    expect(history.sessions.map(({ identity }) => identity)).toEqual(['erin']);
    expect(new Set(findings.map((found) => found.split(' ')[0]))).toEqual(new Set(['key_revoked']));
    expect(findings).toHaveLength(4);
  });

  it('a revoked key that signed nothing, a rotated key and a new identity change nothing', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    await place.handoff.identity.add({ name: 'fred' });
    await place.handoff.identity.revoke({ name: 'erin' });
    await place.handoff.identity.rotate({ name: 'donna' });
    expect((await readBoth(place)).records).toBe(0);
    writeSession(place, STORY, { clock: 10 });
    commitAll(place);
    expect((await readBoth(place)).records).toBe(4);
  });

  it('an identity that is not signed in counts for nothing, and only its folder is read again', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    const key: KeyObject = newKey();
    writeSession(place, [{ kind: 'start' }], { identity: 'fred', key });
    commitAll(place);
    const { history, findings } = await readBoth(place);
    expect(findings).toEqual(['signer_unknown 0001-start.yaml']);
    expect(history.sessions).toHaveLength(1);
    expect((await readBoth(place)).records).toBe(1);
  });

  it('a state for another repository is not used', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    const file = cacheFileOf(place);
    const text = readFileSync(file, 'utf8');
    const mine = createHash('sha256').update(text).digest('hex');
    writeFileSync(file, text.replace(/"repoId":"[0-9a-f]{64}"/, `"repoId":"${mine}"`));
    expect((await readBoth(place)).records).toBe(4);
  });
});

describe('what does not hold', () => {
  it('is reported, and with it falls what comes after it', async () => {
    const place = fresh();
    const opens: Draft = { kind: 'wip', key: 'a', state: 'open', text: 'begun' };
    const grow = growingSession(place, 1);
    const [, , third] = grow([opens, note, { ...opens, key: 'b' }]);
    writeBytes(place.dir, third!.path, 'handoff: 1\n');
    writeSession(place, STORY);
    commitAll(place);
    const { history, findings } = await readBoth(place);
    expect(findings.map((found) => found.split(' ')[1])).toEqual(['0003-note.yaml']);
    expect(openWip(history).map(({ key }) => key)).toEqual(['a']);
    expect(history.sessions).toHaveLength(2);
    expect((await readBoth(place)).findings).toEqual(findings);
  });

  it('is not kept, but what held before it is', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    const [first] = writeSession(place, [{ kind: 'start' }]);
    writeBytes(place.dir, `${dirname(first!.path)}/readme.txt`, 'hello\n');
    commitAll(place);
    for (let again = 0; again < 2; again++) {
      const { findings, records } = await readBoth(place);
      expect({ findings, records }).toEqual({ findings: ['path_mismatch readme.txt'], records: 1 });
    }
  });

  it('a missing beginning, a gap and a number used twice', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY);
    const [, gap] = writeSession(place, STORY, { clock: 10 });
    const twice = writeSession(place, STORY, { clock: 20 });
    rmSync(join(place.dir, start!.path));
    rmSync(join(place.dir, gap!.path));
    writeBytes(place.dir, twice[3]!.path.replace('0004', '0003'), twice[3]!.bytes);
    commitAll(place);
    const { history, findings } = await readBoth(place);
    expect(findings).toHaveLength(3);
    expect(history.sessions.map(({ last_seq }) => last_seq)).toEqual([2, 1]);
  });

  it.each([
    ['path_mismatch Donna', '.handoff/sessions/Donna/x'],
    ['path_mismatch today', '.handoff/sessions/donna/today/x'],
    ['mode_invalid erin', '.handoff/sessions/erin'],
  ])('a name that has no place: %s', async (expected, path) => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    mkdirSync(join(place.dir, dirname(path)), { recursive: true });
    writeBytes(place.dir, path, 'x');
    commitAll(place);
    const { findings, history } = await readBoth(place);
    expect(findings).toContain(expected);
    expect(history.sessions).toHaveLength(1);
  });

  it('one session in two folders: neither counts', async () => {
    const place = fresh();
    const sessionId = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';
    writeSession(place, STORY, { sessionId });
    commitAll(place);
    await readBoth(place);
    writeSession(place, [...STORY.slice(0, 3), note], { sessionId, at: '2026-02-21T14:30:25.123Z', clock: 50 });
    commitAll(place);
    const { history, findings } = await readBoth(place);
    expect(findings).toEqual(['chain_broken 20260220T143025-7c1f09aa', 'chain_broken 20260221T143025-7c1f09aa']);
    expect(history.sessions).toEqual([]);
  });

  it('a session whose id somebody else has taken counts, and so does theirs', async () => {
    const place = fresh();
    const sessionId = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';
    writeSession(place, STORY, { sessionId });
    commitAll(place);
    await readBoth(place);
    writeSession(place, [...STORY.slice(0, 3), note], { sessionId, identity: 'erin', clock: 50 });
    commitAll(place);
    const { history, findings } = await readBoth(place);
    expect(findings).toEqual([]);
    expect(history.sessions.map(({ identity }) => identity)).toEqual(['erin', 'donna']);
  });

  it('two sessions whose ids begin alike are two', async () => {
    const place = fresh();
    writeSession(place, STORY, { sessionId: '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de' });
    commitAll(place);
    await readBoth(place);
    writeSession(place, STORY, { sessionId: '7c1f09aa-51cf-4c61-9a39-000000000000', identity: 'erin', clock: 9 });
    commitAll(place);
    const { history, findings } = await readBoth(place);
    expect({ findings, sessions: history.sessions.length }).toEqual({ findings: [], sessions: 2 });
  });
});

describe('the cache file', () => {
  it.each([
    ['was cut off', (text: string) => text.slice(0, -200)],
    ['is empty', () => ''],
    ['is something else', () => 'hello\n{}\n[]\n'],
  ])('that %s is as good as none', async (_, spoil) => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    await readBoth(place);
    const file = cacheFileOf(place);
    writeFileSync(file, spoil(readFileSync(file, 'utf8')));
    expect((await readBoth(place)).records).toBe(4);
    expect((await readBoth(place)).records).toBe(0);
  });

  it('that is a folder is no error', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    mkdirSync(cacheFileOf(place), { recursive: true });
    expect((await readBoth(place)).records).toBe(4);
  });

  it('in a folder that is a file is no error', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitAll(place);
    mkdirSync(dirname(cacheFolderOf(place)), { recursive: true });
    writeFileSync(cacheFolderOf(place), '');
    expect((await readBoth(place)).records).toBe(4);
  });

  it('is one of four: older states are dropped', async () => {
    const place = fresh();
    for (let at = 0; at < 6; at++) {
      writeSession(place, STORY, { clock: at * 10 });
      commitAll(place);
      await read(place);
    }
    expect(readdirSync(cacheFolderOf(place))).toHaveLength(4);
    expect((await readBoth(place, 'HEAD~3')).records).toBe(0);
    expect((await readBoth(place, 'HEAD~4')).records).toBe(8);
  });
});

describe('after any commits, switches and merges', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ grow: fc.nat(3), identity: fc.constantFrom('donna', 'erin') }) },
    { weight: 2, arbitrary: fc.record({ branch: fc.constantFrom('main', 'topic') }) },
    { weight: 1, arbitrary: fc.constant({ merge: true }) },
  );

  it('what is built step by step is what is read afresh', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
      const place = fresh();
      git(place.dir, 'branch', 'topic');
      const drafts = new Map<string, Draft[]>();
      for (const taken of steps) {
        if ('branch' in taken) git(place.dir, 'checkout', '--quiet', taken.branch);
        else if ('merge' in taken) git(place.dir, 'merge', '--quiet', '--no-edit', 'main');
        else grow(place, drafts, taken.identity, taken.grow);
        const { findings } = await readBoth(place);
        expect(findings).toEqual([]);
      }
    });
    await fc.assert(property, { numRuns: 4 });
  });

  /** Each branch writes sessions of its own: a session has one writer. */
  function grow(place: Place, drafts: Map<string, Draft[]>, identity: string, number: number): void {
    const branch = git(place.dir, 'branch', '--show-current') === 'main' ? 1 : 2;
    const name = `${identity} ${branch}${number}`;
    const all = drafts.get(name) ?? [{ kind: 'start' }];
    drafts.set(name, all);
    const key = `key-${number}`;
    all.push(note, { kind: 'wip', key, state: all.length % 4 === 1 ? 'open' : 'closed' });
    all.push({ kind: 'signal', to: 'bot', text: 'look' });
    const sessionId = `${identity === 'donna' ? 'd' : 'e'}${branch}00000${number}-51cf-4c61-9a39-2b7fd2f9a1de`;
    writeSession(place, all, { sessionId, identity, clock: number * 3 });
    commitAll(place);
  }
});

it('a signal is pending until a pickup that drained it is read', async () => {
  const place = fresh();
  const [, sent] = writeSession(place, [{ kind: 'start' }, { kind: 'signal', to: 'erin', text: 'look' }]);
  commitAll(place);
  expect(pendingSignals((await readBoth(place)).history, 'erin')).toHaveLength(1);
  const predecessor_session_id = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';
  const pickup: Draft = { kind: 'pickup', predecessor_session_id, baton: null, inherited_from: predecessor_session_id };
  writeSession(place, [{ ...pickup, signals: [sent!.id] }], { identity: 'erin', clock: 9 });
  commitAll(place);
  expect(pendingSignals((await readBoth(place)).history, 'erin')).toEqual([]);
});
