import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { privateKey, writeBytes, writeSession } from '../handoff.ts';
import { folderOf, groundFolder } from './ground.ts';
import { BATON, branch, commitRecords, IN_PROGRESS, type Scenario, START, session } from './scenario.ts';
import { told, under } from './tasks.ts';

const ID = '22222222-51cf-4c61-9a39-2b7fd2f9a1de';
const NOTE = { kind: 'note' as const, text: 'hello' };

/** THREATS 62: a session is its identity's, and the same id in other hands is another session. */
export const SQUATTERS: Scenario[] = [
  {
    name: 'the id of whoever holds a task, to decide under its number',
    threat: 62,
    expect: 'stale_token',
    build(place) {
      const lock = { task: 'P0.1', token: 3 };
      session(place, [START, { ...NOTE, lock }, BATON], { sessionId: ID });
      branch(place, 'feature');
      session(place, [START, { ...IN_PROGRESS, lock }, BATON], { identity: 'erin', sessionId: ID, clock: 20 });
    },
  },
  {
    name: 'the records of another, in a folder of one’s own',
    threat: 62,
    expect: 'path_mismatch',
    isVariant: true,
    build(place) {
      const folder = groundFolder(place);
      branch(place, 'feature');
      cpSync(join(place.dir, folder), join(place.dir, folder.replace('donna', 'bot')), { recursive: true });
      commitRecords(place);
    },
  },
  {
    name: 'the number of a lock that another session of one’s own holds',
    threat: 62,
    expect: 'stale_token',
    build(place) {
      told(place, [under(3, NOTE)], { clock: 20 });
      branch(place, 'feature');
      told(place, [under(3, NOTE)], { clock: 40 });
    },
  },
  {
    name: 'a record of one’s own in the session of another, as its next',
    threat: 62,
    expect: 'signature_invalid',
    build(place) {
      const records = session(place, [START, NOTE], { sessionId: ID, clock: 20 });
      branch(place, 'feature');
      const key = privateKey(place, 'erin');
      writeSession(place, [START, NOTE, BATON], { sessionId: ID, clock: 20, key });
      for (const { path, bytes } of records) writeBytes(place.dir, path, bytes);
      commitRecords(place);
    },
  },
  {
    name: 'a second folder for a session of one’s own, where a stranger has one of the same id',
    threat: 62,
    expect: 'chain_broken',
    build(place) {
      session(place, [START, NOTE, BATON], { identity: 'erin', sessionId: ID, clock: 20 });
      const folder = folderOf(session(place, [START, NOTE, BATON], { sessionId: ID, clock: 20 }));
      branch(place, 'feature');
      cpSync(join(place.dir, folder), join(place.dir, folder.replace('/2026', '/2027')), { recursive: true });
      commitRecords(place);
    },
  },
];
