import { HandoffError } from '../core/error.ts';
import { findSecrets } from '../core/secrets.ts';

export interface SecretOptions {
  /** A person has looked: what seems to be a secret is none. It is recorded that they said so. */
  allowSecret?: boolean;
}

/** Before anything is signed: what is committed is published, and a signature makes it harder to take back. */
export function refuseSecrets(text: string, { allowSecret }: SecretOptions): boolean {
  const found = findSecrets(text);
  if (found.length === 0) return false;
  if (allowSecret) return true;
  const places = found.slice(0, 5).map(({ rule, line }) => `line ${line} (${rule})`);
  throw new HandoffError('secret_found', `The text seems to hold a secret: ${places.join(', ')}.`, {
    hint: 'Take it out, and change it if it was ever shared. If it is none, a person may pass --allow-secret.',
    data: { secrets: found },
  });
}
