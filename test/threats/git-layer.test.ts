import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/index.ts';
import {
  commitAll,
  openPlace,
  type Place,
  privateKey,
  STORY,
  type Written,
  writeBytes,
  writeSession,
} from '../handoff.ts';
import { git, gitInput, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import {
  alterTree,
  blob,
  commitAndFind,
  findings,
  policyAfter,
  type RawEntry,
  rawTree,
  reopen,
  template,
  writePolicy,
} from './forge.ts';

let story: Written[] = [];
const fresh = template((place) => {
  story = writeSession(place, STORY);
  commitAll(place);
});

/** What verify says of a forged commit: `code path`s, or the code of the error it ended with. */
async function judge(place: Place, rev: string): Promise<string[]> {
  return findings(place, { rev }).catch((error) => [`error ${error.code}`]);
}

const replace = (name: string, change: Partial<RawEntry>) => (entries: RawEntry[]) =>
  entries.map((entry) => (entry.name === name ? { ...entry, ...change } : entry));

describe('THREATS 27: .handoff that is not a folder, and entries that are not files', () => {
  const OTHER: [string, (dir: string) => Partial<RawEntry>][] = [
    ['a symbolic link', (dir) => ({ mode: '120000', oid: blob(dir, '/etc') })],
    ['a submodule', (dir) => ({ mode: '160000', oid: git(dir, 'rev-parse', 'HEAD') })],
    ['a file', (dir) => ({ mode: '100644', oid: blob(dir, 'hello') })],
    ['an executable file', (dir) => ({ mode: '100755', oid: blob(dir, 'hello') })],
  ];

  it.each(OTHER)('.handoff is %s', async (_, make) => {
    const place = fresh();
    const rev = alterTree(place.dir, '', replace('.handoff', make(place.dir)));
    expect(await judge(place, rev)).toEqual(['mode_invalid .handoff']);
  });

  it.each(OTHER)('.handoff/policy is %s', async (_, make) => {
    const place = fresh();
    const rev = alterTree(place.dir, '.handoff', replace('policy', make(place.dir)));
    expect(await judge(place, rev)).toEqual(['mode_invalid .handoff/policy'.replace('.handoff/', '')]);
  });

  it.each(OTHER)('a session folder is %s', async (_, make) => {
    const place = fresh();
    const folder = dirname(story[0]!.path);
    const rev = alterTree(place.dir, dirname(folder), replace(folder.split('/').at(-1)!, make(place.dir)));
    expect(await judge(place, rev)).toEqual([`mode_invalid ${folder.slice(9)}`]);
  });

  it.each([...OTHER.filter(([name]) => name !== 'a file'), ['a folder', treeEntry] as const])(
    'a record is %s',
    async (_, make) => {
      const place = fresh();
      const [{ path }] = [story[3]!];
      const rev = alterTree(place.dir, dirname(path), replace('0004-baton.md', make(place.dir)));
      expect(await judge(place, rev)).toEqual([`mode_invalid ${path.slice(9)}`]);
    },
  );

  it.each(['100755', '120000'])('identity.yaml, a policy and project.yaml with the mode %s', async (mode) => {
    const place = fresh();
    for (const path of ['.handoff/identities/erin/identity.yaml', '.handoff/project.yaml']) {
      const rev = alterTree(place.dir, dirname(path), replace(path.split('/').at(-1)!, { mode }));
      expect(await judge(place, rev)).toEqual([`mode_invalid ${path.slice(9)}`]);
    }
    const rev = alterTree(place.dir, '.handoff/policy', replace('0001.yaml', { mode }));
    expect(await judge(place, rev)).toEqual(['mode_invalid policy/0001.yaml']);
  });

  it('an entry that says file and is a folder, and the other way round', async () => {
    const place = fresh();
    const file = alterTree(
      place.dir,
      dirname(story[3]!.path),
      replace('0004-baton.md', { mode: '100644', ...treeOid(place.dir) }),
    );
    expect(await judge(place, file)).toEqual([expect.stringMatching(/mode_invalid/)]);
    const folder = alterTree(place.dir, '.handoff', (entries) => [
      ...entries,
      { mode: '40000', name: 'tasks', oid: blob(place.dir, 'x') },
    ]);
    expect(await judge(place, folder)).toEqual([expect.stringMatching(/mode_invalid/)]);
  });

  const LOOKALIKES = [
    ...[
      '.HANDOFF',
      '.Handoff',
      '.handoff.',
      '.handoff ',
      '.handoff. .',
      '.hand\u200coff',
      '.handoff\u200b',
      '\ufeff.handoff',
    ],
    ...['HANDOF~1', 'handof~2', '.handoff\r', '．ｈａｎｄｏｆｆ', '.hando\ufb00', '.hаndoff', '.handοff'],
    ...['.handoff::$INDEX_ALLOCATION', '.handoff:x', '.han\u00addoff', '.handoff\u2060', '.handoff\t'],
  ];

  it('a root entry that some file system or some eye takes for .handoff', async () => {
    const place = fresh();
    for (const name of LOOKALIKES) {
      const rev = alterTree(place.dir, '', (entries) => [...entries, { name, ...treeEntry(place.dir) }]);
      expect(await judge(place, rev), JSON.stringify(name)).toEqual([`name_lookalike ${name}`]);
    }
    for (const entry of [
      { mode: '100644', oid: blob(place.dir, 'x') },
      { mode: '120000', oid: blob(place.dir, '.handoff') },
    ]) {
      const rev = alterTree(place.dir, '', (entries) => [...entries, { name: '.HANDOFF', ...entry }]);
      expect(await judge(place, rev)).toEqual(['name_lookalike .HANDOFF']);
    }
  });

  it('the only folder there is, under another name', async () => {
    const place = fresh();
    expect(await judge(place, alterTree(place.dir, '', replace('.handoff', { name: '.HANDOFF' })))).toEqual([
      'name_lookalike .HANDOFF',
    ]);
  });

  it('others with a name of their own are welcome', async () => {
    const place = fresh();
    const names = ['.handoffs', 'handoff', '.hand', 'HANDOFF', '.handoff-old', 'a.handoff', 'handof~x', '.handoff~'];
    const others = names.map((name) => ({ name, ...treeEntry(place.dir) }));
    expect(
      await judge(
        place,
        alterTree(place.dir, '', (entries) => [...entries, ...others]),
      ),
    ).toEqual([]);
  });

  it('the same in the index', async () => {
    const place = fresh();
    git(place.dir, 'update-index', '--chmod=+x', story[1]!.path);
    git(place.dir, 'update-index', '--add', '--cacheinfo', `100644,${blob(place.dir, 'x')},.HANDOFF/x`);
    git(place.dir, 'update-index', '--add', '--cacheinfo', `120000,${blob(place.dir, '/etc')},.handoff/tasks/A.yaml`);
    const found = await findings(place, { staged: true });
    expect(found).toContain(`mode_invalid ${story[1]!.path.slice(9)}`);
    expect(found).toContain('name_lookalike .HANDOFF');
    expect(found).toContain('mode_invalid tasks/A.yaml');
  });
});

function treeOid(dir: string): { oid: string } {
  return { oid: rawTree(dir, [{ mode: '100644', name: 'x', oid: blob(dir, 'x') }]) };
}

function treeEntry(dir: string): { mode: string; oid: string } {
  return { mode: '40000', ...treeOid(dir) };
}

describe('THREATS 28: one name twice in a tree', () => {
  it.each([
    ['', '.handoff'],
    ['.handoff', 'policy'],
    ['.handoff', 'project.yaml'],
    ['.handoff/policy', '0001.yaml'],
    ['.handoff/identities', 'donna'],
    ['.handoff/identities/donna', 'identity.yaml'],
    ['.handoff/sessions', 'donna'],
    ['.handoff/sessions/donna', () => dirname(story[0]!.path).split('/').at(-1)!],
    [() => dirname(story[0]!.path), '0002-note.yaml'],
  ])('%s: %s', async (folder, name) => {
    const place = fresh();
    const [where, what] = [folder, name].map((value) => (typeof value === 'string' ? value : value()));
    const twice = alterTree(place.dir, where!, (entries) =>
      entries.flatMap((entry) => (entry.name === what ? [entry, entry] : [entry])),
    );
    expect((await judge(place, twice)).length).toBeGreaterThan(0);
    const hidden = { mode: '100644', oid: blob(place.dir, 'evil: true\n') };
    for (const order of [0, 1]) {
      const forged = alterTree(place.dir, where!, (entries) =>
        entries.flatMap((entry) =>
          entry.name !== what ? [entry] : order ? [entry, { ...entry, ...hidden }] : [{ ...entry, ...hidden }, entry],
        ),
      );
      expect((await judge(place, forged)).length).toBeGreaterThan(0);
    }
  });

  it('names that differ only in case', async () => {
    const place = fresh();
    const rev = alterTree(place.dir, '.handoff/sessions', (entries) => [
      ...entries,
      { ...treeEntry(place.dir), name: 'DONNA' },
    ]);
    expect(await judge(place, rev)).toContain('name_lookalike sessions/DONNA');
  });

  it('a file in conflict, in the index', async () => {
    const place = fresh();
    const oid = git(place.dir, 'rev-parse', `HEAD:${story[1]!.path}`);
    git(place.dir, 'update-index', '--force-remove', story[1]!.path);
    const lines = [2, 3].map((stage) => `100644 ${oid} ${stage}\t${story[1]!.path}\n`).join('');
    gitInput(place.dir, lines, 'update-index', '--index-info');
    expect((await findings(place, { staged: true })).length).toBeGreaterThan(0);
  });
});

describe('THREATS 29: refs/replace and grafts', () => {
  it('a forged record stays forged though a good blob replaces it', async () => {
    const place = fresh();
    const { path, bytes } = story[1]!;
    writeBytes(place.dir, path, Buffer.from(bytes).toString('utf8').replace('npm', 'yarn'));
    commitAll(place);
    git(place.dir, 'replace', git(place.dir, 'rev-parse', `HEAD:${path}`), blob(place.dir, bytes));
    expect(git(place.dir, 'cat-file', 'blob', `HEAD:${path}`)).toContain('npm');
    expect(await findings(place)).toEqual([`signature_invalid ${path.slice(9)}`]);
    expect((await reopen(place).handoff.log()).records.find((record) => record.path === path)).toMatchObject({
      valid: false,
    });
  });

  it('a good record stays good though a forged blob, tree or commit replaces it', async () => {
    const place = fresh();
    const { path } = story[1]!;
    const good = git(place.dir, 'rev-parse', 'HEAD');
    const forged = alterTree(place.dir, '.handoff', (entries) => entries.filter(({ name }) => name !== 'sessions'));
    git(place.dir, 'replace', `${good}^{tree}`, `${forged}^{tree}`);
    git(
      place.dir,
      'replace',
      git(place.dir, '--no-replace-objects', 'rev-parse', `${good}:${path}`),
      blob(place.dir, 'x'),
    );
    const result = await reopen(place).handoff.verify();
    expect(result).toMatchObject({ valid: true, records: 4 });
    git(place.dir, 'replace', good, forged);
    expect(await reopen(place).handoff.verify()).toMatchObject({ valid: true, records: 4 });
  });

  it('a graft does not turn a rollback into a branch from before', async () => {
    const place = fresh();
    const genesis = git(place.dir, 'rev-list', '--max-parents=0', 'HEAD');
    writePolicy(place, 2, policyAfter(place, 1, { stale_after: 700 }), [
      ['maintainer', privateKey(place, 'maintainer')],
    ]);
    expect(await commitAndFind(place)).toEqual([]);
    git(place.dir, 'rm', '--quiet', '.handoff/policy/0002.yaml');
    const rolled = commitAll(place);
    writeFileSync(join(place.dir, '.git/info/grafts'), `${rolled} ${genesis}\n`);
    git(place.dir, 'replace', '--graft', rolled, genesis);
    expect(await findings(place)).toEqual(['policy_rollback policy']);
  });
});

describe('THREATS 30: what a checkout does to files', () => {
  it.each([
    ['core.autocrlf=true', '--config', 'core.autocrlf=true'],
    ['core.eol=crlf', '--config', 'core.eol=crlf', '--config', 'core.autocrlf=input'],
  ])('a clone with %s verifies, and its work tree can be written to', async (...args) => {
    const place = fresh();
    const clone = join(place.dir, '..', 'clone');
    git(place.dir, 'clone', '--quiet', ...args.slice(1), place.dir, clone);
    const there = reopen(place, clone);
    expect(await there.handoff.verify()).toMatchObject({ valid: true, records: 4 });
    expect(readFileSync(join(clone, story[3]!.path)).includes('\r')).toBe(false);
    expect(git(clone, 'status', '--porcelain')).toBe('');
    await there.handoff.identity.add({ name: 'frank' });
    expect(await findings(there)).toEqual([]);
    expect(await findings(there, { staged: true })).toEqual([]);
  });

  it('* text eol=crlf, ident and a filter in .gitattributes do not reach .handoff', async () => {
    const place = fresh();
    const attributes = readFileSync(join(place.dir, '.gitattributes'), 'utf8');
    writeBytes(place.dir, '.gitattributes', `* text eol=crlf ident filter=rot\n${attributes}`);
    git(place.dir, 'config', 'filter.rot.clean', 'tr a-z n-za-m');
    git(place.dir, 'config', 'filter.rot.smudge', 'tr a-z n-za-m');
    const [, note] = writeSession(place, [STORY[0]!, { kind: 'note', text: '$Id$ stays' }], { identity: 'erin' });
    expect(await commitAndFind(place)).toEqual([]);
    const clone = join(place.dir, '..', 'clone');
    git(place.dir, 'clone', '--quiet', place.dir, clone);
    expect(readFileSync(join(clone, note!.path), 'utf8')).toBe(Buffer.from(note!.bytes).toString('utf8'));
  });

  it('a work tree that says otherwise does not matter: blobs are judged', async () => {
    const place = fresh();
    writeBytes(place.dir, story[1]!.path, 'garbage');
    expect(await findings(place)).toEqual([]);
    expect(await findings(place, { staged: true })).toEqual([]);
  });
});

describe('THREATS 31: a shallow clone', () => {
  it('verifies its tree, and refuses to guess about history', async () => {
    const place = fresh();
    const clone = join(place.dir, '..', 'clone');
    git(place.dir, 'clone', '--quiet', '--depth=1', `file://${place.dir}`, clone);
    const there = reopen(place, clone);
    expect(await there.handoff.verify()).toMatchObject({ valid: true, records: 4 });
    const pin = JSON.parse(readFileSync(join(clone, '.git/handoff/pins.json'), 'utf8'));
    writeFileSync(
      join(clone, '.git/handoff/pins.json'),
      JSON.stringify({ ...pin, policy: { ...pin.policy, version: 2, id: 'x' } }),
    );
    await expect(reopen(place, clone).handoff.verify()).rejects.toMatchObject({ code: 'unsupported' });
  });
});

describe('THREATS 32: arguments that are options, or commands', () => {
  const REVISIONS = [
    ...['-h', '--help', '--upload-pack=touch canary', '-c core.pager=touch', '--output=canary', '--all', '-', '--'],
    ...[
      'ext::sh -c "touch canary"',
      'HEAD\ncontents HEAD',
      'HEAD\0x',
      '',
      'HEAD;touch canary',
      '$(touch canary)',
      '`touch canary`',
    ],
    ...[' HEAD', 'HEAD..HEAD', 'HEAD --', 'refs/heads/-x', '../../etc'],
  ];

  it('verify takes none of them for a revision', async () => {
    const { dir, handoff } = fresh();
    for (const rev of REVISIONS) await expect(handoff.verify({ rev }), rev).rejects.toMatchObject({ code: 'usage' });
    expect(existsSync(join(dir, 'canary')) || existsSync('canary')).toBe(false);
    expect(await handoff.verify()).toMatchObject({ valid: true });
  });

  it('a revision that git dies of does not take the handle along', async () => {
    const { handoff } = fresh();
    for (const rev of ['@{upstream}', 'HEAD:../../etc/passwd']) {
      await expect(handoff.verify({ rev }), rev).rejects.toMatchObject({ name: 'HandoffError' });
      expect(await handoff.verify(), rev).toMatchObject({ valid: true });
    }
  });

  it('show takes none of them for a record', async () => {
    const { dir, handoff } = fresh();
    const names = [
      '--output=canary',
      '-h',
      'ext::sh -c touch',
      '../../../etc/passwd.yaml',
      '/etc/passwd',
      '.handoff/../../x.yaml',
      '.handoff/',
    ];
    for (const record of names) await expect(handoff.show({ record }), record).rejects.toMatchObject({ exitCode: 2 });
    expect(existsSync(join(dir, 'canary'))).toBe(false);
  });

  it.each(['--upload-pack=touch canary', '-c core.fsmonitor=x', '$(touch canary)'])(
    '-C with a directory called %j',
    async (name) => {
      const base = temporaryDirectory();
      const dir = join(base, name);
      mkdirSync(dir);
      git(dir, 'init', '--quiet', '--initial-branch=main', '.');
      const there = openPlace(dir, join(base, 'keys'), '');
      await there.handoff.init();
      expect(await there.handoff.verify()).toMatchObject({ valid: true });
      await there.handoff.close();
      expect(existsSync(join(base, 'canary')) || existsSync(join(dir, 'canary'))).toBe(false);
    },
  );

  it.each(['--upload-pack=touch', '-h', 'ext::sh -c "touch canary"', 'no\0such'])('-C with no directory: %j', (dir) => {
    expect(() => openRepository(dir, { env: isolatedEnv })).toThrowError(
      expect.objectContaining({ code: 'not_a_repository' }),
    );
  });
});

describe('THREATS 33, 34: the environment and the configuration of somebody else', () => {
  it('inherited GIT_* variables lead nowhere', async () => {
    const place = fresh();
    const decoy = join(temporaryDirectory(), 'decoy');
    git('/', 'init', '--quiet', decoy);
    const canary = join(decoy, 'canary');
    const script = program(join(decoy, 'run.sh'), canary);
    const hostile = {
      ...{
        GIT_DIR: join(decoy, '.git'),
        GIT_WORK_TREE: decoy,
        GIT_INDEX_FILE: join(decoy, 'index'),
        GIT_NAMESPACE: 'evil',
      },
      ...{
        GIT_OBJECT_DIRECTORY: join(decoy, '.git/objects'),
        GIT_COMMON_DIR: join(decoy, '.git'),
        GIT_CEILING_DIRECTORIES: '',
      },
      ...{
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.fsmonitor',
        GIT_CONFIG_VALUE_0: script,
        GIT_EXTERNAL_DIFF: script,
      },
      ...{
        GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${script}'`,
        GIT_PAGER: script,
        GIT_EDITOR: script,
        GIT_REPLACE_REF_BASE: 'refs/evil/',
      },
      ...{
        GIT_GRAFT_FILE: join(decoy, 'grafts'),
        GIT_SHALLOW_FILE: join(decoy, 'shallow'),
        GIT_ICASE_PATHSPECS: '1',
        GIT_PREFIX: 'x/',
      },
    };
    const { handoff } = reopen(place, place.dir, { ...place.env, ...hostile });
    expect(await handoff.verify()).toMatchObject({ valid: true, records: 4, root: place.root });
    expect(await handoff.verify({ staged: true })).toMatchObject({ valid: true, records: 4 });
    expect((await handoff.log()).records).toHaveLength(4);
    const { commit } = await handoff.identity.add({ name: 'frank' });
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(commit);
    expect(existsSync(canary)).toBe(false);
    expect(existsSync(join(decoy, 'index'))).toBe(false);
  });

  it('programs that the repository names in its configuration do not run', async () => {
    const place = fresh();
    const canary = join(place.dir, '..', 'canary');
    const script = program(join(place.dir, '..', 'run.sh'), canary);
    for (const key of [
      'core.fsmonitor',
      'core.sshCommand',
      'diff.external',
      'core.pager',
      'core.editor',
      'core.askPass',
      'gpg.program',
    ]) {
      git(place.dir, 'config', key, script);
    }
    for (const key of [
      'diff.evil.textconv',
      'diff.evil.command',
      'filter.evil.process',
      'filter.evil.clean',
      'filter.evil.smudge',
      'credential.helper',
    ]) {
      git(place.dir, 'config', key, script);
    }
    for (const alias of ['cat-file', 'ls-files', 'diff-index', 'config', 'merge-base'])
      git(place.dir, 'config', `alias.${alias}`, `!${script}`);
    git(place.dir, 'config', 'log.showSignature', 'true');
    writeBytes(place.dir, '.git/info/attributes', '*.yaml diff=evil\n*.md diff=evil\n');
    writeBytes(place.dir, story[1]!.path, 'changed on disk');
    const { handoff } = reopen(place);
    await handoff.verify();
    await handoff.verify({ staged: true });
    await handoff.log();
    await handoff.show({ record: story[0]!.id });
    await handoff.trust();
    await handoff.policy.show();
    await handoff.identity.add({ name: 'frank', commit: false });
    expect(existsSync(canary)).toBe(false);
  });

  it('nothing that the tree brings along is run or read as configuration', async () => {
    const place = fresh();
    const canary = join(place.dir, '..', 'canary');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(canary)}, '')\n`;
    for (const path of [
      'package.json',
      'handoff.config.js',
      'git-handoff.config.mjs',
      '.handoffrc.js',
      'node_modules/git-handoff/index.js',
      'index.js',
    ]) {
      writeBytes(place.dir, path, path.endsWith('.json') ? '{"scripts": {"prepare": "touch ../canary"}}' : code);
    }
    program(join(place.dir, 'git'), canary);
    program(join(place.dir, 'ssh-keygen'), canary);
    commitAll(place);
    expect(await findings(place)).toEqual([]);
    await reopen(place).handoff.identity.add({ name: 'frank' });
    expect(existsSync(canary)).toBe(false);
  });
});

function program(path: string, canary: string): string {
  writeFileSync(path, `#!/bin/sh\ntouch '${canary}'\n`);
  chmodSync(path, 0o755);
  return path;
}
