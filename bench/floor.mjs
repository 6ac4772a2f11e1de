// The floor: read the blobs with one `git cat-file --batch`, verify their signatures with node:crypto on all cores, and
// nothing else. Which key and kind belong to a blob comes ready in a file; nothing is parsed, checked or compared.
import { spawn } from 'node:child_process';
import { createPublicKey, hash, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sshsigPrefix } from './sshsig-prefix.mjs';

const [dir, planFile] = process.argv.slice(2);
const { keys, blobs } = JSON.parse(readFileSync(planFile, 'utf8'));
const publicKeys = keys.map((x) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }));
const prefixes = new Map();
let next = 0;
let good = 0;

const git = spawn('git', ['-C', dir, 'cat-file', '--batch', '--buffer'], { stdio: ['pipe', 'pipe', 'inherit'] });
git.stdin.end(blobs.map(([oid]) => `${oid}\n`).join(''));
let rest = Buffer.alloc(0);
git.stdout.on('data', (chunk) => {
  rest = take(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
});
process.on('exit', () => {
  if (good !== blobs.length) throw new Error(`verified ${good} of ${blobs.length}`);
});

function take(buffer) {
  let at = 0;
  for (;;) {
    const end = buffer.indexOf(10, at);
    if (end < 0) return buffer.subarray(at);
    const size = Number(buffer.latin1Slice(at, end).split(' ')[2]);
    if (buffer.length < end + size + 2) return buffer.subarray(at);
    check(buffer.subarray(end + 1, end + 1 + size));
    at = end + size + 2;
  }
}

function check(blob) {
  const [, kind, key] = blobs[next++];
  const line = blob.indexOf('\nsignature: ') + 1;
  const signed =
    line + 100 === blob.length
      ? blob.subarray(0, line)
      : Buffer.concat([blob.subarray(0, line), blob.subarray(line + 100)]);
  if (!prefixes.has(kind)) prefixes.set(kind, sshsigPrefix(`git-handoff/v1/${kind}`));
  const message = Buffer.concat([prefixes.get(kind), hash('sha512', signed, 'buffer')]);
  const signature = Buffer.from(blob.latin1Slice(line + 11, line + 99), 'base64');
  verify(null, message, publicKeys[key], signature, (error, valid) => {
    if (valid && !error) good++;
  });
}
