import { newKey, privateKey } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { demote, keysIn, secondMaintainer, setState, waiverOf } from './attacks-revoked.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  DONE,
  document,
  headOf,
  IN_PROGRESS,
  identityAfter,
  maintainer,
  policy,
  type Scenario,
  START,
  session,
  taskFields,
  thoughtSince,
} from './scenario.ts';

const LOCK = { lock: { task: 'P0.1', token: 1 } };

/** Near the defences of attacks-revoked.ts. */
export const REVOKED: Scenario[] = [
  {
    name: 'a key that is revoked by hand, with all that it had signed left as it is',
    build(place) {
      const second = secondMaintainer(place);
      const key = newKey();
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      document(place, 'identities/frank/identity.yaml', identityOf(place, 'frank', key), [second]);
      session(place, [START, BATON], { identity: 'frank', key, clock: 40 });
      branch(place, 'feature');
      setState(place, 'second', 'revoked');
    },
  },
  {
    name: 'a maintainer who is revoked by the verb, and work on the task that another signs anew',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      await open(place).handoff.task.add({ id: 'P0.7', title: 'Seven', as: 'second' });
      await open(place).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
      branch(place, 'feature');
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      const thought = { ...(await thoughtSince(place, base)), task_id: 'P0.7' };
      const [begun, done] = [IN_PROGRESS, DONE].map((draft) => ({ ...draft, task_id: 'P0.7' }));
      session(place, [START, begun!, thought, done!, BATON], { clock: 60 });
    },
  },
  {
    name: 'a stolen key of an agent: revoked, a new one signed in, and work under it, at once',
    async build(place) {
      branch(place, 'feature');
      const key = newKey();
      setState(place, 'donna', 'revoked', [key]);
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, await thoughtSince(place, base), BATON], { key, clock: 40 });
    },
  },
  {
    name: 'work of a colleague after a revocation, with a number of the lock that the distrusted session had',
    async build(place) {
      session(place, [START, { ...IN_PROGRESS, ...LOCK }, BATON], { clock: 40 });
      setState(place, 'donna', 'revoked');
      branch(place, 'feature');
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      const thought = { ...(await thoughtSince(place, base)), ...LOCK };
      session(place, [START, { ...IN_PROGRESS, ...LOCK }, thought, { ...DONE, ...LOCK }, BATON], {
        identity: 'erin',
        clock: 60,
      });
    },
  },
  {
    name: 'a colleague who picks up after a revocation',
    async build(place) {
      await open(place).handoff.start({ as: 'donna' });
      await open(place).handoff.wrap({ as: 'donna', message: 'half way' });
      await open(place).handoff.identity.revoke({ name: 'donna' });
      branch(place, 'feature');
      await open(place).handoff.pickup({ as: 'erin' });
      await open(place).handoff.wrap({ as: 'erin', message: 'there' });
    },
  },
  {
    name: 'a session that begins before a rotation and ends after it',
    async build(place) {
      branch(place, 'feature');
      const key = privateKey(place, 'donna');
      const base = headOf(place.dir);
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, await thoughtSince(place, base), BATON], { key, clock: 40 });
      checkout(place, 'main');
      setState(place, 'donna', 'retired', [newKey()]);
      checkout(place, 'feature');
    },
  },
  {
    name: 'a session that goes on with a new key after the old one is revoked',
    async build(place) {
      const { session_id } = await open(place).handoff.start({ as: 'donna' });
      await open(place).handoff.note({ as: 'donna', text: 'by the old key', commit: true });
      await open(place).handoff.identity.rotate({ name: 'donna' });
      const [old] = keysIn(place, 'donna', 'active').slice(1);
      const keys = keysIn(place, 'donna', 'active').map((key) => (key === old ? { ...key, state: 'revoked' } : key));
      document(place, 'identities/donna/identity.yaml', identityAfter(place, 'donna', { keys }));
      branch(place, 'feature');
      await open(place).handoff.note({ as: 'donna', text: 'by the new key', session: session_id });
      await open(place).handoff.wrap({ as: 'donna', message: 'done', session: session_id });
    },
  },
  {
    name: 'a task that a key signs which is rotated in the same change',
    build(place) {
      const second = secondMaintainer(place);
      branch(place, 'feature');
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      setState(place, 'second', 'retired', [newKey()]);
    },
  },
  {
    name: 'a task that a retired key signed on a branch, signed anew',
    async build(place) {
      const second = secondMaintainer(place);
      branch(place, 'feature');
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      checkout(place, 'main');
      setState(place, 'second', 'retired', [newKey()]);
      checkout(place, 'feature');
      await open(place).handoff.identity.resign({ document: ['P0.7'], as: 'maintainer' });
    },
  },
  {
    name: 'what a retired key had signed, under one more signature',
    isVariant: true,
    build(place) {
      const second = secondMaintainer(place);
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      setState(place, 'second', 'retired', [newKey()]);
      branch(place, 'feature');
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second, maintainer(place)]);
    },
  },
  {
    name: 'an agent that was distrusted, signed anew',
    async build(place) {
      const second = secondMaintainer(place);
      document(place, 'identities/frank/identity.yaml', identityOf(place, 'frank', newKey()), [second]);
      setState(place, 'second', 'revoked');
      branch(place, 'feature');
      await open(place).handoff.identity.resign({ all: true });
    },
  },
  {
    name: 'a smaller limit than records have that are there',
    build(place) {
      session(place, [START, { kind: 'note', text: 'x'.repeat(2000) }], { clock: 40, sessionId: LONG });
      branch(place, 'feature');
      policy(place, { limits: { record_bytes: 1500, records_per_push: 10000 } });
    },
  },
  {
    name: 'a maintainer who is one no more, after others have signed what was theirs',
    async build(place) {
      const second = secondMaintainer(place);
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      branch(place, 'feature');
      await open(place).handoff.identity.resign({ document: ['P0.7'], as: 'maintainer' });
      demote(place, 'second');
    },
  },
  {
    name: 'a maintainer who is one no more, whose key was revoked, after others have signed what was theirs',
    async build(place) {
      const second = secondMaintainer(place);
      document(place, 'tasks/P0.7.yaml', taskFields(place, 'P0.7'), [second]);
      setState(place, 'second', 'revoked');
      branch(place, 'feature');
      await open(place).handoff.identity.resign({ document: ['P0.7'], as: 'maintainer' });
      demote(place, 'second');
    },
  },
  {
    name: 'a maintainer who is one no more, with a waiver on the protected branch',
    build(place) {
      const [, key] = secondMaintainer(place);
      session(place, waiverOf(git(place.dir, 'rev-parse', 'HEAD')), { identity: 'second', key, clock: 40 });
      branch(place, 'feature');
      demote(place, 'second');
    },
  },
];

const LONG = '22222222-51cf-4c61-9a39-2b7fd2f9a1de';
