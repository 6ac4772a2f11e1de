import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ground } from '../gate/ground.ts';
import {
  branch,
  codesOf,
  commitRecords,
  document,
  identityAfter,
  maintainer,
  START,
  taskFields,
} from '../gate/scenario.ts';
import { type Place, privateKey, signRecord, writeBytes, writeSession } from '../handoff.ts';
import { codes, signDocument, template } from '../threats/forge.ts';

// SPEC §2.2, M25, M37: the path says the kind. A good file at the path of another kind is `path_mismatch`, and ends no audit.

const place = template((here) => ground(here));

const DOCUMENTS = ['policy/0001.yaml', 'identities/donna/identity.yaml', 'tasks/P0.1.yaml'];

/** A place on a branch of its own, with a task besides what every repository has. */
function prepared(): Place {
  const here = place();
  document(here, 'tasks/P0.1.yaml', taskFields(here, 'P0.1'));
  branch(here, 'feature');
  return here;
}

function read({ dir }: Place, path: string): Buffer {
  return readFileSync(join(dir, '.handoff', path));
}

describe.each(DOCUMENTS)('%s at the path of a record', (path) => {
  test('is path_mismatch to verify and gate', async () => {
    const here = prepared();
    const written = writeSession(here, [START, { kind: 'note', text: 'hello' }]);
    writeBytes(here.dir, written[1]!.path, read(here, path));
    commitRecords(here);
    expect(await codes(here)).toEqual(['path_mismatch 0002-note.yaml']);
    expect(await codesOf(here, {})).toEqual(['path_mismatch']);
  });

  test('is path_mismatch where a seal should stand', async () => {
    const here = prepared();
    const written = writeSession(here, [START, { kind: 'note', text: 'hello' }]);
    writeBytes(here.dir, written[1]!.path.replace('note', 'seal'), read(here, path));
    commitRecords(here);
    expect(await codes(here)).toContain('path_mismatch 0002-seal.yaml');
    expect(await codesOf(here, {})).toContain('path_mismatch');
  });
});

const WRONG = ['identities/donna/identity.yaml', 'tasks/P0.1.yaml', 'project.yaml', 'policy/0002.yaml'].flatMap((to) =>
  ['policy/0001.yaml', 'identities/erin/identity.yaml', 'tasks/P0.0.yaml', 'record'].map((from) => [from, to] as const),
);

describe.each(WRONG)('%s at %s', (from, to) => {
  test('ends neither verify nor gate', async () => {
    const here = prepared();
    const [start] = writeSession(here, [START]);
    document(here, 'tasks/P0.0.yaml', taskFields(here, 'P0.0'));
    writeBytes(here.dir, `.handoff/${to}`, from === 'record' ? start!.bytes : read(here, from));
    commitRecords(here);
    expect((await codes(here)).join()).toMatch(/path_mismatch|repo_mismatch|policy_invalid/);
    expect((await codesOf(here, {})).join()).toMatch(/path_mismatch|repo_mismatch|policy_invalid/);
  });
});

const NEXT: Record<string, (here: Place) => Uint8Array> = {
  'a task definition': (here) => signDocument({ ...taskFields(here, 'P0.1'), ...after(here) }, [maintainer(here)]),
  'a record': (here) => {
    const at = '2026-02-20T14:30:25.123Z';
    const opening = {
      handoff: 1,
      kind: 'start' as const,
      repo: here.root,
      session_id: SESSION,
      identity: 'donna',
      seq: 1,
    };
    return signRecord({ ...opening, prev: after(here).prev, clock: 1, at, head: null }, privateKey(here, 'donna'))
      .bytes;
  },
};

const SESSION = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';

/** As the next version of donna would say. */
function after(here: Place): { version: number; prev: string } {
  const { version, prev } = identityAfter(here, 'donna', {});
  return { version: version as number, prev: prev as string };
}

test.each(Object.entries(NEXT))('%s that follows an identity does not end the gate', async (_, forge) => {
  const here = prepared();
  writeBytes(here.dir, '.handoff/identities/donna/identity.yaml', forge(here));
  commitRecords(here);
  expect(await codesOf(here, {})).toEqual(['path_mismatch']);
});
