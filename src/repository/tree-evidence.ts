import { type Evidence, openEvidence } from '../audit/evidence/evidence.ts';
import type { Source } from '../audit/source/source.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Messages, StateDirectory } from './parts.ts';
import { cacheFolder } from './repository.ts';

/** What all records of a tree say, for verdicts: nothing of it is ever pushed out by what came later. */
export function evidenceIn(repository: StateDirectory & Messages, source: Source, trust: Trust): Evidence {
  const cacheAt = repository.build === null ? null : cacheFolder(repository, 'evidence');
  return openEvidence(source, trust, { suite: nodeSuite, cacheFolder: cacheAt, onProgress: repository.progress });
}
