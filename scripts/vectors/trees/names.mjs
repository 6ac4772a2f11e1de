import { GROUND } from '../world/ground.mjs';
import { error } from '../world/verdict.mjs';
import { tree } from './making.mjs';

// Names in the topmost folder that are no UTF-8. A path is written with U+FFFD and two digits for each byte beyond ASCII.

/** Files whose names are these texts, a character a byte. */
const named = (...names) =>
  Object.fromEntries(names.map((name) => [name, { name: Buffer.from(name, 'latin1'), content: 'x\n' }]));

tree(
  'names that are no UTF-8, and not like .handoff without the bytes beyond ASCII',
  ['M52'],
  { ...GROUND, ...named('.hando\xff', 'HANDOF~\x81', 'caf\xe9') },
  9,
);
tree(
  'names that are no UTF-8, and like .handoff without the bytes beyond ASCII',
  ['M52'],
  { ...GROUND, ...named('.hand\xe9off', '.handoff\xff', 'HANDOF~1\x81') },
  9,
  ['.hand\ufffde9off', '.handoff\ufffdff', 'HANDOF~1\ufffd81'].map((path) => error('name_lookalike', path)),
);
