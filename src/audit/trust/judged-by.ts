import type { Trust } from '../../core/trust/trust.ts';

/** Everything that records and definitions are judged by, a line each: what was found by the same lines need not be found again. */
export function judgedBy({ repoId, identities, distrusted }: Trust): string[] {
  const named = [...identities.values(), ...distrusted.values()];
  const lines = named.map(({ name, role, keys }) => {
    const each = keys.map(({ fingerprint, state, cutoff = 0 }) => `${fingerprint} ${state} ${cutoff}`);
    return [name, role, distrusted.has(name), ...each].join(' ');
  });
  return [repoId, ...lines.sort()];
}
