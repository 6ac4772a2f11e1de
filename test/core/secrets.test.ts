import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSecrets } from '../../src/core/text/secrets.ts';

// No token stands here in one piece: whoever scans this repository must find none.

/** Characters that look random and are the same in every run. */
function noise(length: number, alphabet: string, seed = 'noise'): string {
  let text = '';
  for (let round = 0; text.length < length; round++) {
    const digest = createHash('sha512').update(`${seed} ${round}`).digest();
    for (const byte of digest) text += alphabet[byte % alphabet.length];
  }
  return text.slice(0, length);
}

const HEX = '0123456789abcdef';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const BASE62 = `${UPPER}${UPPER.toLowerCase()}0123456789`;
const BASE64 = `${BASE62}+/`;
const URL64 = `${BASE62}-_`;
const join = (...parts: string[]) => parts.join('');
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const pem = (label: string, ...body: string[]) =>
  [`-----${join('BEGIN ', label)}-----`, ...body, `-----${join('END ', label)}-----`].join('\n');
const rules = (text: string) => findSecrets(text).map(({ rule }) => rule);

const TOKENS: [string, string][] = [
  ['private_key', pem('PRIVATE KEY', noise(64, BASE64))],
  ['private_key', pem('RSA PRIVATE KEY', 'Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,00', '', noise(64, BASE64))],
  ['private_key', pem('OPENSSH PRIVATE KEY', noise(70, BASE64), noise(70, BASE64))],
  ['private_key', pem('PGP PRIVATE KEY BLOCK', 'Version: GnuPG v2', '', noise(64, BASE64))],
  ['private_key', JSON.stringify({ key: pem('EC PRIVATE KEY', noise(64, BASE64)) })],
  ['private_key', pem('PRIVATE KEY', noise(64, BASE64)).replaceAll(/^/gm, '+    ')],
  ['aws_access_key_id', join('AKIA', noise(16, `${UPPER}234567`))],
  ['aws_access_key_id', join('ASIA', noise(16, `${UPPER}234567`))],
  ['aws_secret_access_key', `${join('aws_secret', '_access_key')} = ${noise(40, BASE64)}`],
  ['aws_secret_access_key', `"${join('Secret', 'AccessKey')}": "${noise(40, BASE64)}"`],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix): [string, string] => [
    'github_token',
    join(prefix, noise(36, BASE62)),
  ]),
  ['github_token', join('github_pat_', noise(22, BASE62), '_', noise(59, BASE62))],
  ['gitlab_token', join('glpat-', noise(20, URL64))],
  ...['a', 'b', 'p', 'r', 's'].map((letter): [string, string] => [
    'slack_token',
    join('xox', letter, '-', noise(12, '0123456789'), '-', noise(24, BASE62)),
  ]),
  [
    'slack_webhook',
    join('https://hooks.slack', '.com/services/T', noise(8, UPPER), '/B', noise(8, UPPER), '/', noise(24, BASE62)),
  ],
  ['stripe_key', join('sk_', 'live_', noise(24, BASE62))],
  ['stripe_key', join('rk_', 'live_', noise(24, BASE62))],
  ['openai_key', join('sk-', noise(48, BASE62))],
  ['openai_key', join('sk-', 'proj-', noise(80, URL64))],
  ['anthropic_key', join('sk-', 'ant-api03-', noise(93, URL64), 'AA')],
  ['google_api_key', join('AI', 'za', noise(35, URL64))],
  ['npm_token', join('npm_', noise(36, BASE62))],
  ['pypi_token', join('pypi-', 'AgEIcHlwaS5vcmc', noise(60, URL64))],
  ['sendgrid_key', join('SG', '.', noise(22, URL64), '.', noise(43, URL64))],
  ['twilio_key', join('SK', noise(32, HEX))],
  ['digitalocean_token', join('dop_', 'v1_', noise(64, HEX))],
  ['huggingface_token', join('hf_', noise(34, BASE62))],
  ['azure_storage_key', join('AccountName=x;Account', 'Key=', noise(86, BASE64), '==')],
  ['jwt', join(base64url({ alg: 'HS256', typ: 'JWT' }), '.', base64url({ sub: '1' }), '.', noise(43, URL64))],
  ['password_in_url', join('postgres://admin', ':', 'hunter2', '@db.internal:5432/app')],
  ['password_in_url', join('https://', ':', noise(12, BASE62), '@example.org/x.git')],
  ['assigned_secret', `${join('pass', 'word')} = "${noise(20, BASE62)}"`],
  ['assigned_secret', `  "${join('api', '_key')}": "${noise(32, HEX)}",`],
  ['assigned_secret', `${join('SECRET', '_TOKEN')}=${noise(24, BASE62)}`],
  ['assigned_secret', `${join('client', 'Secret')}: '${noise(32, URL64)}'`],
  ['assigned_secret', `export ${join('DB', '_PASSWORD')}=${noise(24, `${BASE62}!#%^*`)}`],
  ['assigned_secret', `${join('SECRET', '_KEY_BASE')}: ${noise(128, HEX)}`],
];

