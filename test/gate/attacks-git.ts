import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newKey, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { alterTree, blob, identityOf, type RawEntry, rawTree } from '../threats/forge.ts';
import { groundFolder } from './ground.ts';
import { usual } from './ready.ts';
import { branch, checkout, code, document, type Scenario, START, session, taskFields } from './scenario.ts';

type Alter = (entries: RawEntry[], dir: string) => RawEntry[];

const VARIANTS = /called "(?!\.Handoff)|executable|empty folder of|is a file|first$|project|source code/;

/** A commit on the branch whose tree nobody's git would write. */
function tampered(name: string, expected: string | string[], folder: string, alter: Alter, threat = 27): Scenario {
  return {
    name,
    threat,
    expect: expected,
    isVariant: VARIANTS.test(name),
    build(place) {
      branch(place, 'feature');
      const at = folder === 'session' ? groundFolder(place) : folder;
      const rev = alterTree(place.dir, at, (entries) => alter(entries, place.dir));
      return { head: rev };
    },
  };
}

const change =
  (name: string, make: (entry: RawEntry, dir: string) => Partial<RawEntry>): Alter =>
  (entries, dir) =>
    entries.map((entry) => (entry.name === name ? { ...entry, ...make(entry, dir) } : entry));

const add =
  (name: string, mode: string, make: (dir: string) => string): Alter =>
  (entries, dir) =>
    [...entries, { mode, name, oid: make(dir) }].sort((a, b) => (sortable(a) < sortable(b) ? -1 : 1));

const sortable = ({ name, mode }: RawEntry) => `${name}${mode === '40000' ? '/' : ''}`;

/** An entry a second time, with other content, at the end. */
const twice =
  (name: string, make: (entry: RawEntry, dir: string) => string, at: 'first' | 'last' | 'beside' = 'beside'): Alter =>
  (entries, dir) => {
    const original = entries.find((entry) => entry.name === name)!;
    const copy = { ...original, oid: make(original, dir) };
    if (at === 'first') return [copy, ...entries];
    if (at === 'last') return [...entries, copy];
    return entries.flatMap((entry) => (entry === original ? [entry, copy] : [entry]));
  };

const emptyTree = (dir: string) => rawTree(dir, []);
const folderWith = (dir: string) => rawTree(dir, [{ mode: '100644', name: 'x', oid: blob(dir, 'x') }]);
const LOOKALIKES = [
  '.Handoff',
  '.HANDOFF',
  '.handoff.',
  '.handoff ',
  '.hand\u200coff',
  'HANDOF~1',
  '.handoff\r',
  '.hаndoff',
];

