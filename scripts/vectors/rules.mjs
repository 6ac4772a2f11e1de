/** The numbers in SPEC.md of the rules that ledgers and proofs show. */
export const RULES = {
  note: 'note',
  cosignature: 'cosignature',
  checkpoint: 'checkpoint',
  file: 'proof file',
  binding: 'proof binding',
  session: 'proof session',
  ledger: 'proof ledger',
  keys: 'proof keys',
};
