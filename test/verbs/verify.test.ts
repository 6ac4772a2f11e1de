import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VerifyOptions } from '../../src/verbs/reading/verify.ts';
import {
  commitAll,
  emptyPlace,
  initialised,
  type Place,
  privateKey,
  STORY,
  type Written,
  writeBytes,
  writeSession,
} from '../handoff.ts';
import { git } from '../temporary.ts';
import {
  codes,
  findings,
  identityOf,
  policyAfter,
  reopen,
  signDocument,
  template,
  writePolicy,
} from '../threats/forge.ts';

let story: Written[] = [];
const fresh = template((place) => {
  story = writeSession(place, STORY);
  commitAll(place);
});

describe('verify', () => {
  it('holds for a fresh repository and for a session in it', async () => {
    const place = await initialised();
    writeSession(place, STORY);
    commitAll(place);
    const result = await place.handoff.verify();
    expect(result).toMatchObject({
      valid: true,
      findings: [],
      root: place.root,
      checked: 9,
      records: 4,
      policy_version: 1,
    });
    await place.handoff.close();
  });

  it('catches one changed byte, and only there', async () => {
    const place = fresh();
    const [, note] = story;
    writeBytes(place.dir, note!.path, readFileSync(join(place.dir, note!.path), 'utf8').replace('git are', 'git were'));
    commitAll(place);
    expect(await codes(place)).toEqual(['signature_invalid 0002-note.yaml']);
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('says where, what was expected, what was found and what to do', async () => {
    const place = fresh();
    const text = readFileSync(join(place.dir, story[1]!.path), 'utf8');
    writeBytes(place.dir, story[1]!.path, text.replace('clock: 2', "clock: 'two'"));
    writeBytes(
      place.dir,
      story[3]!.path,
      readFileSync(join(place.dir, story[3]!.path), 'utf8').replace('seq: 4', 'seq: 4 # four'),
    );
    commitAll(place);
    const { findings: found, valid, checked } = await reopen(place).handoff.verify();
    expect({ valid, checked }).toEqual({ valid: false, checked: 10 });
    expect(found).toHaveLength(2);
    expect(found[0]).toEqual({
      ...{ code: 'yaml_invalid', severity: 'error', path: story[1]!.path, line: 8 },
      message: expect.stringMatching(/^line 8: expected .*, found .*/),
      ...{ expected: expect.any(String), found: 'a single-quoted scalar', hint: expect.any(String) },
    });
    // front matter begins on the second line of its file
    const line =
      text &&
      readFileSync(join(place.dir, story[3]!.path), 'utf8')
        .split('\n')
        .findIndex((l) => l.startsWith('seq:')) + 1;
    expect(found[1]).toMatchObject({ code: 'yaml_invalid', line, path: story[3]!.path });
  });

  it('names the record where the chain breaks', async () => {
    const place = fresh();
    rmSync(join(place.dir, story[1]!.path));
    commitAll(place);
    const { findings: found } = await reopen(place).handoff.verify();
    expect(found).toEqual([
      expect.objectContaining({
        code: 'chain_broken',
        path: story[2]!.path,
        record: story[2]!.id,
        expected: 'record 2 before it',
        hint: expect.any(String),
      }),
    ]);
  });

  it('takes a branch, a tag, a commit, a tree and an abbreviation', async () => {
    const place = fresh();
    const head = git(place.dir, 'rev-parse', 'HEAD');
    git(place.dir, 'tag', '--annotate', '-m', 'v1', 'v1');
    for (const rev of ['main', 'refs/heads/main', 'v1', head, head.slice(0, 10), `${head}^{tree}`, 'HEAD~0', '@']) {
      expect(await place.handoff.verify({ rev }), rev).toMatchObject({ valid: true, records: 4 });
    }
    expect(await place.handoff.verify({ rev: 'HEAD~1' })).toMatchObject({ valid: true, records: 0 });
    await expect(place.handoff.verify({ rev: 'nope' })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.any(String),
    });
  });

  it('judges what is committed, not what is on disk or in the index', async () => {
    const place = fresh();
    writeBytes(place.dir, story[1]!.path, 'garbage');
    git(place.dir, 'add', '.');
    expect(await findings(place)).toEqual([]);
  });

  it('on a detached HEAD, in a linked worktree, in a folder beneath, in a bare clone, in a submodule', async () => {
    const place = fresh();
    git(place.dir, 'switch', '--quiet', '--detach');
    const around = join(place.dir, '..');
    git(place.dir, 'worktree', 'add', '--quiet', '--detach', join(around, 'linked'));
    git('/', 'clone', '--quiet', '--bare', place.dir, join(around, 'bare.git'));
    git('/', 'init', '--quiet', join(around, 'super'));
    git(join(around, 'super'), '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place.dir, 'sub');
    for (const dir of [
      place.dir,
      join(around, 'linked'),
      join(place.dir, '.handoff/policy'),
      join(around, 'bare.git'),
      join(around, 'super/sub'),
    ]) {
      expect(await reopen(place, dir).handoff.verify(), dir).toMatchObject({
        valid: true,
        records: 4,
        root: place.root,
      });
    }
    await expect(reopen(place, join(around, 'super')).handoff.verify()).rejects.toMatchObject({ name: 'HandoffError' });
    await expect(reopen(place, join(around, 'bare.git')).handoff.verify({ staged: true })).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('before init, and before the first commit: not_initialised, with the way out', async () => {
    const place = emptyPlace();
    await expect(place.handoff.verify()).rejects.toMatchObject({
      code: 'not_initialised',
      hint: expect.stringContaining('--staged'),
    });
    await expect(place.handoff.verify({ staged: true })).rejects.toMatchObject({ code: 'not_initialised' });
    git(place.dir, 'commit', '--quiet', '--allow-empty', '-m', 'first');
    await expect(place.handoff.verify()).rejects.toMatchObject({ code: 'not_initialised', exitCode: 4 });
    await place.handoff.close();
  });

  it('a genesis that does not hold: findings, and no record is judged by it', async () => {
    const place = fresh();
    const text = readFileSync(join(place.dir, '.handoff/policy/0001.yaml'), 'utf8');
    writeBytes(place.dir, '.handoff/policy/0001.yaml', text.replace('stale_after: 600', 'stale_after: 601'));
    commitAll(place);
    expect(await reopen(place).handoff.verify()).toMatchObject({
      valid: false,
      root: null,
      records: 0,
      findings: [{ code: 'signature_invalid' }],
    });
  });

  it('a skill is held by the digest in its signed identity', async () => {
    const place = fresh();
    writeBytes(place.dir, '.handoff/identities/donna/skill.md', '# Be kind\n');
    commitAll(place);
    expect(await codes(place)).toEqual(['signature_invalid skill.md']);
  });
});

describe('verify --staged', () => {
  it('holds for what is about to be committed', async () => {
    const place = fresh();
    writeSession(place, STORY, { identity: 'erin' });
    git(place.dir, 'add', '.');
    expect(await reopen(place).handoff.verify({ staged: true })).toMatchObject({ valid: true, records: 8 });
  });

  it('a committed record that is changed, deleted, renamed or made executable', async () => {
    const place = fresh();
    const [start, note, decision, baton] = story.map(({ path }) => path);
    writeBytes(place.dir, note!, `${readFileSync(join(place.dir, note!), 'utf8')}`.replace('npm', 'yarn'));
    git(place.dir, 'add', note!);
    git(place.dir, 'rm', '--quiet', '--cached', baton!);
    git(place.dir, 'update-index', '--chmod=+x', decision!);
    git(place.dir, 'mv', start!, start!.replace('/0001-', '/0009-'));
    const found = await findings(place, { staged: true });
    for (const [code, path] of [
      ['record_changed', note],
      ['record_deleted', baton],
      ['record_changed', decision],
      ['record_deleted', start],
    ]) {
      expect(found).toContain(`${code} ${path!.slice(9)}`);
    }
  });

  it('even a validly signed record must not take the place of a committed one', async () => {
    const place = fresh();
    rmSync(join(place.dir, dirname(story[0]!.path)), { recursive: true });
    const sessionId = /session_id: (.*)\n/.exec(Buffer.from(story[0]!.bytes).toString('utf8'))![1]!;
    writeSession(place, [STORY[0]!, { kind: 'note', text: 'a better story' }, ...STORY.slice(2)], { sessionId });
    git(place.dir, 'add', '.');
    const found = await codes(place, { staged: true });
    expect(found).toEqual([
      'record_changed 0002-note.yaml',
      'record_changed 0003-decision.md',
      'record_changed 0004-baton.md',
    ]);
  });

  it('identities may change, with a signature', async () => {
    const place = fresh();
    await place.handoff.identity.rotate({ name: 'donna', commit: false, stage: true });
    expect(await findings(place, { staged: true })).toEqual([]);
  });

  it('on an unborn branch', async () => {
    const place = emptyPlace();
    await place.handoff.init({ commit: false, stage: true });
    expect(await place.handoff.verify({ staged: true })).toMatchObject({ valid: true });
    await place.handoff.close();
  });
});

describe('the cache', () => {
  const verify = (place: Place, options: VerifyOptions = {}, build = 'b1') =>
    reopen(place, place.dir, place.env, build).handoff.verify(options);
  const cold = (place: Place, options: VerifyOptions = {}) => reopen(place).handoff.verify(options);
  const cache = ({ dir }: Place) => join(dir, '.git/handoff/cache');

  async function same(place: Place, options: VerifyOptions = {}): Promise<string[]> {
    const answer = await cold(place, options);
    expect(await verify(place, options)).toEqual(answer);
    expect(await verify(place, options)).toEqual(answer);
    return answer.findings.map(({ code }) => code);
  }

  it('gives the same answer warm, cold, and after it was deleted', async () => {
    const place = fresh();
    expect(await same(place)).toEqual([]);
    expect(readdirSync(cache(place)).sort()).toEqual(['sessions-b1.json', 'trees-b1.json']);
    expect(await verify(place, {}, 'b2')).toEqual(await cold(place));
    rmSync(cache(place), { recursive: true });
    expect(await same(place)).toEqual([]);
  });

  it('garbage in its files is ignored', async () => {
    const place = fresh();
    const answer = await verify(place);
    const tree = git(place.dir, 'rev-parse', 'HEAD^{tree}');
    const keys = (value: string) => {
      const found: [string, unknown][] = JSON.parse(readFileSync(join(cache(place), 'sessions-b1.json'), 'utf8'));
      return `[["${tree}",${value}],${found.map(([key]) => `["${key}",${value}]`).join(',')}]`;
    };
    const texts = [
      '',
      '[',
      'null',
      '{}',
      '[1]',
      '[[]]',
      '[[1,2]]',
      '"x"',
      '\0\0',
      ...['5', '{}', 'null', '[]'].map(keys),
    ];
    for (const text of texts) {
      for (const name of readdirSync(cache(place))) writeFileSync(join(cache(place), name), text);
      expect(await verify(place), text).toEqual(answer);
    }
  });

  it('never remembers what failed', async () => {
    const place = fresh();
    writeBytes(place.dir, story[1]!.path, 'garbage\n');
    commitAll(place);
    expect(await same(place)).toHaveLength(1);
    expect(await same(place)).toHaveLength(1);
  });

  it('does not outlive a revocation, a role or a pin; a smaller limit is for what arrives', async () => {
    const place = fresh();
    writeSession(place, [STORY[0]!, { kind: 'waiver', reason: 'because', commit_sha: 'a'.repeat(40) }], {
      identity: 'maintainer',
    });
    const long = [STORY[0]!, { kind: 'note' as const, text: 'x'.repeat(2000) }];
    writeSession(place, long, { identity: 'erin' });
    commitAll(place);
    expect(await same(place)).toEqual([]);
    const limits = { limits: { record_bytes: 1500, records_per_push: 10000 } };
    writePolicy(place, 2, policyAfter(place, 1, limits), [['maintainer', privateKey(place, 'maintainer')]]);
    commitAll(place);
    expect(await same(place)).toEqual([]);
    await reopen(place).handoff.identity.revoke({ name: 'donna' });
    expect(await same(place)).toContain('key_revoked');
    await expect(verify(place, { root: '0'.repeat(64) })).rejects.toMatchObject({ code: 'root_mismatch' });
  });

  it('does not outlive an entitlement: a maintainer who is one no more', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'ada', role: 'maintainer' });
    const waiver = { kind: 'waiver' as const, reason: 'because', commit_sha: 'a'.repeat(40) };
    writeSession(place, [STORY[0]!, waiver], { identity: 'ada', key: privateKey(place, 'ada') });
    commitAll(place);
    expect(await same(place)).toEqual([]);
    const agent = signDocument(identityOf(place, 'ada', privateKey(place, 'ada')), [
      ['maintainer', privateKey(place, 'maintainer')],
    ]);
    writeBytes(place.dir, '.handoff/identities/ada/identity.yaml', agent);
    commitAll(place);
    expect(await same(place)).toContain('signer_not_entitled');
  });

  it('does not vouch for a session folder under another name', async () => {
    const place = fresh();
    expect(await same(place)).toEqual([]);
    const folder = dirname(story[0]!.path);
    git(place.dir, 'mv', folder, folder.replace(/-[0-9a-f]{8}$/, '-00000000'));
    commitAll(place);
    expect(new Set(await same(place))).toEqual(new Set(['path_mismatch']));
  });

  it('keeps no more than the newest trees', async () => {
    const place = fresh();
    for (let i = 0; i < 34; i++) {
      writeBytes(place.dir, 'counter', `${i}\n`);
      git(place.dir, 'add', 'counter');
      await verify(place, { rev: git(place.dir, 'write-tree') });
    }
    expect(JSON.parse(readFileSync(join(cache(place), 'trees-b1.json'), 'utf8'))).toHaveLength(32);
  });
});
