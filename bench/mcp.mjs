// A note that an agent writes over MCP, against the same note as a command, and against nothing but what it must wait for.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fsyncSync, linkSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** How often a note waits for the disk: its bytes and their folder in the journal, the file and its folder in the work tree. */
const SYNCS = 4;

/** Median milliseconds of each, in turns: over MCP, as a command, and as many syncs of a file as large. */
export async function noteOverMcp({ dir, env }, cli, turns) {
  const client = await open(dir, env, cli);
  const scratch = mkdtempSync(join(dir, '.git/bench-'));
  const ways = [
    () => client.ask('tools/call', { name: 'handoff_note', arguments: { text: 'x' } }),
    () => spawnSync(process.execPath, [cli, '-C', dir, 'note', 'x'], { env, stdio: 'ignore' }),
    () => syncs(scratch),
  ];
  const times = ways.map(() => []);
  for (const way of ways) await way(); // not counted
  for (let turn = 0; turn < turns; turn += 1) for (const [at, way] of ways.entries()) times[at].push(await timed(way));
  rmSync(scratch, { recursive: true });
  await client.close();
  return times.map(median);
}

/** One session of the server, as agent programs hold one. */
async function open(dir, env, cli) {
  const child = spawn(process.execPath, [cli, 'mcp'], { cwd: dir, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let id = 0;
  const ask = async (method, params) => {
    id += 1;
    send({ id, method, params });
    const { error, result } = JSON.parse((await answers.next()).value);
    if (error || result.isError) throw new Error(JSON.stringify(error ?? result));
  };
  const clientInfo = { name: 'bench', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  const close = () => {
    const ended = once(child, 'close');
    child.stdin.end();
    return ended;
  };
  return { ask, close };
}

let count = 0;

function syncs(folder) {
  for (let i = 0; i < SYNCS; i += 2) {
    count += 1;
    const path = join(folder, `${count}`);
    sync(path, (file) => writeSync(file, 'x'.repeat(700)), 'w');
    linkSync(path, `${path}.record`);
    sync(folder, () => {}, 'r');
  }
}

function sync(path, write, flags) {
  const file = openSync(path, flags);
  write(file);
  fsyncSync(file);
  closeSync(file);
}

async function timed(way) {
  const start = performance.now();
  await way();
  return performance.now() - start;
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
