import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { describe, expect, test } from 'vitest';
import { concatBytes, fromBase64, toBase64, toHex, utf8 } from '../../src/core/bytes/bytes.ts';
import { nobleHashes, sha512 } from '../../src/core/bytes/hash.ts';
import { verifyEd25519 as verifyTweetnacl } from '../../src/core/trust/ed25519.ts';
import {
  armourSshsig,
  fingerprint,
  formatPublicKey,
  parsePublicKey,
  parseSshsig,
  publicKeyBlob,
  sshsigMessage,
} from '../../src/core/trust/sshsig.ts';
import { nodeHashes, verifyEd25519Async, verifyEd25519 as verifyNode } from '../../src/crypto.ts';
import { temporaryDirectory } from '../temporary.ts';
import { vectors } from '../vectors.ts';

const NAMESPACE = 'git-handoff/v1/thought';
const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(5));
const payload = utf8('a thought\n');
const signature = nacl.sign.detached(sshsigMessage(NAMESPACE, sha512(payload)), secretKey);
const armoured = armourSshsig(publicKey, NAMESPACE, signature);
const noKeygen = spawnSync('ssh-keygen', ['-?']).error !== undefined;
if (noKeygen) console.warn('skipped: no ssh-keygen on the PATH');

const folder = vectors('sshsig');

describe.skipIf(!folder)('the signature of the OpenSSH regression tests', () => {
  const read = (name: string) => readFileSync(join(folder!, name));

  test('verifies on every backend, and not for another payload or namespace', async () => {
    const { key, comment } = parsePublicKey(read('ed25519.pub').toString());
    const sig = parseSshsig(read('ed25519.sig').toString());
    expect(comment).toBe('ED25519 test key');
    expect(sig).toMatchObject({ publicKey: key, namespace: read('namespace').toString(), hash: 'sha512' });
    const data = read('signed-data');
    expect(await answers(sig.publicKey, sshsigMessage('unittest', sha512(data)), sig.signature)).toEqual(ALL);
    expect(await answers(sig.publicKey, sshsigMessage('unittesT', sha512(data)), sig.signature)).toEqual(NONE);
    expect(await answers(sig.publicKey, sshsigMessage('unittest', sha512(payload)), sig.signature)).toEqual(NONE);
  });

  test('is written again byte for byte', () => {
    const sig = parseSshsig(read('ed25519.sig').toString());
    expect(armourSshsig(sig.publicKey, sig.namespace, sig.signature)).toBe(read('ed25519.sig').toString());
    expect(formatPublicKey(sig.publicKey, 'ED25519 test key')).toBe(read('ed25519.pub').toString().trimEnd());
  });
});

