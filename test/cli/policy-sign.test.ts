import { describe, expect, it } from 'vitest';
import { twoMaintainers } from '../gate/two-maintainers.ts';
import type { Place } from '../handoff.ts';
import { reopen, template } from '../threats/forge.ts';
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
    const second = JSON.parse(handoff(place, ...commands[1]!.split(' '), '--json').stdout);
    expect(second.signed).toMatchObject([
      { document: 'identity/mallory', kind: 'identity', version: 1, signed_by: ['maintainer', 'second'] },
    ]);
    expect(handoff(place, 'verify').code).toBe(0);
  });
});
