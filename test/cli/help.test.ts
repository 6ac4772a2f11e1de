import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isFamily, type Verb } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { run } from './cli.ts';

const VERBS: [string[], Verb][] = COMMANDS.flatMap((command) =>
  isFamily(command)
    ? command.verbs.map((verb): [string[], Verb] => [[command.name, verb.name], verb])
    : [[[command.name], command] as [string[], Verb]],
);
const MANUAL = fileURLToPath(new URL('../../dist/man/git-handoff.1', import.meta.url));

describe('the main help', () => {
  it.each([[['-h']], [['--help']], [['help']], [[]]])(
    '%j fits a screen of 80 × 24, with a line left for the prompt',
    (args) => {
      const { code, stdout, stderr } = run(args);
      const lines = stdout.split('\n').slice(0, -1);
      expect([code, stderr]).toEqual([0, '']);
      expect(lines.length).toBeLessThan(24);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    },
  );

  it('names every command and no other', () => {
    const rows = [...run(['-h']).stdout.matchAll(/^ {2}([a-z][a-z, -]+?) {2,}\S/gm)];
    const shown = rows.flatMap(([, names]) => names!.split(', '));
    expect(shown.sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  });
});

describe('the help of a verb', () => {
  it.each(VERBS)('%j: usage, purpose, an example of that verb', (path, verb) => {
    const { code, stdout } = run([...path, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^usage: git handoff ${path.join(' ')}\\b`));
    expect(verb.purpose.length).toBeGreaterThan(60);
    for (const { run: example } of verb.examples) expect(stdout).toContain(example);
    expect(verb.examples.some(({ run: example }) => example.includes(`${path.join(' ')}`))).toBe(true);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('exists for families', () => {
    expect(run(['policy', '-h']).stdout).toContain('usage: git handoff policy <verb>');
  });

  it.each(VERBS)('%j: every flag in an example is one of its flags', (_, verb) => {
    const known = ['-C', '--json', '--as', ...verb.flags.flatMap(({ flags }) => flags.match(/--?[\w-]+/g) ?? [])];
    for (const { run: example } of verb.examples) {
      for (const flag of example.match(/(?<= )--?[a-zA-Z][\w-]*/g) ?? []) expect(known).toContain(flag);
    }
  });
});

describe('the man page', () => {
  it('has a section for every verb', () => {
    const manual = readFileSync(MANUAL, 'utf8').replaceAll('\\-', '-');
    for (const [path] of VERBS) expect(manual).toContain(`.SS "git handoff ${path.join(' ')}`);
  });

  it('explains every variable and every key of the configuration that the code reads', () => {
    const manual = readFileSync(MANUAL, 'utf8').replaceAll('\\-', '-');
    const src = fileURLToPath(new URL('../../src', import.meta.url));
    const code = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== join('cli', 'man.ts'))
      .map((name) => readFileSync(join(src, name), 'utf8'))
      .join('\n');
    const variables = code.match(/(?<=env\.|\{ )(?:HANDOFF_[A-Z_]+|NO_COLOR|FORCE_COLOR)\b/g)!;
    const keys = [...code.matchAll(/\.get\('(handoff\.\w+)'\)/g)].map(([, key]) => key!);
    expect(new Set(variables).size).toBe(10);
    expect(new Set(keys).size).toBe(7);
    const explained = (title: string) => {
      const [, body] = new RegExp(`^\\.SH "${title}"\n([^]*?)^\\.SH `, 'm').exec(manual)!;
      return [...body!.matchAll(/^\.TP\n\\fB(\S+)\\fR\n/gm)].map(([, term]) => term!).sort();
    };
    expect(explained('ENVIRONMENT')).toEqual([...new Set(variables)].sort());
    expect(explained('CONFIGURATION')).toEqual([...new Set(keys)].sort());
    expect(explained('EXIT STATUS')).toEqual(['0', '1', '2', '3', '4']);
  });

  it('has no line that roff would misread', () => {
    for (const line of readFileSync(MANUAL, 'utf8').split('\n')) {
      if (/^[.']/.test(line)) expect(line).toMatch(/^\.(TH|SH|SS|TP|PP|B|BR)\b/);
    }
  });
});
