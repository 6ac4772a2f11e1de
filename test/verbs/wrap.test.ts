import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WrapOptions } from '../../src/verbs/session/wrap.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { changes, pathsOf, recordsOf } from './agents.ts';

const copy = template();

/** With a session of donna. */
async function fresh(): Promise<Place> {
  const place = copy();
  await place.handoff.start({ as: 'donna' });
  return place;
}

const text = (value: string) => ({ draft: Buffer.from(value) });
const SECTIONS = ['current work', 'progress', 'decisions', 'blockers', 'files', 'next steps'];

/** The state of donna's session, and how many records it has. */
async function state(place: Place): Promise<[string, number]> {
  const [session] = (await place.handoff.sessions()).sessions;
  return [session!.state, recordsOf(place, session!.session_id).length];
}

async function wrapped(place: Place, options: WrapOptions) {
  const { session_id, ...result } = await place.handoff.wrap({ as: 'donna', ...options });
  const record = recordsOf(place, session_id).at(-1)!;
  return { result, fields: record.fields, body: record.body };
}

describe('wrap', () => {
  it('writes a baton, ends the session and commits its records, nothing else', async () => {
    const place = await fresh();
    writeFileSync(join(place.dir, 'staged.txt'), 'staged\n');
    git(place.dir, 'add', 'staged.txt');
    writeFileSync(join(place.dir, 'loose.txt'), 'loose\n');
    const head = git(place.dir, 'rev-parse', 'HEAD');
    const result = await place.handoff.wrap({
      message: '# Current work\n\nThe reader is done.\n',
      reason: 'end of day',
      nextAgent: 'erin',
      focus: ['P0.1', 'P0.2'],
    });
    const [start, baton] = recordsOf(place, result.session_id);
    expect(result).toMatchObject({
      baton: { delta_id: baton!.id, path: baton!.path, summary: 'The reader is done.' },
      commit: git(place.dir, 'rev-parse', 'HEAD'),
    });
    expect(baton).toMatchObject({
      name: '0002-baton.md',
      body: '# Current work\n\nThe reader is done.\n',
      fields: {
        kind: 'baton',
        summary: 'The reader is done.',
        reason: 'end of day',
        next_agent: 'erin',
        focus: ['P0.1', 'P0.2'],
        branch: 'main',
        head,
      },
    });
    expect(pathsOf(place)).toEqual([start!.path, baton!.path]);
    expect(changes(place)).toEqual(['A  staged.txt', '?? loose.txt']);
    expect(git(place.dir, 'log', '-1', '--format=%B').trim()).toBe('handoff: donna wraps\n\nThe reader is done.');
    expect(await state(place)).toEqual(['wrapped', 2]);
    expect(await findings(place)).toEqual([]);
  });

  it('says which tasks in focus nobody has defined, and keeps them', async () => {
    const place = await fresh();
    await place.handoff.task.add({ id: 'P0.1', title: 'one' });
    const { result, fields } = await wrapped(place, { message: 'go on', focus: ['P0.1', 'NOPE'] });
    expect(result.warnings.filter(({ kind }) => kind === 'unknown_task')).toEqual([
      { kind: 'unknown_task', message: 'The baton has NOPE in focus, and there is no such task.' },
    ]);
    expect(fields.focus).toEqual(['P0.1', 'NOPE']);
  });

  it('--stage stages without a commit, --no-commit and --no-stage only write', async () => {
    const staged = await fresh();
    expect((await staged.handoff.wrap({ message: 'x', commit: false, stage: true })).commit).toBeNull();
    expect(changes(staged).map((line) => line.slice(0, 2))).toEqual(['A ', 'A ']);
    for (const only of [{ stage: false }, { commit: false }]) {
      const loose = await fresh();
      expect((await loose.handoff.wrap({ message: 'x', ...only })).commit).toBeNull();
      expect(changes(loose).map((line) => line.slice(0, 2))).toEqual(['??', '??']);
    }
  });

  it('takes what the front matter of a draft says, and flags come first', async () => {
    const draft = Buffer.from(
      '---\nsummary: from the draft\nreason: "1.10"\nnext-agent: erin\nfocus: [P0.1, 1.10]\n---\n\nBody: with --- inside\n---\n',
    );
    const { fields, body } = await wrapped(await fresh(), { draft });
    expect(fields).toMatchObject({
      summary: 'from the draft',
      reason: '1.10',
      next_agent: 'erin',
      focus: ['P0.1', '1.10'],
    });
    expect(body).toBe('\nBody: with --- inside\n---\n');
    const flags = { summary: 'from the flag', nextAgent: 'bot', focus: ['P9'] };
    expect((await wrapped(await fresh(), { draft, ...flags })).fields).toMatchObject({
      summary: 'from the flag',
      reason: '1.10',
      next_agent: 'bot',
      focus: ['P9'],
    });
  });

  it('finds a summary in whatever is there', async () => {
    const place = copy();
    for (const [name, message, summary] of SUMMARIES) {
      await place.handoff.start({ as: 'donna', stage: false });
      const { result, fields } = await wrapped(place, { message, stage: false });
      expect([result.baton.summary, fields.summary], name).toEqual([summary, summary]);
    }
  });

  const SUMMARIES = [
    ['prose before headings', '# Title\n\nFirst words.\nMore.', 'First words.'],
    ['headings alone', '\n## Only *this*\n\n### That\n', 'Only *this*'],
    ['a heading without words', '#', '#'],
    ['invisible characters', 'a\u202eb\u200bc\u001b[31m', 'a\u202eb\u200bc\u001b[31m'],
    ['a long line of emoji', `a${'🏁'.repeat(300)}`, `a${'🏁'.repeat(99)}`],
    ['a long line', 'word '.repeat(100), 'word '.repeat(100).slice(0, 200)],
    ['a thousand headings, without reading them a thousand times', `${'#a\n'.repeat(80_000)}at last`, 'at last'],
  ] as const;

  it('names the sections that the policy asks for and the baton lacks', async () => {
    const none = await (await fresh()).handoff.wrap({ ...text('all of it in one line'), stage: false });
    expect(none.warnings).toEqual(
      SECTIONS.map((name) => ({ kind: 'section_missing', message: expect.stringContaining(`"${name}"`) })),
    );
    const message = '# Current Work\n\n## Progress so far\n\n```\n# decisions\n```\nBlockers\n===\n## Files changed\n';
    const some = await (await fresh()).handoff.wrap({ ...text(message), stage: false });
    expect(some.warnings.map((warning) => /"(.*)"/.exec(warning.message)![1])).toEqual(['decisions', 'next steps']);
  });
});

