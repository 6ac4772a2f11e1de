import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { recordName, sessionFolder } from '../../src/core/paths.ts';
import type { RecordKind } from '../../src/core/record/kinds.ts';
import { parseRecord } from '../../src/core/record/record.ts';
import type { PlacedRecord } from '../../src/core/record/record-summary.ts';
import { verifyRecord } from '../../src/core/record/verify.ts';
import { nodeSuite, signedFile, testKey } from './examples.ts';

export interface Draft {
  kind: RecordKind;
  clock?: number;
  [key: string]: unknown;
}

export interface Session {
  id: string;
  folder: string;
  records: PlacedRecord[];
}

export const AT = '2026-02-20T14:30:25.123Z';

export function sessionId(number: number): string {
  return `${String(number).padStart(8, '0')}-51cf-4c61-9a39-2b7fd2f9a1de`;
}

/** A chain of records that were signed and verified as any other. */
export async function makeSession(
  number: number,
  drafts: readonly Draft[],
  { identity = 'donna', clock = 0, at = AT }: { identity?: string; clock?: number; at?: string } = {},
): Promise<Session> {
  const id = sessionId(number);
  const folder = `.handoff/sessions/${identity}/${sessionFolder(at, id)}`;
  const inherited = drafts[0]?.predecessor_session_id as string | undefined;
  const records: PlacedRecord[] = [];
  for (const [index, { kind, ...fields }] of drafts.entries()) {
    const common = {
      ...{ handoff: 1, kind, repo: '0'.repeat(64), session_id: id, identity, seq: index + 1 },
      ...{ prev: records.at(-1)?.record.id ?? null, clock: clock + index + 1, at },
      ...(inherited ? { inherited_from: inherited } : {}),
    };
    const body = kind === 'baton' || kind === 'decision' ? 'Text.\n' : null;
    const bytes = signedFile({ ...common, ...fields } as YamlMap, body);
    const record = await verifyRecord(parseRecord(bytes), [testKey('donna')], nodeSuite);
    records.push({ path: `${folder}/${recordName(index + 1, kind)}`, record });
  }
  return { id, folder, records };
}

export const START: Draft = { kind: 'start' };
export const NOTE: Draft = { kind: 'note', text: 'npm and git are all it needs' };
export const BATON: Draft = { kind: 'baton', summary: 'half way' };

export function pickupOf(number: number, fields: object = {}): Draft {
  return { kind: 'pickup', predecessor_session_id: sessionId(number), baton: null, ...fields };
}

export function thought(task_id: string): Draft {
  return {
    ...{ kind: 'thought', task_id, branch: 'main', commit_sha: 'a'.repeat(40), tests_run: [], summary: 'it works' },
    ...{ blockers: [], files_changed: [], related_thought_records: [] },
  };
}

export function task(task_id: string, status: string, fields: object = {}): Draft {
  return { kind: 'task', task_id, status, ...fields };
}

export function wip(key: string, state: string): Draft {
  return { kind: 'wip', key, state, ...(state === 'open' ? { text: `work on ${key}` } : {}) };
}

export function signal(to: string): Draft {
  return { kind: 'signal', to, text: `to ${to}` };
}
