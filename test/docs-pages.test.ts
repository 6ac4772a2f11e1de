import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENTS, PROJECT, readDocument as read } from './documents.ts';

// What holds pages together: links, the README's limits, the picture, and the table of the bench.

function linksOf(path: string): string[] {
  const prose = read(path).replace(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to!).filter((to) => !/^[a-z]+:/.test(to));
}

/** Whether the file is there, and in it the heading that comes after #. */
function isReached(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? from : join(dirname(from), file);
  if (!existsSync(join(PROJECT, target))) return false;
  return anchor === undefined || anchorsOf(read(target)).includes(anchor);
}

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, words]) => words!.toLowerCase());
  return headings.map((words) => words.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

describe('links', () => {
  it.each(DOCUMENTS)('every link of %s within the repository leads somewhere', (path) => {
    expect(linksOf(path).filter((link) => !isReached(path, link))).toEqual([]);
  });

  it('a link that leads nowhere would be found', () => {
    expect(isReached('docs/team.md', '../SPEC.md')).toBe(true);
    expect(isReached('docs/team.md', '#set-up')).toBe(true);
    expect(isReached('README.md', 'docs/team.md#nowhere')).toBe(false);
    expect(isReached('docs/team.md', 'SPEC.md')).toBe(false);
  });
});

describe('README.md', () => {
  const readme = read('README.md');

  it('is short enough for a newcomer', () => {
    expect(readme.split(/\s+/).filter((word) => word !== '').length).toBeLessThan(1500);
  });

  it('has the two commands before everything else, and then the picture', () => {
    const [demo, test] = [...readme.matchAll(/```sh\n(.*)\n```/g)].map(([, command]) => command);
    expect([demo, test]).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
    expect(readme.indexOf('npm ci && npm test')).toBeLessThan(readme.indexOf('\n## '));
    expect(readme).toMatch(/!\[[^\]]{40,}\]\(docs\/pictures\/handoff\.svg\)/);
  });
});

it('the picture has a title and a description, and needs nothing from elsewhere', () => {
  const picture = read('docs/pictures/handoff.svg');
  expect(picture).toMatch(/<title id="title">[^<]+<\/title>\s*<desc id="desc">[^<]{200,}<\/desc>/);
  expect(picture).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import/);
});

it('the table in docs/performance.md is that of bench/results.json; npm run docs writes it', () => {
  const { rows } = JSON.parse(read('bench/results.json')) as { rows: BenchRow[] };
  const table = read('docs/performance.md').split('|---|---|---|\n')[1]!.split('\n\n')[0]!;
  const cells = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const expected = rows.map(({ name, value, at_most, at_least, held }) => {
    const aim = at_most === undefined ? `at least ${at_least}` : `at most ${at_most}`;
    return ['', name, String(value), held ? aim : `${aim}: missed`, ''];
  });
  expect(cells).toEqual(expected);
});

interface BenchRow {
  name: string;
  value: number;
  at_most?: number;
  at_least?: number;
  held: boolean;
}
