import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, type Draft, newKey, type Place, privateKey, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import {
  commitAndFind,
  findings,
  identityOf,
  policyAfter,
  policyFile,
  publicLine,
  reopen,
  signDocument,
  signText,
  template,
  writePolicy,
} from './forge.ts';

const fresh = template((place) => {
  writeSession(place, STORY);
  commitAll(place);
});

const maintainer = (place: Place) => privateKey(place, 'maintainer');
const own = (place: Place): [string, ReturnType<typeof newKey>][] => [['maintainer', maintainer(place)]];
const policyCodes = async (place: Place) => (await commitAndFind(place)).filter((line) => line.includes('policy'));

describe('THREATS 1: a change brings its own key and signs with it', () => {
  it('refuses the identity and its records when nobody but itself signed it in', async () => {
    const place = fresh();
    const key = newKey();
    writeBytes(
      place.dir,
      '.handoff/identities/mallory/identity.yaml',
      signDocument(identityOf(place, 'mallory', key), [['mallory', key]]),
    );
    writeSession(place, STORY.slice(0, 1), { identity: 'mallory', key });
    const found = await commitAndFind(place);
    expect(found).toHaveLength(2);
    expect(found[0]).toBe('signer_unknown identities/mallory/identity.yaml');
    expect(found[1]).toMatch(/^signer_unknown sessions\/mallory\/.*\/0001-start.yaml$/);
  });

  it('passes once a maintainer has signed the same identity', async () => {
    const place = fresh();
    const key = newKey();
    writeBytes(
      place.dir,
      '.handoff/identities/mallory/identity.yaml',
      signDocument(identityOf(place, 'mallory', key), own(place)),
    );
    writeSession(place, STORY, { identity: 'mallory', key });
    expect(await commitAndFind(place)).toEqual([]);
  });

  it('refuses a record of an identity that is not there at all', async () => {
    const place = fresh();
    writeSession(place, STORY.slice(0, 1), { identity: 'ghost', key: newKey() });
    expect(await commitAndFind(place)).toEqual([expect.stringMatching(/^signer_unknown sessions\/ghost/)]);
  });

  it.each([
    ['an agent', 'donna', 'donna'],
    ['the bot', 'bot', 'bot'],
    ['an agent who claims the name of the maintainer', 'maintainer', 'donna'],
  ])('refuses an identity that %s signed in', async (_, claimed, signer) => {
    const place = fresh();
    const identity = identityOf(place, 'mallory', newKey());
    writeBytes(
      place.dir,
      '.handoff/identities/mallory/identity.yaml',
      signDocument(identity, [[claimed, privateKey(place, signer)]]),
    );
    expect(await commitAndFind(place)).toEqual(['signer_unknown identities/mallory/identity.yaml']);
  });

  it('refuses a maintainer whom only a maintainer, and no root principal, signed in', async () => {
    const place = fresh();
    const key = newKey();
    const second = signDocument(identityOf(place, 'second', key, { role: 'maintainer' }), own(place));
    writeBytes(place.dir, '.handoff/identities/second/identity.yaml', second);
    expect(await commitAndFind(place)).toEqual([]);
    const third = signDocument(identityOf(place, 'third', newKey(), { role: 'maintainer' }), [['second', key]]);
    writeBytes(place.dir, '.handoff/identities/third/identity.yaml', third);
    expect(await commitAndFind(place)).toEqual(['signer_unknown identities/third/identity.yaml']);
  });

  it('refuses a key slipped into an identity that a maintainer did sign', async () => {
    const place = fresh();
    const path = join(place.dir, '.handoff/identities/donna/identity.yaml');
    const text = readFileSync(path, 'utf8');
    const line = `  - key: ${publicLine(newKey())}\n    state: active\n`;
    writeBytes(place.dir, '.handoff/identities/donna/identity.yaml', text.replace('keys:\n', `keys:\n${line}`));
    const found = await commitAndFind(place);
    expect(found[0]).toBe('signature_invalid identities/donna/identity.yaml');
    expect(found.slice(1).every((finding) => finding.startsWith('signer_unknown sessions/donna/'))).toBe(true);
  });

  it('refuses a second identity with the key of the first', async () => {
    const place = fresh();
    const twin = signDocument(identityOf(place, 'twin', privateKey(place, 'donna')), own(place));
    writeBytes(place.dir, '.handoff/identities/twin/identity.yaml', twin);
    expect(await commitAndFind(place)).toEqual(['signer_not_entitled identities/twin/identity.yaml']);
  });

  it('refuses an identity in the folder of another name', async () => {
    const place = fresh();
    const key = newKey();
    writeBytes(
      place.dir,
      '.handoff/identities/other/identity.yaml',
      signDocument(identityOf(place, 'mallory', key), own(place)),
    );
    writeSession(place, STORY.slice(0, 1), { identity: 'other', key });
    expect((await commitAndFind(place)).map((line) => line.split(' ')[0])).toEqual(['path_mismatch', 'signer_unknown']);
  });

  it('refuses a waiver by anybody but a maintainer', async () => {
    const place = fresh();
    const drafts: Draft[] = [STORY[0]!, { kind: 'waiver', reason: 'because', commit_sha: '1'.repeat(40) }];
    writeSession(place, drafts);
    writeSession(place, drafts, { identity: 'maintainer' });
    expect(await commitAndFind(place)).toEqual([
      expect.stringMatching(/^signer_not_entitled sessions\/donna.*0002-waiver.yaml$/),
    ]);
    expect(await reopen(place).handoff.verify()).toMatchObject({ valid: false }); // who never was one cannot have ceased to be
  });
});

