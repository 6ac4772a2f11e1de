import { find, type Source } from '../audit/source/source.ts';
import { readSignedDocument } from '../audit/trust/trust.ts';
import { HandoffError } from '../core/error.ts';
import { PROJECT_PATH } from '../core/paths.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Messages } from './parts.ts';

/** What project.yaml says, for whoever begins. */
export interface Project {
  project: string | null;
  phase: string | null;
  reading: string[];
}

/** A project.yaml that no maintainer signed says nothing; the verb goes on without it. */
export async function readProject(repository: Messages, source: Source, trust: Trust): Promise<Project> {
  const entry = await find(source, PROJECT_PATH);
  if (!entry) return { project: null, phase: null, reading: [] };
  try {
    const { fields } = await readSignedDocument(source, entry, 'project', trust, nodeSuite);
    const { name, phase = null, reading = [] } = fields;
    return { project: name, phase, reading };
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`${PROJECT_PATH}: ${error.message}`);
    return { project: null, phase: null, reading: [] };
  }
}
