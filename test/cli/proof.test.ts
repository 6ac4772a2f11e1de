import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Draft, Place, Written } from '../handoff.ts';
import { makeKey, signLine } from '../ledger/note-key.ts';
import { checkpointOf, commitHandoff, commitSealed, sealedSession, writeCheckpoint } from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { changes, pathsOf } from '../verbs/agents.ts';
import { bash, errorOf, type Run, run, UNSAFE } from './cli.ts';

const NAUGHTY = [
  '# Current work',
  '',
  '  indented, and then a line of spaces:',
  '   ',
  '\ttabs\tand "quotes" \'single\' `back` $(date) %s \\n \\',
  '---',
  'signature: nothing',
  'key: value # no comment',
  '| > |- & * ! ? @ {} [] , : ;',
  'ünïcödé 漢字 👩‍💻 \u202eright to left\u202c \u200bzero width',
  '<script>alert(1)</script>',
  'no end of line at the end, but two blank ones:',
  '',
  '',
].join('\n');

/** Every kind of record that a session can have, but for the one that opens another. */
const KINDS: Draft[] = [
  { kind: 'start', intent: 'to prove all of it' },
  { kind: 'note', text: 'a note: with "quotes" # and a hash' },
  { kind: 'checkpoint', text: 'half way' },
  { kind: 'decision', title: 'Use YAML', status: 'accepted', body: 'People read it.\n' },
  { kind: 'wip', key: 'parser', state: 'open', text: 'the parser' },
  { kind: 'signal', to: 'erin', text: 'go on' },
  { kind: 'audit', intent: 'all of it' },
  {
    ...{ kind: 'thought', task_id: 'P0.1', branch: 'main', commit_sha: 'a'.repeat(40), tests_run: ['npm test'] },
    ...{ summary: 'It works.', blockers: [], files_changed: [], related_thought_records: [] },
  },
  { kind: 'task', task_id: 'P0.1', status: 'done', progress: 100 },
  { kind: 'review', task_id: 'P0.1', verdict: 'approve' },
  { kind: 'waiver', commit_sha: 'a'.repeat(40), reason: 'the site was down' },
  {
    ...{ kind: 'release', released_session_id: '11111111-51cf-4c61-9a39-2b7fd2f9a1de' },
    ...{ released_identity: 'erin', reason: 'gone' },
  },
  { kind: 'baton', summary: 'half way', body: NAUGHTY },
];
const PICKUP: Draft = { kind: 'pickup', predecessor_session_id: null, baton: null };

let records: Written[] = [];
const fresh = template(async (place) => {
  commitSealed(place, 3);
  const picked = sealedSession(place, {}, [PICKUP, seal()]);
  records = [...sealedSession(place, { identity: 'maintainer' }, [...KINDS, seal()]), picked[0]!];
  commitHandoff(place);
  await place.handoff.ledger.append();
});

function handoff(place: Place, ...args: string[]): Run {
  return run(['-C', place.dir, ...args], { env: place.env });
}

function json(result: Run) {
  expect(result).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout);
}

