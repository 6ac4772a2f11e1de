// The same work for peers: repositories of SSH-signed commits for git, and a layout with signed links for in-toto.
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { ISOLATED } from './generate.mjs';
import { sshsigPrefix } from './sshsig-prefix.mjs';

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const WHO = `${ISOLATED.GIT_COMMITTER_NAME} <${ISOLATED.GIT_COMMITTER_EMAIL}>`;
const FIRST_SECOND = Date.UTC(2026, 0, 1) / 1000;
const KEY_TYPE = 'ssh-ed25519';
const NAMESPACE = 'git';
const PACK_COMMIT = 1;
const PACK_TREE = 2;
// Debian's own: in-toto-verify's modules are there, and another python3 may come first in the path.
const PYTHON = '/usr/bin/python3';
const LINKS_SCRIPT = fileURLToPath(new URL('in-toto-links.py', import.meta.url));

/** A repository with a linear history of signed commits, and the one command that checks them all. */
export function signedCommits(base, count) {
  const dir = join(base, `commits-${count}`);
  const env = { ...process.env, ...ISOLATED };
  const git = (args, input) => execFileSync('git', ['-C', dir, ...args], { env, input });
  mkdirSync(dir, { recursive: true });
  git(['init', '-q', '-b', 'main', '--object-format=sha1']);
  const key = signingKey();
  trustKey(git, join(dir, '.git/allowed-signers'), key);
  const { oids, commits } = signedHistory(key, count);
  git(['index-pack', '--stdin'], pack(commits));
  git(['update-ref', 'refs/heads/main', oids.at(-1)]);
  git(['repack', '-adq']);
  return { dir, env, verify: { command: 'git', args: ['-C', dir, 'verify-commit', ...oids] } };
}

/** A layout with that many steps and a link for each, and the command that checks them; or why there is none. */
export function inTotoLinks(base, count) {
  const env = { ...process.env };
  if (!runs('in-toto-verify', ['--version'], env)) return { skipped: 'in-toto-verify is not installed' };
  // Later releases of securesystemslib have no such module, and the script would fail with them.
  if (!runs(PYTHON, ['-c', 'import in_toto, securesystemslib.keys'], env)) {
    return { skipped: `${PYTHON} has no in-toto 1.x` };
  }
  const dir = join(base, `links-${count}`);
  mkdirSync(dir, { recursive: true });
  execFileSync(PYTHON, [LINKS_SCRIPT, dir, String(count)], { env });
  const layout = ['--layout', join(dir, 'root.layout'), '--layout-keys', join(dir, 'owner.pub')];
  const args = [...layout, '--key-types', 'ed25519', '--link-dir', dir];
  return { dir, env, verify: { command: 'in-toto-verify', args } };
}

function runs(command, args, env) {
  return spawnSync(command, args, { env, stdio: 'ignore' }).status === 0;
}

function signingKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x, 'base64url');
  return { privateKey, publicBlob: Buffer.concat([sshString(KEY_TYPE), sshString(raw)]) };
}

function trustKey(git, file, { publicBlob }) {
  const key = `${KEY_TYPE} ${publicBlob.toString('base64')}`;
  writeFileSync(file, `${ISOLATED.GIT_COMMITTER_EMAIL} namespaces="${NAMESPACE}" ${key}\n`);
  git(['config', 'gpg.format', 'ssh']);
  git(['config', 'gpg.ssh.allowedSignersFile', file]);
}

function signedHistory(key, count) {
  const prefix = sshsigPrefix(NAMESPACE);
  const oids = [];
  const commits = [];
  for (let number = 0; number < count; number++) {
    const commit = signedCommit(key, prefix, oids.at(-1), number);
    commits.push(commit);
    oids.push(hash('sha1', Buffer.concat([Buffer.from(`commit ${commit.length}\0`), commit])));
  }
  return { oids, commits };
}

function signedCommit({ privateKey, publicBlob }, prefix, parent, number) {
  const when = `${WHO} ${FIRST_SECOND + number} +0000`;
  const parentLine = parent ? `parent ${parent}\n` : '';
  const headers = `tree ${EMPTY_TREE}\n${parentLine}author ${when}\ncommitter ${when}\n`;
  const message = `\ncommit ${number}\n`;
  const signature = sign(null, Buffer.concat([prefix, hash('sha512', headers + message, 'buffer')]), privateKey);
  const gpgsig = armour(publicBlob, signature).join('\n ');
  return Buffer.from(`${headers}gpgsig ${gpgsig}\n${message}`);
}

function armour(publicBlob, signature) {
  const blob = Buffer.concat([
    Buffer.from('SSHSIG\0\0\0\x01', 'latin1'),
    sshString(publicBlob),
    sshString(NAMESPACE),
    sshString(''),
    sshString('sha512'),
    sshString(Buffer.concat([sshString(KEY_TYPE), sshString(signature)])),
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g);
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----'];
}

function sshString(value) {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A pack of the commits and the empty tree: one process takes it in, whatever the number. */
function pack(commits) {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(commits.length + 1, 8);
  const objects = commits.flatMap((commit) => packed(PACK_COMMIT, commit));
  const body = Buffer.concat([header, ...packed(PACK_TREE, Buffer.alloc(0)), ...objects]);
  return Buffer.concat([body, hash('sha1', body, 'buffer')]);
}

/** An entry begins with its type and size: four bits of size, then seven a byte, the high bit set when more follow. */
function packed(type, bytes) {
  const head = [(type << 4) | (bytes.length & 15)];
  for (let size = bytes.length >> 4; size > 0; size >>= 7) {
    head[head.length - 1] |= 128;
    head.push(size & 127);
  }
  return [Buffer.from(head), deflateSync(bytes)];
}
