import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toSigner } from '../../src/journal/keys/keys.ts';
import { readHold } from '../../src/journal/locks/local-locks.ts';
import { formatLockCommit, lockBytes } from '../../src/journal/locks/lock-commit.ts';
import { type Place, privateKey } from '../handoff.ts';
import { HOLDER, HOSTILE_IDS } from '../journal/forged-holders.ts';
import { git, gitInput } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { done, handoff, type Machine, machines } from './machines.ts';

// Threats 60 and 71, as verbs meet them: refs that anybody may push, and files that a hand has changed.

const fresh = template(async ({ handoff }) => handoff.task.add({ id: 'P0.1', title: 'Readers' }));

function pair(): { place: Place; left: Machine; right: Machine } {
  const place = fresh();
  const [left, right] = machines(place, 'left', 'right');
  return { place, left: left!, right: right! };
}

/** Locks of all kinds in the name of donna, at the number that is next and at the highest: with her key, or with none. */
async function forge(place: Place, bare: string, session_id: string, isSigned: boolean): Promise<void> {
  const key = privateKey(place, isSigned ? 'donna' : 'erin');
  for (const name of ['identity/donna', 'identity/erin', 'task/P0.1'])
    for (const number of ['00000001', '99999999']) {
      const ref = `refs/handoff/locks/${name}/${number}`;
      const lock = { repo: place.root, ref, nonce: 'n', holder: { ...HOLDER, session_id, identity: 'donna' } };
      const signature = await toSigner(key).sign({ kind: 'lock', signedBytes: lockBytes(lock) });
      const oid = gitInput(
        bare,
        formatLockCommit('sha1', lock, signature),
        'hash-object',
        '-t',
        'commit',
        '-w',
        '--stdin',
      );
      git(bare, 'update-ref', ref, oid);
    }
}

/** Everybody does what they do every day. */
function workADay(left: Machine, right: Machine): string {
  const answers = [
    done(left, 'start', '--as', 'donna'),
    done(left, 'claim', 'P0.1'),
    handoff(right, 'start', '--as', 'donna'),
    done(right, 'start', '--as', 'erin'),
    handoff(right, 'claim', 'P0.1'),
    done(left, 'wrap', '--message', 'yours'),
    done(right, 'claim', 'P0.1'),
    done(right, 'status'),
  ];
  expect([answers[2].code, answers[4].code]).toEqual([3, 3]);
  return JSON.stringify(answers);
}

describe('locks that others pushed', () => {
  it('with any id, and without the key: nobody is held, evicted or slowed', async () => {
    const { place, left, right } = pair();
    await forge(place, left.bare, HOLDER.session_id, false);
    expect(workADay(left, right)).not.toContain(HOLDER.session_id);
  });

  it.each(['$(touch pwned)', '../../../evil', '`touch pwned`', "'; touch pwned; '"])(
    'with the id %s and the right key: it reaches no path and no command',
    async (id) => {
      const { place, left, right } = pair();
      mkdirSync(join(left.dir, '.git/evil'));
      writeFileSync(join(left.dir, '.git/evil/session.json'), '{}');
      await forge(place, left.bare, id, true);
      const printed = workADay(left, right);
      for (const word of ['pwned', 'evil']) expect(printed).not.toContain(word);
      expect(existsSync(join(left.dir, 'pwned'))).toBe(false);
    },
  );
});

describe('files of the state directory that a hand has changed', () => {
  const stateOf = ({ dir }: Machine) => join(dir, '.git/handoff');

  it('a lock whose holder is none is refused by name, with nothing of it in a command', () => {
    const { left } = pair();
    done(left, 'start', '--as', 'donna');
    const path = join(stateOf(left), 'locks/identity/donna/00000001.lock');
    const text = readFileSync(path, 'utf8');
    const spoil = (id: string) =>
      writeFileSync(
        path,
        text.replace(/"session_id":"[^"]*"/, () => `"session_id":${JSON.stringify(id)}`),
      );
    for (const id of HOSTILE_IDS) {
      spoil(id);
      expect(() => readHold(join(stateOf(left), 'locks'), 'identity/donna'), id).toThrow('does not say who holds it');
    }
    spoil('$(touch pwned)');
    const refused = handoff(left, 'note', 'x');
    expect(refused).toMatchObject({ code: 4, json: { error: { code: 'io', data: { path } } } });
    expect(JSON.stringify(refused)).not.toContain('pwned');
  });

  it('a session that is somebody else’s, or lies elsewhere, is refused', () => {
    const { left } = pair();
    const { session_id } = done(left, 'start', '--as', 'donna');
    const path = join(stateOf(left), 'sessions', session_id, 'session.json');
    const session = JSON.parse(readFileSync(path, 'utf8'));
    const changes = [
      { folder: '../../../evil' },
      { folder: `${session.folder}/../../../../evil` },
      { folder: session.folder.replace('donna', 'erin') },
      { identity: '$(touch pwned)' },
      { session_id: HOLDER.session_id },
      { inherited_from: '$(touch pwned)' },
    ];
    for (const change of changes) {
      writeFileSync(path, JSON.stringify({ ...session, ...change }));
      expect(handoff(left, 'note', 'x'), JSON.stringify(change)).toMatchObject({
        code: 4,
        json: { error: { code: 'io' } },
      });
    }
  });

  it('a pointer that leads out of it leads nowhere', () => {
    const { left } = pair();
    done(left, 'start', '--as', 'donna');
    mkdirSync(join(stateOf(left), 'evil'));
    writeFileSync(join(stateOf(left), 'evil/session.json'), '{"session_id":"$(touch pwned)"}');
    for (const name of ['donna', '.last']) writePointer(stateOf(left), name, '../evil');
    done(left, 'note', 'x', '--as', 'donna');
    expect(JSON.stringify(done(left, 'status'))).not.toContain('pwned');
  });
});

function writePointer(state: string, name: string, id: string): void {
  const folder = join(state, 'current', readdirSync(join(state, 'current'))[0]!);
  writeFileSync(join(folder, name), `${id}\n`);
}
