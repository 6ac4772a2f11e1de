import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examplesIn, isTooLong, linksIn, paragraphsIn, sectionsIn, slugOf } from './spec-form.ts';

const spec = readFileSync('SPEC.md', 'utf8');
const tool = readFileSync('docs/tool.md', 'utf8');
/** From here on rules were numbered later than those around them. */
const LATER = 93;
/** M9 before M10, 7.9 before 7.10. */
const byNumber = new Intl.Collator('en', { numeric: true }).compare;
const rules = [...spec.matchAll(/\*\*(M\d+)\*\*/g)].map(([, rule]) => rule!);

describe('SPEC.md', () => {
  it('numbers its rules, each once, without a gap: those of the beginning in order, and later ones in order among them', () => {
    const numbers = rules.map((rule) => Number(rule.slice(1)));
    const ordered = [...numbers.filter((number) => number < LATER), ...numbers.filter((number) => number >= LATER)];
    expect(rules.length).toBeGreaterThanOrEqual(98);
    expect(ordered).toEqual(numbers.map((_, index) => index + 1));
  });

  it('has one rule on a line, at its beginning', () => {
    const lines = spec.split('\n').filter((line) => /\*\*M\d+\*\*/.test(line));
    expect(lines.filter((line) => !/^(?:- |\d\. )\*\*M\d+\*\* [^*]/.test(line))).toEqual([]);
    expect(lines).toHaveLength(rules.length);
  });

  it('puts a number before every MUST', () => {
    const loose = spec
      .split(/(?=\*\*M\d+\*\*)|\n\n/)
      .filter((part) => /\bMUST\b/.test(part) && !/^\*\*M\d+\*\*/.test(part));
    expect(loose).toEqual([]);
  });

  it('has a test that names each rule', () => {
    const titles = readFileSync('test/spec-rules.test.ts', 'utf8');
    expect(rules.filter((rule) => !new RegExp(`'(?:M\\d+ )*${rule}[ ':]`).test(titles))).toEqual([]);
  });

  it('says which vectors show which rules', () => {
    const said = [...spec.matchAll(/^\| ((?:M\d+ ?)+) \| `(\w+)\.json` \|$/gm)].map(([, shown, name]) => [name, shown]);
    const files = readdirSync('protocol/vectors').filter((name) => name.endsWith('.json') && name !== 'keys.json');
    const made = files.map((file) => {
      const cases: { rule: string[] }[] = JSON.parse(readFileSync(`protocol/vectors/${file}`, 'utf8'));
      const shown = new Set(cases.flatMap(({ rule }) => rule));
      const named = rules.filter((rule) => shown.has(rule)).sort(byNumber);
      return [file.replace('.json', ''), named.join(' ')];
    });
    expect(said.sort()).toEqual(made.sort());
  });

  it('is cited by section numbers that exist', () => {
    const sections = sectionsIn(spec);
    const cited = ['src', 'test'].flatMap(citationsUnder);
    expect(cited.length).toBeGreaterThan(200);
    expect(cited.filter(({ section }) => !sections.has(section))).toEqual([]);
  });

  it('gives each rule a code, or says that it has none', () => {
    const rows = spec.slice(spec.indexOf('### 7.5'), spec.indexOf('### 7.6')).split('\n');
    const told = new Set(rows.filter((row) => row.startsWith('|')).flatMap(rulesIn));
    expect(rules.filter((rule) => !told.has(rule))).toEqual([]);
  });

  it('gives each code a rule, but for what whoever judges can bear', () => {
    const rows = spec.slice(spec.indexOf('| code | rules |'), spec.indexOf('### 7.6')).split('\n');
    const without = rows.filter((row) => row.startsWith('| `') && rulesIn(row).length === 0);
    expect(without).toEqual(['| `too_many_merges` `over_budget` | §10.9 |']);
  });

  it('shows files that are test vectors, byte for byte', () => {
    const examples = examplesIn(spec).filter((text) => /^handoff: 1$|^git-handoff\//m.test(text));
    expect(examples.length).toBe(6);
    expect(examples.filter((text) => !vectorTexts().some((file) => file.includes(text)))).toEqual([]);
  });
});

describe.each([
  ['SPEC.md', spec],
  ['docs/tool.md', tool],
])('%s is easy to read', (_, page) => {
  it('has no line over 160 characters, but for bytes of an example', () => {
    const given = new Set(examplesIn(page).flatMap((text) => text.split('\n')));
    expect(page.split('\n').filter((line) => isTooLong(line) && !given.has(line))).toEqual([]);
  });

  it('has no paragraph over eight lines', () => {
    expect(paragraphsIn(page).filter((lines) => lines.length > 8)).toEqual([]);
  });

  it('has its sections in order, each once', () => {
    const sections = [...sectionsIn(page)];
    expect(sections).toEqual(sections.toSorted(byNumber));
    expect(page.match(/^#{2,} \d/gm)).toHaveLength(sections.length);
  });
});

describe('docs/tool.md', () => {
  it('has the sections of SPEC.md, and no rules of its own', () => {
    const sections = sectionsIn(spec);
    expect([...sectionsIn(tool)].filter((section) => !sections.has(section))).toEqual([]);
    expect(tool).not.toMatch(/\*\*M\d+\*\*|\bMUST\b/);
  });

  it('has what SPEC.md links to', () => {
    const slugs = new Set((tool.match(/^#+ .+$/gm) ?? []).map(slugOf));
    const links = linksIn(spec).filter((link) => link.startsWith('docs/tool.md'));
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((link) => link.includes('#') && !slugs.has(link.split('#')[1]!))).toEqual([]);
  });
});

interface Citation {
  file: string;
  section: string;
}

/** Comments cite one page of ours by sections; in tests other pages are cited too, by their names. */
function citationsUnder(folder: string): Citation[] {
  const pattern = folder === 'src' ? /(?<!RFC \d+ )§(\d+(?:\.\d+)*)/g : /SPEC §(\d+(?:\.\d+)*)/g;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, section]) => ({ file, section: section! })),
    );
}

/** With ranges such as `M54–M65`. */
function rulesIn(row: string): string[] {
  return [...row.matchAll(/M(\d+)(?:–M(\d+))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `M${Number(first) + at}`),
  );
}

/** Files of vectors; of proofs also the files in their blocks. */
function vectorTexts(): string[] {
  return ['records', 'documents', 'checkpoints', 'proofs'].flatMap((name) => {
    const cases: { file?: string; note?: string }[] = JSON.parse(readFileSync(`protocol/vectors/${name}.json`, 'utf8'));
    return cases.flatMap(({ file, note = '' }) => (file ? [file, file.replace(/^ {4}/gm, '')] : [note]));
  });
}
