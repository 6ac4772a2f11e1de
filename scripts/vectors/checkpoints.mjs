import { sign as ed25519 } from 'node:crypto';
import { REPO } from './documents.mjs';
import { RULES } from './rules.mjs';
import { ada, ben, eve, hash } from './signing.mjs';

export const ORIGIN = `git-handoff/${REPO}`;
const WITNESS = 'witness.example/w1';
const LOG_TYPE = 1;
const WITNESS_TYPE = 4;
const TIME = 1771597825;

function keyHash(name, key, type) {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(type), key.bytes])).subarray(0, 4);
}

function vkeyOf(name, key, type = LOG_TYPE) {
  const material = Buffer.concat([Buffer.of(type), key.bytes]).toString('base64');
  return `${name}+${keyHash(name, key, type).toString('hex')}+${material}`;
}

function line(name, key, type, bytes) {
  return `— ${name} ${Buffer.concat([keyHash(name, key, type), bytes]).toString('base64')}\n`;
}

/** A signature line of the log. */
export function signed(text, { name = ORIGIN, key = ada } = {}) {
  return line(name, key, LOG_TYPE, ed25519(null, Buffer.from(text), key.privateKey));
}

/** A signature line of a witness; `claimed` is the time that it states, if that is not the one it signed. */
export function cosigned(text, { time = TIME, claimed = time, name = WITNESS } = {}) {
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(BigInt(claimed));
  const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
  return line(name, ben, WITNESS_TYPE, Buffer.concat([stamp, ed25519(null, message, ben.privateKey)]));
}

export function checkpointText({ origin = ORIGIN, size = 3, root = hash('sha256', 'a root') } = {}) {
  return `${origin}\n${size}\n${root.toString('base64')}\nsessions ${'4b825dc642cb6eb9a060e54bf8d69288fbee4904'}\n`;
}

export const LOG_KEY = vkeyOf(ORIGIN, ada);
export const WITNESS_KEY = vkeyOf(WITNESS, ben, WITNESS_TYPE);
export const OTHER_KEY = vkeyOf(ORIGIN, eve);

const TEXT = checkpointText();
const NOTE = `${TEXT}\n${signed(TEXT)}`;
const EMPTY = checkpointText({ size: 0, root: hash('sha256', '') });

function valid(name, rule, note, verified, { vkeys = [LOG_KEY, WITNESS_KEY], ...more } = {}) {
  const [origin, size, root, ...extensions] = note.slice(0, note.lastIndexOf('\n\n')).split('\n');
  const checkpoint = { origin, size: Number(size), root: Buffer.from(root, 'base64').toString('hex'), extensions };
  return { name, rule: [RULES[rule]], note, vkeys, result: 'valid', ...checkpoint, verified, ...more };
}

function refused(name, rule, note, vkeys = [LOG_KEY, WITNESS_KEY]) {
  return { name, rule: [RULES[rule]], note, vkeys, result: 'ledger_inconsistent' };
}

/** A text that is signed again after the change. */
function refusedText(name, text) {
  return refused(name, 'checkpoint', `${text}\n${signed(text)}`);
}

export const checkpoints = [
  valid('signed by the log', 'note', NOTE, [ORIGIN]),
  valid('an empty ledger', 'checkpoint', `${EMPTY}\n${signed(EMPTY)}`, [ORIGIN]),
  valid('cosigned by a witness', 'cosignature', NOTE + cosigned(TEXT), [ORIGIN, WITNESS], { time: TIME }),
  valid('a witness that is not known is ignored', 'note', NOTE + cosigned(TEXT), [ORIGIN], { vkeys: [LOG_KEY] }),
  valid('a key that signed twice counts once', 'note', NOTE + signed(TEXT), [ORIGIN]),
  valid('an unknown key of the same name is ignored', 'note', NOTE + signed(TEXT, { key: eve }), [ORIGIN]),
  refused('no known key', 'note', NOTE, [OTHER_KEY]),
  refused('a known key whose signature is of another text', 'note', `${TEXT}\n${signed(EMPTY)}`),
  refused('another size under the same signature', 'note', NOTE.replace('\n3\n', '\n4\n')),
  refused('another origin under the same signature', 'note', NOTE.replace(ORIGIN, `${ORIGIN}0`)),
  refused('no signature', 'note', `${TEXT}\n`),
  refused('no blank line', 'note', `${TEXT}${signed(TEXT)}`),
  refused('no line end', 'note', NOTE.slice(0, -1)),
  refused('a hyphen for the dash', 'note', NOTE.replace('—', '-')),
  refused('a line after the signatures', 'note', `${NOTE}hello\n`),
  refused('CRLF', 'note', NOTE.replaceAll('\n', '\r\n')),
  refused('a known key twice in the list', 'note', NOTE, [LOG_KEY, LOG_KEY]),
  refused('a witness at another time', 'cosignature', NOTE + cosigned(TEXT, { claimed: TIME + 1 })),
  refused('a witness of another text', 'cosignature', NOTE + cosigned(EMPTY)),
  refused(
    'the signature of a log as that of a witness',
    'cosignature',
    NOTE + line(WITNESS, ben, WITNESS_TYPE, ed25519(null, Buffer.from(TEXT), ben.privateKey)),
  ),
  refusedText('a size with a leading zero', TEXT.replace('\n3\n', '\n03\n')),
  refusedText('a negative size', TEXT.replace('\n3\n', '\n-3\n')),
  refusedText('a size of 2^53', TEXT.replace('\n3\n', '\n9007199254740992\n')),
  refusedText('a root of 31 bytes', checkpointText({ root: Buffer.alloc(31) })),
  refusedText(
    'a root with unused bits set',
    TEXT.replace(/.=\n/, (end) => `${next(end[0])}=\n`),
  ),
  refusedText('two lines', TEXT.split('\n').slice(0, 2).join('\n').concat('\n')),
  refusedText('a blank line among the extensions', `${TEXT}\nmore\n`),
];

/** The next character of the alphabet has another last bit. */
function next(char) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return alphabet[alphabet.indexOf(char) ^ 1];
}
