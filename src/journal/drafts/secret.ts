import type { YamlMap } from '../../core/bytes/yaml.ts';
import { HandoffError } from '../../core/error.ts';
import { findSecrets } from '../../core/text/secrets.ts';
import type { SecretOptions } from './record-draft.ts';

/** A draft, or as much of it as there is. */
interface Texts extends SecretOptions {
  fields: YamlMap;
  body?: string;
}

/** Before anything is signed: what is committed is published, and a signature makes it harder to take back. */
export function refuseSecrets({ fields, body, allowSecret }: Texts): void {
  const found = findSecrets([...(body ? [body] : []), ...textsIn(fields)].join('\n'));
  if (found.length === 0 || allowSecret) return;
  const places = found.slice(0, 5).map(({ rule, line }) => `line ${line} (${rule})`);
  throw new HandoffError('secret_found', `The text seems to hold a secret: ${places.join(', ')}.`, {
    hint: 'Take it out, and change it if it was ever shared. If it is none, a person may pass --allow-secret.',
    data: { secrets: found },
  });
}

/** Every text in a value, however deep. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
