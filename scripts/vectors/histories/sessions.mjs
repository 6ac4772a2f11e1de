import { nextPolicy } from '../world/documents.mjs';
import { GROUND, STORY } from '../world/ground.mjs';
import { baton, lock, note, says, session, start, thought } from '../world/sessions.mjs';
import { error, warning } from '../world/verdict.mjs';
import { dropping, GROUND_COMMIT as G, history, NEW, on, open, records, work } from './making.mjs';

// SPEC §10.3 and §6.6: records that arrive.

const [, storyNote, storyBaton] = STORY.records;
const other = session('a story', [start(), note('hi'), baton({ body: 'Something else.\n' })]);
const replaced = { [storyBaton.path]: other.of('baton').file };
history('a record is replaced by another that holds', ['M68'], { base: G, head: on(G, replaced) }, [
  error('record_changed', storyBaton.path),
]);
history('the last record of a session is taken away', ['M68'], { base: G, head: dropping(G, [storyBaton.path]) }, [
  error('record_deleted', storyBaton.path),
]);
const middle = dropping(G, [storyNote.path]);
history('a record in the middle is taken away', ['M68'], { base: G, head: middle }, [
  error('record_deleted', storyNote.path),
]);

const strays = { '.handoff/notes.txt': 'hi\n', '.handoff/tasks/P0.3.yaml': { mode: '120000', content: 'P0.1.yaml' } };
history('a file that has no place, and a link', ['M2', 'M50'], { base: G, head: on(G, strays) }, [
  error('path_mismatch', '.handoff/notes.txt'),
  error('mode_invalid', '.handoff/tasks/P0.3.yaml'),
]);
const alike = on(G, { '.Handoff/policy/0001.yaml': 'x\n' });
history('a folder that looks like .handoff', ['M52'], { base: G, head: alike }, [
  error('name_lookalike', '.Handoff'),
  ...open(alike, '.Handoff/policy/0001.yaml'),
]);

const limited = on(
  G,
  nextPolicy(GROUND, {
    rules: [
      ['record_bytes: 65536', 'record_bytes: 1024'],
      ['push: 10000', 'push: 3'],
    ],
  }),
);
const three = session('three', [start(), note('x'.repeat(1024)), baton()], { clock: 10 });
history('a record that is larger than the policy allows', ['M67'], { base: limited, head: records(limited, three) }, [
  error('too_large', three.of('note').path),
  warning('session_open', three.folder),
]);
const four = session('four', [start(), ['note', 'text: &a hi\n'], note('ho'), baton()], { clock: 10 });
history('more files than the policy allows', ['M67'], { base: limited, head: records(limited, four) }, [
  error('too_large', '.handoff'),
]);

const token = `ghp_${'q7Zk2Vx9Lm4Tb8Rw3Ny6'.repeat(2).slice(0, 36)}`;
const leak = (more) =>
  session('a leak', [start(), ['note', `text: the token is ${token}\n${more}`], baton()], { clock: 10 });
history('a secret', ['M94'], { base: G, head: records(G, leak('')) }, [
  error('secret_found', leak('').of('note').path),
]);
history('a secret that somebody has allowed', ['M94'], { base: G, head: records(G, leak('secret_allowed: true\n')) });

/** Three records have clocks up to 3, and two arrive. */
const MOST = 3 + 2 + 2 ** 20;
const far = (clock) => session('far', [start(), baton({ clock })], { clock: 10 });
history('a clock as high as may be', ['M41'], { base: G, head: records(G, far(MOST)) });
history('a clock that is higher', ['M41'], { base: G, head: records(G, far(MOST + 1)) }, [
  error('chain_broken', far(MOST + 1).of('baton').path),
]);

const openOnly = session('open', [start(), note('hi')], { clock: 10 });
history('a session that is open', ['M98'], { base: G, head: records(G, openOnly) }, [
  warning('session_open', openOnly.folder),
]);
const asked = on(G, nextPolicy(GROUND, { rules: [['open_sessions: warning', 'open_sessions: error']] }));
history(
  'a session that is open, where the policy wants none',
  ['M98'],
  { base: asked, head: records(asked, openOnly) },
  [error('session_open', openOnly.folder)],
);

// ---- M47

const copied = (time, options) => session('a story', [start(), note('hi'), baton()], { time, ...options });
const copy = copied('20260221T090000');
history('a second folder of a session that is there', ['M47'], { base: G, head: records(G, copy) }, [
  error('chain_broken', copy.folder),
]);
const earlier = copied('20260219T090000');
history('a second folder, earlier in the order of paths', ['M47'], { base: G, head: records(G, earlier) }, [
  error('chain_broken', earlier.folder),
]);
const another = session('a story', [start(), note('mine'), baton()], { by: 'con-1', clock: 10 });
history('a session of another identity with the same id', ['M47'], { base: G, head: records(G, another) });

