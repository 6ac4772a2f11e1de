import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Context } from '../../src/cli/command.ts';
import { wrap as wrapCommand } from '../../src/cli/commands/session/sessions.ts';
import { missingSections } from '../../src/core/text/sections.ts';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import type { WrapResult } from '../../src/verbs/session/wrap.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { recordsOf } from './agents.ts';

const copy = template(({ handoff }) => handoff.task.add({ id: 'T1', title: 'count' }));
const SECTIONS = ['current work', 'progress', 'decisions', 'blockers', 'files', 'next steps'];

function commit({ dir }: Place, message: string): void {
  writeFileSync(join(dir, 'code.txt'), message);
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '--message', message);
}

async function worked(): Promise<Place> {
  const place = copy();
  commit(place, 'before the session');
  const { handoff } = place;
  await handoff.start({ as: 'donna' });
  await handoff.claim({ id: 'T1' });
  await handoff.note({ text: 'the parser needs LF\n\n# no heading of ours' });
  await handoff.decide({ title: 'Use YAML', text: 'People read it.' });
  await handoff.wip.open({ key: 'backfill', text: 'columns added' });
  await handoff.wip.open({ key: 'closed', text: 'over' });
  await handoff.wip.close({ key: 'closed' });
  commit(place, 'count the words');
  await handoff.thought({
    id: 'T1',
    summary: 'It counts.',
    run: { command: ['node', '-e', '0'] },
    blockers: [{ what: 'no Windows' }],
  });
  writeFileSync(join(place.dir, 'new file.txt'), 'x');
  return place;
}

/** The text below a heading. */
function section(draft: string, name: string): string {
  return draft.split(/^# /m).find((part) => part.toLowerCase().startsWith(name))!;
}

describe('wrap --draft', () => {
  it('fills the sections of the policy with what is known, and writes nothing', async () => {
    const place = await worked();
    const before = git(place.dir, 'status', '--porcelain');
    const { draft } = await place.handoff.wrapDraft();
    expect(missingSections(draft, SECTIONS)).toEqual([]);
    expect(section(draft, 'current work')).toContain('- task T1\n- under way, backfill: columns added');
    expect(section(draft, 'current work')).not.toContain('closed');
    expect(section(draft, 'progress')).toContain('- T1: It counts.; `node -e 0` ended with 0');
    expect(section(draft, 'progress')).toContain('- the parser needs LF # no heading of ours');
    expect(section(draft, 'progress')).toMatch(/- commit [0-9a-f]+ count the words/);
    expect(draft).not.toContain('before the session');
    expect(section(draft, 'decisions')).toContain('- Use YAML (accepted)');
    expect(section(draft, 'blockers')).toContain('- T1: no Windows');
    expect(section(draft, 'files')).toContain('- not committed: new file.txt');
    expect(section(draft, 'files')).toContain('- code.txt');
    expect(section(draft, 'next steps')).toMatch(/^<!-- fill in: .* -->$/m);
    expect(git(place.dir, 'status', '--porcelain')).toBe(before);
    expect((await place.handoff.status({ as: 'donna' })).session!.state).toBe('active');
  });

  it('can be wrapped as it is, with a warning', async () => {
    const place = await worked();
    const { draft } = await place.handoff.wrapDraft();
    const { warnings } = await place.handoff.wrap({ draft: Buffer.from(draft) });
    expect(warnings.map(({ kind }) => kind)).toEqual(['draft_unfilled']);
  });

  it('of a session in which nothing was done has a line to fill in in each section', async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    const { draft } = await place.handoff.wrapDraft();
    expect(draft.match(/^<!-- fill in: /gm)).toHaveLength(SECTIONS.length);
    expect((await place.handoff.wrap({ draft: Buffer.from(draft) })).baton.summary).toBe('Current work');
  });

  it('names twenty commits and counts the others', async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    for (let n = 1; n <= 23; n++) commit(place, `step ${n}.`);
    const progress = section((await place.handoff.wrapDraft()).draft, 'progress');
    expect(progress).toContain('step 23.');
    expect(progress).not.toContain('step 3.');
    expect(progress).toContain('- and 3 commits before');
  });

  it('on an unborn branch, and in a session that began on one', async () => {
    const place = copy();
    git(place.dir, 'update-ref', '-d', 'HEAD');
    await place.handoff.start({ as: 'donna' });
    expect((await place.handoff.wrapDraft()).draft).toContain('# Progress');
    commit(place, 'the first');
    expect((await place.handoff.wrapDraft()).draft).toContain('the first');
  });

  it('needs a session', async () => {
    await expect(copy().handoff.wrapDraft()).rejects.toMatchObject({ code: 'no_session' });
  });
});

