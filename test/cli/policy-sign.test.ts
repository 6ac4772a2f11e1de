import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import type { IdentityDocument } from '../../src/core/generated/types.ts';
import { parseAs } from '../../src/core/record/record.ts';
import { document, maintainer } from '../gate/scenario.ts';
import { twoMaintainers } from '../gate/two-maintainers.ts';
import { newKey, type Place } from '../handoff.ts';
import { policyAfter, publicLine, reopen, template } from '../threats/forge.ts';
import { run } from './cli.ts';

// THREATS 51: whoever signs sees what they sign, and signs nothing else.

const fresh = template();

function handoff({ dir, env }: Place, ...args: string[]) {
  return run(['-C', dir, ...args], { env });
}

describe('git handoff policy sign', () => {
  it('lists what waits, and each command that it prints signs that and nothing else', async () => {
    const place = fresh();
    await twoMaintainers(place);
    await reopen(place).handoff.identity.add({ name: 'mallory', role: 'maintainer', as: 'maintainer' });
    await reopen(place).handoff.policy.set({ key: 'stale_after', value: '900', as: 'maintainer' });
    const shown = handoff(place, 'policy', 'show').stdout;
    expect(shown).toContain('stale_after: 600 → 900');
    expect(shown).toContain('role: maintainer');
    const refused = handoff(place, 'policy', 'sign', '--as', 'second');
    expect(refused.code).toBe(2);
    const commands = [...refused.stderr.matchAll(/git handoff (policy sign \S+ --as second)/g)].map(
      ([, words]) => words!,
    );
    expect(commands).toEqual(['policy sign policy/4 --as second', 'policy sign identity/mallory --as second']);
    const first = handoff(place, ...commands[0]!.split(' '));
    expect(first.stdout).toMatch(/^✓ Signed Policy 4, by maintainer, second\n/);
    expect(first.stdout).not.toContain('mallory');
    expect(handoff(place, 'policy', 'show').stdout).toContain('identity/mallory, version 1, waits for signatures');
    const second = JSON.parse(handoff(place, ...commands[1]!.split(' '), '--json').stdout);
    expect(second.signed).toMatchObject([
      { document: 'identity/mallory', kind: 'identity', version: 1, signed_by: ['maintainer', 'second'] },
    ]);
    expect(handoff(place, 'verify').code).toBe(0);
  });

  it('says which version of whom was signed', async () => {
    const place = fresh();
    await twoMaintainers(place);
    await reopen(place).handoff.identity.add({ name: 'ada', role: 'maintainer', as: 'maintainer' });
    const { stdout } = handoff(place, 'policy', 'sign', '--as', 'second');
    expect(stdout).toMatch(/^✓ Signed identity\/ada, version 1, by maintainer, second\n/);
  });
});

describe('git handoff policy sign without a name', () => {
  /** The key of a maintainer is rotated by itself, and what waits then is changed as whoever proposes it likes. */
  const rotating = async (change: (place: Place) => void): Promise<Place> => {
    const place = fresh();
    await twoMaintainers(place);
    await reopen(place).handoff.identity.rotate({ name: 'maintainer', as: 'maintainer' });
    change(place);
    return place;
  };

  it('signs the two halves of a rotation', async () => {
    const place = await rotating(() => {});
    expect(handoff(place, 'policy', 'sign', '--as', 'second').stdout).toContain('maintainer, version 2');
  });

  const besides: [string, (place: Place) => void][] = [
    ['a lower threshold', (place) => proposed(place, { root: { ...waitingRoot(place), threshold: 1 } })],
    [
      'no review any more',
      (place) => proposed(place, { writeback: { required: false, open_sessions: 'warning', review: false } }),
    ],
    ['nothing protected', (place) => proposed(place, { protected: [] })],
    ['a key of nobody else', (place) => proposed(place, { root: withKey(waitingRoot(place)) })],
    [
      'a second key in the identity',
      (place) =>
        proposedIdentity(place, (keys) => ({ keys: [...keys, { key: publicLine(newKey()), state: 'active' }] })),
    ],
    [
      'the old key revoked in the identity',
      (place) => proposedIdentity(place, (keys) => ({ keys: keys.map(revokedUnlessActive) })),
    ],
    ['another skill', (place) => proposedIdentity(place, () => ({ skill: `sha256:${'a'.repeat(64)}` }))],
  ];
  it.each(besides)('signs nothing where the policy brings besides: %s', async (_, change) => {
    const place = await rotating(change);
    const { code, stderr } = handoff(place, 'policy', 'sign', '--as', 'second');
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('Name what you sign') });
  });
});

const PENDING = 'policy/0004.pending.yaml';
const PENDING_IDENTITY = 'identities/maintainer/pending.yaml';

type IdentityKeys = IdentityDocument['keys'];

/** The identity that waits, with something else in it. */
function proposedIdentity(place: Place, change: (keys: IdentityKeys) => YamlMap): void {
  const { fields } = parseAs(readFileSync(join(place.dir, '.handoff', PENDING_IDENTITY)), 'identity');
  document(place, PENDING_IDENTITY, { ...fields, ...change(fields.keys) }, [maintainer(place)]);
}

const revokedUnlessActive = (line: IdentityKeys[number]) =>
  line.state === 'active' ? line : { ...line, state: 'revoked' as const };

function waitingRoot({ dir }: Place): { threshold: number; keys: string[] } {
  return parseAs(readFileSync(join(dir, '.handoff', PENDING)), 'policy').fields.root;
}

function withKey({ threshold, keys }: { threshold: number; keys: string[] }) {
  return { threshold, keys: [...keys, `mallory ${publicLine(newKey())}`] };
}

/** The policy that waits, with something else in it, proposed by the same maintainer. */
function proposed(place: Place, changes: YamlMap): void {
  const { root } = parseAs(readFileSync(join(place.dir, '.handoff', PENDING)), 'policy').fields;
  const fields = policyAfter(place, 3, { root, ...changes });
  document(place, PENDING, fields, [maintainer(place)]);
}

describe('git handoff identity revoke', () => {
  it('of a root key that is laid down: the commands it prints, typed in their order, replace it', async () => {
    const place = fresh();
    await twoMaintainers(place);
    const { code, stderr } = handoff(place, 'identity', 'revoke', 'second', '--as', 'second');
    expect(code).toBe(0);
    const commands = [...stderr.matchAll(/git handoff ([^;\n]+)/g)].map(([, words]) =>
      words!.replace('OTHER', 'maintainer'),
    );
    expect(commands).toHaveLength(5);
    for (const words of commands) expect([words, handoff(place, ...words.split(' ')).code]).toEqual([words, 0]);
    expect(await reopen(place).handoff.policy.show()).toMatchObject({ pending: false, waiting: [], version: 4 });
  });
});

describe('git handoff policy set root.keys', () => {
  it('with a maintainer who has no active key: the hint leads to one', async () => {
    const place = fresh();
    await twoMaintainers(place);
    handoff(place, 'identity', 'revoke', 'second', '--as', 'second');
    const { stderr } = handoff(place, 'policy', 'set', 'root.keys', 'maintainer,second');
    expect(stderr).toContain('second cannot hold a root key');
    expect(stderr).toContain('git handoff identity rotate second');
  });
});
