import { HandoffError } from './error.ts';

/** A name is also a folder on every file system: ASCII, no `..`, no trailing dot, no Windows device. SPEC §2.1 */
const IDENTITY = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?$/;
const TASK = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

export function isIdentityName(name: string): boolean {
  return IDENTITY.test(name) && !name.includes('..') && !DEVICE.test(name);
}

export function isTaskId(id: string): boolean {
  return TASK.test(id) && !id.includes('..') && !DEVICE.test(id);
}

const SESSION = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** It names a folder of the state directory, and stands in commands that are printed: nothing else may pass for one. */
export function isSessionId(id: string): boolean {
  return SESSION.test(id);
}

/** `source`: where the name came from, when nobody typed it as an argument just now. */
export function assertIdentityName(name: string, source?: string): void {
  if (isIdentityName(name)) return;
  const where = source === undefined ? '' : ` of ${source}`;
  throw new HandoffError('bad_name', `${JSON.stringify(name)}${where} cannot name an identity.`, {
    hint: 'Use 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit; no "..", no final ".", no Windows device name such as "con" or "nul".',
    data: { name, ...(source === undefined ? {} : { source }) },
  });
}

/** Whether a root entry would pass for `.handoff` on some file system or to some reader, without being it. SPEC §7.3 */
export function isLookalike(name: string): boolean {
  if (name === '.handoff') return false;
  if (name === '') return true;
  return foldsToRoot(name.includes('\ufffd') ? withoutBytes(name) : name);
}

/**
 * Without the bytes beyond ASCII of a name that is no UTF-8, which stand in it as U+FFFD and two digits (a listing of a folder has no
 * digits). The digits go too: no file system makes letters of them, and `.hando` with the byte FF is not .handoff to anybody.
 */
function withoutBytes(name: string): string {
  return name.replace(/\ufffd(?:[0-9a-f]{2})?/g, '');
}

function foldsToRoot(name: string): boolean {
  const folded = (/^[ -~]*$/.test(name) ? name : withoutIgnored(withoutIgnored(name).normalize('NFKC')))
    .toLowerCase()
    .replace(/^(?:\.?[/\\])+/u, '') // a tree can hold `./.handoff`, and git checks out `.handoff/x` as a path
    .replace(/[/\\].*$/su, '')
    .replace(/:.*$/su, '') // NTFS: `.handoff::$INDEX_ALLOCATION` is .handoff
    .replace(/[. ]+$/u, '');
  return folded === '.handoff' || /^handof~[0-9]+$/.test(folded) || confusable(folded) === '.handoff';
}

/**
 * Without characters that file systems or eyes drop: joined to a name they make a second name that looks like the first. The
 * pattern is here, because few names need it and to make it takes longer than to judge them all.
 */
function withoutIgnored(text: string): string {
  return text.replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}]/gu, '');
}

/** Cyrillic, Greek and Armenian letters drawn like the Latin letters of `handoff`. */
const DRAWN_LIKE: Readonly<Record<string, string>> = {
  һ: 'h',
  հ: 'h',
  а: 'a',
  α: 'a',
  ո: 'n',
  п: 'n',
  ԁ: 'd',
  о: 'o',
  ο: 'o',
  օ: 'o',
  ƒ: 'f',
  ϝ: 'f',
  '․': '.',
};

function confusable(text: string): string {
  return Array.from(text, (character) => DRAWN_LIKE[character] ?? character).join('');
}
