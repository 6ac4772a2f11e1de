import type { SecretHit } from './secret-forms.ts';

/**
 * `password = "…"`, `api_key: …`, `SECRET_TOKEN=…`. The name may have anything before it, so that is not matched; after
 * it only what still names the secret itself, and not its place, type or address.
 */
const ASSIGNMENT = new RegExp(
  '(?<name>passw(?:or)?d|passphrase|pwd|secret|token|(?:api|access|auth|private|secret|signing|encryption|master)[_ -]?key)' +
    '(?:[_-]?(?:access|key|base|token|value|secret|prod|production|staging|dev|[0-9])){0,3}' +
    '["\'`\\])]{0,2}[ \\t]{0,8}(?:=>?|:=?|={2,3}(?=[ \\t]{0,8}["\'`]))[ \\t]{0,8}["\'`]?' +
    '(?<value>[^\\s"\'`,;<>(){}[\\]|&\\\\]{16,512})(?<call>\\(?)',
  'gi',
);

const MIN_BITS = 3.5;
/** Sixteen digits cannot have more than 4 bits, and a random key of 32 has 3.3 to 3.8. */
const MIN_BITS_OF_HEX = 3;

/** What every name above has: most texts are done with after one look for it. */
const NAME = /passw|passphrase|pwd|secret|token|key/i;

export function findAssignments(text: string): SecretHit[] {
  if (!NAME.test(text)) return [];
  return Array.from(text.matchAll(ASSIGNMENT))
    .filter(({ groups }) => isSecret(groups!.name!, groups!.value!) && groups!.call === '')
    .map(({ index }) => ({ rule: 'assigned_secret', index }));
}

function isSecret(name: string, value: string): boolean {
  if (PLACEHOLDER.test(value) || PUBLIC.test(value) || isWords(value)) return false;
  if (/token/i.test(name) && OBJECT_ID.test(value)) return false;
  return entropy(value) >= (/^[0-9a-f]{32,}$/i.test(value) ? MIN_BITS_OF_HEX : MIN_BITS);
}

const PLACEHOLDER =
  /^[$%@]|x{4}|\*{3}|\.{3}|example|change[_-]?me|placeholder|redacted|dummy|your[_-]|process\.env|import\.meta|environ|getenv|:\/\//i;

/** What anybody may know: digests, fingerprints, public keys, UUIDs, times, paths. */
const PUBLIC =
  /^(?:~\/|\.{1,2}\/|sha(?:1|256|384|512)[:-]|md5[:-]|ssh-|AAAA[BCE][23]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|\d{4}-\d\d-\d\d)/i;

/** A token can be the number of a lock or the id of a commit; a password or an API key is neither. */
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const LONGEST_WORD = 14;

/** Names in code and prose have as much entropy as short tokens. They are made of words: letters with vowels. */
function isWords(value: string): boolean {
  const parts = value.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  const letters = parts.join('').length;
  const digits = value.replace(/[^0-9]/g, '').length;
  const readable = parts.every((part) => part.length < 3 || (part.length <= LONGEST_WORD && /[aeiouy]/i.test(part)));
  return readable && digits <= 3 && letters >= 3 * parts.length && letters + 2 * digits >= value.length / 2;
}

/** Shannon's, in bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
