import { policy1 } from './documents.mjs';
import { decision, note } from './records.mjs';
import { armour, donna, eve, hash, idOf, keys, message, sign } from './signing.mjs';

const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function signatureCase(name, rule, made, change = {}) {
  const { kind, signed } = made;
  const key = keys[made.key ?? 'ada'];
  const signature = sign(kind, signed, key);
  const shown = { public_key: key.bytes, message: message(kind, signed), signature, ...change };
  return {
    name,
    rule,
    kind,
    signed_bytes: signed,
    id: idOf(signed),
    sha512: hash('sha512', signed).toString('hex'),
    ...Object.fromEntries(Object.entries(shown).map(([field, bytes]) => [field, bytes.toString('hex')])),
    ...(Object.keys(change).length === 0
      ? {
          namespace: `git-handoff/v1/${kind}`,
          fingerprint: key.fingerprint,
          sshsig: armour(key, kind, signature),
          result: 'valid',
        }
      : { result: 'signature_invalid' }),
  };
}

/** S + L satisfies the equation that S satisfies. */
function addL(signature) {
  return Buffer.concat([signature.subarray(0, 32), littleEndian(fromLittleEndian(signature.subarray(32)) + L)]);
}

/** With the neutral element as key, R = S·B satisfies the equation for every message. */
function forAnyMessage({ seed, bytes }) {
  const scalar = hash('sha512', seed).subarray(0, 32);
  scalar[0] &= 248;
  scalar[31] = (scalar[31] & 63) | 64;
  return Buffer.concat([bytes, littleEndian(fromLittleEndian(scalar) % L)]);
}

function fromLittleEndian(bytes) {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function littleEndian(value) {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}

function flip(bytes, bit) {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3] ^= 1 << (bit & 7);
  return flipped;
}

const NEUTRAL = Buffer.from(`01${'00'.repeat(31)}`, 'hex');
const valid = sign('note', note.signed, donna);

export const signatures = [
  signatureCase('a YAML record', ['M3', 'M16', 'M17'], note),
  signatureCase('a Markdown record', ['M3', 'M16', 'M17'], decision),
  signatureCase('a document', ['M3', 'M17', 'M19'], policy1),
  signatureCase('the namespace of another kind', ['M17'], note, { message: message('audit', note.signed) }),
  signatureCase('the namespace of another version', ['M17'], note, {
    message: message('note', note.signed, 'git-handoff/v2/note'),
  }),
  signatureCase('another key', ['M18'], note, { public_key: eve.bytes }),
  signatureCase('a bit of R flipped', ['M18'], note, { signature: flip(valid, 9) }),
  signatureCase('a bit of S flipped', ['M18'], note, { signature: flip(valid, 300) }),
  signatureCase('S + L', ['M18'], note, { signature: addL(valid) }),
  signatureCase('a signature of 63 bytes', ['M18'], note, { signature: valid.subarray(0, 63) }),
  signatureCase('a signature of 65 bytes', ['M18'], note, { signature: Buffer.concat([valid, Buffer.of(0)]) }),
  signatureCase('a key of small order', ['M18'], note, { public_key: NEUTRAL, signature: forAnyMessage(eve) }),
  signatureCase('R of small order', ['M18'], note, { signature: Buffer.concat([NEUTRAL, valid.subarray(32)]) }),
  signatureCase('a key that is not canonical', ['M18'], note, {
    public_key: Buffer.from(`ee${'ff'.repeat(30)}7f`, 'hex'),
  }),
];
