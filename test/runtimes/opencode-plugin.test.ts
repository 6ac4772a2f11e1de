import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pluginText } from '../../src/runtimes/opencode-plugin.ts';
import { HOOK } from '../agents/event.ts';
import type { Place } from '../handoff.ts';
import { isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';

const copy = template();

/** Loads the plugin as opencode does, in a process of its own, and runs lines that may use `plugin` and `told(session)`. */
function run({ dir, env }: Pick<Place, 'dir' | 'env'>, lines: string): unknown {
  const folder = temporaryDirectory();
  symlinkSync(HOOK, join(folder, 'git-handoff-hook'));
  writeFileSync(join(folder, 'plugin.mjs'), pluginText(undefined).replace('%MARKER%', ''));
  writeFileSync(
    join(folder, 'run.mjs'),
    `import { GitHandoff } from './plugin.mjs';
    const client = { tui: { showToast: async () => {} }, session: { promptAsync: async () => {} } };
    const plugin = await GitHandoff({ client, directory: ${JSON.stringify(dir)} });
    const happens = (type, info) => plugin.event({ event: { type, properties: { sessionID: info.id, info } } });
    const told = async (sessionID) => {
      const system = [];
      await plugin['experimental.chat.system.transform']({ sessionID }, { system });
      return system;
    };
    ${lines}`,
  );
  const all = { ...isolatedEnv, ...env, PATH: `${folder}:${process.env.PATH}` };
  return JSON.parse(
    execFileSync(process.execPath, [join(folder, 'run.mjs')], { cwd: dir, env: all, encoding: 'utf8' }),
  );
}

test('a reminder stands beside where the work stands, until the next prompt', async () => {
  const place = copy();
  await place.handoff.start({ as: 'donna' });
  await place.handoff.note({ as: 'donna', text: 'work' });
  const [first, reminded, later] = run(
    place,
    `const prompt = () => plugin['chat.message']({ sessionID: 's' }, { parts: [{ type: 'text', text: 'go on' }] });
    await happens('session.created', { id: 's' });
    const all = [await told('s')];
    await happens('session.idle', { id: 's' });
    await prompt();
    all.push(await told('s'));
    await prompt();
    all.push(await told('s'));
    console.log(JSON.stringify(all));`,
  ) as string[][];
  expect(first).toEqual([expect.stringContaining('donna has session')]);
  expect(reminded).toEqual([...first!, expect.stringContaining('no baton')]);
  expect(later).toEqual(first);
});

test('a subagent at work is its agent at work, and is told nothing', async () => {
  const place = copy();
  await place.handoff.start({ as: 'donna' });
  const told = run(
    place,
    `await happens('session.created', { id: 'child', parentID: 's' });
    await happens('session.created', { id: 'grandchild', parentID: 'child' });
    await plugin['tool.execute.after']({ sessionID: 'grandchild', tool: 'bash' });
    console.log(JSON.stringify([await told('child'), await told('grandchild')]));`,
  );
  expect(told).toEqual([[], []]);
  expect(existsSync(join(place.dir, '.git/handoff/runtimes/opencode/tool'))).toBe(true);
});
