/** The numbers in SPEC.md of the rules that ledgers and proofs show. */
export const RULES = {
  note: 'M80',
  cosignature: 'M81',
  checkpoint: 'M82',
  tiles: 'M84',
  file: 'M88',
  binding: 'M89',
  session: 'M90',
  ledger: 'M91',
  keys: 'M92',
};