describe.skipIf(noKeygen)('ssh-keygen', () => {
  test('what it signs, we verify; we write the same armour and fingerprint', async () => {
    const dir = temporaryDirectory();
    keygen(dir, '-q', '-t', 'ed25519', '-N', '', '-C', 'ada @ laptop', '-f', 'key');
    writeFileSync(join(dir, 'payload'), payload);
    keygen(dir, '-q', '-Y', 'sign', '-f', 'key', '-n', NAMESPACE, 'payload');
    const text = readFileSync(join(dir, 'payload.sig'), 'utf8');
    const line = readFileSync(join(dir, 'key.pub'), 'utf8');
    const sig = parseSshsig(text);
    const { key, comment } = parsePublicKey(line);
    expect(sig).toMatchObject({ publicKey: key, namespace: NAMESPACE, hash: 'sha512' });
    expect(await answers(key, sshsigMessage(NAMESPACE, sha512(payload)), sig.signature)).toEqual(ALL);
    expect(armourSshsig(key, NAMESPACE, sig.signature)).toBe(text);
    expect(`${formatPublicKey(key, comment)}\n`).toBe(line);
    expect(keygen(dir, '-l', '-f', 'key.pub')).toBe(`256 ${fingerprint(key, nobleHashes)} ada @ laptop (ED25519)\n`);
    expect(fingerprint(key, nodeHashes)).toBe(fingerprint(key, nobleHashes));
  });

  test('verifies what we sign, and refuses another payload, namespace or signature', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'allowed'), `ada ${formatPublicKey(publicKey)}\n`);
    expect(keygenVerifies(dir, armoured, payload, NAMESPACE)).toBe(true);
    expect(keygenVerifies(dir, armoured, utf8('another'), NAMESPACE)).toBe(false);
    expect(keygenVerifies(dir, armoured, payload, 'git-handoff/v1/seal')).toBe(false);
    const flipped = signature.slice();
    flipped[3]! ^= 1;
    expect(keygenVerifies(dir, armourSshsig(publicKey, NAMESPACE, flipped), payload, NAMESPACE)).toBe(false);
  });

  test.each([
    ['rsa', ['-t', 'rsa', '-b', '2048'], 'ssh-keygen -t ed25519'],
    ['ecdsa', ['-t', 'ecdsa'], 'ssh-keygen -t ed25519'],
  ])('its %s keys are refused with the way out', (_, type, hint) => {
    const dir = temporaryDirectory();
    keygen(dir, '-q', ...type, '-N', '', '-f', 'key');
    expectUsage(readFileSync(join(dir, 'key.pub'), 'utf8'), hint);
  });

  test('its certificates and private keys are refused, and no private key is quoted', () => {
    const dir = temporaryDirectory();
    keygen(dir, '-q', '-t', 'ed25519', '-N', '', '-f', 'key');
    keygen(dir, '-q', '-s', 'key', '-I', 'id', 'key.pub');
    expectUsage(readFileSync(join(dir, 'key-cert.pub'), 'utf8'), 'Certificates are not supported');
    const secret = readFileSync(join(dir, 'key'), 'utf8');
    const error = expectUsage(secret, 'That is a private key');
    expect(`${error.message}${error.hint}`).not.toContain(secret.split('\n')[1]!.slice(0, 20));
  });

  function keygen(dir: string, ...args: string[]): string {
    return execFileSync('ssh-keygen', args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  }

  function keygenVerifies(dir: string, sig: string, input: Uint8Array, namespace: string): boolean {
    writeFileSync(join(dir, 'sig'), sig);
    const args = ['-Y', 'verify', '-f', 'allowed', '-I', 'ada', '-n', namespace, '-s', 'sig'];
    return spawnSync('ssh-keygen', args, { cwd: dir, input }).status === 0;
  }
});