const twice = ['20260221T090000', '20260222T090000'].map((time) =>
  session('twice', [start(), baton()], { clock: 10, time }),
);
history('two folders of a session arrive', ['M47'], { base: G, head: records(G, ...twice) }, [
  ...twice.map(({ folder }) => error('chain_broken', folder)),
]);
const begun = records(G, session('twice', [start()], { clock: 10, time: '20260221T090000' }));
history(
  'a session goes on, and a second folder of it arrives',
  ['M47'],
  { base: begun, head: records(begun, ...twice) },
  [...twice.map(({ folder }) => error('chain_broken', folder))],
);
const honest = work(G, { time: '20260221T090000' });
const shadow = session('the work', [start(), baton()], { clock: 10, time: '20260222T090000' });
history(
  'a second folder, beside the one with the thought',
  ['M47', 'M70'],
  { base: G, head: records(honest.head, shadow) },
  [error('chain_broken', honest.said.folder), error('chain_broken', shadow.folder), ...open(honest.code, 'src/new.ts')],
);
const bothThere = records(G, session('twice', [start()], { clock: 10, time: '20260221T090000' }), twice[1]);
history('a session goes on that has two folders already', ['M47'], {
  base: bothThere,
  head: records(bothThere, twice[0]),
});
const { said, code } = work(G, { time: '20260221T090000', name: 'told before' });
const later = session('told before', [start(), baton()], { clock: 10, time: '20260222T090000' });
history(
  'a second folder, and code of which the first has told',
  ['M47', 'M70'],
  { base: records(G, said), head: records(code, later) },
  [error('chain_broken', later.folder)],
);

// ---- M48

const held = (name, number, { steps = [], ...options } = {}) =>
  session(name, [start(lock(number)), ...steps, baton(lock(number))], { clock: 10, ...options });
const first = records(G, held('one', 1));
const second = held('two', 1, { time: '20260221T090000', clock: 20 });
history('a token that another session of the identity has', ['M48'], { base: first, head: records(first, second) }, [
  error('stale_token', second.folder),
]);
const pair = [held('one', 1), held('two', 1, { time: '20260221T090000', clock: 20 })];
history('two sessions of an identity arrive with one token', ['M48'], { base: G, head: records(G, ...pair) }, [
  ...pair.map(({ folder }) => error('stale_token', folder)),
]);
const begins = session('two', [start(lock(1))], { clock: 20, time: '20260221T090000' });
const sharing = records(first, begins);
history(
  'a session goes on under a token that two have already',
  ['M48'],
  { base: sharing, head: records(sharing, second) },
  [error('stale_token', second.folder)],
);
history('a token that a session of another identity has', ['M48'], {
  base: first,
  head: records(first, held('two', 1, { by: 'con-1', clock: 20 })),
});

/** Donna says `done` under one number, and con-1 has written under others. */
function decided(name, own, others, stale, rule = ['M48']) {
  const rival = session('a rival', [start(), ...others.map((number) => note('mine', lock(number))), baton()], {
    by: 'con-1',
    clock: 20,
  });
  const base = records(G, rival);
  const code = on(base, NEW);
  const steps = [says('in_progress', lock(own)), thought([code], { change: lock(own) }), says('done', lock(own))];
  const donna = held('the work', own, { steps, clock: 30 });
  const [, , account, done] = donna.records;
  const findings = stale ? [account, done].map(({ path }) => error('stale_token', path)) : [];
  history(name, rule, { base, head: records(code, donna) }, findings);
}
decided('done under the highest number', 3, [2], false);
decided('done under a number that another identity has', 3, [3], true);
decided('done under a number that is lower by 63', 3, [66], true);
decided('done under a number that is lower by 64', 3, [67], false);
decided('of another identity only the highest number counts', 3, [4, 67], false);

const rival = records(G, session('a rival', [start(), note('mine', lock(3)), baton()], { by: 'con-1', clock: 20 }));
history('a note under a number that another has passed', ['M48'], {
  base: rival,
  head: records(rival, held('late', 2, { clock: 30 })),
});
const again = session(
  'again',
  [start(lock(2)), says('in_progress', lock(2)), says('blocked', lock(4)), baton(lock(4))],
  { clock: 30 },
);
history('whoever claims anew says it again', ['M48'], { base: rival, head: records(rival, again) });
