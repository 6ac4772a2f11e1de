import { createHash, createPrivateKey, createPublicKey, sign as ed25519 } from 'node:crypto';

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
export const keys = Object.fromEntries(['ada', 'ben', 'donna', 'con-1', 'eve'].map((label) => [label, makeKey(label)]));

function makeKey(label) {
  const seed = hash('sha256', `git-handoff vector key ${label}`);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const bytes = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x, 'base64url');
  const blob = strings('ssh-ed25519', bytes);
  const fingerprint = `SHA256:${hash('sha256', blob).toString('base64').replace(/=+$/, '')}`;
  return { label, seed, privateKey, bytes, line: `ssh-ed25519 ${blob.toString('base64')}`, fingerprint };
}
export const { ada, ben, donna, eve, 'con-1': con } = keys;

export function hash(algorithm, data) {
  return createHash(algorithm).update(data).digest();
}

/** SSH strings: a big-endian length, then the bytes. */
function strings(...parts) {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

export function message(kind, signed, namespace = `git-handoff/v1/${kind}`) {
  return Buffer.concat([Buffer.from('SSHSIG'), strings(namespace, '', 'sha512', hash('sha512', signed))]);
}

export function sign(kind, signed, key) {
  return ed25519(null, message(kind, signed), key.privateKey);
}

export function idOf(signed) {
  return `sha256:${hash('sha256', signed).toString('hex')}`;
}

export function armour({ bytes }, kind, signature) {
  const fields = strings(
    strings('ssh-ed25519', bytes),
    `git-handoff/v1/${kind}`,
    '',
    'sha512',
    strings('ssh-ed25519', signature),
  );
  const base64 = Buffer.concat([Buffer.from('SSHSIG\0\0\0\x01', 'latin1'), fields]).toString('base64');
  return `-----BEGIN SSH SIGNATURE-----\n${base64.match(/.{1,70}/g).join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

// Fixed values that stand for something that happened elsewhere.
export const AT = '2026-02-20T14:30:25.123Z';
export const TREE = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';
export const DIGEST = idOf('some output\n');