describe('an SSHSIG', () => {
  test('covers what PROTOCOL.sshsig says', () => {
    const field = (text: string) => `${text.length.toString(16).padStart(8, '0')}${toHex(utf8(text))}`;
    const expected = `${toHex(utf8('SSHSIG'))}${field('ns')}00000000${field('sha512')}00000040${'ab'.repeat(64)}`;
    expect(toHex(sshsigMessage('ns', new Uint8Array(64).fill(0xab)))).toBe(expected);
    expect(() => sshsigMessage('ns', new Uint8Array(32))).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test('of many namespaces stays right when the prefixes are dropped', () => {
    const messages = () => Array.from({ length: 200 }, (_, i) => toHex(sshsigMessage(`ns${i}`, new Uint8Array(64))));
    const first = messages();
    expect(messages()).toEqual(first);
    expect(new Set(first).size).toBe(200);
  });

  test('is returned in fresh bytes, so that a caller cannot spoil the prefix', () => {
    sshsigMessage('fresh', new Uint8Array(64)).fill(0xff);
    expect(toHex(sshsigMessage('fresh', new Uint8Array(64)))).toMatch(/^535348534947/);
  });

  test('reads back what was written', () => {
    const namespace = fc.string({ unit: fc.constantFrom(...'abz019/-@.'), minLength: 1, maxLength: 300 });
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const property = fc.property(bytes(32), namespace, bytes(64), (key, name, sig) => {
      const expected = { publicKey: key, namespace: name, hash: 'sha512', signature: sig };
      expect(parseSshsig(armourSshsig(key, name, sig))).toEqual(expected);
    });
    fc.assert(property);
  });

  test('with S + L is refused on every backend (OpenSSH 9.2 accepts it)', async () => {
    const message = sshsigMessage(NAMESPACE, sha512(payload));
    const malleable = parseSshsig(armourSshsig(publicKey, NAMESPACE, plusL(signature))).signature;
    expect(await answers(publicKey, message, signature)).toEqual(ALL);
    expect(nacl.sign.detached.verify(message, malleable, publicKey)).toBe(true);
    expect(await answers(publicKey, message, malleable)).toEqual(NONE);
  });

  test('that is malformed in any byte of its frame is refused with a typed error', () => {
    const bytes = body(armoured);
    const keyAt = bytes.length - 64;
    const publicKeyAt = 10 + 4 + 4 + 11 + 4;
    const free = (at: number) => at >= keyAt || (at >= publicKeyAt && at < publicKeyAt + 32);
    const namespaceAt = publicKeyAt + 32 + 4;
    const inNamespace = (at: number) => at >= namespaceAt && at < namespaceAt + NAMESPACE.length;
    const frame = [...bytes.keys()].filter((at) => !free(at) && !inNamespace(at));
    let refused = 0;
    for (const at of frame) {
      const changed = bytes.slice();
      changed[at]! ^= 0x80;
      expectInvalid(rearmour(changed));
      refused++;
    }
    expect(refused).toBe(bytes.length - 64 - 32 - NAMESPACE.length);
  });

  test('cut at any byte, or longer, is refused', () => {
    const bytes = body(armoured);
    for (let length = 1; length < bytes.length; length++) expectInvalid(rearmour(bytes.slice(0, length)));
    expectInvalid(rearmour(concatBytes(bytes, Uint8Array.of(0))));
  });

  test.each([
    ['version 2', { version: 2 }],
    ['a reserved field', { reserved: utf8('x') }],
    ['another hash', { hash: utf8('sha1') }],
    ['no namespace', { namespace: new Uint8Array(0) }],
    ['NUL in the namespace', { namespace: utf8('a\0b') }],
    ['a line break in the namespace', { namespace: utf8('a\nb') }],
    ['bad UTF-8 in the namespace', { namespace: Uint8Array.of(0xff) }],
    ['a key of another type', { key: field(utf8('ssh-rsa'), publicKey) }],
    ['a key of 33 bytes', { key: field(utf8('ssh-ed25519'), new Uint8Array(33)) }],
    ['bytes after the key', { key: concatBytes(publicKeyBlob(publicKey), Uint8Array.of(0)) }],
    ['a signature of 63 bytes', { sig: field(utf8('ssh-ed25519'), signature.subarray(1)) }],
    ['bytes after the signature', { sig: field(utf8('ssh-ed25519'), signature, utf8('x')) }],
  ])('%s is refused', (_, change) => {
    expect(parseSshsig(rearmour(frameOf({})))).toEqual(parseSshsig(armoured));
    expectInvalid(rearmour(frameOf(change)));
  });

  test.each([
    ['nothing', ''],
    ['text before', `x\n${armoured}`],
    ['text after', `${armoured}x`],
    ['two signatures', armoured + armoured],
    ['CRLF', armoured.replaceAll('\n', '\r\n')],
    ['an empty line', armoured.replace('\n', '\n\n')],
    ['white space in a line', armoured.replace('U1NI', 'U1 NI')],
    ['PGP armour', armoured.replaceAll('SSH', 'PGP')],
    ['no end', armoured.slice(0, -30)],
    ['a huge text', armoured.replace('U1NI', 'A'.repeat(1e6))],
    ['a huge namespace', rearmour(frameOf({ namespace: new Uint8Array(200_000).fill(65) }))],
  ])('%s is no armour', (_, text) => expectInvalid(text));

  test('of the wrong sizes is not written', () => {
    const usage = expect.objectContaining({ code: 'usage' });
    expect(() => armourSshsig(publicKey, NAMESPACE, signature.subarray(1))).toThrow(usage);
    expect(() => armourSshsig(publicKey.subarray(1), NAMESPACE, signature)).toThrow(usage);
  });
});

describe('a public key line', () => {
  const line = formatPublicKey(publicKey, 'ada');

  test.each([
    ['with a comment', line, 'ada'],
    ['without', formatPublicKey(publicKey), ''],
    ['with spaces and letters beyond ASCII', formatPublicKey(publicKey, 'Ada  Lovelacé'), 'Ada  Lovelacé'],
    ['with a newline', `${line}\n`, 'ada'],
    ['with CRLF', `${line}\r\n`, 'ada'],
  ])('%s is read', (_, text, comment) => {
    expect(parsePublicKey(text)).toEqual({ key: publicKey, comment });
  });

  test.each([
    ['nothing', '', 'one line of a .pub file'],
    ['garbage', 'hello', 'one line of a .pub file'],
    ['the blob alone', line.split(' ')[1]!, 'one line of a .pub file'],
    ['two lines', `${line}\n${line}\n`, 'one line of a .pub file'],
    ['options in front', `restrict ${line}`, 'one line of a .pub file'],
    ['a leading space', ` ${line}`, 'one line of a .pub file'],
    ['two spaces', line.replace(' ', '  '), 'one line of a .pub file'],
    ['a tab', line.replace(' ', '\t'), 'one line of a .pub file'],
    ['a control character in the comment', `${line}\x1b[2J`, 'one line of a .pub file'],
    ['a bidi override in the comment', `${line}\u202e`, 'one line of a .pub file'],
    ['a cut blob', line.replace(/.{4} ada/, ''), 'one line of a .pub file'],
    ['a blob of another type', `ssh-ed25519 ${toBase64(field(utf8('ssh-rsa'), publicKey))}`, 'one line'],
    ['a blob with a tail', `ssh-ed25519 ${toBase64(concatBytes(publicKeyBlob(publicKey), payload))}`, 'one line'],
    ['ssh-dss', 'ssh-dss AAAAB3NzaC1kc3M= x', 'ssh-keygen -t ed25519'],
    ['a security key', 'sk-ssh-ed25519@openssh.com AAAAGnNr x', 'sk-ssh-ed25519@openssh.com are not supported'],
  ])('%s is refused', (_, text, hint) => {
    expectUsage(text, hint);
  });

  test('is not written with a comment that would be a second line', () => {
    for (const comment of ['a\nb', 'a\n', 'a\r\n', '\x1b']) {
      expect(() => formatPublicKey(publicKey, comment)).toThrow(expect.objectContaining({ code: 'usage' }));
    }
  });
});

const ALL = [true, true, true];
const NONE = [false, false, false];

async function answers(key: Uint8Array, message: Uint8Array, sig: Uint8Array): Promise<boolean[]> {
  const verifiers = [verifyTweetnacl, verifyNode, verifyEd25519Async];
  return Promise.all(verifiers.map((verify) => verify(key, message, sig)));
}

function expectUsage(line: string, hint: string): { message: string; hint: string } {
  const error = thrownBy(() => parsePublicKey(line));
  expect(error).toMatchObject({ code: 'usage', hint: expect.stringContaining(hint) });
  return error;
}

function expectInvalid(text: string): void {
  expect(thrownBy(() => parseSshsig(text))).toMatchObject({ name: 'HandoffError', code: 'signature_invalid' });
}

function thrownBy(run: () => unknown): { message: string; hint: string } {
  try {
    run();
  } catch (error) {
    return error as { message: string; hint: string };
  }
  throw new Error('expected an error, got none');
}

type Frame = { version: number } & Record<'key' | 'namespace' | 'reserved' | 'hash' | 'sig', Uint8Array>;

function frameOf(change: Partial<Frame>): Uint8Array {
  const { version, key, namespace, reserved, hash, sig } = {
    version: 1,
    key: publicKeyBlob(publicKey),
    namespace: utf8(NAMESPACE),
    reserved: new Uint8Array(0),
    hash: utf8('sha512'),
    sig: field(utf8('ssh-ed25519'), signature),
    ...change,
  };
  return concatBytes(utf8('SSHSIG'), Uint8Array.of(0, 0, 0, version), field(key, namespace, reserved, hash, sig));
}

function field(...parts: Uint8Array[]): Uint8Array {
  return concatBytes(
    ...parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [new Uint8Array(length), part];
    }),
  );
}

function body(text: string): Uint8Array {
  return fromBase64(text.split('\n').slice(1, -2).join(''))!;
}

function rearmour(bytes: Uint8Array): string {
  const lines = toBase64(bytes).match(/.{1,70}/g)!;
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

function plusL(sig: Uint8Array): Uint8Array {
  const L = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = sig.subarray(32).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n) + L;
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => Number((s >> BigInt(8 * i)) & 0xffn));
  return concatBytes(sig.subarray(0, 32), bytes);
}