describe('THREATS 2: rollback of the policy', () => {
  async function atVersion3(): Promise<Place> {
    const place = fresh();
    writePolicy(place, 2, policyAfter(place, 1, { stale_after: 700 }), own(place));
    commitAll(place, 'policy 2');
    git(place.dir, 'branch', 'at-2');
    writePolicy(place, 3, policyAfter(place, 2, { stale_after: 800 }), own(place));
    commitAll(place, 'policy 3');
    expect(await findings(place)).toEqual([]);
    return place;
  }

  it('is noticed when a commit takes the newest version away', async () => {
    const place = await atVersion3();
    rmSync(join(place.dir, policyFile(3)));
    commitAll(place, 'back to 2');
    const { findings: found, valid } = await reopen(place).handoff.verify();
    expect(valid).toBe(false);
    expect(found).toEqual([
      expect.objectContaining({
        code: 'policy_rollback',
        expected: expect.stringContaining('version 3'),
        found: expect.stringContaining('version 2'),
      }),
    ]);
  });

  it('is noticed when the commit of the policy is reverted', async () => {
    const place = await atVersion3();
    git(place.dir, 'revert', '--no-edit', 'HEAD');
    expect(await findings(place)).toEqual(['policy_rollback policy']);
  });

  it('is noticed when another policy, signed as well, takes the place of the same version', async () => {
    const place = await atVersion3();
    writePolicy(place, 3, policyAfter(place, 2, { stale_after: 801 }), own(place));
    expect(await commitAndFind(place)).toEqual(['policy_rollback policy']);
  });

  it('is noticed after the policy was first seen in the index, as a pre-commit hook does', async () => {
    const place = fresh();
    writePolicy(place, 2, policyAfter(place, 1, { stale_after: 700 }), own(place));
    git(place.dir, 'add', '.handoff');
    expect(await findings(place, { staged: true })).toEqual([]);
    commitAll(place, 'policy 2');
    expect(await findings(place)).toEqual([]);
    rmSync(join(place.dir, policyFile(2)));
    expect(await commitAndFind(place)).toEqual(['policy_rollback policy']);
  });

  it('is not claimed of a policy that was staged and never committed', async () => {
    const place = fresh();
    writePolicy(place, 2, policyAfter(place, 1, { stale_after: 700 }), own(place));
    git(place.dir, 'add', '.handoff');
    expect(await findings(place, { staged: true })).toEqual([]);
    git(place.dir, 'reset', '--quiet', '--hard');
    expect(await findings(place)).toEqual([]);
    writePolicy(place, 2, policyAfter(place, 1, { stale_after: 701 }), own(place));
    expect(await commitAndFind(place)).toEqual([]);
  });

  it('is not claimed of an honest branch from before the change, nor of work on it', async () => {
    const place = await atVersion3();
    expect(await findings(place, { rev: 'at-2' })).toEqual([]);
    git(place.dir, 'switch', '--quiet', 'at-2');
    writeSession(place, STORY, { identity: 'erin' });
    expect(await commitAndFind(place)).toEqual([]);
    expect(await findings(place, { rev: 'main' })).toEqual([]);
  });

  it('is noticed on a branch that merged the new policy and then dropped it', async () => {
    const place = await atVersion3();
    git(place.dir, 'switch', '--quiet', 'at-2');
    git(place.dir, 'merge', '--quiet', '--no-ff', '-m', 'merge', 'main');
    rmSync(join(place.dir, policyFile(3)));
    expect(await commitAndFind(place)).toEqual(['policy_rollback policy']);
  });

  it('survives a pin file that a power cut left empty: a clear error, not a crash', async () => {
    const place = await atVersion3();
    writeBytes(place.dir, '.git/handoff/pins.json', '');
    await expect(reopen(place).handoff.verify()).rejects.toMatchObject({
      name: 'HandoffError',
      code: 'io',
      hint: expect.any(String),
    });
  });

  it('is noticed in the index: policies are only added', async () => {
    const place = await atVersion3();
    git(place.dir, 'rm', '--quiet', '--cached', policyFile(3));
    writeBytes(place.dir, policyFile(2), readFileSync(join(place.dir, policyFile(2)), 'utf8').replace('700', '701'));
    git(place.dir, 'add', policyFile(2));
    const found = await findings(place, { staged: true });
    expect(found).toContain('record_deleted policy/0003.yaml');
    expect(found).toContain('record_changed policy/0002.yaml');
  });
});

