// A repository whose ledger has any number of seals: each of a session of its own, which is a start and the seal.
import { execFileSync } from 'node:child_process';
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  formatCheckpoint,
  formatNote,
  formatVerifierKey,
  ledgerOrigin,
  merkleRoot,
  noteSignature,
  planGrowth,
  toHex,
} from '../dist/core.js';
import { AGENTS, FIELDS, hashes, importCommits, makeRepository, NO_HOOKS, sessionFiles } from './generate.mjs';

/**
 * Makes it, with `waiting` more seals on the branch than the ledger has. In a process of its own, which grows large: Linux takes
 * longer to start others from such a one, and that would be measured with them.
 */
export function generateLedger(base, seals, waiting) {
  const args = [SCRIPT, base, String(seals), String(waiting)];
  return JSON.parse(execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }).toString());
}

const SCRIPT = fileURLToPath(import.meta.url);

if (process.argv[1] === SCRIPT) {
  const [base, seals, waiting] = process.argv.slice(2);
  console.log(JSON.stringify(await makeLedger(base, Number(seals), Number(waiting))));
}

async function makeLedger(base, seals, waiting) {
  const added = [];
  const place = await makeRepository(base, `${seals}-seals`, (root, keyOf) =>
    keepSeals(sealedSessions(root, keyOf, 0, seals), added),
  );
  const { dir, env, root } = place;
  const keyOf = (identity) =>
    createPrivateKey(readFileSync(join(env.HANDOFF_KEYS, root.slice(0, 12), `${identity}.pem`)));
  const git = (...args) =>
    execFileSync('git', ['-C', dir, ...args], { env })
      .toString()
      .trim();
  const ledger = await ledgerFiles(root, keyOf('maintainer'), added, git('rev-parse', 'main:.handoff/sessions'));
  const more = [...sealedSessions(root, keyOf, seals, waiting)];
  await importCommits(dir, env, 'main', 'refs/heads/main^0', [ledger, more]);
  git('reset', '-q', '--hard');
  return {
    ...place,
    oldest: added[0].path,
    newest: added.at(-1).path,
    vkey: formatVerifierKey(ledgerOrigin(root), rawPublic(keyOf('maintainer')), hashes),
    start: git('rev-parse', 'main'),
  };
}

/** Takes back what was appended. What that has written is on disk first, so that no later fsync waits for it. */
export function takeBack({ dir, env, start }) {
  rmSync(join(dir, '.git/handoff/ledger.json'), { force: true });
  execFileSync('git', ['-C', dir, ...NO_HOOKS, 'reset', '-q', '--hard', start], { env });
  execFileSync('sync');
}

function* sealedSessions(root, keyOf, first, count) {
  const keys = AGENTS.map(keyOf);
  for (let session = first; session < first + count; session++) {
    const owner = session % AGENTS.length;
    yield* sessionFiles(root, session, AGENTS[owner], keys[owner], sealedStory);
  }
}

/** A start, and the seal over it. */
function sealedStory(_, seq, files) {
  if (seq === 1) return { kind: 'start', ...FIELDS.start };
  if (seq > 2) return null;
  const leaves = files.map(({ bytes }) => bytes);
  return { kind: 'seal', tree_size: leaves.length, root: toHex(merkleRoot(leaves, hashes.sha256)) };
}

function* keepSeals(files, seals) {
  for (const file of files) {
    if (file.path.endsWith('-seal.yaml')) seals.push(file);
    yield file;
  }
}

/** As if each seal had been appended before the next one came. */
async function ledgerFiles(root, key, seals, sessions) {
  const origin = ledgerOrigin(root);
  const empty = { size: 0, root: merkleRoot([], hashes.sha256) };
  const entries = seals.map(({ bytes }) => bytes);
  const growth = await planGrowth(empty, entries, null, hashes.sha256);
  const text = formatCheckpoint({ origin, size: growth.size, root: growth.root, extensions: [`sessions ${sessions}`] });
  const signature = noteSignature(origin, rawPublic(key), sign(null, Buffer.from(text), key), hashes);
  const checkpoint = { path: 'checkpoint', bytes: formatNote({ text, signatures: [signature] }) };
  return [...growth.written, checkpoint].map(({ path, bytes }) => ({ path: `.handoff/ledger/${path}`, bytes }));
}

function rawPublic(key) {
  return Buffer.from(key.export({ format: 'jwk' }).x, 'base64url');
}
