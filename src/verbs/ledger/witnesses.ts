import { HandoffError } from '../../core/error.ts';
import { parseVerifierKey, type Verifier } from '../../core/note.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Repository } from '../repository.ts';

/** Whose cosignatures are looked at: those that are named, and those of `handoff.witness`, with spaces between. */
export async function readWitnesses(repository: Repository, named: readonly string[] = []): Promise<Verifier[]> {
  const configured = (await repository.config()).get('handoff.witness') ?? '';
  const vkeys = new Set([...named, ...configured.split(/\s+/).filter((vkey) => vkey !== '')]);
  return [...vkeys].map(parseWitness);
}

function parseWitness(vkey: string): Verifier {
  const verifier = parseVerifierKey(vkey, nodeSuite);
  if (verifier.type === 'cosignature') return verifier;
  throw new HandoffError('usage', `${verifier.name} is the key of a log, and no witness.`, {
    hint: 'The key of a witness has the algorithm 0x04 of tlog-cosignature.',
  });
}
