// Writes the example keys, as PKCS#8 files, to a directory outside the work tree. They protect nothing: see docs/proofs.md.
import { createPrivateKey } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory] = process.argv.slice(2);
if (!directory) throw new Error('usage: node examples/keys/derive.mjs DIRECTORY');
const seeds = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8'));
mkdirSync(directory, { recursive: true, mode: 0o700 });
for (const [identity, seed] of Object.entries(seeds)) {
  writeFileSync(join(directory, `${identity}.pem`), toPem(Buffer.from(seed, 'hex')), { mode: 0o600 });
}

/** RFC 8410: the seed behind a fixed prefix. */
function toPem(seed) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' });
}
