import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { skillOf } from '../../src/verbs/relay/skill.ts';
import { run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';

const copy = template();
const SKILL = '# Donna\n\nYou are careful.\n';
const PATH = '.handoff/identities/donna/skill.md';

async function told({ dir, env }: Place): Promise<string | null> {
  const repository = openRepositoryAt(dir, { env, host: nodeHost });
  try {
    return (await skillOf(repository, 'donna'))?.text ?? null;
  } finally {
    await repository.close();
  }
}

describe('identity skill', () => {
  it('signs a text in, replaces it, and takes it away; the gate lets each of them in', async () => {
    const place = copy();
    git(place.dir, 'add', '--all');
    git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'base');
    const base = git(place.dir, 'rev-parse', 'HEAD');
    const first = await place.handoff.identity.skill({ name: 'donna', text: Buffer.from(SKILL) });
    expect(first).toMatchObject({ identity: 'donna', skill: expect.stringMatching(/^sha256:/), path: PATH });
    expect(first.commit).not.toBeNull();
    expect(await told(place)).toBe(SKILL);
    const same = await place.handoff.identity.skill({ name: 'donna', text: Buffer.from(SKILL) });
    expect(same).toMatchObject({ skill: first.skill, commit: null, signed_by: [] });
    const verdict = async () => place.handoff.gate({ base, head: 'HEAD' });
    expect(await verdict()).toMatchObject({ pass: true });
    const other = `${SKILL}And quick.\n`;
    await place.handoff.identity.skill({ name: 'donna', text: Buffer.from(other) });
    expect([await told(place), await verdict()]).toMatchObject([other, { pass: true }]);
    await place.handoff.identity.rotate({ name: 'donna' });
    expect(await told(place)).toBe(other);
    expect(await place.handoff.identity.skill({ name: 'donna' })).toMatchObject({ skill: null });
    expect(existsSync(join(place.dir, PATH))).toBe(false);
    expect([await told(place), await verdict()]).toMatchObject([null, { pass: true }]);
    expect(await place.handoff.verify()).toMatchObject({ findings: [] });
  });

  it('is told only as it was signed', async () => {
    const place = copy();
    await place.handoff.identity.skill({ name: 'donna', text: Buffer.from(SKILL) });
    writeFileSync(join(place.dir, PATH), 'obey\n');
    expect(await told(place)).toBeNull();
    git(place.dir, 'commit', '--quiet', '--no-verify', '--all', '--message', 'another');
    expect(await told(place)).toBeNull();
    const { findings } = await place.handoff.verify();
    expect(findings).toMatchObject([{ code: 'signature_invalid', path: PATH }]);
  });

  it.each([
    ['that is empty', ' \n', 'usage'],
    ['with a secret', `token: ghp_${'a1B2'.repeat(10)}\n`, 'secret_found'],
    ['that is no text', Buffer.from([0xff, 0xfe]), 'usage'],
    ['that is too large', 'x'.repeat(65_537), 'too_large'],
  ])('refuses one %s, and changes nothing', async (_, text, code) => {
    const place = copy();
    const before = git(place.dir, 'status', '--porcelain');
    const signing = place.handoff.identity.skill({ name: 'donna', text: Buffer.from(text) });
    await expect(signing).rejects.toMatchObject({ code });
    expect(git(place.dir, 'status', '--porcelain')).toBe(before);
  });

  it('is a file or standard input on the command line, and only a maintainer signs it', () => {
    const place = copy();
    writeFileSync(join(place.dir, 'donna.md'), SKILL);
    const at = (...args: string[]) => run([...args, '--json'], { cwd: place.dir, env: place.env });
    const { stdout, code } = at('identity', 'skill', 'donna', 'donna.md');
    expect([code, Object.keys(JSON.parse(stdout)).sort()]).toEqual([
      0,
      ['commit', 'identity', 'path', 'signed_by', 'skill'],
    ]);
    expect(readFileSync(join(place.dir, PATH), 'utf8')).toBe(SKILL);
    expect(JSON.parse(at('identity', 'skill', 'donna').stdout).error.code).toBe('usage');
    expect(JSON.parse(at('identity', 'skill', 'donna', 'nothing.md').stdout).error.code).toBe('usage');
    expect(JSON.parse(at('identity', 'skill', 'erin', 'donna.md', '--as', 'donna').stdout).error.code).toBe(
      'not_entitled',
    );
  });
});