describe('a secret', () => {
  test('there are enough of them to mean something', () => {
    expect(TOKENS.length).toBeGreaterThan(40);
    expect(new Set(TOKENS.map(([, token]) => token)).size).toBe(TOKENS.length);
  });

  test.each(TOKENS)('is found: %s', (rule, token) => {
    const [first] = token.split('\n');
    const line = 1 + (first === undefined ? 0 : `above\n\n${token}`.split('\n').indexOf(first));
    expect(findSecrets(`above\n\n${token}\nbelow\n`)).toContainEqual({ rule, line });
    expect(rules(`text around ${token} of it`)).toContain(rule);
    expect(rules(`("${token}")`)).toContain(rule);
    expect(rules(token)).toContain(rule);
  });

  test.each(TOKENS)('is never in what is returned: %s', (_, token) => {
    const findings = findSecrets(token);
    expect(findings.every((finding) => Object.keys(finding).join() === 'rule,line')).toBe(true);
    expect(findings.every(({ rule, line }) => /^[a-z_]+$/.test(rule) && Number.isInteger(line))).toBe(true);
  });

  test('is found behind an escaped line break, and once a line', () => {
    const token = join('ghp_', noise(36, BASE62));
    expect(rules(`"a\\n${token}"`)).toEqual(['github_token']);
    expect(findSecrets(`${token} ${token}\n${join('tok', 'en')}=${token}\n`)).toEqual([
      { rule: 'github_token', line: 1 },
      { rule: 'github_token', line: 2 },
    ]);
  });
});

const NAMES = ['password', 'secret', 'token', 'api_key', 'API_KEY', 'clientSecret', 'access_token', 'private_key'];

describe('what stands for a secret is none', () => {
  const VALUES = [
    'xxxxxxxxxxxxxxxxxxxxxxxx',
    '<your-token-goes-here>',
    join('$', '{SERVICE_API_TOKEN_1}'),
    '$SERVICE_API_TOKEN_12345',
    '{{ secrets.DEPLOY_TOKEN_2 }}',
    '%DEPLOY_TOKEN_1234567%',
    'your-api-key-0123456789ab',
    'example-4f9a8b7c6d5e4f3a',
    'changeme-0123456789abcd',
    '********************',
    '[redacted-0123456789abc]',
    'process.env.API_KEY_4711_A1B2',
    'os.environ["API_KEY_4711"]',
    'getTokenFromRequest(request)',
    'readSha256Secret1(path)',
    'config.services.mail.apiKey',
    'correct-horse-battery-staple',
    'https://vault.internal/v1/keys/4f9a8b7c',
    '~/.config/git-handoff/keys/4f1c0d8fd0f6/donna.pem',
    'string | undefined',
    '1234567890123456789012',
    '2026-02-20T14:30:25.123Z',
  ];

  test.each(NAMES.flatMap((name) => VALUES.map((value) => [name, value] as const)))('%s: %s', (name, value) => {
    for (const text of [`${name}: ${value}`, `${name} = "${value}"`, `${name}=${value}\n`])
      expect(rules(text)).toEqual([]);
  });
  const PASSWORDS = [
    join('$', '{VAR}'),
    '$VAR',
    '***',
    'password',
    'PASS',
    '<password>',
    '{token}',
    'xxxx',
    'your-password',
    'user',
  ];

  test.each(PASSWORDS)('https://user:%s@host', (password) => {
    expect(rules(`https://user:${password}@host.internal/x.git`)).toEqual([]);
  });

  test.each([
    'ssh://git@host:22/x.git',
    'git@github.com:owner/name.git',
    'http://localhost:8080/a@b',
    'http://localhost:8080?mail=a@b.c',
    'see http://a.b: mail me@c.d',
    `${join('ghp_', 'x'.repeat(36))}`,
    `${join('xoxb-', 'your-token-here')}`,
    `the key begins with -----${join('BEGIN ', 'PRIVATE KEY')}----- and is read by`,
    `startsWith('-----${join('BEGIN ', 'OPENSSH PRIVATE KEY')}-----') // ${'0f'.repeat(20)}`,
    pem('PUBLIC KEY', noise(64, BASE64)),
    `${base64url({ typ: 'no algorithm here' })}.${noise(20, URL64)}.${noise(43, URL64)}`,
    'sk-fading-circle-animation-child, npm_config_registry_and_more_of_it_here_too, task-0123456789abcdef01234567',
  ])('%s', (text) => {
    expect(rules(text)).toEqual([]);
  });
});

