// A packed repository with any number of valid records, made with git fast-import: ten records a session, four identities.
import { execFileSync, spawn } from 'node:child_process';
import { createPrivateKey, hash, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  attachSignatures,
  fingerprint,
  formatRecord,
  recordId,
  recordName,
  sessionFolder,
  signedMessage,
} from '../dist/core.js';
import { openRepository } from '../dist/index.js';

const PER_SESSION = 10;
export const AGENTS = ['ada', 'bea', 'cleo', 'dora'];
export const hashes = { sha256: (b) => hash('sha256', b, 'buffer'), sha512: (b) => hash('sha512', b, 'buffer') };

/** Makes the repository and returns what is needed to work in it. */
export async function generate(base, records) {
  return makeRepository(base, records, (root, keys) => manySessions(root, keys, records));
}

/** A repository with so many tasks, each waiting for one or two before it, of which a quarter is done. */
export async function generateTasks(base, tasks) {
  const place = await makeRepository(base, `${tasks}-tasks`, (root, keys) => manyTasks(root, keys, tasks));
  // in a work tree that lacks them there would be nothing to compare with HEAD
  execFileSync('git', ['-C', place.dir, 'reset', '-q', '--hard'], { env: place.env });
  return place;
}

export async function makeRepository(base, name, files) {
  const dir = join(base, `work-${name}`);
  const env = { ...process.env, HANDOFF_KEYS: join(base, `keys-${name}`), ...ISOLATED };
  mkdirSync(base, { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main', dir], { env });
  const handoff = openRepository(dir, { env });
  const { root } = await handoff.init();
  for (const name of AGENTS) await handoff.identity.add({ name });
  await handoff.close();
  const keyOf = (identity) =>
    createPrivateKey(readFileSync(join(env.HANDOFF_KEYS, root.slice(0, 12), `${identity}.pem`)));
  await importFiles(dir, env, files(root, keyOf));
  execFileSync('git', ['-C', dir, 'repack', '-adq'], { env });
  execFileSync('git', ['-C', dir, 'reset', '-q', '--mixed'], { env });
  return { dir, env, root };
}

const CHANGES = 10;

/** A session that comes after all there are, and near enough for its clocks to be believed. */
const AFTER_ALL = 100_000;

/** A branch of ten commits and ten records on top of what is there, the last thought of which accounts for them. */
export async function addBranch(place, name, lock) {
  const { dir, env } = place;
  const paths = Array.from({ length: CHANGES }, (_, n) => `src/change-${n}.ts`);
  const files = paths.map((path) => [{ path, bytes: Buffer.from(`export const path = '${path}';\n`) }]);
  await importCommits(dir, env, name, 'refs/heads/main^0', files);
  const thought = { commit_sha: askGit(place, 'rev-parse', name), files_changed: paths, ...(lock ? { lock } : {}) };
  await addSession(place, name, () => thought);
  return { base: askGit(place, 'rev-parse', 'main'), head: askGit(place, 'rev-parse', name) };
}

/** So many branches from main, each with a session of its own, wrapped. */
export async function addBranches({ dir, env, root }, count) {
  const key = createPrivateKey(readFileSync(join(env.HANDOFF_KEYS, root.slice(0, 12), `${AGENTS[1]}.pem`)));
  for (let at = 0; at < count; at++) {
    const files = sessionFiles(root, AFTER_ALL + at, AGENTS[1], key, storyOf);
    await importCommits(dir, env, `work-${at}`, 'refs/heads/main^0', [files]);
  }
}

/** A merge of two sides, one of which renamed so many files that the other has changed. Thoughts account for the sides, none for the merge. */
export async function addRenames(place, name, count) {
  const { dir, env } = place;
  const names = Array.from({ length: count }, (_, n) => String(n));
  const files = (folder, more) =>
    names.map((each) => ({ path: `${folder}/${each}`, bytes: Buffer.from(`${`line of ${each}\n`.repeat(9)}${more}`) }));
  const commit = async (branch, from, ...commits) => {
    await importCommits(dir, env, branch, from, commits);
    return askGit(place, 'rev-parse', branch);
  };
  const start = await commit(name, 'refs/heads/main^0', files('old', ''));
  const renamed = await commit(`${name}-side`, start, [
    ...files('new', ''),
    ...names.map((each) => ({ path: `old/${each}` })),
  ]);
  const changed = await commit(name, start, files('old', 'changed\n'));
  const tree = askGit(place, '-c', 'merge.renameLimit=7000', 'merge-tree', '--write-tree', changed, renamed);
  const merge = askGit(place, 'commit-tree', '-m', 'merge', '-p', changed, '-p', renamed, tree);
  askGit(place, ...NO_HOOKS, 'update-ref', `refs/heads/${name}`, merge);
  const files_changed = ['old', 'new'].flatMap((folder) => names.map((each) => `${folder}/${each}`));
  await addSession(place, name, (seq) => ({ commit_sha: seq % 2 ? renamed : changed, files_changed }));
  return {
    base: askGit(place, 'rev-parse', 'main'),
    head: askGit(place, 'rev-parse', name),
    sides: [changed, renamed],
  };
}

/** A session on top of a branch; `thoughtOf` says what differs in its thoughts. */
async function addSession({ dir, env, root }, name, thoughtOf) {
  const key = createPrivateKey(readFileSync(join(env.HANDOFF_KEYS, root.slice(0, 12), `${AGENTS[0]}.pem`)));
  const records = sessionFiles(root, AFTER_ALL, AGENTS[0], key, (session, seq) => {
    const record = storyOf(session, seq);
    return record?.kind === 'thought' ? { ...record, ...thoughtOf(seq) } : record;
  });
  await importCommits(dir, env, name, `refs/heads/${name}^0`, [records]);
}

function askGit({ dir, env }, ...args) {
  return execFileSync('git', ['-C', dir, ...args], { env })
    .toString()
    .trim();
}

/** Files without bytes are removed. */
export async function importCommits(dir, env, name, from, commits) {
  const git = startImport(dir, env);
  const head = `commit refs/heads/${name}\ncommitter bench <bench@example.org> 1767225600 +0000\ndata 5\nbench\n`;
  for (const [at, files] of commits.entries()) {
    git.stdin.write(at === 0 ? `${head}from ${from}\n` : head);
    for (const { path, bytes } of files) {
      if (!bytes) git.stdin.write(`D ${path}\n`);
      else git.stdin.write(Buffer.concat([Buffer.from(`M 100644 inline ${path}\ndata ${bytes.length}\n`), bytes, LF]));
    }
  }
  git.stdin.end();
  await once(git, 'close');
}

const LF = Buffer.from('\n');

/** Without hooks: they would judge what is generated, all of it. */
function startImport(dir, env) {
  const args = ['-C', dir, ...NO_HOOKS, 'fast-import', '--quiet', '--force'];
  return spawn('git', args, { env, stdio: ['pipe', 'inherit', 'inherit'] });
}

export const NO_HOOKS = ['-c', 'core.hooksPath=/dev/null'];

export const ISOLATED = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@example.org',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@example.org',
};

async function importFiles(dir, env, files) {
  const git = startImport(dir, env);
  const write = async (data) => git.stdin.write(data) || (await once(git.stdin, 'drain'));
  await write(
    'commit refs/heads/main\ncommitter bench <bench@example.org> 1767225600 +0000\ndata 8\nrecords\n\nfrom refs/heads/main^0\n',
  );
  for (const { path, bytes } of files) {
    await write(`M 100644 inline ${path}\ndata ${bytes.length}\n`);
    await write(bytes);
    await write('\n');
  }
  git.stdin.end();
  await once(git, 'close');
}

function* manySessions(root, keyOf, records) {
  const keys = AGENTS.map(keyOf);
  for (let session = 0; session * PER_SESSION < records; session++) {
    const owner = session % AGENTS.length;
    yield* sessionFiles(root, session, AGENTS[owner], keys[owner], storyOf);
  }
}

function* manyTasks(repo, keyOf, tasks) {
  const maintainer = keyOf('maintainer');
  const keys = AGENTS.map(keyOf);
  for (let at = 0; at < tasks; at++) yield taskFile(repo, at, maintainer);
  for (let session = 0; session * DONE_PER_SESSION < tasks / 4; session++) {
    const owner = session % AGENTS.length;
    yield* sessionFiles(repo, session, AGENTS[owner], keys[owner], doneOf);
  }
}

const DONE_PER_SESSION = 4;
const taskId = (at) => `P${Math.floor(at / 1000)}.${at % 1000}`;

function taskFile(repo, at, key) {
  const task_id = taskId(at);
  const depends_on = [at - 3, at - 40].filter((each) => each >= 0).map(taskId);
  const common = { handoff: 1, kind: 'task-definition', repo, version: 1, prev: null, at: '2026-01-01T00:00:00.000Z' };
  const unsigned = formatRecord({ ...common, task_id, title: `Make part ${at} of the reader strict`, depends_on });
  const signature = {
    identity: 'maintainer',
    fingerprint: printOf(key),
    bytes: sign(null, signedMessage(unsigned, hashes), key),
  };
  return { path: `.handoff/tasks/${task_id}.yaml`, bytes: attachSignatures(unsigned, [signature]) };
}

function printOf(key) {
  return fingerprint(Buffer.from(key.export({ format: 'jwk' }).x, 'base64url'), hashes);
}

/** A start, eight thoughts, a baton. */
function storyOf(_, seq) {
  if (seq > PER_SESSION) return null;
  const kind = seq === 1 ? 'start' : seq === PER_SESSION ? 'baton' : 'thought';
  return { kind, ...FIELDS[kind] };
}

/** A start, four tasks with the thought that makes each of them done, a baton. */
function doneOf(session, seq) {
  if (seq === 1 || seq >= PER_SESSION) return storyOf(session, seq);
  const task_id = taskId(session * DONE_PER_SESSION + Math.floor((seq - 2) / 2));
  return seq % 2 === 0 ? { kind: 'thought', ...FIELDS.thought, task_id } : { kind: 'task', task_id, status: 'done' };
}

/** `contents` says what comes next, after these files; null when nothing does. */
export function sessionFiles(repo, session, identity, key, contents) {
  const session_id = randomUUID();
  const at = new Date(Date.UTC(2026, 0, 1) + session * 60_000).toISOString();
  const folder = `.handoff/sessions/${identity}/${sessionFolder(at, session_id)}`;
  const files = [];
  let prev = null;
  for (let seq = 1; ; seq++) {
    const next = contents(session, seq, files);
    if (next === null) return files;
    const { kind, ...fields } = next;
    const common = { handoff: 1, kind, repo, session_id, identity, seq, prev, clock: session * PER_SESSION + seq, at };
    const unsigned = formatRecord({ ...common, ...fields }, kind === 'baton' ? BODY : null);
    const bytes = sign(null, signedMessage(unsigned, hashes), key);
    files.push({ path: `${folder}/${recordName(seq, kind)}`, bytes: attachSignatures(unsigned, [{ bytes }]) });
    prev = recordId(unsigned.signedBytes, hashes);
  }
}

const BODY = `# Current work\n\n${'The reader is written, the writer waits for a decision about folding. '.repeat(10)}\n`;
export const FIELDS = {
  start: { intent: 'make the reader strict', branch: 'feature/reader' },
  baton: { summary: 'reader done, writer next', focus: ['P0.1.1'] },
  thought: {
    task_id: 'P0.1.1',
    branch: 'feature/p0-1-1-reader',
    commit_sha: 'a'.repeat(40),
    tests_run: ['reader.test.ts', 'biome', 'tsc --noEmit'],
    summary:
      'The reader takes exactly the subset that the writer emits. Everything else ends in a typed error with a line. '.repeat(
        2,
      ),
    blockers: [{ type: 'decision', issue: 'folding of long lines', resolution: 'none yet' }],
    files_changed: ['src/core/bytes/yaml.ts', 'src/core/text/text.ts', 'test/core/yaml.test.ts', 'SPEC.md'],
    related_thought_records: [],
  },
};
