import { DIGEST, eve, TREE } from '../signing.mjs';
import { without } from '../world/documents.mjs';
import { GROUND } from '../world/ground.mjs';
import { lock, note, seal, session, start } from '../world/sessions.mjs';
import { error } from '../world/verdict.mjs';
import { tokens } from './holding.mjs';
import { OTHER_ROOT, tree } from './making.mjs';

// Records and sessions that do not hold.

const LATER = '20260221T090000';

const faulty = session('faulty', [
  start(),
  ['note', 'text: &a hi\n'],
  ['note', 'text: hi \u202e there\n'],
  ['note', 'text: hi\ncolour: blue\n'],
  note('by somebody else', { key: eve }),
]);
const foreign = session('of another repository', [start()], { repo: OTHER_ROOT, clock: 20 });
tree(
  'records that do not hold',
  ['M7', 'M12', 'M15', 'M35', 'M38'],
  { ...GROUND, ...faulty.files, ...foreign.files },
  15,
  [
    error('yaml_invalid', faulty.records[1].path),
    error('bytes_invalid', faulty.records[2].path),
    error('schema_invalid', faulty.records[3].path),
    error('signature_invalid', faulty.records[4].path),
    error('repo_mismatch', foreign.records[0].path),
  ],
);

const misplaced = session('misplaced', [start(), note('hi')]);
const [first, other] = misplaced.records;
tree(
  'a record under the name of another kind, and a document among records',
  ['M37'],
  {
    ...GROUND,
    [first.path]: first.file,
    [other.path.replace('note', 'wip')]: other.file,
    [other.path.replace('0002-note', '0003-signal')]: GROUND['.handoff/tasks/P0.1.yaml'],
  },
  12,
  [
    error('path_mismatch', other.path.replace('note', 'wip')),
    error('path_mismatch', other.path.replace('0002-note', '0003-signal')),
  ],
);

const gap = session('a gap', [start(), note('hi'), note('ho'), note('hu', { prev: DIGEST })], { clock: 10 });
const badSeal = session('a seal', [start(), note('hi'), seal()], { clock: 20 });
const resealed = badSeal.of('seal').file.replace(/root: .*/, `root: ${TREE}`);
tree('a gap, and what follows it', ['M39', 'M40'], without({ ...GROUND, ...gap.files }, gap.records[1].path), 12, [
  error('chain_broken', gap.records[2].path),
  error('chain_broken', gap.records[3].path),
]);
const twice = session(
  'twice',
  [start(), note('gone'), note('one'), ['wip', 'key: reader\nstate: open\ntext: two\n', { seq: 3 }]],
  { clock: 10 },
);
const [, gone, one, two] = twice.records;
tree('a number twice, after a gap', ['M39'], without({ ...GROUND, ...twice.files }, gone.path), 12, [
  error('chain_broken', one.path),
  error('chain_broken', two.path),
]);
const lowered = session(
  'lowered',
  [start(lock(1)), ['note', 'text: &a hi\n'], note('three', lock(3)), note('one', lock(1))],
  { clock: 10 },
);
tree('a token that goes down, after a file that does not hold', ['M46'], { ...GROUND, ...lowered.files }, 13, [
  error('yaml_invalid', lowered.records[1].path),
  error('stale_token', lowered.records[3].path),
]);
const lone = session('lone', [start()], { clock: 10 });
const lonePath = `${lone.folder}/00001-start.yaml`;
tree('a folder of a session without a record', ['M2', 'M39'], { ...GROUND, [lonePath]: lone.of('start').file }, 9, [
  error('chain_broken', lone.folder),
  error('path_mismatch', lonePath),
]);
tree('a seal that was changed', ['M18'], { ...GROUND, ...badSeal.files, [badSeal.of('seal').path]: resealed }, 12, [
  error('signature_invalid', badSeal.of('seal').path),
]);

const copies = ['20260220T143025', '20260221T090000', '20260222T090000'].map((time) =>
  session('copied', [start()], { clock: 10, time }),
);
tree(
  'three folders of one session',
  ['M47'],
  Object.assign({}, GROUND, ...copies.map(({ files }) => files)),
  12,
  copies.slice(1).map(({ folder }) => error('chain_broken', folder)),
);
const broken = session('copied', [note('no start')], { clock: 10, time: LATER });
tree(
  'two folders of one session, of which one has a fault of its own',
  ['M47'],
  { ...GROUND, ...copies[0].files, ...broken.files },
  11,
  [error('chain_broken', broken.records[0].path)],
);

const held = [tokens('donna', 'one', 1), tokens('donna', 'two', 1, { time: LATER })];
tree('two sessions of an identity, and one token', ['M48'], { ...GROUND, ...held[0].files, ...held[1].files }, 11, [
  error('stale_token', held[1].folder),
]);
const twoFolders = [tokens('donna', 'one', 1), tokens('donna', 'one', 1, { time: LATER })];
tree(
  'two folders of one session, and one token',
  ['M47', 'M48'],
  { ...GROUND, ...twoFolders[0].files, ...twoFolders[1].files },
  11,
  [error('chain_broken', twoFolders[1].folder), error('stale_token', twoFolders[1].folder)],
);
