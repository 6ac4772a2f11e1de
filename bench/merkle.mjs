// The root of many leaves against its floor: the same inputs, of leaves and of nodes, hashed with node:crypto and nothing
// else. They are ready before the clock starts, and the answer stays the text that node:crypto is quickest with.
import { hash } from 'node:crypto';
import { merkleRoot } from '../dist/core.js';
import { nodeHashes } from '../dist/index.js';

const COUNT = 100_000;
const ROUNDS = 21;

/** The median ratio of rounds taken in turns, after rounds that only warm the code. */
export function rootOverFloor() {
  // As long as records are.
  const leaves = Array.from({ length: COUNT }, (_, i) => bytes(`leaf ${i} ${'.'.repeat(500 + (i % 200))}`));
  const inputs = [...leaves.map((leaf) => Buffer.concat([Buffer.of(0), leaf])), ...pairsOver(leaves)].map(bytes);
  if (inputs.length !== 2 * COUNT - 1) throw new Error(`${inputs.length} inputs for ${COUNT} leaves`);
  const ratios = [];
  for (let round = -3; round < ROUNDS; round++) {
    const root = timed(() => merkleRoot(leaves, nodeHashes.sha256));
    const each = timed(() => hashEach(inputs));
    if (Buffer.from(root.value).toString('hex') !== each.value) throw new Error('the floor hashes something else');
    if (round >= 0) ratios.push(root.time / each.time);
  }
  return ratios.sort((a, b) => a - b)[ROUNDS >> 1];
}

/** The last input is the root's. */
function hashEach(inputs) {
  let last;
  for (const input of inputs) last = hash('sha256', input, 'hex');
  return last;
}

/** The inputs of all nodes over the leaves, level by level. */
function pairsOver(leaves) {
  const inputs = [];
  let level = leaves.map((leaf) => hash('sha256', Buffer.concat([Buffer.of(0), leaf]), 'buffer'));
  while (level.length > 1) {
    const next = [];
    for (let i = 0; i + 1 < level.length; i += 2) {
      inputs.push(Buffer.concat([Buffer.of(1), level[i], level[i + 1]]));
      next.push(hash('sha256', inputs.at(-1), 'buffer'));
    }
    level = level.length % 2 === 0 ? next : [...next, level.at(-1)];
  }
  return inputs;
}

/** An array of its own, as files are read. */
function bytes(data) {
  return new Uint8Array(Buffer.from(data));
}

/** Processor time: in one process it can be had, and it does not count what others do meanwhile. */
function timed(run) {
  const start = process.cpuUsage();
  const value = run();
  const { user, system } = process.cpuUsage(start);
  return { value, time: user + system };
}
