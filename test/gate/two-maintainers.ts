import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAs } from '../../src/core/record/record.ts';
import { newKey, type Place, privateKey, writeBytes } from '../handoff.ts';
import { type NamedKey, publicLine, signText } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { commitRecords, document, documentAfter } from './scenario.ts';

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

/** Keys that nobody but whoever made them knows. */
export function throwaways(count: number): NamedKey[] {
  return Array.from({ length: count }, (_, at) => [`z${at}`, newKey()]);
}

/** `second` alone proposes a policy with these keys beside those that are there. */
export function proposeKeys(place: Place, added: readonly NamedKey[]): void {
  const there: NamedKey[] = [['maintainer', privateKey(place, 'maintainer')], second(place)];
  const keys = [...there, ...added].map(([name, key]) => `${name} ${publicLine(key)}`);
  const fields = documentAfter(place, 'policy/0003.yaml', { root: { threshold: 1, keys } });
  document(place, 'policy/0004.pending.yaml', fields, [second(place)]);
}

/** Lines by these keys under the identity of a maintainer, after those that are there. */
export function signAlong(place: Place, name: string, keys: readonly NamedKey[]): void {
  const path = `identities/${name}/identity.yaml`;
  const text = readFileSync(join(place.dir, '.handoff', path));
  const signed = Buffer.from(parseAs(text, 'identity').signedBytes).toString();
  const lines = Buffer.from(signText('identity', signed, [...keys]))
    .toString()
    .slice(signed.length + 'signatures:\n'.length);
  put(place, path, `${text}${lines}`);
}