/** Trees that say one thing to one reader and another to the next: THREATS 27, 28. */
export const TREES: Scenario[] = [
  tampered(
    '.handoff is a symbolic link',
    ['mode_invalid', 'record_deleted'],
    '',
    change('.handoff', (_, dir) => ({ mode: '120000', oid: blob(dir, '/etc') })),
  ),
  tampered(
    '.handoff is a submodule',
    ['mode_invalid', 'record_deleted'],
    '',
    change('.handoff', (_, dir) => ({ mode: '160000', oid: git(dir, 'rev-parse', 'HEAD') })),
  ),
  tampered(
    '.handoff is a file',
    ['path_mismatch', 'record_deleted'],
    '',
    change('.handoff', (_, dir) => ({ mode: '100644', oid: blob(dir, 'x') })),
  ),
  tampered(
    'a record is executable',
    'mode_invalid',
    'session',
    change('0001-start.yaml', () => ({ mode: '100755' })),
  ),
  tampered(
    'a record is a symbolic link',
    'mode_invalid',
    'session',
    change('0001-start.yaml', () => ({ mode: '120000' })),
  ),
  tampered(
    'a new record is a symbolic link',
    'mode_invalid',
    'session',
    add('0004-seal.yaml', '120000', (dir) => blob(dir, '/etc/passwd')),
  ),
  tampered(
    'a policy is executable',
    'mode_invalid',
    '.handoff/policy',
    change('0001.yaml', () => ({ mode: '100755' })),
  ),
  tampered(
    'an identity is a symbolic link',
    'mode_invalid',
    '.handoff/identities/donna',
    change('identity.yaml', () => ({ mode: '120000' })),
  ),
  ...LOOKALIKES.map((name) =>
    tampered(
      `a folder called ${JSON.stringify(name)} beside .handoff`,
      ['files_uncovered', 'name_lookalike', 'writeback_missing'],
      '',
      add(name, '40000', folderWith),
    ),
  ),
  tampered(
    'a folder in .handoff that has no place there',
    'path_mismatch',
    '.handoff',
    add('hooks', '40000', folderWith),
    11,
  ),
  tampered(
    'a file in .handoff that has no place there',
    'path_mismatch',
    '.handoff',
    add('run.sh', '100644', (dir) => blob(dir, 'x')),
    11,
  ),
  tampered('an empty folder in .handoff', 'path_mismatch', '.handoff', add('empty', '40000', emptyTree)),
  tampered('an empty folder of an identity', 'path_mismatch', '.handoff/identities', add('zed', '40000', emptyTree)),
  tampered(
    'an empty session',
    'path_mismatch',
    '.handoff/sessions/donna',
    add('20300101T000000-12345678', '40000', emptyTree),
  ),
  tampered('a folder in a session', 'path_mismatch', 'session', add('0004-seal.yaml', '40000', folderWith)),
  tampered(
    'a folder that is a file',
    'mode_invalid',
    '.handoff',
    add('tasks', '40000', (dir) => blob(dir, 'x')),
  ),
  tampered(
    '.handoff twice, the other one second',
    'name_lookalike',
    '',
    twice('.handoff', (_, dir) => folderWith(dir)),
    28,
  ),
  tampered(
    '.handoff twice, the other one first',
    ['files_uncovered', 'name_lookalike', 'path_mismatch', 'record_deleted', 'writeback_missing'],
    '',
    twice('.handoff', (_, dir) => folderWith(dir), 'first'),
    28,
  ),
  tampered(
    'a record twice',
    ['name_lookalike', 'record_changed'],
    'session',
    twice('0002-thought.yaml', (_, dir) => blob(dir, 'x')),
    28,
  ),
  tampered('a session twice', 'name_lookalike', '.handoff/sessions/donna', (entries) => [...entries, entries[0]!], 28),
  tampered(
    'an identity twice',
    'name_lookalike',
    '.handoff/identities',
    (entries) => [...entries, entries.find(({ name }) => name === 'donna')!],
    28,
  ),
  tampered(
    'project.yaml twice, at the end',
    'name_lookalike',
    '.handoff',
    (entries) => [...entries, entries.find(({ name }) => name === 'project.yaml')!],
    28,
  ),
  tampered(
    'source code twice',
    ['files_uncovered', 'writeback_missing'],
    '',
    twice('src', (_, dir) => folderWith(dir)),
    28,
  ),
  {
    name: 'a task twice, the older one at the end',
    threat: 28,
    expect: ['name_lookalike', 'policy_rollback'],
    build(place) {
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'));
      const first = git(place.dir, 'rev-parse', 'HEAD:.handoff/tasks/P0.5.yaml');
      const next = taskFields(place, 'P0.5', { version: 2, prev: `sha256:${'a'.repeat(64)}`, proof: 'seal' });
      document(place, 'tasks/P0.5.yaml', next);
      document(place, 'tasks/P0.6.yaml', taskFields(place, 'P0.6'));
      branch(place, 'feature');
      const old = { mode: '100644', name: 'P0.5.yaml', oid: first };
      return { head: alterTree(place.dir, '.handoff/tasks', (entries) => [...entries, old]) };
    },
  },
  {
    name: 'a record twice, on a branch behind the protected one',
    threat: 28,
    expect: ['name_lookalike', 'record_changed'],
    build(place) {
      branch(place, 'feature');
      const again = twice('0002-thought.yaml', (_, dir) => blob(dir, 'x'));
      const head = alterTree(place.dir, groundFolder(place), (entries) => again(entries, place.dir));
      checkout(place, 'main');
      session(place, [START], { identity: 'erin' });
      return { head };
    },
  },
  {
    name: 'an identity twice, where the protected branch has a new one',
    threat: 28,
    expect: 'name_lookalike',
    build(place) {
      branch(place, 'feature');
      const head = alterTree(place.dir, '.handoff/identities', (entries) => [
        ...entries,
        entries.find(({ name }) => name === 'donna')!,
      ]);
      checkout(place, 'main');
      document(place, 'identities/fay/identity.yaml', identityOf(place, 'fay', newKey()));
      return { head };
    },
  },
  {
    name: '.handoff twice, on a branch behind the protected one',
    threat: 28,
    expect: 'name_lookalike',
    build(place) {
      branch(place, 'feature');
      const again = twice('.handoff', (_, dir) => folderWith(dir));
      const head = alterTree(place.dir, '', (entries) => again(entries, place.dir));
      checkout(place, 'main');
      session(place, [START], { identity: 'erin' });
      return { head };
    },
  },
];

/** Evil code, for whoever looks past what the repository's own configuration or refs show. */
function evil(place: Place): { good: string; bad: string } {
  branch(place, 'feature');
  const good = git(place.dir, 'rev-parse', 'HEAD');
  return { good, bad: code(place, { 'src/evil.ts': 'evil\n' }) };
}

