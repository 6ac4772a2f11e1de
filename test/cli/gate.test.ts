import { describe, expect, it } from 'vitest';
import { honestBranch, silentBranch } from '../ci/checkout.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { errorOf, run } from './cli.ts';

const fresh = template();
const RANGE = ['--base', 'main', '--head', 'feature'];
const gate = ({ dir, env }: Place, ...args: string[]) => run(['gate', ...args], { cwd: dir, env });

describe('the words of gate', () => {
  it.each([[['--head', 'main']], [[...RANGE, '--format', 'html']]])(
    '%j are wrong usage, and said in JSON to whoever asked for that',
    (args) => {
      const place = fresh();
      const text = gate(place, ...args);
      expect([text.code, text.stdout]).toEqual([2, '']);
      const json = gate(place, ...args, '--json');
      expect([json.code, errorOf(json).code]).toEqual([2, 'usage']);
    },
  );

  it('a root that is given, and no policy on either side: refused, whatever else the change is', async () => {
    const place = fresh();
    git(place.dir, 'checkout', '--quiet', '--orphan', 'bare');
    git(place.dir, 'rm', '-r', '--quiet', '--force', '.');
    for (const message of ['one', 'two']) git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', message);
    const range = ['--base', 'HEAD~1', '--head', 'HEAD', '--json'];
    const { code, stdout } = gate(place, ...range, '--root', place.root);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { pass: false, findings: [{ code: 'not_initialised' }] }]);
    expect(gate(place, ...range).code).toBe(0);
  });

  it.each([['--format=json'], ['--format', 'json']])('%j asks for JSON like --json, for failures too', (...words) => {
    const { code, stdout, stderr } = gate(fresh(), '--head', 'main', ...words);
    expect([code, JSON.parse(stdout).error.code, stderr]).toEqual([2, 'usage', '']);
  });

  it('a text that has these words is no wish for JSON', async () => {
    const { dir, env, handoff } = fresh();
    await handoff.start({ as: 'donna' });
    const { code, stdout } = run(['note', 'use --format json here'], { cwd: dir, env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓/);
  });
});

describe('the forms of the answer', () => {
  it('a change that holds: exit 0 in every form, and the same answer from the library', async () => {
    const place = fresh();
    await honestBranch(place);
    const json = gate(place, ...RANGE, '--json');
    expect([json.code, json.stderr]).toEqual([0, '']);
    expect(gate(place, ...RANGE, '--format', 'json').stdout).toBe(json.stdout);
    expect(await reopen(place).handoff.gate({ base: 'main', head: 'feature' })).toEqual(JSON.parse(json.stdout));
    const forms = {
      text: /^✓ pass: /,
      markdown: /^<!-- git-handoff gate -->\n/,
      github: /^pass: /,
      sarif: /^\{"\$schema"/,
    };
    for (const [format, begin] of Object.entries(forms)) {
      const { code, stdout } = gate(place, ...RANGE, '--format', format);
      expect([code, stdout]).toEqual([0, expect.stringMatching(begin)]);
    }
  });

  it('a change that does not: exit 1 in every form', () => {
    const place = fresh();
    silentBranch(place);
    const forms = {
      text: /^✗ refused: /,
      json: /^\{"pass":false/,
      markdown: /❌/,
      github: /^::error /,
      sarif: /"level":"error"/,
    };
    for (const [format, part] of Object.entries(forms)) {
      const { code, stdout } = gate(place, ...RANGE, '--format', format);
      expect([code, stdout]).toEqual([1, expect.stringMatching(part)]);
    }
  });
});
