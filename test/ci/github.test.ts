import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { type Checkout, checkout, honestBranch, silentBranch } from './checkout.ts';
import { type Api, serveComments, someoneElse } from './comments-api.ts';
import { type ActionRun, PROGRAM, runAction } from './steps.ts';

const fresh = template();

interface Circumstances {
  inputs?: Record<string, string>;
  /** Instead of a pull request. */
  event?: { name: string; event: Record<string, unknown> };
  api?: Api;
}

/** action.yml as a workflow for pull requests runs it, with the real program. */
function pullRequest(
  { workspace, head }: Checkout,
  { inputs = {}, event, api }: Circumstances = {},
): Promise<ActionRun> {
  const pull = { name: 'pull_request', event: { pull_request: { number: 12, head: { sha: head } } } };
  const { name, event: payload } = event ?? pull;
  return runAction({
    workspace,
    env: {
      GITHUB_REPOSITORY: 'ada/project',
      GITHUB_API_URL: api?.url ?? 'http://127.0.0.1:1',
      GITHUB_EVENT_NAME: name,
      ...(event ? {} : { GITHUB_BASE_REF: 'main' }),
    },
    context: {
      inputs: { command: PROGRAM, comment: api ? 'true' : 'false', ...inputs },
      github: { event_name: name, event: payload, token: 'secret-token' },
    },
  });
}

