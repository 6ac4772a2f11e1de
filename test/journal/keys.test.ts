import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../temporary.ts';

// In Node 20 a key of generateKeyPairSync that is exported while the job which made it is collected waits for itself for ever.
const PROGRAM = `
import { generateKey } from './src/journal/keys/keys.ts';
for (let made = 0; made < 3_000; made++) {
  const key = generateKey();
  for (let exported = 0; exported < 10; exported++) key.export({ format: 'jwk' });
}
console.log('done');
`;

test('making and exporting keys never waits for the collector', async () => {
  const outfile = join(temporaryDirectory(), 'keys.mjs');
  await build({
    stdin: { contents: PROGRAM, resolveDir: process.cwd(), loader: 'ts' },
    ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'silent', outfile },
  });
  const { stdout, signal } = spawnSync(process.execPath, ['--max-semi-space-size=1', outfile], {
    ...{ encoding: 'utf8', timeout: 120_000 },
  });
  expect([stdout, signal]).toEqual(['done\n', null]);
});
