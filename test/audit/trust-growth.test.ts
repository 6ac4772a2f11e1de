import type { KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Entry, FILE, FOLDER, type Source } from '../../src/audit/source/source.ts';
import { loadTrust } from '../../src/audit/trust/trust.ts';
import { parseRecord } from '../../src/core/record/record.ts';
import { recordId } from '../../src/core/record/verify.ts';
import { nodeSuite } from '../../src/crypto.ts';
import { AGAIN, growth } from '../growth.ts';
import { newKey } from '../handoff.ts';
import { publicLine, signDocument } from '../threats/forge.ts';

// THREATS 66: identities × keys, each compared with each, were 5.8 s of a push.

const KEYS = 50;
const AT = '2026-02-20T14:30:25.123Z';

test('twice the identities, with many keys each, cost at most 2.2 times as much', AGAIN, async () => {
  const files = manyIdentities(240);
  const load = (count: number) => async () => {
    const found: unknown[] = [];
    const trust = await loadTrust(sourceOf(files, count), nodeSuite, (each) => found.push(each));
    expect([trust?.identities.size, found]).toEqual([count + 1, []]);
  };
  expect(await growth(load(120), load(240))).toBeLessThan(2.2);
});

/** A genesis, a maintainer, and agents with many keys. */
function manyIdentities(count: number): Map<string, Uint8Array> {
  const root = newKey();
  const policy = signDocument(
    {
      ...{ handoff: 1, kind: 'policy', version: 1, prev: null, at: AT, nonce: '0'.repeat(32) },
      ...{ root: { threshold: 1, keys: [`ada ${publicLine(root)}`] }, protected: ['refs/heads/main'] },
      ...{ writeback: { required: true, review: false, open_sessions: 'warning' }, exempt: [], stale_after: 600 },
      ...{ limits: { record_bytes: 262144, records_per_push: 10000 }, sections: [] },
    },
    [['ada', root]],
  );
  const repo = recordId(parseRecord(policy).signedBytes, nodeSuite).slice('sha256:'.length);
  const identity = (name: string, role: string, keys: KeyObject[]) =>
    signDocument(
      {
        ...{ handoff: 1, kind: 'identity', repo, version: 1, prev: null, at: AT, name, role },
        keys: keys.map((key) => ({ key: publicLine(key), state: 'active' })),
      },
      [['ada', root]],
    );
  const files = new Map([
    ['.handoff/policy/0001.yaml', policy],
    ['.handoff/identities/ada/identity.yaml', identity('ada', 'maintainer', [root])],
  ]);
  for (let at = 0; at < count; at++) {
    const name = `x${String(at).padStart(4, '0')}`;
    files.set(
      `.handoff/identities/${name}/identity.yaml`,
      identity(name, 'agent', Array.from({ length: KEYS }, newKey)),
    );
  }
  return files;
}

/** The first so many agents of them. */
function sourceOf(files: ReadonlyMap<string, Uint8Array>, count: number): Source {
  const paths = [...files.keys()].slice(0, count + 2);
  const inside = new Map<string, Entry[]>();
  for (const path of paths) {
    const parts = path.split('/');
    for (const [depth, name] of parts.entries()) {
      const parent = parts.slice(0, depth).join('/');
      const entries = inside.get(parent) ?? [];
      inside.set(parent, entries);
      const mode = depth === parts.length - 1 ? FILE : FOLDER;
      if (entries.at(-1)?.name !== name)
        entries.push({ path: parts.slice(0, depth + 1).join('/'), name, mode, oid: null });
    }
  }
  const read = async (file: Entry) => files.get(file.path)!;
  return {
    oid: null,
    root: async () => inside.get('')!,
    list: async (folder) => inside.get(folder.path) ?? [],
    read,
    readAll: (all) => Promise.all(all.map(read)),
  };
}