describe('a baton arrives byte for byte', () => {
  const long = `# Long\n\n${'0123456789abcde\n'.repeat((250 * 1024) / 16 - 1)}`;
  const BODIES = [
    ['without a final newline', 'no newline at the end'],
    ['with newlines at both ends', '\n\n  indented\n\n\n'],
    ['with emoji and other scripts', '👩‍👩‍👧‍👦 ﷽ ด้้้้้็็็็็้้้้้็็็็ 日本語 e\u0301 é\n'],
    ['with tabs and trailing spaces', '\tone\t\n  two  \n'],
    ['with what looks like front matter', 'text\n---\nkind: policy\nsignature: x\n---\nmore\n'],
    ['with hidden characters', 'a\u202eb\u2066c\u200b\u{e0041}\u001b[2J\u0085\u2028\ufeff\n'],
    ['of 250 KiB', long],
  ] as const;

  it('from the journal', async () => {
    const { handoff } = copy();
    for (const [name, body] of BODIES) {
      await handoff.start({ as: 'donna', stage: false });
      await handoff.wrap({ as: 'donna', draft: Buffer.from(body), stage: false });
      const { baton } = await handoff.pickup({ as: 'erin', stage: false, force: true });
      expect(Buffer.from(baton!.body).equals(Buffer.from(body)), name).toBe(true);
    }
  });

  it('from the tree, where the journal is gone', async () => {
    const place = await fresh();
    await place.handoff.wrap({ draft: Buffer.from(long) });
    const clone = join(place.dir, '..', 'clone');
    git('/', '-c', 'core.autocrlf=true', 'clone', '--quiet', place.dir, clone);
    const { openRepository } = await import('../../src/index.ts');
    const there = openRepository(clone, { env: place.env });
    expect((await there.pickup({ as: 'erin' })).baton!.body).toBe(long);
    await there.close();
  });
});

