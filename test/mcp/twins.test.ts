import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TOOLS } from '../../src/mcp/tool-table.ts';
import { run } from '../cli/cli.ts';
import { initialised, openPlace, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { serve } from './client.ts';

// Two repositories that are alike to the byte: in one an agent calls tools, in the other a person types the verbs. Each answer of
// the one is what the other prints with --json, but for what is drawn at random or read from a clock.

interface Step {
  tool: string;
  args?: Record<string, unknown>;
  verb: string[];
  /** Done in both, before the step. */
  first?(dir: string): void;
}

const commit = (dir: string): void => {
  writeFileSync(join(dir, 'reader.mjs'), 'export const read = (text) => text;\n');
  git(dir, 'add', 'reader.mjs');
  git(dir, 'commit', '--quiet', '-m', 'The reader');
};

const blocker = { type: 'peer', issue: 'a version is missing' };

const STORY: Step[] = [
  {
    tool: 'handoff_start',
    args: { identity: 'donna', intent: 'the reader' },
    verb: ['start', '--as', 'donna', '--intent', 'the reader'],
  },
  { tool: 'handoff_note', args: { text: 'tabs, "quoted"' }, verb: ['note', 'tabs, "quoted"'] },
  { tool: 'handoff_checkpoint', args: { text: 'green' }, verb: ['checkpoint', 'green'] },
  { tool: 'handoff_checkpoint', verb: ['checkpoint'] },
  { tool: 'task_next_actions', args: { limit: 1 }, verb: ['next', '-n', '1'] },
  { tool: 'task_claim', args: { task_id: 'T1' }, verb: ['claim', 'T1'] },
  { tool: 'task_claim', args: { task_id: 'T9' }, verb: ['claim', 'T9'] },
  {
    tool: 'audit_session_start',
    args: { intent: 'careful', task_id: 'T1' },
    verb: ['audit', 'start', '--intent', 'careful', '--task', 'T1'],
  },
  { tool: 'task_update', args: { task_id: 'T1', status: 'done' }, verb: ['task', 'update', 'T1', '--status', 'done'] },
  {
    tool: 'task_update',
    args: { task_id: 'T1', progress: 40, notes: 'half' },
    verb: ['task', 'update', 'T1', '--progress', '40', '--notes', 'half'],
  },
  {
    tool: 'thought_record',
    args: { task_id: 'T1', summary: 'Reads text.', tests_run: ['unit', 'lint'], blockers: [blocker] },
    verb: ['thought', 'T1', 'Reads text.', '--tests', 'unit,lint', '--blocker', JSON.stringify(blocker)],
    first: commit,
  },
  { tool: 'task_update', args: { task_id: 'T1', status: 'done' }, verb: ['task', 'update', 'T1', '--status', 'done'] },
  { tool: 'merkle_finalize', verb: ['seal'] },
  { tool: 'merkle_finalize', verb: ['seal'] },
  { tool: 'merkle_root', verb: ['root'] },
  { tool: 'merkle_root', args: { ledger: true }, verb: ['root', '--ledger'] },
  { tool: 'audit_verify_chain', verb: ['audit', 'verify'] },
  { tool: 'handoff_status', verb: ['status'] },
  {
    tool: 'handoff_wrap',
    args: { body: '# Current work\n\nThe reader.\n', next_agent: 'lola', focus: ['T2'], summary: 'read' },
    verb: ['wrap', '.git/baton.md', '--next-agent', 'lola', '--focus', 'T2', '--summary', 'read'],
  },
  { tool: 'hd_exec', args: { identity: 'donna', force: true }, verb: ['pickup', '--as', 'donna', '--force'] },
  { tool: 'hd_exec', args: { identity: 'lola' }, verb: ['pickup', '--as', 'lola'] },
];

test('every tool answers what its verb prints', async () => {
  const { tools, verbs } = await twins();
  const { call } = await serve(tools);
  for (const { tool, args = {}, verb, first } of STORY) {
    for (const { dir } of [tools, verbs]) first?.(dir);
    const told = run([...verb, '--json'], { cwd: verbs.dir, env: verbs.env });
    const { object, isError } = await call(tool, { ...args, detail: 'full' });
    expect(alike(object, tools), tool).toEqual(alike(JSON.parse(told.stdout), verbs));
    expect(isError, tool).toBe('error' in object);
  }
  expect(new Set(STORY.map(({ tool }) => tool))).toEqual(new Set(TOOLS.map(({ name }) => name)));
});

async function twins(): Promise<{ tools: Place; verbs: Place }> {
  const place = await initialised();
  await place.handoff.identity.add({ name: 'lola' });
  await place.handoff.task.add({ id: 'T1', title: 'The reader' });
  await place.handoff.task.add({ id: 'T2', title: 'Quoted text' });
  writeFileSync(join(place.dir, '..', 'baton.md'), '# Current work\n\nThe reader.\n');
  const copies = ['tools', 'verbs'].map((name) => {
    const dir = join(place.dir, '..', name, 'work');
    cpSync(place.dir, dir, { recursive: true });
    cpSync(join(place.dir, '..', 'baton.md'), join(dir, '.git', 'baton.md'));
    return openPlace(dir, place.keys, place.root);
  });
  return { tools: copies[0]!, verbs: copies[1]! };
}

/** Ids in the order in which they appear, no times, and paths as seen from the repository. */
function alike(value: object, { dir }: Place): unknown {
  const seen = new Map<string, string>();
  const named = (id: string): string => {
    if (!seen.has(id)) seen.set(id, `#${seen.size + 1}`);
    return seen.get(id)!;
  };
  const text = JSON.stringify(value)
    .replaceAll(dir, '.')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|\d{8}T\d{6}/g, 'TIME')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => named(id.slice(0, 8)))
    .replace(/(?:sha256:)?[0-9a-f]{64}|\b[0-9a-f]{40}\b|\b[0-9a-f]{8,12}\b/g, (id) =>
      named(id.replace('sha256:', '').slice(0, 8)),
    )
    .replace(/"(heartbeat_age|age)":\d+(?:\.\d+)?/g, '"$1":0')
    .replace(/[A-Za-z0-9+/]{86}==/g, 'SIGNATURE');
  return JSON.parse(text);
}
