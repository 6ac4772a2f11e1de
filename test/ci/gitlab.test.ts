import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { type Checkout, checkout, honestBranch, silentBranch } from './checkout.ts';
import { type Api, serveComments, someoneElse } from './comments-api.ts';
import { PROGRAM, readYaml, shell } from './steps.ts';

interface Pipeline {
  handoff: {
    rules: { if: string }[];
    variables: Record<string, string | number>;
    before_script: string[];
    script: string[];
    artifacts: { when: string; paths: string[] };
  };
}

const { handoff: job } = readYaml<Pipeline>('examples/gitlab/gitlab-ci.yml');
const fresh = template();
const MARKER = '<!-- git-handoff gate -->';

/** One shell for both scripts, as a runner does it, which stops at the first line that fails. */
function mergeRequest(
  { workspace, head }: Checkout,
  { root }: Place,
  { api, env = {}, sh = 'bash' }: { api?: Api; env?: NodeJS.ProcessEnv; sh?: string } = {},
): Promise<{ code: number | null; output: string }> {
  const script = ['set -e', ...job.before_script, ...job.script].join('\n');
  const variables = Object.entries(job.variables).map(([name, value]) => [name, String(value)]);
  return shell([sh, '-c', script], {
    cwd: workspace,
    env: {
      ...Object.fromEntries(variables),
      TMPDIR: temporaryDirectory(),
      CI_PROJECT_ID: '5',
      CI_COMMIT_SHA: head,
      CI_MERGE_REQUEST_IID: '12',
      CI_MERGE_REQUEST_PROJECT_ID: '5',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      HANDOFF_COMMAND: PROGRAM,
      HANDOFF_ROOT: root,
      ...(api ? { CI_API_V4_URL: api.url, HANDOFF_NOTE_TOKEN: 'secret-token' } : {}),
      ...env,
    },
  });
}

const report = ({ workspace }: Checkout, name: string) => readFileSync(join(workspace, 'handoff-report', name), 'utf8');

describe('the job for GitLab', () => {
  it('runs for merge requests, in a clone with its history, and keeps its reports', () => {
    expect(job.rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }]);
    expect(job.variables.GIT_DEPTH).toBe(0);
    expect(job.artifacts).toEqual({ when: 'always', paths: ['handoff-report/'] });
  });

  it('installs outside of the checkout, without scripts', () => {
    const install = job.before_script.join('\n');
    expect(install).toMatch(/cd "\$HANDOFF_PLACE" &&[\s\S]*npm install [^\n]*--ignore-scripts/);
  });
});

describe('a merge request on GitLab', () => {
  it.each(['bash', 'sh'])('that holds passes, in %s', async (sh) => {
    const place = fresh();
    await honestBranch(place);
    const clone = checkout(place);
    const { code, output } = await mergeRequest(clone, place, { sh });
    expect(code, output).toBe(0);
    expect(output).toMatch(/^✓ pass: /m);
    expect(report(clone, 'handoff.md')).toContain('## ✅ git-handoff: pass');
    expect(JSON.parse(report(clone, 'handoff.sarif'))).toMatchObject({ version: '2.1.0', runs: [{ results: [] }] });
  });

  it('without a thought record fails, and keeps the reports', async () => {
    const place = fresh();
    silentBranch(place);
    const clone = checkout(place);
    const { code, output } = await mergeRequest(clone, place);
    expect(code).toBe(1);
    expect(output).toContain('writeback_missing');
    expect(JSON.parse(report(clone, 'handoff.sarif')).runs[0].results[0].ruleId).toBe('writeback_missing');
  });

  it('gets one note, which is updated, and not that of somebody else', async () => {
    const place = fresh();
    await honestBranch(place);
    const clone = checkout(place);
    const api = await serveComments([someoneElse(1, `${MARKER}\nforged`)], {
      user: { login: 'project_5_bot', type: 'Bot', id: 9 },
    });
    for (let times = 0; times < 2; times++) expect((await mergeRequest(clone, place, { api })).code).toBe(0);
    expect(api.comments.map(({ body }) => body)).toEqual([`${MARKER}\nforged`, report(clone, 'handoff.md')]);
    expect(api.requests.at(-1)).toBe('PUT /projects/5/merge_requests/12/notes/2');
  });

  it('is judged the same when no note can be posted', async () => {
    const place = fresh();
    await honestBranch(place);
    const api = await serveComments([], { writes: 403, user: { login: 'bot', type: 'Bot', id: 9 } });
    const { code, output } = await mergeRequest(checkout(place), place, { api });
    expect(code, output).toBe(0);
    expect(output).toContain('No note was posted');
  });

  it('is judged by the tip that its target has now, of the project that receives it', async () => {
    const place = fresh();
    await honestBranch(place);
    const clone = checkout(place);
    git(clone.workspace, 'remote', 'set-url', 'origin', 'file:///nowhere');
    git(place.dir, 'checkout', '--quiet', 'main');
    await place.handoff.identity.revoke({ name: 'donna', as: 'maintainer' });
    git('/', 'clone', '--quiet', '--bare', place.dir, `${place.dir}.git`);
    const env = { CI_PROJECT_ID: '99', CI_MERGE_REQUEST_PROJECT_URL: `file://${place.dir}` };
    const { code, output } = await mergeRequest(clone, place, { env });
    expect(code).toBe(1);
    expect(output).toContain('key_revoked');
  });

  it('in a pipeline of merged results is judged by its own commits', async () => {
    const place = fresh();
    await honestBranch(place);
    const clone = checkout(place);
    const env = { CI_COMMIT_SHA: 'f'.repeat(40), CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: clone.head };
    const { code, output } = await mergeRequest(clone, place, { env });
    expect(code, output).toBe(0);
  });

  it('whose tree has a link where the reports go writes nothing through it', async () => {
    const place = fresh();
    const outside = temporaryDirectory();
    writeFileSync(join(outside, 'kept'), 'kept');
    await honestBranch(place);
    symlinkSync(outside, join(place.dir, 'handoff-report'));
    commitAll(place, 'a link');
    await mergeRequest(checkout(place), place);
    expect([existsSync(join(outside, 'handoff.md')), existsSync(join(outside, 'kept'))]).toEqual([false, true]);
  });
});
