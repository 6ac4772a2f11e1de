import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { git, gitInput } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';

// What git itself cannot follow is refused, and the refusal says what is wrong: git dies of it without a word.

const place = template();
const DEPTH = 25_000;

/** Folders in folders, as a pack: as files they would take git long. The id of the outermost. */
function nest(dir: string, depth: number): string {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(depth, 8);
  const parts = [header];
  let inner = Buffer.from(git(dir, 'hash-object', '-t', 'tree', '-w', '--stdin'), 'hex');
  for (let level = 0; level < depth; level++) {
    const tree = Buffer.concat([Buffer.from('40000 d\0'), inner]);
    parts.push(Buffer.of(0x80 | (2 << 4) | (tree.length & 15), tree.length >> 4), deflateSync(tree, { level: 1 }));
    inner = createHash('sha1').update(`tree ${tree.length}\0`).update(tree).digest();
  }
  const pack = Buffer.concat(parts);
  gitInput(dir, Buffer.concat([pack, createHash('sha1').update(pack).digest()]), 'index-pack', '--stdin');
  return inner.toString('hex');
}

it('folders that are nested more deeply than git can follow are too large to judge', async () => {
  const { dir, ...here } = place();
  const entries = `${git(dir, 'ls-tree', 'HEAD')}\n040000 tree ${nest(dir, DEPTH)}\tz\n`;
  const commit = git(dir, 'commit-tree', gitInput(dir, entries, 'mktree'), '-p', 'HEAD', '-m', 'deep');
  const { findings } = await reopen({ ...here, dir }).handoff.gate({ base: 'refs/heads/main', head: commit });
  expect(findings).toMatchObject([
    {
      code: 'too_large',
      expected: 'folders that git can follow',
      hint: 'Leave the deepest folders out of every commit.',
    },
  ]);
});