/** Where nothing of ours is: no repository, no home, no keys. */
function elsewhere(file: string, ...args: string[]): Run {
  const cwd = temporaryDirectory();
  return bash(
    `unset HOME XDG_CONFIG_HOME HANDOFF_KEYS; exec "$@" ${['check-proof', file, ...args].map(quote).join(' ')}`,
    { cwd },
  );
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function vkeyOf(place: Place): string {
  return json(handoff(place, 'ledger', 'key', '--json')).vkey;
}

function written(place: Place, index = 1): string {
  const file = join(place.dir, '../proof.yaml');
  expect(handoff(place, 'prove', records[index]!.id, '-o', file).code).toBe(0);
  return file;
}

describe('prove', () => {
  test('every kind of record, the seal itself, and a baton with anything in it, each of which then holds elsewhere', () => {
    const place = fresh();
    const vkey = vkeyOf(place);
    for (const { id, path } of records) {
      const file = join(place.dir, '..', 'proof.yaml');
      const proved = json(handoff(place, 'prove', id, '-o', file, '--json'));
      expect(proved).toMatchObject({ record: id, ledger_size: 5, file, vkey });
      const checked = json(elsewhere(file, '--vkey', vkey, '--record', join(place.dir, path), '--json'));
      const kind = /-([a-z]+)\./.exec(path)![1];
      expect(checked).toMatchObject({ valid: true, record: id, path, kind, trusted: true });
      expect(checked.session_root).toBe(proved.session_root);
      const steps = ['record', 'record_signature', 'session', 'seal_signature', 'ledger', 'checkpoint'];
      expect(checked.checked).toEqual(kind === 'seal' ? steps.filter((step) => !/^se/.test(step)) : steps);
      // any YAML library reads the record in it, byte for byte
      expect(parse(readFileSync(file, 'utf8')).record.file).toBe(readFileSync(join(place.dir, path), 'utf8'));
    }
  });

  test('by id, by prefix with and without sha256:, and by path from anywhere', () => {
    const place = fresh();
    const { id, path } = records[3]!;
    const deep = join(place.dir, 'src/deep');
    mkdirSync(deep, { recursive: true });
    const names = [id, id.slice(7), id.slice(0, 7 + 12), id.slice(7, 7 + 12), path, `./${path}`];
    const out = (dir: string, name: string) =>
      json(run(['-C', dir, 'prove', name, '-o', '-', '--json'], { env: place.env })).record;
    for (const name of [...names, path.slice('.handoff/'.length), join(place.dir, path)])
      expect(out(place.dir, name), name).toBe(id);
    for (const name of [id, `../../${path}`, join(place.dir, path), path]) expect(out(deep, name), name).toBe(id);
    const folder = join(place.dir, path, '..');
    expect(out(folder, path.split('/').at(-1)!)).toBe(id);
  });

  test('is written to .handoff/proofs, staged with --stage, committed with --commit', async () => {
    const place = fresh();
    const [, { id }, , other] = records as [Written, Written, Written, Written];
    const path = `.handoff/proofs/${id.slice(7)}.yaml`;
    for (const flags of [[], ['--no-stage']]) {
      expect(json(handoff(place, 'prove', id, ...flags, '--json')).file).toBe(path);
      expect(changes(place)).toEqual([`?? ${path}`]);
    }
    expect(json(handoff(place, 'prove', id, '--stage', '--json')).file).toBe(path);
    expect(changes(place)).toEqual([`A  ${path}`]);
    expect(handoff(place, 'prove', other.id, '--commit').code).toBe(0);
    expect(pathsOf(place)).toEqual([`.handoff/proofs/${other.id.slice(7)}.yaml`]);
    expect(changes(place)).toEqual([`A  ${path}`]);
    git(place.dir, 'commit', '--quiet', '--message', 'proof');
    expect(await findings(place)).toEqual([]);
    // once more, when the ledger has grown: the newer one takes its place
    commitSealed(place);
    handoff(place, 'ledger', 'append');
    expect(json(handoff(place, 'prove', id, '--commit', '--json'))).toMatchObject({ ledger_size: 6 });
    expect(await findings(place)).toEqual([]);
  });

  test('with -o - it is all that is printed, and nothing is written', () => {
    const place = fresh();
    const result = handoff(place, 'prove', records[12]!.id, '-o', '-');
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const file = join(place.dir, '../printed.yaml');
    writeFileSync(file, result.stdout);
    expect(json(elsewhere(file, '--vkey', vkeyOf(place), '--json'))).toMatchObject({ record: records[12]!.id });
    expect(changes(place)).toEqual([]);
    expect(existsSync(join(place.dir, '-'))).toBe(false);
  });

  test('with -o FILE it is written as seen from where the command runs, over what is there, and not staged', () => {
    const place = fresh();
    const deep = join(place.dir, 'out');
    mkdirSync(deep);
    writeFileSync(join(deep, 'p.yaml'), 'old\n');
    const result = run(['-C', deep, 'prove', records[1]!.id, '-o', 'p.yaml', '--json'], { env: place.env });
    expect(json(result).file).toBe(join(deep, 'p.yaml'));
    expect(changes(place)).toEqual(['?? out/p.yaml']);
    const nowhere = handoff(place, 'prove', records[1]!.id, '-o', '.gitattributes/p.yaml', '--json');
    expect(nowhere.code).toBe(4);
    expect(errorOf(nowhere)).toMatchObject({ code: 'io' });
  });

  test('with -o it makes no folder, and puts nothing into .handoff that does not belong there', () => {
    const place = fresh();
    const record = records[0]!.id;
    const nowhere = join(temporaryDirectory(), 'none/proof.yaml');
    for (const file of [nowhere, '.handoff/proof.yaml', '.handoff/sessions/x.yaml']) {
      const refused = run(['prove', record, '-o', file, '--json'], { cwd: place.dir, env: place.env });
      expect([refused.code, errorOf(refused).code]).toEqual([2, 'usage']);
    }
    expect([existsSync(nowhere), git(place.dir, 'status', '--porcelain')]).toEqual([false, '']);
  });

  test('says what it wrote as it is seen from here, and that the key goes another way', () => {
    const place = fresh();
    const prove = (out: string) => run(['prove', records[1]!.id, '-o', out], { cwd: place.dir, env: place.env }).stdout;
    const here = prove('p.yaml');
    expect(here).toMatch(/^✓ proof of [0-9a-f]{12} {2}p\.yaml\n +session root +[0-9a-f]{64}\n/);
    expect(here).toContain('git handoff check-proof p.yaml --vkey ');
    expect(here).toContain('by another way than the proof');
    expect(prove('./-')).toContain('check-proof ./- --vkey');
    const above = join(place.dir, '../p.yaml');
    expect(prove('../p.yaml')).toContain(`check-proof ${above} --vkey`);
  });

  test('in a bare repository it can be written elsewhere', () => {
    const place = fresh();
    const bare = join(place.dir, '../bare.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, bare);
    const file = join(place.dir, '../bare.yaml');
    for (const name of [records[2]!.id, records[2]!.path])
      expect(json(run(['-C', bare, 'prove', name, '-o', file, '--json'])).record).toBe(records[2]!.id);
    expect(json(elsewhere(file, '--vkey', vkeyOf(place), '--json'))).toMatchObject({ valid: true });
    expect(json(run(['-C', bare, 'check-proof', file, '--json']))).toMatchObject({ trusted: true });
    const inTree = run(['-C', bare, 'prove', records[2]!.id, '--json']);
    expect(errorOf(inTree)).toMatchObject({ code: 'usage', hint: expect.stringContaining('-o') });
  });

  test('is refused for what is in no ledger', () => {
    const place = fresh();
    const open = sealedSession(place, {}, [KINDS[0]!, KINDS[1]!]);
    const waits = sealedSession(place);
    for (const { id } of [...open, ...waits]) {
      const result = handoff(place, 'prove', id, '--json');
      expect(result.code).toBe(2);
      expect(errorOf(result)).toMatchObject({ code: 'nothing_sealed', hint: expect.stringMatching(/seal|append/) });
    }
    rmSync(join(place.dir, '.handoff/ledger'), { recursive: true });
    expect(errorOf(handoff(place, 'prove', records[1]!.id, '--json'))).toMatchObject({ code: 'nothing_sealed' });
    expect(existsSync(join(place.dir, '.handoff/proofs'))).toBe(false);
  });

  test('is refused for what comes after the seal of a session that the ledger has', () => {
    const place = fresh();
    const options = { sessionId: '11111111-51cf-4c61-9a39-2b7fd2f9a1de' };
    sealedSession(place, options, [KINDS[0]!, seal()]);
    commitHandoff(place);
    handoff(place, 'ledger', 'append');
    const more = sealedSession(place, options, [KINDS[0]!, seal(), KINDS[1]!]);
    expect(json(handoff(place, 'prove', more[0]!.id, '-o', '-', '--json'))).toMatchObject({ ledger_size: 6 });
    expect(errorOf(handoff(place, 'prove', more[2]!.id, '--json'))).toMatchObject({ code: 'nothing_sealed' });
  });

  test.each([
    ['an unknown id', 'ab'.repeat(32), 'unknown_record'],
    ['a path that is not there', '.handoff/sessions/donna/20260220T143025-00000000/0001-start.yaml', 'unknown_record'],
    ['a document', '.handoff/project.yaml', 'unknown_record'],
    ['a path out of the repository', '../../../../etc/passwd.yaml', 'unknown_record'],
    ['a name that is none', 'the last one', 'usage'],
    ['too few digits', 'abcde', 'usage'],
    ['nothing', '', 'usage'],
  ])('is refused for %s', (_, name, code) => {
    const result = handoff(fresh(), 'prove', name, '--json');
    expect(errorOf(result)).toMatchObject({ code });
    expect(result.code).toBe(2);
  });

  test('is refused where the session does not hold', () => {
    const place = fresh();
    const file = join(place.dir, records[1]!.path);
    writeFileSync(file, readFileSync(file, 'utf8').replace('a note', 'a nope'));
    expect(errorOf(handoff(place, 'prove', records[3]!.path, '--json'))).toMatchObject({ code: 'signature_invalid' });
  });

  test('is refused where the ledger does not hold', () => {
    const place = fresh();
    const tile = join(place.dir, '.handoff/ledger/tile/0/000.p/5');
    const bytes = readFileSync(tile);
    for (const at of [0, 40, 150]) {
      const bad = Buffer.from(bytes);
      bad[at]! ^= 1;
      writeFileSync(tile, bad);
      const result = handoff(place, 'prove', records[1]!.id, '-o', '-', '--json');
      // where the seal's own hash is another, the seal is not in it
      const code = bytes.indexOf(leafOf(records[13]!)) <= at && at < bytes.indexOf(leafOf(records[13]!)) + 32;
      expect(errorOf(result).code, `byte ${at}`).toBe(code ? 'nothing_sealed' : 'ledger_inconsistent');
    }
  });
});

function leafOf({ bytes }: Written): Buffer {
  return createHash('sha256').update(Buffer.of(0)).update(bytes).digest();
}

describe('check-proof', () => {
  test('says what was checked, in words, and nothing that a terminal would obey', () => {
    const place = fresh();
    const { code, stdout, stderr } = elsewhere(written(place, 12), '--vkey', vkeyOf(place));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/✓ baton .* by maintainer is in the ledger/);
    expect(stdout.match(/✓/g)).toHaveLength(7);
    expect(stdout).not.toMatch(UNSAFE);
  });

  test('shows by whose key it is trusted, when the record was written and by which key', () => {
    const place = fresh();
    const file = written(place);
    const { at, fingerprint } = json(handoff(place, 'check-proof', file, '--json'));
    const given = elsewhere(file, '--vkey', vkeyOf(place)).stdout;
    expect(given).toMatch(/✓ the root of the ledger is signed by the key you gave\n/);
    expect(given).toMatch(new RegExp(`\n +written +${at}\n`));
    expect(given).toContain(`${fingerprint}, maintainer's by the word of whoever signed the checkpoint\n`);
    expect(handoff(place, 'check-proof', file).stdout).toMatch(/✓ .* signed by a maintainer of this repository\n/);
    expect(elsewhere(file).stdout).toMatch(/· .* signed by the key in the file, which anyone could have made\n/);
  });

  test('from standard input, as prove -o - writes it, and no more than a proof may have', () => {
    const place = fresh();
    const vkey = vkeyOf(place);
    const piped = (script: string, ...args: string[]) =>
      bash(`${script} | exec "$@" check-proof - --json ${args.map(quote).join(' ')}`, { cwd: temporaryDirectory() });
    const checked = json(piped(`cat ${quote(written(place))}`, '--vkey', vkey));
    expect(checked).toMatchObject({ record: records[1]!.id, trusted: true });
    for (const script of [':', 'yes', `cat ${quote(join(place.dir, records[1]!.path))}`]) {
      const result = piped(script);
      expect({ script, code: result.code }).toEqual({ script, code: 1 });
      expect(errorOf(result)).toMatchObject({ code: 'proof_invalid' });
    }
  });

  test('in the repository, after a revocation: a key was not given, and it is made anew', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'second', role: 'maintainer' });
    commitSealed(place);
    expect(handoff(place, 'ledger', 'append', '--as', 'second').code).toBe(0);
    const file = written(place);
    expect(handoff(place, 'identity', 'revoke', 'second', '--as', 'maintainer').code).toBe(0);
    const error = errorOf(handoff(place, 'check-proof', file, '--json'));
    expect(error).toMatchObject({
      code: 'proof_invalid',
      message: expect.stringContaining("repository's maintainers"),
    });
    expect(error.hint).toContain('git handoff prove');
    expect(error.hint).not.toContain('given');
  });

  test('without a key, outside of the repository: it is whole, and says that nobody vouches for the key', () => {
    const place = fresh();
    const file = written(place);
    expect(json(elsewhere(file, '--json'))).toMatchObject({ valid: true, trusted: false });
    expect(elsewhere(file).stdout).toContain('--vkey');
  });

  test('inside the repository its maintainers vouch for it; in another one nobody does', async () => {
    const place = fresh();
    const file = written(place);
    expect(json(handoff(place, 'check-proof', file, '--json'))).toMatchObject({ valid: true, trusted: true });
    const deep = join(place.dir, '.handoff/sessions');
    expect(json(run(['check-proof', '../../../proof.yaml', '--json'], { cwd: deep }))).toMatchObject({ trusted: true });
    const other = temporaryDirectory();
    git('/', 'init', '--quiet', other);
    expect(json(run(['-C', other, 'check-proof', file, '--json']))).toMatchObject({ valid: true, trusted: false });
    expect(run(['-C', other, 'init'], { env: { HANDOFF_KEYS: join(place.dir, '../other-keys') } }).code).toBe(0);
    expect(json(run(['-C', other, 'check-proof', file, '--json']))).toMatchObject({ valid: true, trusted: false });
  });

  test('in a clone whose root nobody has pinned its keys count for nothing', () => {
    const place = fresh();
    const file = written(place);
    const clone = join(place.dir, '../clone');
    git('/', 'clone', '--quiet', place.dir, clone);
    const check = () => run(['-C', clone, 'check-proof', file, '--json'], { env: place.env });
    const first = check();
    expect(json(first)).toMatchObject({ valid: true, trusted: false });
    expect(first.stderr).toContain('No root is pinned here');
    expect(git(clone, 'config', '--default', 'none', 'handoff.root')).toBe('none');
    json(run(['-C', clone, 'trust', '--root', place.root, '--json'], { env: place.env }));
    expect(json(check())).toMatchObject({ trusted: true });
  });

  test('a repository around it that does not hold, and that it is not about, is no hindrance', () => {
    const place = fresh();
    const file = written(place);
    const other = temporaryDirectory();
    git('/', 'init', '--quiet', other);
    mkdirSync(join(other, '.handoff/policy'), { recursive: true });
    writeFileSync(join(other, '.handoff/policy/0001.yaml'), 'junk\n');
    const result = run(['-C', other, 'check-proof', file, '--json']);
    expect(json(result)).toMatchObject({ valid: true, trusted: false });
    expect(result.stderr).toContain('The keys of this repository are not used');
  });

  test('whoever gives a list of keys with none in it is told so', async () => {
    const place = fresh();
    const file = written(place);
    await expect(place.handoff.checkProof({ file, vkey: [] })).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
  });

  test('a proof still holds when the ledger has grown, and the key was rotated', () => {
    const place = fresh();
    const file = written(place);
    const vkey = vkeyOf(place);
    expect(handoff(place, 'identity', 'rotate', 'maintainer').code).toBe(0);
    commitSealed(place, 2);
    expect(handoff(place, 'ledger', 'append').code).toBe(0);
    expect(vkeyOf(place)).not.toBe(vkey);
    expect(json(elsewhere(file, '--vkey', vkey, '--json'))).toMatchObject({ valid: true, trusted: true });
    expect(json(handoff(place, 'check-proof', file, '--json'))).toMatchObject({ trusted: true });
    expect(errorOf(elsewhere(file, '--vkey', vkeyOf(place), '--json'))).toMatchObject({ code: 'proof_invalid' });
    // whoever trusts several maintainers gives the keys of all: one of them has signed
    const both = ['--vkey', vkeyOf(place), '--vkey', vkey];
    expect(json(elsewhere(file, ...both, '--json'))).toMatchObject({ valid: true, trusted: true });
  });

  test('another key, or a key of another name, is refused', () => {
    const place = fresh();
    const file = written(place);
    const { origin } = checkpointOf(place);
    for (const { vkey } of [makeKey(origin, 1), makeKey('elsewhere.example/log', 1), makeKey(origin, 4)]) {
      const result = elsewhere(file, '--vkey', vkey, '--json');
      expect(result.code).toBe(1);
      expect(errorOf(result)).toMatchObject({ code: 'proof_invalid' });
    }
  });

  test('a key that is none is wrong usage', () => {
    const place = fresh();
    const file = written(place);
    const vkey = vkeyOf(place);
    for (const bad of ['', 'nonsense', vkey.slice(0, -4), vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+'), `${vkey} `]) {
      const result = elsewhere(file, '--vkey', bad, '--json');
      expect({ bad, code: result.code }).toEqual({ bad, code: 2 });
      expect(errorOf(result)).toMatchObject({ code: 'usage' });
    }
  });

  test('another record is refused, be it by one byte', () => {
    const place = fresh();
    const [file, vkey] = [written(place), vkeyOf(place)];
    const copy = join(place.dir, '../copy.yaml');
    writeFileSync(copy, readFileSync(join(place.dir, records[1]!.path)));
    expect(json(elsewhere(file, '--vkey', vkey, '--record', copy, '--json'))).toMatchObject({ valid: true });
    writeFileSync(copy, `${readFileSync(copy, 'utf8')}\n`);
    for (const record of [copy, join(place.dir, records[2]!.path)])
      expect(errorOf(elsewhere(file, '--vkey', vkey, '--record', record, '--json'))).toMatchObject({
        code: 'proof_invalid',
        hint: expect.any(String),
      });
    const nowhere = elsewhere(file, '--vkey', vkey, '--record', '/no/such/record.yaml', '--json');
    expect(errorOf(nowhere)).toMatchObject({ code: 'usage' });
    expect(nowhere.code).toBe(2);
  });

  test('a witness must have cosigned', () => {
    const place = fresh();
    const witness = makeKey('witness.example/w1', 4);
    const vkey = vkeyOf(place);
    const without = elsewhere(written(place), '--vkey', vkey, '--witness', witness.vkey, '--json');
    expect(errorOf(without)).toMatchObject({ code: 'proof_invalid' });
    const { text, signatures } = checkpointOf(place);
    writeCheckpoint(place, text, signatures, signLine(witness, text));
    const file = written(place);
    expect(json(elsewhere(file, '--vkey', vkey, '--witness', witness.vkey, '--json'))).toMatchObject({
      witnesses: [witness.name],
    });
    const second = makeKey('witness.example/w2', 4).vkey;
    const both = elsewhere(file, '--vkey', vkey, '--witness', witness.vkey, '--witness', second, '--json');
    expect(errorOf(both)).toMatchObject({ code: 'proof_invalid' });
    expect(errorOf(elsewhere(file, '--witness', 'nonsense', '--json'))).toMatchObject({ code: 'usage' });
  });

  test('what is no proof is told apart from what cannot be read', () => {
    const place = fresh();
    const file = join(place.dir, '../file.yaml');
    const whole = readFileSync(written(place), 'utf8');
    const bad: [string, string | Uint8Array][] = [
      ['empty', ''],
      ['a record', readFileSync(join(place.dir, records[1]!.path))],
      ['half of it', whole.slice(0, whole.length / 2)],
      ['10 MB', Buffer.alloc(10_000_000, 'x')],
      ['10 MB more at its end', whole + '#'.repeat(10_000_000)],
      ['NUL', `${whole}\0`],
      ['line ends of Windows', whole.replaceAll('\n', '\r\n')],
      ['a byte order mark', `\ufeff${whole}`],
      ['no UTF-8', Buffer.concat([Buffer.from(whole), Buffer.of(0xff)])],
      ['aliases', whole.replace('record:', 'record: &a')],
      ['a key twice', `${whole}repo: ${place.root}\n`],
    ];
    for (const [what, text] of bad) {
      writeFileSync(file, text);
      const result = elsewhere(file, '--json');
      expect({ what, code: result.code }).toEqual({ what, code: 1 });
      expect(errorOf(result), what).toMatchObject({ code: 'proof_invalid', hint: expect.any(String) });
    }
    for (const path of ['/no/such/proof.yaml', place.dir, '']) {
      const result = elsewhere(path, '--json');
      expect(result.code).toBe(2);
      expect(errorOf(result)).toMatchObject({ code: 'usage', hint: expect.any(String) });
    }
    expect(elsewhere('/no/such/proof.yaml').stderr).not.toContain('    at ');
    const said = (path: string) => errorOf(elsewhere(path, '--json')).message;
    expect(said('/no/such/proof.yaml')).toBe('/no/such/proof.yaml cannot be read: there is no such file.');
    expect(said(place.dir)).toBe(`${place.dir} cannot be read: that is a folder.`);
  });
});

test('a proof exported here verifies on another machine with the file and one public key', () => {
  const place = fresh();
  const [file, vkey] = [written(place), vkeyOf(place)];
  const there = temporaryDirectory();
  writeFileSync(join(there, 'proof.yaml'), readFileSync(file));
  rmSync(join(place.dir, '..'), { recursive: true });
  const { code, stdout } = run(['check-proof', 'proof.yaml', '--vkey', vkey], {
    cwd: there,
    env: { HOME: '/nowhere' },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('is in the ledger') });
});