describe('a pull request on GitHub', () => {
  it('that holds passes: summary, outputs and one comment', async () => {
    const place = fresh();
    await honestBranch(place);
    const api = await serveComments();
    const run = await pullRequest(checkout(place), { inputs: { root: place.root }, api });
    expect([run.failed, run.outputs.pass], run.log).toEqual([false, 'true']);
    expect(run.steps.map(({ name }) => name)).toEqual([
      'Set up git-handoff',
      'Judge the change',
      'Comment on the pull request',
      'Verdict',
    ]);
    expect(run.summary).toMatch(/^<!-- git-handoff gate -->\n## ✅ git-handoff: pass\n/);
    expect(run.summary).toContain('donna');
    expect(api.comments.map(({ body }) => body)).toEqual([run.summary]);
    expect(run.log).toMatch(/^pass: /m);
    expect(run.log).not.toContain('::warning');
  });

  it('without a thought record is annotated, commented on, and fails at the end', async () => {
    const place = fresh();
    silentBranch(place);
    const api = await serveComments();
    const run = await pullRequest(checkout(place), { inputs: { root: place.root }, api });
    expect([run.failed, run.outputs.pass]).toEqual([true, 'false']);
    expect(run.steps.map(({ code }) => code)).toEqual([0, 0, 0, 1]);
    expect(run.log).toMatch(/^::error .*title=writeback_missing::/m);
    expect(run.summary).toMatch(/\n## ❌ git-handoff: refused\n/);
    expect(api.comments.map(({ body }) => body)).toEqual([run.summary]);
  });

  it.each([
    ['a tag called like the base', 'origin/main', (dir: string) => git(dir, 'tag', 'origin/main', 'HEAD')],
    [
      'a tag by the full name of a base that is not there',
      'refs/remotes/origin/gone',
      (dir: string) => git(dir, 'update-ref', 'refs/tags/refs/remotes/origin/gone', 'HEAD'),
    ],
  ])('THREATS 53: is not judged against %s', async (_, base, prepare) => {
    const place = fresh();
    silentBranch(place);
    const made = checkout(place);
    prepare(made.workspace);
    const run = await pullRequest(made, { inputs: { root: place.root, base } });
    expect([run.failed, run.outputs.pass]).toEqual([true, 'false']);
    expect(run.log).toContain('means more than one thing');
  });

  it('is judged against the target branch, beside a tag of its name', async () => {
    const place = fresh();
    await honestBranch(place);
    const made = checkout(place);
    for (const name of ['main', 'origin/main']) git(made.workspace, 'tag', name, 'HEAD');
    const run = await pullRequest(made, { inputs: { root: place.root } });
    expect([run.failed, run.outputs.pass], run.log).toEqual([false, 'true']);
  });

  it.each([
    ['echoes', '/bin/echo', null],
    ['says nothing', '/bin/true', null],
    ['judges another change', null, '{"pass":true,"base":"BASE","head":"BASE"}'],
    ['passes by a word', null, '{"pass":"true","base":"BASE","head":"HEAD"}'],
    ['says no, and ends well', null, '{"pass":false,"base":"BASE","head":"HEAD"}'],
  ])('is not passed by a program that %s', async (_, command, answer) => {
    const place = fresh();
    silentBranch(place);
    const program = join(place.dir, '../program');
    const [base, head] = ['main', 'feature'].map((name) => git(place.dir, 'rev-parse', name)) as [string, string];
    const said = answer?.replaceAll('BASE', base).replaceAll('HEAD', head);
    writeFileSync(program, `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 });
    const inputs = { root: place.root, command: command ?? program };
    const run = await pullRequest(checkout(place), { inputs });
    expect([run.failed, run.outputs.pass]).toEqual([true, 'false']);
    expect(run.summary).toContain('not judged');
  });

  it('is commented on once: when it is mended, the same comment says so', async () => {
    const place = fresh();
    silentBranch(place);
    const api = await serveComments([someoneElse(1, 'why is this red?')]);
    await pullRequest(checkout(place), { inputs: { root: place.root }, api });
    git(place.dir, 'checkout', '--quiet', 'main');
    git(place.dir, 'branch', '--quiet', '-D', 'feature');
    await honestBranch(place);
    const mended = await pullRequest(checkout(place), { inputs: { root: place.root }, api });
    expect(mended.failed, mended.log).toBe(false);
    expect(api.comments).toHaveLength(2);
    expect(api.comments[1]!.body).toContain('## ✅ git-handoff: pass');
    expect(api.requests.filter((line) => /^(?:POST|PATCH)/.test(line))).toEqual([
      expect.stringMatching(/^POST /),
      expect.stringMatching(/^PATCH /),
    ]);
  });

  it('of a fork, whose token may not comment, gets the same verdict', async () => {
    const place = fresh();
    await honestBranch(place);
    const api = await serveComments([], { writes: 403 });
    const run = await pullRequest(checkout(place), { inputs: { root: place.root }, api });
    expect([run.failed, api.comments], run.log).toEqual([false, []]);
    expect(run.log).toContain('::warning title=git-handoff::No comment: ');
    expect(run.summary).toContain('git-handoff: pass');
  });

  it('is judged by the tip that its target has now, not by what was checked out', async () => {
    const place = fresh();
    await honestBranch(place);
    const job = checkout(place);
    git(place.dir, 'checkout', '--quiet', 'main');
    await place.handoff.identity.revoke({ name: 'donna', as: 'maintainer' });
    const tip = git(place.dir, 'rev-parse', 'main');
    const run = await pullRequest(job, { inputs: { root: place.root } });
    expect(run.summary).toContain(tip.slice(0, 12));
    expect([run.failed, run.outputs.pass]).toEqual([true, 'false']);
    expect(run.log).toMatch(/title=key_revoked::/);
  });

  it('in a repository with another root is refused', async () => {
    const place = fresh();
    await honestBranch(place);
    const api = await serveComments();
    const run = await pullRequest(checkout(place), { inputs: { root: '0'.repeat(64) }, api });
    expect([run.failed, run.outputs.pass]).toEqual([true, 'false']);
    expect(run.summary).toMatch(/^<!-- git-handoff gate -->\n## ❌ /);
    expect(api.comments).toHaveLength(1);
  });

  it('without a root is judged, with a warning', async () => {
    const place = fresh();
    await honestBranch(place);
    const run = await pullRequest(checkout(place));
    expect(run.failed, run.log).toBe(false);
    expect(run.log).toContain('::warning title=git-handoff::No root is given');
  });

  it('in a shallow clone is refused, and told of fetch-depth', async () => {
    const place = fresh();
    await honestBranch(place);
    git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'one more');
    const run = await pullRequest(checkout(place, '--depth', '1'), { inputs: { root: place.root } });
    expect([run.failed, run.outputs.pass]).toEqual([true, 'false']);
    expect(run.log).toContain('fetch-depth: 0');
  });

  it('in a merge queue is judged by what the queue says, without a comment', async () => {
    const place = fresh();
    await honestBranch(place);
    const job = checkout(place);
    const merge_group = { base_sha: git(place.dir, 'rev-parse', 'main'), head_sha: job.head };
    const api = await serveComments();
    const run = await pullRequest(job, {
      inputs: { root: place.root },
      event: { name: 'merge_group', event: { merge_group } },
      api,
    });
    expect([run.failed, api.requests], run.log).toEqual([false, []]);
    expect(run.outputs.pass).toBe('true');
  });
});

describe('what cannot be judged does not pass', () => {
  it.each([
    ['an event that names no change', { event: { name: 'schedule', event: {} } }, 'set the inputs base and head'],
    ['a base that is not there', { inputs: { base: 'f'.repeat(40) } }, 'its base is not in this clone'],
    ['a head that is an option', { inputs: { head: '--help' } }, 'its head is not in this clone'],
    ['a root that is none', { inputs: { root: 'x; touch y' } }, 'git handoff gate ended with'],
  ])('%s', async (_, circumstances, reason) => {
    const place = fresh();
    await honestBranch(place);
    const run = await pullRequest(checkout(place), circumstances);
    expect([run.failed, run.outputs.pass], run.log).toEqual([true, 'false']);
    expect(run.log).toMatch(/^::error title=git-handoff::The change could not be judged: /m);
    expect(run.log).toContain(reason);
    expect(run.summary).toMatch(/^<!-- git-handoff gate -->\n## ❌ git-handoff: not judged\n/);
  });

  it('a program that is not there', async () => {
    const place = fresh();
    await honestBranch(place);
    const run = await pullRequest(checkout(place), { inputs: { command: 'no-such-program' } });
    expect(run.failed).toBe(true);
    expect(run.steps.map(({ name }) => name)).toEqual(['Set up git-handoff', 'Verdict']);
  });
});

describe('words of others on GitHub', () => {
  /** The lines that a runner obeys: in either of its two forms, but not while it was told to stop. */
  const commands = (log: string): string[] =>
    log
      .replace(/^::stop-commands::(\S+)\n[\s\S]*?^::\1::\n/gm, '')
      .split('\n')
      .filter((line) => /^\s*::|##\[/.test(line));

  it('set no output, end no annotation, and name nobody', async () => {
    const place = fresh();
    const text = 'x @octocat ::set-output name=pass::true ##[set-output name=pass]true </details> `';
    await honestBranch(place, text);
    writeBytes(place.dir, 'src/a%0A::set-output name=pass::true,line=1.js', 'work();\n');
    commitAll(place, text);
    const run = await pullRequest(checkout(place), { inputs: { root: place.root } });
    expect(run.outputs.pass).toBe('false');
    expect(commands(run.log).filter((line) => !/^::(?:error|warning|notice) /.test(line))).toEqual([]);
    expect(run.log).toMatch(/^::error file=src\/a%250A%3A%3Aset-output name=pass%3A%3Atrue%2Cline=1\.js,/m);
    expect(run.summary).not.toMatch(/@octocat/);
    expect(run.summary.match(/<details>/g)).toHaveLength(run.summary.match(/<\/details>/g)!.length);
  });
});