describe('a wrap that is refused leaves the session open', () => {
  const REFUSED: [string, WrapOptions, string, number][] = [
    ['nothing', {}, 'baton_empty', 2],
    ['two batons', { draft: Buffer.from('one'), message: 'two' }, 'usage', 2],
    ['blanks', { message: ' \n\t\n' }, 'baton_empty', 2],
    ['an empty draft', text(''), 'baton_empty', 2],
    ['front matter alone', text('---\nsummary: x\n---\n\n'), 'baton_empty', 2],
    ['a draft of 257 KiB', { draft: Buffer.alloc(257 * 1024, 'x') }, 'usage', 2],
    ['a message that fits no record', { message: 'x'.repeat(256 * 1024) }, 'usage', 2],
    ['an unknown next agent', { message: 'x', nextAgent: 'frank' }, 'unknown_identity', 2],
    ['a next agent that is no name', { message: 'x', nextAgent: '../erin' }, 'bad_name', 2],
    ['a focus that is no task', { message: 'x', focus: ['P0.1', 'a b'] }, 'bad_name', 2],
    ['a summary of two lines', { message: 'x', summary: 'one\ntwo' }, 'usage', 2],
    ['a long reason', { message: 'x', reason: 'r'.repeat(1001) }, 'usage', 2],
    ['a lone CR', text('one\rtwo\n'), 'usage', 2],
    ['NUL', { message: 'a\0b' }, 'usage', 2],
    ['half a surrogate pair', { message: 'a\ud800b' }, 'usage', 2],
    ['Latin-1', { draft: Buffer.from('caf\xe9', 'latin1') }, 'usage', 2],
    ['a draft in JavaScript', text('---js\n({})\n---\nx'), 'usage', 2],
    ['a key that no draft has', text('---\nidentity: erin\n---\nx'), 'usage', 2],
  ];

  it('whatever is wrong with it', async () => {
    const place = await fresh();
    for (const [name, options, code, exitCode] of REFUSED) {
      await expect(place.handoff.wrap(options), name).rejects.toMatchObject({ code, exitCode });
      expect(await state(place), name).toEqual(['active', 1]);
    }
    await place.handoff.wrap({ message: 'now it is fine' });
    expect(await findings(place)).toEqual([]);
  });

  it('a file that is not there is baton_missing', async () => {
    const { readBatonFile } = await import('../../src/journal/drafts/baton.ts');
    const { dir } = await fresh();
    for (const file of ['none.md', 'none/none.md', '.handoff']) {
      await expect(readBatonFile(dir, file), file).rejects.toMatchObject({ code: 'baton_missing', exitCode: 2 });
    }
    await expect(readBatonFile(dir, 'none.md')).rejects.toThrow(/none\.md cannot be read: there is no such file\.$/);
    await expect(readBatonFile(dir, '.handoff')).rejects.toThrow(/\.handoff cannot be read: that is a folder\.$/);
    await expect(readBatonFile(dir, '/dev/null')).rejects.toThrow(/it is no file\.$/);
    writeFileSync(join(dir, 'big.md'), Buffer.alloc(257 * 1024, 'x'));
    await expect(readBatonFile(dir, 'big.md')).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
  });
});

describe('secrets', () => {
  // in pieces: whoever scans this repository must find none
  const token = `ghp_${createHash('sha256').update('a token').digest('hex').slice(0, 36)}`;

  it('are refused wherever they stand, and nothing is written', async () => {
    const place = await fresh();
    const { handoff } = place;
    const tries: [string, () => Promise<unknown>][] = [
      ['wrap', () => handoff.wrap({ message: `use ${token}` })],
      ['summary', () => handoff.wrap({ message: 'x', summary: token })],
      ['note', () => handoff.note({ text: `the token is ${token}` })],
      ['checkpoint', () => handoff.checkpoint({ text: token })],
      ['decide', () => handoff.decide({ title: 'x', text: token })],
      ['title', () => handoff.decide({ title: token, text: 'x' })],
      ['wip', () => handoff.wip.open({ key: 'k', text: token })],
      ['signal', () => handoff.signal.send({ name: 'erin', text: token })],
      ['start', () => handoff.start({ as: 'erin', intent: token })],
      ['pickup', () => handoff.pickup({ as: 'erin', force: true, reason: token })],
    ];
    for (const [name, attempt] of tries) {
      const error = await attempt().catch((thrown: unknown) => thrown);
      expect(error, name).toMatchObject({ code: 'secret_found', exitCode: 1 });
      expect(JSON.stringify([(error as Error).message, error]), name).not.toContain(token);
    }
    expect(await state(place)).toEqual(['active', 1]);
    expect((await handoff.sessions()).sessions).toHaveLength(1);
  });

  it('a person may allow them, and it is recorded', async () => {
    const { fields } = await wrapped(await fresh(), { message: `use ${token}`, allowSecret: true });
    expect(fields.secret_allowed).toBe(true);
  });
});
