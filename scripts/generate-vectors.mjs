// Writes protocol/vectors. Uses nothing of src, on purpose: the texts are spelled out, put together and signed here, so that
// the vectors check the code instead of repeating it. Keys, times and ids are fixed: every run writes the same bytes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chains } from './vectors/chains.mjs';
import { checkpoints } from './vectors/checkpoints.mjs';
import { documents } from './vectors/documents.mjs';
import { histories, historiesBundle } from './vectors/histories.mjs';
import { proofs } from './vectors/proofs.mjs';
import { records } from './vectors/records.mjs';
import { seals } from './vectors/seals.mjs';
import { signatures } from './vectors/signatures.mjs';
import { keys } from './vectors/signing.mjs';
import { tiles } from './vectors/tiles.mjs';
import { trees, treesBundle } from './vectors/trees.mjs';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = values.out ?? join(import.meta.dirname, '../protocol/vectors');

const published = Object.values(keys).map(({ label, seed, bytes, line, fingerprint }) => {
  return { label, seed: seed.toString('hex'), public_key: bytes.toString('hex'), line, fingerprint };
});

mkdirSync(out, { recursive: true });
const files = {
  keys: published,
  signatures,
  records,
  documents,
  chains,
  seals,
  checkpoints,
  tiles,
  proofs,
  trees,
  histories,
};
for (const [name, cases] of Object.entries(files)) {
  writeFileSync(join(out, `${name}.json`), `${JSON.stringify(cases, null, 1)}\n`);
}

const bundles = { trees: treesBundle, histories: historiesBundle };
for (const [name, bytes] of Object.entries(bundles)) writeFileSync(join(out, `${name}.bundle`), bytes);
