import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeYaml } from '../../core/bytes/yaml-write.ts';
import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { requireSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { knownTrail, readKnownSessions } from '../../custody/known-sessions.ts';
import { ifThere } from '../../disk/if-there.ts';
import type { ThoughtFields } from '../../journal/drafts/thought-file.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { Repository } from '../../repository/repository.ts';
import { readTask } from '../../repository/task-definitions.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { planThought, readThought } from '../../writeback/thought-record.ts';

export interface EscalateOptions extends SessionChoice {
  id: string;
  /** The draft that a failed thought named, where it is not among the others. */
  file?: string;
}

export interface EscalateResult {
  task_id: string;
  branch: string;
  commit_sha: string;
  thought_record: AboutThought;
  /** The file that it was kept in; null when it was put together now. */
  draft: string | null;
  /** The record as a person pastes it, and what they run then. */
  yaml: string;
  command: string;
}

/** As much of a thought as there is, and at least where the work is. */
type AboutThought = ThoughtFields & { branch: string; commit_sha: string };

/** What a person needs who writes the record for an agent that cannot. It changes nothing. */
export async function escalate(repository: Repository, options: EscalateOptions): Promise<EscalateResult> {
  const { id, file } = options;
  const trust = await requireTrust(repository);
  await readTask(repository, trust, id);
  const draft = file ?? (await newestDraft(repository, trust, id));
  const thought_record = draft === null ? await thoughtNow(repository, trust, options) : keptThought(draft, id);
  const { branch, commit_sha } = thought_record;
  const yaml = writeYaml(thought_record);
  const command = `git handoff thought ${quoteWord(id)} --file thought.yaml`;
  return { task_id: id, branch, commit_sha, thought_record, draft, yaml, command };
}

/** Its summary is left for whoever writes it. */
async function thoughtNow(repository: Repository, trust: Trust, options: EscalateOptions): Promise<AboutThought> {
  const { session } = await requireSession(repository, trust, options);
  return (await planThought(repository, trust, session, options.id, {})).kept;
}

function keptThought(draft: string, id: string): AboutThought {
  const fields = readThought(draft);
  const { task_id, branch, commit_sha } = fields;
  if (task_id === id && branch && commit_sha) return { ...fields, branch, commit_sha };
  throw new HandoffError('usage', `${draft} is no draft of a thought about ${id}.`, {
    hint: `git handoff escalate ${quoteWord(id)} without --file looks for one itself.`,
    data: { path: draft },
  });
}

/** The newest kept draft about this task whose commit no thought names yet. A draft that was written as a record since needs no help. */
async function newestDraft(repository: Repository, trust: Trust, id: string): Promise<string | null> {
  const paths = draftPaths(dirsOf(repository).drafts).filter((path) => tryRead(path)?.task_id === id);
  if (paths.length === 0) return null;
  const { thoughts } = await knownTrail(await readKnownSessions(repository, trust), id);
  const written = new Set(thoughts.map(({ commit }) => commit));
  return paths.find((path) => !written.has(tryRead(path)?.commit_sha ?? '')) ?? null;
}

/** The newest first. */
function draftPaths(folder: string): string[] {
  const names = ifThere(() => readdirSync(folder)) ?? [];
  const paths = names.filter((name) => /-thought-\d+\.yaml$/.test(name)).map((name) => join(folder, name));
  const times = new Map(paths.map((path) => [path, statSync(path).mtimeMs]));
  return paths.sort((a, b) => times.get(b)! - times.get(a)! || (a < b ? 1 : -1));
}

/** Null for what a hand has spoilt. */
function tryRead(path: string): ThoughtFields | null {
  try {
    return readThought(path);
  } catch (error) {
    if (error instanceof HandoffError) return null;
    throw error;
  }
}
