import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';

// THREATS 75: what a project runs on its own files must not change what was signed.

const fresh = template();

/** As a formatter does that is run on whatever is staged. */
const FORMATTER = `echo ran >> ran.log
for file in $(git diff --cached --name-only --diff-filter=AM -- '*.yaml' '*.md'); do
  sed -i 's/: /:  /' "$file" && git add "$file"
done
`;

/** As one does that does not ask what is staged. */
const FORMAT_ALL = `for file in $(git ls-files '.handoff/sessions/*'); do
  sed -i 's/: /:  /' "$file" && git add "$file"
done
`;

function hook({ dir }: Place, name: string, script: string, folder = '.git/hooks'): void {
  mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, folder, name), `#!/bin/sh\n${script}`);
  chmodSync(join(dir, folder, name), 0o755);
}

async function isValid(place: Place): Promise<boolean> {
  return (await reopen(place).handoff.verify()).valid;
}

/** The codes of what HEAD has. */
async function codesAtHead(place: Place): Promise<string[]> {
  const { findings } = await reopen(place).handoff.verify({ rev: 'HEAD' });
  return [...new Set(findings.map(({ code }) => code))];
}

describe('a formatter in the pre-commit hook of the project', () => {
  it('does not get at the records that a verb commits', async () => {
    const place = fresh();
    hook(place, 'pre-commit', FORMATTER);
    await place.handoff.start({ as: 'donna', commit: true });
    await place.handoff.note({ text: 'one', commit: true });
    await place.handoff.wrap({ message: 'done', seal: true });
    expect(await isValid(place)).toBe(true);
    expect(await codesAtHead(place)).toEqual([]);
    expect(existsSync(join(place.dir, 'ran.log'))).toBe(false);
  });

  it('nor where hooks are elsewhere, and message and end of a commit are heard of as ever', async () => {
    const place = fresh();
    hook(place, 'pre-commit', FORMATTER, '.husky');
    hook(place, 'commit-msg', 'echo "Change-Id: I1" >> "$1"\n', '.husky');
    hook(place, 'post-commit', 'echo after >> after.log\n', '.husky');
    git(place.dir, 'config', 'core.hooksPath', '.husky');
    const here = reopen(place);
    await here.handoff.start({ as: 'donna', commit: true });
    await here.handoff.wrap({ message: 'done' });
    expect(await codesAtHead(place)).toEqual([]);
    expect(existsSync(join(place.dir, 'ran.log'))).toBe(false);
    expect(git(place.dir, 'log', '-1', '--format=%B')).toContain('Change-Id: I1');
    expect(readFileSync(join(place.dir, 'after.log'), 'utf8')).toBe('after\nafter\n');
  });

  it.each(['prepare-commit-msg', 'post-commit', 'reference-transaction'])(
    'nor where it runs as %s, and stages what it has changed',
    async (name) => {
      const place = fresh();
      hook(place, name, `touch '${place.dir}/.git/ran'\n${FORMAT_ALL}`);
      await place.handoff.start({ as: 'donna', commit: true });
      await reopen(place).handoff.wrap({ as: 'donna', message: 'done' });
      expect(existsSync(join(place.dir, '.git/ran'))).toBe(true);
      expect(await codesAtHead(place)).toEqual([]);
    },
  );

  it('nor at documents', async () => {
    const place = fresh();
    hook(place, 'pre-commit', FORMATTER);
    await place.handoff.identity.add({ name: 'fay' });
    await place.handoff.policy.set({ key: 'stale_after', value: '601' });
    expect(await codesAtHead(place)).toEqual([]);
  });

  it('as it is told the message, it fails the verb, which says so; without it the next one mends that', async () => {
    const place = fresh();
    hook(place, 'commit-msg', FORMAT_ALL);
    await expect(place.handoff.start({ as: 'donna', commit: true })).rejects.toMatchObject({
      code: 'record_changed',
      message: expect.stringContaining('0001-start.yaml'),
      data: { written: true },
    });
    rmSync(join(place.dir, '.git/hooks/commit-msg'));
    await reopen(place).handoff.wrap({ as: 'donna', message: 'done' });
    expect(await isValid(place)).toBe(true);
    expect(await codesAtHead(place)).toEqual([]);
  });

  it('a message that a hook refuses is refused, and nothing is lost', async () => {
    const place = fresh();
    hook(place, 'commit-msg', 'echo "not like this" >&2; exit 1\n');
    await place.handoff.start({ as: 'donna' });
    await expect(place.handoff.wrap({ message: 'done' })).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('not like this'),
      hint: expect.stringContaining('nothing is lost'),
    });
  });
});