/** What the repository that judges has been made to believe: THREATS 29 to 34. */
export const SURROUNDINGS: Scenario[] = [
  {
    name: 'a commit that refs/replace shows as a harmless one',
    threat: 29,
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      const { good, bad } = evil(place);
      const environment = (gitDir: string) => {
        const ref = join(gitDir, 'refs/replace');
        mkdirSync(ref, { recursive: true });
        writeFileSync(join(ref, bad), `${good}\n`);
      };
      return { head: bad, environment };
    },
  },
  {
    name: 'a record that refs/replace shows as another',
    threat: 29,
    expect: ['signature_invalid'],
    build(place) {
      branch(place, 'feature');
      const [good, bad] = [
        { kind: 'note' as const, text: 'good' },
        { kind: 'note' as const, text: 'evil' },
      ];
      const written = session(place, [START, good]);
      const oid = git(place.dir, 'rev-parse', `HEAD:${written[1]!.path}`);
      const forged = blob(place.dir, Buffer.from(written[1]!.bytes).toString().replace(good.text, bad.text));
      const folder = written[1]!.path.slice(0, written[1]!.path.lastIndexOf('/'));
      const head = alterTree(place.dir, folder, (entries) =>
        entries.map((entry) => (entry.name === '0002-note.yaml' ? { ...entry, oid: forged } : entry)),
      );
      const environment = (gitDir: string) => {
        mkdirSync(join(gitDir, 'refs/replace'), { recursive: true });
        writeFileSync(join(gitDir, 'refs/replace', forged), `${oid}\n`);
      };
      return { head, environment };
    },
  },
  {
    name: 'a graft that hides the commit',
    threat: 29,
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      const { good } = evil(place);
      code(place, { 'src/evil.ts': 'lib\n' });
      const head = git(place.dir, 'rev-parse', 'HEAD');
      const environment = (gitDir: string) => {
        mkdirSync(join(gitDir, 'info'), { recursive: true });
        writeFileSync(join(gitDir, 'info/grafts'), `${head} ${good}\n`);
      };
      return { environment };
    },
  },
  {
    name: 'a shallow repository',
    threat: 31,
    expect: 'shallow_repository',
    async build(place) {
      const { commit } = await usual(place);
      return { environment: (gitDir) => writeFileSync(join(gitDir, 'shallow'), `${commit}\n`) };
    },
    isLocal: true,
  },
  ...['-h', '--upload-pack=touch canary', 'ext::sh -c touch% canary', '^main', 'main\n-h'].map((head) => ({
    name: `a revision called ${JSON.stringify(head)}`,
    threat: 32,
    expect: head.startsWith('ext::') ? 'unknown_commit' : 'usage',
    isLocal: true,
    build(place: Place) {
      const after = () => expect(existsSync(join(place.dir, 'canary'))).toBe(false);
      return { head, after };
    },
  })),
  {
    name: 'variables of git in the environment',
    threat: 33,
    expect: ['files_uncovered', 'writeback_missing'],
    isLocal: true,
    async build(place) {
      evil(place);
      const env = {
        ...place.env,
        GIT_DIR: '/nowhere',
        GIT_WORK_TREE: '/nowhere',
        GIT_OBJECT_DIRECTORY: '/nowhere',
        GIT_INDEX_FILE: '/nowhere',
        GIT_EXTERNAL_DIFF: 'touch canary',
        GIT_DIFF_OPTS: '-u0',
        GIT_REPLACE_REF_BASE: 'refs/heads/',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.fsmonitor',
        GIT_CONFIG_VALUE_0: 'touch canary',
        GIT_LITERAL_PATHSPECS: '0',
        GIT_ICASE_PATHSPECS: '1',
      };
      return { env: { ...env, GIT_DIR: '' } };
    },
  },
  {
    name: 'a configuration that names programs to run',
    threat: 33,
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      evil(place);
      const environment = (gitDir: string) => {
        const canary = `touch ${join(gitDir, 'canary')}`;
        for (const [key, value] of Object.entries({
          'core.fsmonitor': canary,
          'core.sshCommand': canary,
          'core.pager': canary,
          'diff.external': canary,
          'diff.x.textconv': `${canary}; cat`,
          'diff.x.command': canary,
          'gpg.program': canary,
          'log.showSignature': 'true',
          'diff.noprefix': 'true',
          'diff.ignoreSubmodules': 'all',
          'diff.orderFile': '/nowhere',
        })) {
          git(gitDir, 'config', key, value);
        }
        mkdirSync(join(gitDir, 'info'), { recursive: true });
        writeFileSync(join(gitDir, 'info/attributes'), '* diff=x\n');
      };
      return { environment, after: (gitDir) => expect(existsSync(join(gitDir, 'canary'))).toBe(false) };
    },
  },
  {
    name: 'attributes that say there is nothing to compare',
    threat: 30,
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      code(place, { '.gitattributes': '* -diff binary merge=ours\n' });
      evil(place);
    },
  },
  {
    name: 'hooks, scripts and settings of its own',
    threat: 34,
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      const canary = join(place.dir, '..', 'canary');
      code(place, {
        '.husky/pre-receive': `#!/bin/sh\ntouch ${canary}\nexit 0\n`,
        'package.json': `{"scripts":{"prepare":"touch ${canary}"},"type":"module"}\n`,
        '.gitconfig': '[core]\n\thooksPath = .husky\n',
        'git-handoff': `#!/bin/sh\ntouch ${canary}\n`,
      });
      return { after: () => expect(existsSync(canary)).toBe(false) };
    },
  },
];
