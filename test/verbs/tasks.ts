import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseRecord } from '../../src/core/record/record.ts';
import { taskStatus } from '../../src/core/session/history-queries.ts';
import type { TaskStatus } from '../../src/core/task/state.ts';
import { readKnownSessions } from '../../src/custody/known-sessions.ts';
import { nodeHost } from '../../src/host.ts';
import { append } from '../../src/journal/append.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { requireTrust } from '../../src/repository/trusted-now.ts';
import { openWriter } from '../../src/verbs/session/record-verbs.ts';
import { type Place, privateKey, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { signDocument } from '../threats/forge.ts';

/** A task as a maintainer signs it, in the work tree. */
export function defineTask(place: Place, id: string, more: Record<string, unknown> = {}): void {
  const common = { handoff: 1, kind: 'task-definition' as const, repo: place.root, version: 1, prev: null };
  const fields = { ...common, at: '2026-02-20T14:30:25.123Z', task_id: id, title: `the work of ${id}`, ...more };
  const bytes = signDocument(fields as Parameters<typeof signDocument>[0], [
    ['maintainer', privateKey(place, 'maintainer')],
  ]);
  parseRecord(bytes);
  writeBytes(place.dir, `.handoff/tasks/${id}.yaml`, bytes);
}

/** A record of a task's state in the session that is open, as the journal has it. */
export async function changeTask(place: Place, task_id: string, status: TaskStatus, as = 'donna'): Promise<void> {
  const repository = openRepositoryAt(place.dir, { env: place.env, host: nodeHost });
  try {
    await append(await openWriter(repository, { as }, null), { kind: 'task', fields: { task_id, status } });
  } finally {
    await repository.close();
  }
}

/** Writes files and commits everything but records. */
export function work(place: Place, files: Record<string, string>, message = 'work'): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.dir, path)), { recursive: true });
    writeFileSync(join(place.dir, path), text);
    git(place.dir, 'add', '--', `:(literal)${path}`);
  }
  git(
    place.dir,
    'commit',
    '--quiet',
    '--message',
    message,
    '--',
    ...Object.keys(files).map((path) => `:(literal)${path}`),
  );
  return git(place.dir, 'rev-parse', 'HEAD');
}

/** What the records that are known here say of a task. */
export async function statusOf(place: Place, task: string): Promise<string | undefined> {
  const repository = openRepositoryAt(place.dir, { env: place.env, host: nodeHost });
  const { history } = await readKnownSessions(repository, await requireTrust(repository));
  await repository.close();
  return taskStatus(history, task)?.status;
}

/** What a call is refused with; null where it is not. */
export function error(refused: Promise<unknown>) {
  return refused.then(
    () => null,
    (thrown) => thrown,
  );
}
