import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../cli/cli.ts';
import { append } from '../gate/ledgers.ts';
import { honestBranch, verdict } from '../gate/scenario.ts';
import { commitAll, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { commitSealed } from '../ledger/sealed.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { HOOK, hooked, open, PROGRAM, pathWithoutNode, tryGit, writeHook } from './hooked.ts';

const place = template();
const body = (dir: string, rev = 'HEAD') => git(dir, 'log', '-1', '--format=%B', rev).trimEnd();

/** A file that is no record, staged. */
function stage({ dir }: Place, name: string): void {
  writeBytes(dir, name, `${name}\n`);
  git(dir, 'add', name);
}

describe('pre-commit', () => {
  it('passes records that hold', async () => {
    const here = await hooked(place());
    writeSession(here, STORY);
    git(here.dir, 'add', '.handoff');
    expect(tryGit(here.dir, ['commit', '-m', 'records'])).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    ['changed', (path: string) => appendFileSync(path, 'more\n'), 'record_changed'],
    ['deleted', (path: string) => rmSync(path), 'record_deleted'],
  ])('a record that is %s is refused, and why is said', async (_, spoil, code) => {
    const here = await hooked(place());
    const [, note] = writeSession(here, STORY);
    commitAll(here);
    const head = git(here.dir, 'rev-parse', 'HEAD');
    spoil(join(here.dir, note!.path));
    git(here.dir, 'add', '--all');
    const { code: exit, stderr } = tryGit(here.dir, ['commit', '-m', 'spoilt']);
    expect(exit).toBe(1);
    expect(stderr).toContain(`error ${code}: ${note!.path}: `);
    expect(stderr).toContain('git restore --staged --worktree');
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^git-handoff: what is staged: refused: [12] problems?$/);
    expect(git(here.dir, 'rev-parse', 'HEAD')).toBe(head);
  });

  it.each([
    ['commit -a', ['commit', '-a', '-m', 'x']],
    ['commit --only', ['commit', '--only', '-m', 'x', '--', '.handoff']],
    ['commit in a folder', ['-C', '.handoff', 'commit', '-a', '-m', 'x']],
    ['amend', ['commit', '-a', '--amend', '--no-edit']],
  ])('judges what %s would commit, not what the index holds', async (_, args) => {
    const here = await hooked(place());
    const [, note] = writeSession(here, STORY);
    commitAll(here);
    appendFileSync(join(here.dir, note!.path), 'more\n');
    const { code, stderr } = tryGit(here.dir, args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('record_changed')]);
  });

  it('on an unborn branch', async () => {
    const here = await hooked(place());
    git(here.dir, 'checkout', '--quiet', '--orphan', 'fresh');
    expect(tryGit(here.dir, ['commit', '-m', 'all of it'])).toMatchObject({ code: 0, stderr: '' });
    git(here.dir, 'checkout', '--quiet', '--orphan', 'spoilt');
    appendFileSync(join(here.dir, '.handoff/project.yaml'), 'more: x\n');
    expect(tryGit(here.dir, ['commit', '-a', '-m', 'x'])).toMatchObject({ code: 1 });
    git(here.dir, 'rm', '-rfq', '.handoff');
    expect(tryGit(here.dir, ['commit', '-m', 'nothing of ours'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('with a detached HEAD, and in a linked work tree', async () => {
    const here = await hooked(place());
    const linked = join(here.dir, '../linked');
    git(here.dir, 'worktree', 'add', '--quiet', '--detach', linked);
    appendFileSync(join(linked, '.handoff/policy/0001.yaml'), 'more\n');
    expect(tryGit(linked, ['commit', '-a', '-m', 'x'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('.handoff/policy/0001.yaml'),
    });
    expect(tryGit(linked, ['commit', '--allow-empty', '-m', 'x'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('judges the repository that GIT_DIR names, wherever the work tree is', async () => {
    const here = await hooked(place());
    const elsewhere = temporaryDirectory();
    git('/', 'init', '--quiet', elsewhere); // what would be found from there is another repository
    git(here.dir, `--work-tree=${elsewhere}`, 'checkout', '--', '.handoff');
    appendFileSync(join(elsewhere, '.handoff/policy/0001.yaml'), 'more\n');
    const there = [`--git-dir=${join(here.dir, '.git')}`, `--work-tree=${elsewhere}`];
    const refused = tryGit(elsewhere, [...there, 'commit', '-m', 'x', '--', '.handoff/policy']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('record_changed')]);
    expect(tryGit('/', [...there, 'commit', '--allow-empty', '-m', 'x'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('is not led astray by what the environment says', async () => {
    const here = await hooked(place());
    const [, note] = writeSession(here, STORY);
    commitAll(here);
    appendFileSync(join(here.dir, note!.path), 'more\n');
    git(here.dir, 'add', '--all');
    const env = {
      GIT_PREFIX: 'src/',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'handoff.root',
      GIT_CONFIG_VALUE_0: '0'.repeat(64),
    };
    const { code, stderr } = tryGit(here.dir, ['commit', '-m', 'x'], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining('record_changed')]);
    expect(stderr).not.toContain('root');
  });
});

describe('prepare-commit-msg', () => {
  const SESSION = /^Handoff-Session: [0-9a-f-]{36}$/m;

  async function inSession(task?: string): Promise<Place> {
    const here = await hooked(place());
    await here.handoff.start({ as: 'donna', ...(task ? { task } : {}) });
    return here;
  }

  it('names the session and its task', async () => {
    const here = await inSession('1.a');
    stage(here, 'a');
    git(here.dir, 'commit', '--quiet', '-m', 'subject', '-m', 'body');
    expect(body(here.dir)).toMatch(/^subject\n\nbody\n\nHandoff-Session: [0-9a-f-]{36}\nHandoff-Task: 1\.a$/);
    git(here.dir, 'commit', '--quiet', '--amend', '--no-edit');
    expect(body(here.dir).match(/Handoff-/g)).toHaveLength(2);
  });

  it('until it is wrapped', async () => {
    const here = await inSession();
    await here.handoff.wrap({ as: 'donna', message: 'done' });
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'x');
    expect(body(here.dir)).toBe('x');
  });

  it('until it is released, or taken over: then it is the new one', async () => {
    const here = await inSession();
    const { session_id } = (await here.handoff.sessions()).sessions[0]!;
    await here.handoff.pickup({ as: 'erin', fromSession: session_id, force: true, reason: 'gone' });
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'x');
    expect(body(here.dir)).toMatch(SESSION);
    expect(body(here.dir)).not.toContain(session_id);
    const erin = (await here.handoff.sessions()).sessions.find(({ identity }) => identity === 'erin')!;
    await here.handoff.release({ target: erin.session_id, reason: 'enough' });
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'y');
    expect(body(here.dir)).toBe('y');
  });

  it('found again, it keeps its task', async () => {
    const here = await inSession('1.a');
    await reopen(here).handoff.start({ as: 'donna' });
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'x');
    expect(body(here.dir)).toContain('Handoff-Task: 1.a');
  });

  it.each([
    ['-F', ['commit', '--allow-empty', '-F', 'message']],
    ['an editor', ['commit', '--allow-empty', '-e', '-m', 'subject']],
    ['commit.verbose', ['-c', 'commit.verbose=true', 'commit', '-e', '-m', 'subject']],
    ['another comment character', ['-c', 'core.commentChar=;', 'commit', '-e', '-m', 'subject']],
    ['a line of dashes', ['commit', '-m', 'subject', '-m', '---', '-m', 'after']],
  ])('works with %s', async (_, args) => {
    const here = await inSession();
    stage(here, 'a');
    writeFileSync(join(here.dir, 'message'), 'subject\n');
    expect(tryGit(here.dir, args, { GIT_EDITOR: 'true' }).code).toBe(0);
    expect(git(here.dir, 'log', '-1', '--format=%(trailers:key=Handoff-Session,valueonly)')).toMatch(/^[0-9a-f-]{36}/);
    expect(body(here.dir)).not.toContain('diff --git');
  });

  it.each([
    ['plainly', []],
    ['with commit.verbose', ['-c', 'commit.verbose=true']],
    ['with another comment character', ['-c', 'core.commentChar=;']],
  ])('whoever leaves the editor empty gives up, %s', async (_, flags) => {
    const here = await inSession();
    stage(here, 'a');
    const { code, stderr } = tryGit(here.dir, [...flags, 'commit'], { GIT_EDITOR: 'true' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('empty commit message')]);
  });

  it('works with merge, squash and cherry-pick; a rebase changes no message', async () => {
    const here = await hooked(place());
    git(here.dir, 'checkout', '--quiet', '-b', 'side');
    for (const name of ['s1', 's2']) {
      stage(here, name);
      git(here.dir, 'commit', '--quiet', '-m', name);
    }
    git(here.dir, 'checkout', '--quiet', '-b', 'work', 'main');
    await here.handoff.start({ as: 'donna' });
    stage(here, 'w');
    git(here.dir, 'commit', '--quiet', '-m', 'w');
    git(here.dir, 'cherry-pick', 'side~1');
    expect(body(here.dir)).toMatch(SESSION);
    git(here.dir, 'merge', '--quiet', '--no-edit', 'side');
    expect(body(here.dir)).toMatch(SESSION);
    expect(body(here.dir)).toMatch(/^Merge branch [^\n]+\n\nHandoff-Session: /); // git leaves out the line end here
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    git(here.dir, 'merge', '--quiet', '--squash', 'side');
    expect(tryGit(here.dir, ['commit', '--no-edit']).code).toBe(0);
    expect(body(here.dir)).toMatch(SESSION);
    git(here.dir, 'checkout', '--quiet', 'side');
    git(here.dir, 'rebase', '--quiet', 'work~2');
    expect(body(here.dir)).toBe('s2');
  });

  it('each work tree has its own', async () => {
    const here = await inSession();
    const linked = join(here.dir, '../linked');
    git(here.dir, 'worktree', 'add', '--quiet', '-b', 'linked', linked);
    git(linked, 'commit', '--quiet', '--allow-empty', '-m', 'x');
    expect(body(linked)).toBe('x');
    await open(linked, { env: here.env }).start({ as: 'erin', task: '2.b' });
    git(linked, 'commit', '--quiet', '--allow-empty', '-m', 'y');
    expect(body(linked)).toContain('Handoff-Task: 2.b');
  });

  it('a claim names its task, in the work tree it moves to and no longer in the old one', async () => {
    const here = await hooked(place());
    await here.handoff.task.add({ id: 'P0.1', title: 'the reader' });
    await here.handoff.start({ as: 'donna' });
    const { worktree } = await here.handoff.claim({ as: 'donna', id: 'P0.1', worktree: true });
    git(worktree!, 'commit', '--quiet', '--allow-empty', '-m', 'there');
    expect(body(worktree!)).toMatch(/^there\n\nHandoff-Session: [0-9a-f-]{36}\nHandoff-Task: P0\.1$/);
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'here');
    expect(body(here.dir)).toBe('here');
    await open(worktree!, { env: here.env }).unclaim({ as: 'donna', id: 'P0.1' });
    git(worktree!, 'commit', '--quiet', '--allow-empty', '-m', 'after');
    expect(body(worktree!)).not.toContain('Handoff-Task');
  });
});

describe('ordinary work is not disturbed', () => {
  it('commit, amend, reset, stash, bisect, tag, gc, on a protected branch', async () => {
    const here = await hooked(place());
    for (const name of ['a', 'b', 'c']) {
      stage(here, name);
      expect(tryGit(here.dir, ['commit', '--quiet', '-m', name])).toMatchObject({ code: 0, stderr: '' });
    }
    const quiet = [
      ['stash', 'push', '--quiet', '--include-untracked'],
      ['bisect', 'start', 'HEAD', 'HEAD~2'],
      ['bisect', 'reset'],
      ['tag', 'v1'],
      ['branch', 'other'],
      ['gc', '--quiet'],
      ['pack-refs', '--all'],
    ];
    expect(tryGit(here.dir, ['commit', '--quiet', '--amend', '-m', 'better'])).toMatchObject({ code: 0, stderr: '' });
    stage(here, 'stashed');
    for (const args of quiet) {
      const { code, stderr } = tryGit(here.dir, args);
      expect([args, code, stderr.replace(/^(?:status|Previous HEAD|Switched|Already|HEAD is).*\n/gm, '')]).toEqual([
        args,
        0,
        '',
      ]);
    }
    expect(tryGit(here.dir, ['stash', 'pop']).code).toBe(0);
    const back = tryGit(here.dir, ['reset', '--quiet', '--hard', 'HEAD~1']);
    expect(back).toMatchObject({ code: 0, stderr: expect.stringContaining('refs/heads/main goes back') });
  });

  it('clone, fetch, pull and worktree add', async () => {
    const here = await hooked(place());
    const clone = join(here.dir, '../clone');
    git('/', 'clone', '--quiet', here.dir, clone);
    await open(clone).hooks.install();
    stage(here, 'a');
    git(here.dir, 'commit', '--quiet', '-m', 'a');
    stage(here, 'b');
    git(here.dir, 'commit', '--quiet', '-m', 'b');
    // what the remote has was judged there
    expect(tryGit(clone, ['pull', '--quiet'])).toMatchObject({ code: 0, stderr: '' });
    expect(tryGit(clone, ['worktree', 'add', '--quiet', '-b', 'tree', '../tree'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(tryGit(clone, ['reset', '--quiet', '--hard', 'HEAD~1']).code).toBe(0);
    expect(tryGit(clone, ['fetch', '--quiet', 'origin', '+refs/heads/*:refs/remotes/origin/*']).stderr).toBe('');
    expect(tryGit(clone, ['merge', '--quiet', '--ff-only', 'origin/main'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('pull --rebase of a branch that was merged here, past what others have appended', async () => {
    const here = place();
    const server = join(here.dir, '../server');
    const clone = { ...here, dir: join(here.dir, '../clone') };
    git('/', 'clone', '--quiet', '--bare', here.dir, server);
    git('/', 'clone', '--quiet', server, clone.dir);
    commitSealed(here, 2);
    await append(here);
    git(here.dir, 'push', '--quiet', server, 'main');
    await hooked(clone);
    await honestBranch(clone);
    commitSealed(clone);
    git(clone.dir, 'checkout', '--quiet', 'main');
    git(clone.dir, 'merge', '--quiet', '--no-ff', '--no-edit', 'feature');
    await append(clone);
    expect(tryGit(clone.dir, ['pull', '--quiet', '--rebase']).stderr).toContain('ledger');
    expect(tryGit(clone.dir, ['rebase', '--skip'])).toMatchObject({ code: 0 });
    expect(git(clone.dir, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    await append(clone);
    expect(await verdict(clone, 'origin/main', 'main')).toEqual([]);
    expect(tryGit(clone.dir, ['push', '--quiet']).stderr).toContain('refs/heads/main: accepted');
  });

  it('a branch that is not protected is nobody’s business', async () => {
    const here = await hooked(place());
    git(here.dir, 'checkout', '--quiet', '-b', 'one');
    for (const name of ['a', 'b']) {
      stage(here, name);
      git(here.dir, 'commit', '--quiet', '-m', name);
    }
    git(here.dir, 'checkout', '--quiet', '-b', 'two', 'main');
    stage(here, 'c');
    git(here.dir, 'commit', '--quiet', '-m', 'c');
    for (const args of [
      ['merge', '--quiet', '--no-edit', 'one'],
      ['rebase', '--quiet', 'one'],
      ['branch', '-D', 'one'],
    ])
      expect(tryGit(here.dir, args)).toMatchObject({ code: 0, stderr: '' });
  });

  it('deleting a protected branch is said, not stopped', async () => {
    const here = await hooked(place());
    git(here.dir, 'checkout', '--quiet', '-b', 'other');
    const { code, stderr } = tryGit(here.dir, ['branch', '-D', 'main']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('refs/heads/main is protected, and is deleted here')]);
  });
});

describe('where the program is not', () => {
  async function withProgram(program: typeof PROGRAM): Promise<Place> {
    const here = place();
    await open(here.dir, { program }).hooks.install();
    writeSession(here, STORY);
    git(here.dir, 'add', '.handoff');
    return here;
  }

  it('the script is gone: a commit passes, and one line says so', async () => {
    const here = await withProgram({ ...PROGRAM, hook: '/gone/hook.sh' });
    const { code, stderr } = tryGit(here.dir, ['commit', '--quiet', '-m', 'x']);
    expect([code, stderr.split('\n').filter((line) => line.includes('pre-commit'))]).toEqual([
      0,
      ['git-handoff: warning: the program is gone, so pre-commit checked nothing. Repair: git handoff hooks install'],
    ]);
  });

  it('Node is gone: another is found on the PATH, or a commit passes, and one line says so', async () => {
    const here = await withProgram({ ...PROGRAM, node: '/gone/node' });
    const { code, stderr } = tryGit(here.dir, ['commit', '--quiet', '-m', 'x'], { PATH: pathWithoutNode() });
    expect([code, stderr]).toEqual([0, 'git-handoff: warning: node was not found, so pre-commit checked nothing.\n']);
    appendFileSync(join(here.dir, '.handoff/project.yaml'), 'more: x\n');
    expect(tryGit(here.dir, ['commit', '--quiet', '-a', '-m', 'x']).code).toBe(1);
  });

  it('the program is gone from beside the script', async () => {
    const hook = join(temporaryDirectory(), 'hook.sh');
    writeHook(hook, readFileSync(HOOK));
    const here = await withProgram({ ...PROGRAM, hook });
    const { code, stderr } = tryGit(here.dir, ['commit', '--quiet', '-m', 'x']);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^git-handoff: warning: .*cli\.cjs is gone, so pre-commit/),
    ]);
  });

  it('a link to a link to the script finds the program', async () => {
    const bin = join(temporaryDirectory(), 'a b');
    mkdirSync(join(bin, 'c'), { recursive: true });
    symlinkSync(HOOK, join(bin, 'c', 'two'));
    symlinkSync('c/two', join(bin, 'one'));
    const here = await withProgram({ ...PROGRAM, hook: join(bin, 'one') });
    appendFileSync(join(here.dir, '.handoff/project.yaml'), 'more: x\n');
    expect(tryGit(here.dir, ['commit', '-a', '-m', 'x']).stderr).toContain('what is staged: refused');
  });
});

describe('our own commits', () => {
  it('do not go the slow way because of our hooks, and run those of others', async () => {
    const here = await hooked(place());
    const started = join(here.dir, '../started');
    const env = { ...here.env, GIT_TRACE: started };
    const { handoff } = reopen(here, here.dir, env);
    await handoff.start({ as: 'donna' });
    await handoff.wrap({ as: 'donna', message: 'done' });
    const lines = readFileSync(started, 'utf8').split('\n');
    expect(lines.filter((line) => line.includes('built-in: git cat-file'))).not.toEqual([]);
    expect(lines.filter((line) => line.includes('run_command'))).toEqual([]);
    expect(git(here.dir, 'log', '-1', '--format=%s')).toBe('handoff: donna wraps');
    writeHook(join(here.dir, '.git/hooks/commit-msg'), '#!/bin/sh\necho theirs >>"$1"\n');
    await reopen(here).handoff.pickup({ as: 'donna' });
    expect(body(here.dir)).toContain('theirs');
  });
});

describe('hooks run', () => {
  it('knows its hooks and no others', () => {
    for (const name of ['post-commit', '../x', 'update']) {
      const { code, stderr } = run(['hooks', 'run', name]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('pre-receive')]);
    }
  });

  it('in JSON', async () => {
    const here = place();
    const { code, stdout } = run(['hooks', 'run', 'pre-commit', '--json'], { cwd: here.dir, env: here.env });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { hook: 'pre-commit', pass: true, judged: [{ pass: true }] }]);
  });
});

it('init installs them, unless told not to', () => {
  const base = temporaryDirectory();
  const env = { HANDOFF_KEYS: join(base, 'keys') };
  const init = (name: string, ...flags: string[]) => {
    const cwd = join(base, name);
    git('/', 'init', '--quiet', cwd);
    if (name === 'outside') git(cwd, 'config', 'core.hooksPath', temporaryDirectory());
    const { code, stdout, stderr } = run(['init', '--json', ...flags], { cwd, env });
    return [code, JSON.parse(stdout).hooks.length, stderr];
  };
  expect(init('with')).toEqual([0, 5, '']);
  expect(init('without', '--no-hooks')).toEqual([0, 0, '']);
  expect(init('outside')).toEqual([
    0,
    0,
    expect.stringMatching(/^warning: No hooks are installed: core\.hooksPath leads out/),
  ]);
});
