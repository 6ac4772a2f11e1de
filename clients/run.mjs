// The real programs of agents against a scripted model: what git-handoff promises of them.
//   node clients/run.mjs [part of a scenario's title]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { box } from './box.mjs';
import { installed } from './install.mjs';
import { PROGRAMS, SCENARIOS } from './table.mjs';

const [part = ''] = process.argv.slice(2);
const wanted = SCENARIOS.filter(({ title }) => title.toLowerCase().includes(part.toLowerCase()));
const { command, missing } = box();
if (missing) console.log(`clients: 0 passed, 0 failed, ${wanted.length} skipped: ${missing}`);
else process.exitCode = await playInBox(command, await install());

async function install() {
  const needed = PROGRAMS.filter((program) => wanted.some(({ programs }) => programs.includes(program)));
  const places = {};
  for (const program of needed) places[program.name] = await installed(program);
  return places;
}

/** What was made is removed when no process is left that could write to it. */
async function playInBox([file, ...words], places) {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'handoff-clients-'));
  const inside = fileURLToPath(new URL('inside.mjs', import.meta.url));
  const all = [...words, process.execPath, inside, JSON.stringify(places), part];
  const stdio = ['ignore', 'inherit', 'inherit'];
  try {
    const [code] = await once(spawn(file, all, { stdio, env: { ...process.env, TMPDIR } }), 'close');
    return code ?? 1;
  } finally {
    rmSync(TMPDIR, { recursive: true, force: true });
  }
}
