import type { KeyObject } from 'node:crypto';
import { type Place, privateKey, writeBytes } from '../handoff.ts';
import type { NamedKey } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { commitRecords } from './scenario.ts';

/** By the verbs: two maintainers, both of whom hold root keys, and nothing of theirs without the other. */
export async function twoMaintainers(place: Place): Promise<void> {
  const { handoff } = open(place);
  await handoff.identity.add({ name: 'second', role: 'maintainer' });
  await handoff.policy.set({ key: 'root.keys', value: 'maintainer,second' });
  await handoff.policy.set({ key: 'root.threshold', value: '2', as: 'maintainer' });
  await handoff.policy.sign({ as: 'second' });
}

export function second(place: Place): NamedKey {
  return ['second', secondKey(place)];
}

export function secondKey(place: Place): KeyObject {
  return privateKey(place, 'second');
}

export function put(place: Place, path: string, text: string | Uint8Array): void {
  writeBytes(place.dir, `.handoff/${path}`, text);
  commitRecords(place, `handoff: ${path}`);
}
