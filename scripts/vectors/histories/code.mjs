import { nextPolicy } from '../world/documents.mjs';
import { GROUND, lines } from '../world/ground.mjs';
import { baton, review, session, start, thought, waiver } from '../world/sessions.mjs';
import { error } from '../world/verdict.mjs';
import { dropping, GROUND_COMMIT as G, history, NEW, on, open, records, store, work } from './making.mjs';

// SPEC §10.4: which code is accounted for. And §10.6, which thoughts are approved.

const honest = work(G);
history('code and its thought', ['M70', 'M71'], { base: G, head: honest.head });
history('code and its thought, as a push', ['M70', 'M71'], { base: G, head: honest.head, push: true });
const silent = on(G, NEW);
history('code without a thought', ['M70', 'M71'], { base: G, head: silent }, open(silent, 'src/new.ts'));
const more = on(honest.head, { 'src/more.ts': 'more\n' });
history('more code after the thought', ['M70', 'M71'], { base: G, head: more }, open(more, 'src/more.ts'));
const hidden = work(G, { files: { ...NEW, 'src/hidden.ts': 'hidden\n' }, account: { files: ['src/new.ts'] } });
history('a thought that leaves a file out', ['M71'], { base: G, head: hidden.head }, [
  error('files_uncovered', 'src/hidden.ts'),
]);

history('a file that is exempt', ['M70'], { base: G, head: on(G, { 'docs/more.md': 'more\n' }) });
const link = on(G, { 'docs/link': { mode: '120000', content: '../src' } });
history('a link under an exempt name', ['M70'], { base: G, head: link }, open(link, 'docs/link'));

/** `src/lib.ts` goes, and comes under another name. */
function renamed(files) {
  const gone = dropping(G, ['src/lib.ts']);
  const code = store.commit({ ...gone.files, 'src/library.ts': 'lib\n' }, { parents: [G], message: 'rename' });
  return records(code, session('the work', [start(), thought([code], { files }), baton()], { clock: 10 }));
}
history('a file that is renamed', ['M71'], { base: G, head: renamed() });
history('a rename of which the thought lists one name', ['M71'], { base: G, head: renamed(['src/library.ts']) }, [
  error('files_uncovered', 'src/lib.ts'),
]);

// ---- Merges

const MAIN = { 'src/lib.ts': 'lib, mended\n' };
const ahead = on(G, MAIN, { message: 'main goes on' });
const merged = (files, parents = [honest.head, ahead]) =>
  store.commit({ ...honest.head.files, ...MAIN, ...files }, { parents, message: 'merge main' });
history('main went on meanwhile', ['M70', 'M71'], { base: ahead, head: honest.head });
history('main is merged into the branch', ['M70', 'M71'], { base: ahead, head: merged({}) });
const evil = merged({ 'src/lib.ts': 'lib, and a back door\n' });
history('a merge that changes more', ['M70', 'M71'], { base: ahead, head: evil }, open(evil, 'src/lib.ts'));
const ours = merged({ 'src/lib.ts': 'lib\n' });
history('a merge that leaves out what main did', ['M70', 'M71'], { base: ahead, head: ours }, open(ours, 'src/lib.ts'));
const told = session('the merge', [start(), thought([honest.code, evil], { base: G.files }), baton()], { clock: 20 });
history('a merge that changes more, and a thought for it', ['M70', 'M71'], { base: ahead, head: records(evil, told) });

const mine = work(G, { files: { 'src/app.ts': lines({ 20: 'mine' }) } });
const theirs = on(G, { 'src/app.ts': lines({ 20: 'theirs' }) });
const settled = store.commit(
  { ...mine.head.files, 'src/app.ts': lines({ 20: 'mine and theirs' }) },
  { parents: [mine.head, theirs], message: 'merge main' },
);
history('a merge with a conflict, which the thought is not about', ['M70'], { base: theirs, head: settled }, [
  error('writeback_missing', 'src/app.ts', settled),
]);

/** Main takes a file away, the branch changes it: git keeps it, and whoever merges has decided. */
const without = dropping(G, ['src/app.ts']);
const kept = store.commit(
  { ...mine.head.files, 'src/z.ts': 'z\n' },
  { parents: [mine.head, without], message: 'merge main' },
);
history('a merge with a conflict that git settles, and more', ['M70', 'M71'], { base: without, head: kept }, [
  error('writeback_missing', 'src/app.ts', kept),
  error('files_uncovered', 'src/z.ts'),
]);

// ---- The same changes as other commits. Only what a ref leads to is to be had