describe('what an editor leaves', () => {
  /** `wrap` without a text, as a person at a terminal types it; `editor` is a line of shell, and $1 the file. */
  async function edited(place: Place, editor: string): Promise<WrapResult> {
    const script = join(place.dir, '..', 'my editor.sh');
    writeFileSync(script, `${editor}\n`);
    const env = { ...place.env, GIT_EDITOR: `sh '${script}'` };
    const repository = openRepositoryAt(place.dir, { env, host: nodeHost, warn: (text) => place.warnings.push(text) });
    onTestFinished(() => repository.close());
    const context = { isTerminal: true, directory: place.dir, repository: async () => repository };
    return (await wrapCommand.run(context as unknown as Context, {})) as WrapResult;
  }

  async function started(): Promise<Place> {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    return place;
  }

  function drafts({ dir }: Place): string[] {
    const folder = join(dir, '.git/handoff/drafts');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  it('is the baton', async () => {
    const place = await started();
    const { session_id } = await edited(place, 'printf "# Progress\\n\\nDone.\\n" > "$1"');
    expect(recordsOf(place, session_id).at(-1)!.body).toBe('# Progress\n\nDone.\n');
    expect(drafts(place)).toEqual([]);
  });

  it('begins with the draft', async () => {
    const place = await started();
    await place.handoff.note({ text: 'worth knowing' });
    const { session_id } = await edited(place, 'echo more >> "$1"');
    expect(recordsOf(place, session_id).at(-1)!.body).toMatch(/worth knowing[\s\S]*more\n$/);
  });

  it.each([
    ['nothing', ': > "$1"', 'baton_empty'],
    ['only line ends', 'printf "\\n\\n" > "$1"', 'baton_empty'],
    ['an editor that fails', 'exit 3', 'usage'],
  ])('%s: nothing is changed', async (_, editor, code) => {
    const place = await started();
    await expect(edited(place, editor)).rejects.toMatchObject({ code });
    expect((await place.handoff.status({ as: 'donna' })).session!.state).toBe('active');
    expect(drafts(place)).toEqual([]);
  });

  it('is kept where it is refused, and it is said where', async () => {
    const place = await started();
    const token = `ghp_${'aB3dE6gH9jK2mN5pQ8sT1vW4xY7z'}0123456789`.slice(0, 40);
    await expect(edited(place, `echo "token ${token}" > "$1"`)).rejects.toMatchObject({ code: 'secret_found' });
    const path = place.warnings.map((text) => /kept: (.*)$/.exec(text)?.[1]).find(Boolean)!;
    expect(readFileSync(path, 'utf8')).toContain(token);
    rmSync(path);
  });
});

describe('a file from an editor on Windows', () => {
  it.each([
    ['CRLF', '---\r\nsummary: from it\r\n---\r\n# Progress\r\n\r\nDone.\r\n'],
    ['a byte order mark', '\ufeff---\nsummary: from it\n---\n# Progress\n\nDone.\n'],
    ['both', '\ufeff---\r\nsummary: from it\r\n---\r\n# Progress\r\n\r\nDone.\r\n'],
  ])('with %s is taken, and its line ends made plain', async (_, text) => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    const { session_id, baton } = await place.handoff.wrap({ draft: Buffer.from(text) });
    expect(baton.summary).toBe('from it');
    expect(recordsOf(place, session_id).at(-1)!.body).toBe('# Progress\n\nDone.\n');
  });

  it.each([
    ['UTF-16', Buffer.from('\ufeffDone.\r\n', 'utf16le')],
    ['a lone CR', Buffer.from('one\rtwo\n')],
  ])('in %s is refused, and the session stays open', async (_, draft) => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    await expect(place.handoff.wrap({ draft })).rejects.toMatchObject({ exitCode: 2 });
    expect((await place.handoff.status({ as: 'donna' })).session!.state).toBe('active');
  });
});

it('a message alone is not told that it has no sections', async () => {
  const place = copy();
  await place.handoff.start({ as: 'donna' });
  mkdirSync(join(place.dir, 'x'));
  expect((await place.handoff.wrap({ message: 'short' })).warnings).toEqual([]);
});
