import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const spec = readFileSync('SPEC.md', 'utf8');
const rules = [...spec.matchAll(/\*\*(M\d+)\*\*/g)].map(([, rule]) => rule!);

describe('SPEC.md', () => {
  it('numbers its rules in order, each once', () => {
    expect(rules.length).toBeGreaterThan(50);
    expect(rules).toEqual(rules.map((_, index) => `M${index + 1}`));
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
      return [file.replace('.json', ''), rules.filter((rule) => shown.has(rule)).join(' ')];
    });
    expect(said.sort()).toEqual(made.sort());
  });

  it('is cited by section numbers that exist', () => {
    const sections = new Set([...spec.matchAll(/^(?:## |\*\*)(\d+(?:\.\d+)?)[. ]/gm)].map(([, section]) => section));
    const cited = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `src/${name}`)
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/§(\d+(?:\.\d+)?)/g)].map(([, section]) => section!));
    expect(cited.length).toBeGreaterThan(30);
    expect(cited.filter((section) => !sections.has(section))).toEqual([]);
  });
});