describe('a work tree with other line ends', () => {
  it.each<[string, (place: Place) => void]>([
    ['the configuration', ({ dir }) => git(dir, 'config', 'core.autocrlf', 'true')],
    [
      'attributes of the project',
      ({ dir }) => {
        const path = join(dir, '.gitattributes');
        writeFileSync(path, `* text eol=crlf\n${readFileSync(path, 'utf8')}`);
      },
    ],
  ])('by %s has the records as they were signed', async (_, configure) => {
    const place = fresh();
    configure(place);
    await place.handoff.start({ as: 'donna', commit: true });
    await place.handoff.wrap({ message: 'done' });
    rmSync(join(place.dir, '.handoff'), { recursive: true });
    git(place.dir, 'checkout', '--quiet', '--', '.handoff');
    const path = git(place.dir, 'ls-files', '.handoff/sessions').split('\n')[0]!;
    expect(readFileSync(join(place.dir, path), 'utf8')).not.toContain('\r');
    expect(await codesAtHead(place)).toEqual([]);
    expect(await isValid(place)).toBe(true);
  });
});

describe('a filter that rewrites files as they are staged', () => {
  async function filtered(): Promise<Place> {
    const place = fresh();
    git(place.dir, 'config', 'filter.tidy.clean', "sed 's/: /:  /'");
    writeFileSync(join(place.dir, '.git/info/attributes'), '.handoff/sessions/** filter=tidy\n');
    hook(place, 'post-commit', ':\n'); // so that git makes the commit
    return reopen(place);
  }

  it('fails the verb, which says what was changed and how it is mended; the next one mends it', async () => {
    const place = await filtered();
    await place.handoff.start({ as: 'donna' });
    await expect(place.handoff.wrap({ message: 'done' })).rejects.toMatchObject({
      code: 'record_changed',
      message: expect.stringContaining('0001-start.yaml'),
      hint: expect.stringContaining('filter'),
      data: { written: true },
    });
    expect(await codesAtHead(place)).not.toEqual([]);
    writeFileSync(join(place.dir, '.git/info/attributes'), '');
    const { handoff, warnings } = reopen(place);
    await handoff.pickup({ as: 'erin' });
    expect(warnings.join()).toContain('0001-start.yaml');
    expect(await codesAtHead(place)).toEqual([]);
    expect(git(place.dir, 'status', '--porcelain', '--', '.handoff')).toBe('');
  });
});

describe("a formatter that runs in somebody's own commit", () => {
  it('is noticed by verify, and undone by the next verb, which says so', async () => {
    const place = fresh();
    hook(place, 'pre-commit', FORMATTER);
    await place.handoff.start({ as: 'donna' });
    await place.handoff.note({ text: 'one', stage: true });
    git(place.dir, 'commit', '--quiet', '--message', 'mine');
    expect(await codesAtHead(place)).not.toEqual([]);
    const { handoff, warnings } = reopen(place);
    await handoff.wrap({ as: 'donna', message: 'done' });
    expect(warnings.join()).toMatch(/0001-start\.yaml/);
    expect(await isValid(place)).toBe(true);
    expect(await codesAtHead(place)).toEqual([]);
  });

  it('and where it is only staged, as it should be', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna', stage: true });
    const path = git(place.dir, 'diff', '--cached', '--name-only').split('\n')[0]!;
    writeFileSync(join(place.dir, path), readFileSync(join(place.dir, path), 'utf8').replace(': ', ':  '));
    git(place.dir, 'add', '--', path);
    await reopen(place).handoff.note({ as: 'donna', text: 'one', stage: true });
    git(place.dir, 'commit', '--quiet', '--message', 'mine');
    expect(await codesAtHead(place)).toEqual([]);
  });
});
