import { parseWitnessKey, type Verifier } from '../../core/ledger/note.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Settings } from '../../repository/parts.ts';

/** Whose cosignatures are looked at: those that are named, and those of `handoff.witness`, with spaces between. */
export async function readWitnesses(repository: Settings, named: readonly string[] = []): Promise<Verifier[]> {
  const configured = (await repository.config()).get('handoff.witness') ?? '';
  const vkeys = new Set([...named, ...configured.split(/\s+/).filter((vkey) => vkey !== '')]);
  return [...vkeys].map((vkey) => parseWitnessKey(vkey, nodeSuite));
}