/** Two commits and a thought for both, on a branch that is gone. */
function lost({ first = NEW, second = { 'src/more.ts': 'more\n' } } = {}) {
  const one = on(G, first, { message: 'one' });
  const two = on(one, second, { message: 'two' });
  return { one, two, said: session('the work', [start(), thought([one, two]), baton()], { clock: 10 }) };
}
const branch = lost();
const both = { ...NEW, 'src/more.ts': 'more\n' };
history('squashed', ['M70', 'M71'], { base: G, head: records(on(G, both), branch.said) });
history('squashed together with something else', ['M70', 'M71'], ...squashedWith({ 'src/else.ts': 'else\n' }));
history('rebased', ['M70', 'M71'], {
  base: ahead,
  head: records(on(on(ahead, NEW), { 'src/more.ts': 'more\n' }), branch.said),
});
const half = on(ahead, NEW);
history(
  'one of two commits is picked',
  ['M70', 'M71'],
  { base: ahead, head: records(half, branch.said) },
  open(half, 'src/new.ts'),
);

function squashedWith(files) {
  const all = on(G, { ...both, ...files });
  return [{ base: G, head: records(all, branch.said) }, open(all, 'src/else.ts', 'src/more.ts', 'src/new.ts')];
}

/** Main changes a line that is context of the branch's change: the patch has another id. */
const near = on(G, { 'src/app.ts': lines({ 18: 'theirs' }) });
const onTop = { 'src/app.ts': lines({ 18: 'theirs', 20: 'mine' }) };
const moved = on(near, onTop);
history('picked where the lines around it have changed', ['M70', 'M71'], {
  base: near,
  head: records(moved, mine.said),
  kept: [mine.code],
});
const unknown = work(G, { files: { 'src/app.ts': lines({ 20: 'mine' }) } });
const copied = on(near, onTop);
history(
  'picked so, and the commit that it was is not to be had',
  ['M70', 'M71'],
  { base: near, head: records(copied, unknown.said) },
  open(copied, 'src/app.ts'),
);
const pair = lost({ first: { 'src/app.ts': lines({ 20: 'mine' }) } });
const landed = on(near, { ...onTop, 'src/more.ts': 'more\n' });
history('squashed where the lines around it have changed', ['M70', 'M71'], {
  base: near,
  head: records(landed, pair.said),
  kept: [pair.two],
});

// ---- What B has, had, or took back

const reverted = dropping(honest.head, ['src/new.ts'], { message: 'revert' });
history('a revert is code too', ['M70', 'M71'], { base: honest.head, head: reverted }, open(reverted, 'src/new.ts'));
const takenBack = session('the revert', [start(), thought([reverted]), baton()], { clock: 20 });
history('a revert and a thought for it', ['M70', 'M71'], { base: honest.head, head: records(reverted, takenBack) });

const once = records(on(G, NEW, { message: 'squashed' }), honest.said);
const undone = dropping(once, ['src/new.ts'], { message: 'revert' });
history(
  'merged once more, after it was squashed and taken back',
  ['M70', 'M71'],
  { base: undone, head: honest.head },
  open(honest.code, 'src/new.ts'),
);
history('merged once more, after it was squashed', ['M70', 'M71'], { base: once, head: honest.head });
history('the record came first, and its code comes later', ['M70', 'M71'], {
  base: records(G, honest.said),
  head: honest.code,
});

const waived = (by) => records(silent, session('a waiver', [start(), waiver(silent), baton()], { by, clock: 10 }));
history('a commit that a maintainer waives', ['M70', 'M71', 'M36'], { base: G, head: waived('ada') });
const refused = session('a waiver', [start(), waiver(silent), baton()], { clock: 10 });
history('a commit that an agent waives', ['M36', 'M70'], { base: G, head: waived('donna') }, [
  error('signer_not_entitled', refused.of('waiver').path),
  { ...error('session_open', refused.folder), severity: 'warning' },
  ...open(silent, 'src/new.ts'),
]);

const dropped = work(G, { files: { 'src/more.ts': 'more\n' } });
history('a push that leaves out what main did', ['M72'], { base: ahead, head: dropped.head, push: true }, [
  ...open(ahead, 'src/lib.ts'),
]);
const picked = on(dropped.head, MAIN);
const again = records(picked, session('picked', [start(), thought([picked]), baton()], { clock: 20 }));
history('a push that does again what main did', ['M72'], { base: ahead, head: again, push: true });

// ---- Reviews

const reviewing = on(G, nextPolicy(GROUND, { rules: [['review: false', 'review: true']] }));
const { said, head } = work(reviewing);
const account = said.of('thought');
const missing = [error('review_missing', account.path)];
const verdicts = (by, ...steps) =>
  records(
    head,
    session('a review', [start(), ...steps.map((verdict) => review(verdict, account)), baton()], { by, clock: 20 }),
  );
history('code that nobody has reviewed', ['M74'], { base: reviewing, head }, [...missing]);
history('code that somebody else has approved', ['M74'], { base: reviewing, head: verdicts('con-1', 'approve') });
history('code that its author has approved', ['M74'], { base: reviewing, head: verdicts('donna', 'approve') }, missing);
history(
  'code that was approved, and then refused',
  ['M74'],
  { base: reviewing, head: verdicts('con-1', 'approve', 'reject') },
  missing,
);