const hex = (length: number) => fc.string({ unit: fc.constantFrom(...HEX), minLength: length, maxLength: length });
const base64 = (length: number) =>
  fc.string({ unit: fc.constantFrom(...BASE64), minLength: length, maxLength: length });
const word = fc.constantFrom(
  ...'the token of a lock is its number and secret keys stay outside; password fields, API keys: see SPEC.md'.split(
    ' ',
  ),
  ...'next steps: run npm test, then git rebase --onto origin/main; fixes #41 (see src/core/text/text.ts:12)'.split(
    ' ',
  ),
);

describe('clean text', () => {
  /** Ids, keys and digests, as they stand in records, logs and lock files. */
  const PUBLIC = fc.oneof(
    hex(40).map((id) => `commit ${id}`),
    hex(64).map((id) => `prev: sha256:${id}`),
    hex(40).map((id) => `token: ${id}`),
    hex(64).map((id) => `token=sha256:${id}`),
    hex(7).map((id) => `${id} Merge branch 'token-refresh'`),
    fc.tuple(hex(40), hex(40)).map(([a, b]) => `index ${a}..${b} 100644`),
    fc.uuid().map((id) => `session_id: ${id}`),
    fc.uuid().map((id) => `token: ${id}`),
    base64(43).map((digest) => `SHA256:${digest}`),
    base64(43).map((digest) => `secret: SHA256:${digest}`),
    base64(42).map((key) => `donna ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA${key}`),
    base64(42).map((key) => `private_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA${key}`),
    base64(86).map((signature) => `signature: ${signature}==`),
    fc.tuple(base64(43), base64(86)).map(([key, signature]) => `  - donna SHA256:${key} ${signature}==`),
    base64(86).map((digest) => `      "integrity": "sha512-${digest}==",`),
    base64(86).map((digest) => `password: sha512-${digest}==`),
    base64(70).map((line) => line),
  );

  test('ids, keys and digests are no secrets', () => {
    fc.assert(
      fc.property(fc.array(PUBLIC, { minLength: 1, maxLength: 5 }), (lines) => {
        expect(rules(lines.join('\n'))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test('nor is prose, also when it speaks of secrets', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 5, arbitrary: word }, hex(40)), { maxLength: 40 }), (words) => {
        expect(rules(words.join(' '))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test('nor is the code of this project', () => {
    const paths = ['src', 'test', 'scripts', 'protocol'].flatMap((dir) =>
      readdirSync(dir, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(?:ts|mjs|json)$/.test(name))
        .map((name) => `${dir}/${name}`),
    );
    const files = [...paths, 'package-lock.json', 'SPEC.md', 'README.md'];
    expect(files.length).toBeGreaterThan(100);
    const found = files.flatMap((path) =>
      findSecrets(readFileSync(path, 'utf8')).map(({ rule, line }) => `${path}:${line} ${rule}`),
    );
    expect(found).toEqual([]);
  });
});

/** Whatever one pattern can be made to try again and again would take minutes here, and run into the limit of the test. */
test.each([
  ...TOKENS.flatMap(([, token]) => [token, `${token}\n`, token.slice(0, -1), token.slice(0, 8), token.slice(0, 4)]),
  ...[
    'a',
    'A',
    '0',
    '-',
    '_',
    '.',
    '=',
    ':',
    '/',
    '"',
    ' ',
    '\n',
    '\t',
    '\\n',
    '://',
    '://a:',
    'eyJ',
    'eyJhhhhhhhhhhh.',
  ],
  ...NAMES.flatMap((name) => [name, `${name}=`, `${name}: `, `${name}_`, `${name}=aB3$dE6&`]),
])('a quarter of a mebibyte of one fragment is read in one go (%#)', (fragment) => {
  expect(findSecrets(fragment.repeat(Math.ceil(262_144 / fragment.length)))).toBeInstanceOf(Array);
});