describe('THREATS 3, 10: no date in a record outweighs a revocation', () => {
  it.each(['2001-01-01T00:00:00.000Z', '2099-12-31T23:59:59.999Z'])(
    'a revoked key signs a record dated %s',
    async (at) => {
      const place = fresh();
      const stolen = privateKey(place, 'erin');
      await reopen(place).handoff.identity.revoke({ name: 'erin' });
      writeSession(place, STORY.slice(0, 1), { identity: 'erin', key: stolen, at });
      expect(await commitAndFind(place)).toEqual([
        expect.stringMatching(/^key_revoked sessions\/erin\/.*0001-start.yaml$/),
      ]);
    },
  );

  it('a branch from before the revocation falls once it is merged', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--create', 'old');
    writeSession(place, STORY, { identity: 'erin' });
    expect(await commitAndFind(place)).toEqual([]);
    git(place.dir, 'switch', '--quiet', 'main');
    await reopen(place).handoff.identity.revoke({ name: 'erin' });
    git(place.dir, 'merge', '--quiet', '-m', 'merge', 'old');
    const found = await findings(place);
    expect(found).toHaveLength(STORY.length);
    expect(found.every((line) => line.startsWith('key_revoked sessions/erin/'))).toBe(true);
  });
});

describe('THREATS 4: fast-forward of the version', () => {
  it('version 900 right after 1, in its own file', async () => {
    const place = fresh();
    writePolicy(place, 900, policyAfter(place, 1, { version: 900 }), own(place));
    expect(await commitAndFind(place)).toEqual(['policy_invalid policy/0900.yaml']);
    expect((await reopen(place).handoff.verify()).policy_version).toBe(1);
  });

  it('version 900 in the file of version 2', async () => {
    const place = fresh();
    writePolicy(place, 2, policyAfter(place, 1, { version: 900 }), own(place));
    expect(await commitAndFind(place)).toEqual(['path_mismatch policy/0002.yaml']);
  });

  it('the highest number there is', async () => {
    const place = fresh();
    writePolicy(place, 2147483647, policyAfter(place, 1, { version: 2147483647 }), own(place));
    expect(await commitAndFind(place)).toEqual(['policy_invalid policy/2147483647.yaml']);
  });

  it('a second genesis, and a successor that is bound to nothing', async () => {
    const place = fresh();
    writePolicy(place, 2, policyAfter(place, 1, { prev: null }), own(place));
    expect(await commitAndFind(place)).toEqual(['policy_invalid policy/0002.yaml']);
    writePolicy(place, 2, policyAfter(place, 1, { prev: `sha256:${'0'.repeat(64)}` }), own(place));
    expect(await commitAndFind(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });

  it('a successor written for another repository', async () => {
    const place = fresh();
    writePolicy(place, 2, policyAfter(place, 1, { repo: '0'.repeat(64) }), own(place));
    expect(await commitAndFind(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });
});

describe('THREATS 5: games with the threshold', () => {
  const rootWith = (place: Place, threshold: number, ...others: string[]) => ({
    root: { threshold, keys: [`maintainer ${publicLine(maintainer(place))}`, ...others] },
  });

  it('0, -1, 1.5, "1" and other things that are not a count', async () => {
    const place = fresh();
    const fields = policyAfter(place, 1, rootWith(place, 7));
    const text = new TextDecoder().decode(signDocument(fields, own(place))).split('signatures:')[0]!;
    for (const threshold of ['0', '-1', '1.5', '"1"', '01', '1e0', 'one', 'null', '256', '[]']) {
      writeBytes(
        place.dir,
        policyFile(2),
        signText('policy', text.replace('threshold: 7', `threshold: ${threshold}`), own(place)),
      );
      expect(await policyCodes(place), threshold).toEqual([
        expect.stringMatching(/^(schema|yaml)_invalid policy\/0002.yaml$/),
      ]);
    }
  });

  it('more than there are keys', async () => {
    const place = fresh();
    writePolicy(place, 2, policyAfter(place, 1, rootWith(place, 2)), own(place));
    expect(await policyCodes(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });

  it('one key under two names', async () => {
    const place = fresh();
    const twice = rootWith(place, 2, `second ${publicLine(maintainer(place))}`);
    writePolicy(place, 2, policyAfter(place, 1, twice), [...own(place), ['second', maintainer(place)]]);
    expect(await policyCodes(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });

  it('one principal with two keys', async () => {
    const place = fresh();
    const key = newKey();
    const twice = rootWith(place, 2, `maintainer ${publicLine(key)}`);
    writePolicy(place, 2, policyAfter(place, 1, twice), [...own(place), ['maintainer', key]]);
    expect(await policyCodes(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });

  it('two signatures by one key count once', async () => {
    const place = fresh();
    const both = rootWith(place, 2, `second ${publicLine(newKey())}`);
    writePolicy(place, 2, policyAfter(place, 1, both), [...own(place), ...own(place)]);
    expect(await policyCodes(place)).toEqual([expect.stringMatching(/^(policy|signature)_invalid policy\/0002.yaml$/)]);
  });

  it('one key signs under the name of another principal', async () => {
    const place = fresh();
    const both = rootWith(place, 2, `second ${publicLine(newKey())}`);
    writePolicy(place, 2, policyAfter(place, 1, both), [...own(place), ['second', maintainer(place)]]);
    expect(await policyCodes(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });

  it('only the new principals sign, none of the old ones', async () => {
    const place = fresh();
    const key = newKey();
    const root = { root: { threshold: 1, keys: [`mallory ${publicLine(key)}`] } };
    writePolicy(place, 2, policyAfter(place, 1, root), [['mallory', key]]);
    expect(await policyCodes(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });

  it('only the old principals sign, none of the new ones', async () => {
    const place = fresh();
    const root = { root: { threshold: 1, keys: [`other ${publicLine(newKey())}`] } };
    writePolicy(place, 2, policyAfter(place, 1, root), own(place));
    expect(await policyCodes(place)).toEqual(['policy_invalid policy/0002.yaml']);
  });

  it('a signature of a principal over other bytes is never skipped', async () => {
    const place = fresh();
    const other = signDocument(policyAfter(place, 1, { stale_after: 900 }), own(place));
    const line = new TextDecoder().decode(other).split('signatures:\n')[1]!;
    const text = new TextDecoder().decode(signDocument(policyAfter(place, 1), own(place)));
    writeBytes(place.dir, policyFile(2), text.replace('signatures:\n', `signatures:\n${line}`));
    expect(await policyCodes(place)).toEqual(['signature_invalid policy/0002.yaml']);
  });
});

describe('THREATS 6: an invalid version never becomes the ground for the next', () => {
  it('invalid 2, then 3 signed by the keys of 2: nothing of it is trusted, cached or not', async () => {
    const place = fresh();
    const key = newKey();
    const root = { root: { threshold: 1, keys: [`mallory ${publicLine(key)}`] } };
    writePolicy(place, 2, policyAfter(place, 1, root), [['mallory', key]]);
    writePolicy(place, 3, policyAfter(place, 2, root), [['mallory', key]]);
    const identity = identityOf(place, 'mallory', key, { role: 'maintainer' });
    writeBytes(place.dir, '.handoff/identities/mallory/identity.yaml', signDocument(identity, [['mallory', key]]));
    writeSession(place, STORY.slice(0, 1), { identity: 'mallory', key });
    commitAll(place);
    for (let run = 0; run < 3; run++) {
      const {
        findings: found,
        policy_version,
        valid,
      } = await reopen(place, place.dir, place.env, 'b1').handoff.verify();
      expect({ policy_version, valid }).toEqual({ policy_version: 1, valid: false });
      expect(found.map(({ code, path }) => `${code} ${path?.split('/').at(-1)}`)).toEqual([
        'signer_unknown identity.yaml',
        'policy_invalid 0002.yaml',
        'signer_unknown 0001-start.yaml',
      ]);
    }
  });

  it('a version beyond a broken one is not shown as valid', async () => {
    const place = fresh();
    const key = newKey();
    const root = { root: { threshold: 1, keys: [`mallory ${publicLine(key)}`] } };
    writePolicy(place, 2, policyAfter(place, 1, root), [['mallory', key]]);
    writePolicy(place, 3, policyAfter(place, 2, root), [['mallory', key]]);
    commitAll(place);
    for (const version of [2, 3]) {
      const shown = await reopen(place)
        .handoff.show({ record: policyFile(version) })
        .catch((error) => error);
      expect(shown).not.toMatchObject({ valid: true });
    }
  });
});

describe('THREATS 11: default deny in .handoff', () => {
  const session = '.handoff/sessions/donna/20260220T143025-7c1f09aa';
  it('refuses every path that SPEC §2.2 does not list, however close it comes', async () => {
    const place = fresh();
    const paths = [
      '.handoff/README.md',
      '.handoff/config.json',
      '.handoff/.gitattributes',
      '.handoff/.gitignore',
      '.handoff/policy/0001.yml',
      '.handoff/policy/1.yaml',
      '.handoff/policy/00002.yaml',
      '.handoff/policy/0000.yaml',
      '.handoff/identities/README.md',
      '.handoff/identities/donna/key.pem',
      '.handoff/identities/donna/identity.yml',
      '.handoff/tasks/CON.yaml',
      '.handoff/tasks/.yaml',
      '.handoff/tasks/a.yml',
      '.handoff/sessions/README.md',
      `${session}/notes.txt`,
      `${session}/0001-note.yaml.bak`,
      `${session}/0000-note.yaml`,
      `${session}/00001-note.yaml`,
      `${session}/0001-gossip.yaml`,
      `${session}/0001-note.md`,
    ];
    const folders = [
      'hooks',
      'policy/nested',
      'identities/Donna',
      'identities/a..b',
      'tasks/a',
      'sessions/donna/notes',
    ];
    for (const path of paths) writeBytes(place.dir, path, 'text: hello\n');
    for (const folder of folders) writeBytes(place.dir, `.handoff/${folder}/0001-note.yaml`, 'text: hello\n');
    git(place.dir, 'add', '--force', '.handoff');
    git(place.dir, 'commit', '--quiet', '-m', 'extra');
    const expected = [...paths.map((path) => path.slice(9)), ...folders].map((path) => `path_mismatch ${path}`);
    expect(await findings(place)).toEqual(expect.arrayContaining(expected));
  });

  it('refuses a record of a kind that is unknown', async () => {
    const place = fresh();
    const [, note] = writeSession(place, STORY.slice(0, 2), { identity: 'erin' });
    for (const kind of ['gossip', 'Note', '__proto__', 'constructor', '', 'note ']) {
      const text = new TextDecoder().decode(note!.bytes).replace('kind: note', `kind: ${kind}`);
      writeBytes(place.dir, note!.path, text);
      expect(await commitAndFind(place), kind).toEqual([expect.stringMatching(/^schema_invalid sessions\/erin/)]);
    }
  });

  it('refuses a key that the schema does not know, and keeps one that begins with x_', async () => {
    const place = fresh();
    writeSession(place, [
      STORY[0]!,
      { kind: 'note', text: 'a', x_mood: 'good' },
      { kind: 'note', text: 'a', mood: 'bad' },
    ]);
    expect(await commitAndFind(place)).toEqual([expect.stringMatching(/^schema_invalid .*0003-note.yaml$/)]);
  });
});
