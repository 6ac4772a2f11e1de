import { describe, expect, it } from 'vitest';
import { isLookalike } from '../src/core/names.ts';
import { findSecrets } from '../src/core/text/secrets.ts';
import { exemption, namedPaths } from '../src/core/writeback/exemption.ts';

// What SPEC.md says where two readers of it could differ, and that the code does so.

describe('SPEC §10.4.1: patterns of exempt', () => {
  it.each([
    ['a folder', 'docs/', ['docs', 'docs/a.md', 'docs/x/y'], ['docs2', 'x/docs']],
    ['slashes at the end', 'docs//', ['docs', 'docs/a.md'], ['docs2']],
    ['a slash at the beginning', '/docs', [], ['docs', 'docs/a.md']],
    ['a star', 'docs/*.md', ['docs/a.md', 'docs/.md'], ['docs/x/a.md', 'docs/a.md/b']],
    ['a star in a folder', 'd*/a', ['d/a', 'docs/a'], ['d/x/a', 'docs/a/b']],
    ['a star, and a slash at the end', 'x*/', ['x', 'x1', 'x1/a'], ['y']],
    ['two stars at the end', 'docs/**', ['docs/a', 'docs/x/y'], ['docs', 'docs2/a']],
    ['two stars at the end of a name', 'do**', ['do', 'docs', 'docs/a/b'], ['d']],
    ['two stars and a slash', '**/test', ['test', 'a/test', 'a/b/test'], ['atest', 'a/test2', 'a/test/b']],
    ['two stars, and a slash at the end', '**/test/', ['test/a', 'a/test/b'], ['atest/b', 'a/test2']],
    ['two stars and a slash in a name', 'a**/b', ['ab', 'ax/b', 'ax/y/b'], ['axb', 'b', 'ab/c']],
    ['two stars in a name', 'a**b', ['ab', 'axb', 'ax/yb'], ['axb/c', 'abx']],
    ['case', 'Docs/', ['Docs/a'], ['docs/a']],
    ['what means something elsewhere', 'a?[b]/', ['a?[b]', 'a?[b]/c'], ['axb', 'ab']],
  ])('%s: %s', (_, pattern, matched, others) => {
    const isExempt = exemption([pattern]);
    expect(matched.filter((path) => !isExempt(path))).toEqual([]);
    expect(others.filter(isExempt)).toEqual([]);
  });

  it('one without a star, and without a slash at its end, is for a folder only where B has that', () => {
    expect(namedPaths(['LICENSE', 'docs/', '*.md'])).toEqual(['LICENSE']);
    const isExempt = exemption(['LICENSE', 'docs'], new Set(['docs']));
    expect(['LICENSE', 'LICENSE/a.ts', 'docs', 'docs/a.ts'].map(isExempt)).toEqual([true, false, true, true]);
  });
});

describe('SPEC §7.3: what looks like .handoff', () => {
  it.each([
    '',
    '/.handoff',
    './.handoff',
    '.\\./.handoff',
    '.handoff/policy',
    '.handoff:stream',
    '.HandOff. .',
    'HANDOF~1',
    'handof~123.',
    '.hand\u00adoff',
    '.hand\u2066off',
    '\ufeff.handoff',
    '.\u{1d421}andoff', // NFKC makes an h of it
    '\u2024handoff',
    '.hand\ufffdffoff', // the byte FF, as a name is read that is no UTF-8
    '.handoff\ufffdff',
    '.h\ufffdc3and\ufffdefo\ufffd81ff',
  ])('%j', (name) => expect(isLookalike(name)).toBe(true));

  it.each([
    '.handoff',
    'handoff',
    '.handoff~1',
    'HANDOF~',
    'HANDOF~1a',
    '..handoff',
    ' .handoff',
    '.hand off',
    '.hando\ufffdff', // the digits of the byte FF are no part of the name
    'HANDOF~\ufffd81',
  ])('not %j', (name) => expect(isLookalike(name)).toBe(false));
});

describe('SPEC §8.6: what looks like a secret', () => {
  /** Random letters and digits, and no token of anybody. */
  const random = (length: number) => 'q7Zk2Vx9Lm4Tb8Rw3Ny6'.repeat(4).slice(0, length);
  const hex = (length: number) => '3f9a1c7e5b2d8046'.repeat(4).slice(0, length);
  const upper = (length: number) => random(length).toUpperCase();
  it.each([
    ['private_key', `-----BEGIN ${'OPENSSH'} PRIVATE KEY-----\n${random(24)}`],
    ['aws_access_key_id', `AKIA${upper(16)}`],
    ['aws_secret_access_key', `aws_secret_access_key = ${random(40)}`],
    ['aws_secret_access_key', `secretKey: x, secret_access_key: ${random(40)}`],
    ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'].map((form) => ['github_token', form + random(30)]),
    ...['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glft-', 'glsoat-'].map((form) => [
      'gitlab_token',
      form + random(20),
    ]),
    ['slack_token', `xoxb-${random(10)}`],
    ['slack_webhook', `https://hooks.slack.com/services/${random(20)}`],
    ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'].map((form) => ['stripe_key', form + random(16)]),
    ...['sk-', 'sk-proj-', 'sk-svcacct-', 'sk-admin-'].map((form) => ['openai_key', form + random(20)]),
    ['anthropic_key', `sk-ant-${random(20)}`],
    ['google_api_key', `AIza${random(35)}`],
    ['npm_token', `npm_${random(30)}`],
    ['pypi_token', `pypi-AgE${random(20)}`],
    ['huggingface_token', `hf_${random(30)}`],
    ['sendgrid_key', `SG.${random(22)}.${random(39)}`],
    ['twilio_key', `SK${hex(32)}`],
    ...['doo_v1_', 'dop_v1_', 'dor_v1_'].map((form) => ['digitalocean_token', form + hex(40)]),
    ['azure_storage_key', `AccountKey=${random(40)}`],
    ['azure_storage_key', `SharedAccessKey=${random(40)}`],
    ['jwt', `${Buffer.from('{"alg":"none"}').toString('base64url')}.${random(8)}.${random(16)}`],
    ['password_in_url', `https://me:${random(8)}@example.org`],
    ['assigned_secret', `password = ${random(20)}`],
    ['assigned_secret', `api_key: ${hex(32)}`],
  ])('%s: %s', (rule, text) => expect(findSecrets(text).map((found) => found.rule)).toContain(rule));

  it.each([
    `ghp_${'x'.repeat(30)}`,
    'xoxb-your-token-here',
    `token: sha256:${'ab'.repeat(32)}`,
    'password = correct-horse-battery',
    'https://me:password@example.org',
    `sha: deadAKIA${upper(16)}`,
  ])('none: %s', (text) => expect(findSecrets(text)).toEqual([]));
});
