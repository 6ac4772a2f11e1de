import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { IdentityDocument, PolicyDocument, ProjectDocument } from '../../core/generated/types.ts';
import { assertIdentityName } from '../../core/names.ts';
import { identityPath, PROJECT_PATH, policyPath, ROOT } from '../../core/paths.ts';
import { recordId } from '../../core/record/verify.ts';
import { nodeSuite } from '../../crypto.ts';
import { ifThere } from '../../disk/if-there.ts';
import { mayBeIgnored } from '../../git/ignore-files.ts';
import { isChanged } from '../../git/index/changed-file.ts';
import { gitFailure, runGit } from '../../git/run.ts';
import { type PublishOptions, publish } from '../../journal/commits/publish.ts';
import { generateKey, keyPath, toSigner, writeKey } from '../../journal/keys/keys.ts';
import { type NamedSigner, signDocument } from '../../journal/keys/sign.ts';
import { keyLine, keyRing, signersFor } from '../../journal/keys/signers.ts';
import type { Directories, GitAccess, Settings } from '../../repository/parts.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { identityFields } from '../../trust/identity-document.ts';
import { type HooksResult, hooksInstall } from './hooks.ts';

export interface InitOptions extends PublishOptions {
  as?: string;
  name?: string;
  threshold?: number;
  /** False: no hooks are installed. */
  hooks?: boolean;
  /** The gate warns, and refuses nothing for want of a writeback. SPEC §10.10 */
  advisory?: boolean;
}

export interface InitResult {
  repo_id: string;
  root: string;
  identity: string;
  fingerprint: string;
  policy_version: number;
  /** The branch that the gate guards, and whether it only advises. */
  protected: string;
  advisory: boolean;
  created: string[];
  /** The hooks that are installed now. */
  hooks: string[];
  /** Their files, from the top of the work tree where they are in it; what is shared there waits to be committed. */
  hook_files: string[];
  /** The private keys that were made, outside the work tree. */
  key_files: string[];
  commit: string | null;
}

/** Policy 1, a maintainer, the bot, project.yaml and .gitattributes. SPEC §5.1 */
export async function init(repository: Repository, options: InitOptions = {}): Promise<InitResult> {
  const topLevel = requireWorkTree(repository);
  const name = options.as ?? 'maintainer';
  assertIdentityName(name);
  if (options.name !== undefined && oneLine(options.name) !== options.name)
    throw usage('The name of a project is one line of at most 1000 characters.');
  if (name === 'bot') throw usage('bot is the name of the identity that acts when none is named; choose another.');
  if ((options.threshold ?? 1) !== 1) throw thresholdTooHigh(options.threshold!);
  await assertFree(repository, topLevel);
  await assertNotPinned(repository);

  const maintainer = await obtainKey(repository, name);
  const bot = await obtainKey(repository, 'bot');
  const at = repository.now().toISOString();
  const branch = protectedRef(repository);
  const advisory = options.advisory ?? false;
  const policy = await signDocument(genesis(maintainer.named, at, branch, advisory), [maintainer.named]);
  const root = recordId(policy.document.signedBytes, nodeSuite).slice('sha256:'.length);
  const documents: [string, IdentityDocument | ProjectDocument][] = [
    [identityPath(name), identityFields(root, name, 'maintainer', [maintainer.named.signer.publicKey], at)],
    [identityPath('bot'), identityFields(root, 'bot', 'bot', [bot.named.signer.publicKey], at)],
    [
      PROJECT_PATH,
      {
        handoff: 1,
        kind: 'project',
        repo: root,
        version: 1,
        prev: null,
        at,
        name: options.name ?? oneLine(basename(topLevel)),
      },
    ],
  ];
  const files = [{ path: policyPath(1), bytes: policy.bytes }];
  for (const [path, fields] of documents)
    files.push({ path, bytes: (await signDocument(fields, [maintainer.named])).bytes });
  const attributes = attributesFile(topLevel);

  const key_files: string[] = [];
  for (const key of [maintainer, bot]) key_files.push(...(await key.save(root)));
  const all = [...files, ...(attributes ? [{ ...attributes, replaces: true }] : [])];
  const commit = await publish(
    repository,
    { files: all, message: `handoff: init, root ${root.slice(0, 12)}`, identity: name },
    options,
  );
  await repository.setConfig('handoff.root', root);
  const { installed, files: hookFiles } = options.hooks === false ? NO_HOOKS : await tryHooks(repository);
  return {
    repo_id: root,
    root,
    identity: name,
    fingerprint: maintainer.named.signer.publicKey.fingerprint,
    policy_version: 1,
    protected: branch,
    advisory,
    created: all.map(({ path }) => path),
    hooks: installed,
    hook_files: hookFiles.map((path) => fromTop(topLevel, path)),
    key_files,
    commit,
  };
}

/** A repository without hooks works as well: the server and CI judge. */
async function tryHooks(repository: Repository): Promise<Pick<HooksResult, 'installed' | 'files'>> {
  if (!repository.program) return NO_HOOKS;
  try {
    return await hooksInstall(repository);
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`No hooks are installed: ${error.message} ${error.hint ?? ''}`.trimEnd());
    return NO_HOOKS;
  }
}

const NO_HOOKS = { installed: [], files: [] };

function fromTop(topLevel: string, path: string): string {
  const inside = relative(topLevel, path);
  return inside.startsWith('..') ? path : inside;
}

/** A branch may lack what the protected one has. Another root there would be trusted by nobody, and this clone would forget its own. */
async function assertNotPinned(repository: Repository): Promise<void> {
  const pinned = (await repository.config()).get('handoff.root');
  if (pinned === undefined) return;
  throw new HandoffError(
    'already_initialised',
    `This branch has no .handoff/policy, and this clone trusts the root ${pinned}: another branch has its policy.`,
    {
      hint: 'Switch to that branch, or merge it into this one. Only to begin anew, with another root: git config --unset handoff.root',
      data: { root: pinned },
    },
  );
}

/** Nobody's work is overwritten: not ours, not a folder that somebody else calls .handoff. */
async function assertFree(repository: Repository, topLevel: string): Promise<void> {
  const stats = lstatSync(join(topLevel, ROOT), { throwIfNoEntry: false });
  const names = stats?.isDirectory() ? readdirSync(join(topLevel, ROOT)) : [];
  if (names.includes('policy') || (await hasPolicy(repository))) {
    throw new HandoffError('already_initialised', 'This repository has a .handoff/policy already.', {
      hint: 'See git handoff policy show. To join as another identity: git handoff identity keygen NAME',
    });
  }
  if (stats && (!stats.isDirectory() || names.length > 0)) {
    throw foreign('.handoff exists and holds something else.', 'Move it away, then run git handoff init again.');
  }
  const rule = await ignoreRule(repository, policyPath(1));
  if (rule) throw foreign(`.handoff is ignored by git: ${rule}`, 'Remove that line: records must be committed.');
  if (await isChanged(repository, '.gitattributes'))
    throw usage('.gitattributes has uncommitted changes, and init adds to it. Commit or stash them first.');
}

/** Folder by folder: what is not here, as in a partial clone, must not be taken for what is not there. */
async function hasPolicy({ store }: GitAccess): Promise<boolean> {
  if ((await store.resolve('HEAD')) === null) return false;
  const root = (await store.readTree('HEAD'))?.entries.find(({ name }) => name === ROOT);
  const folder = root?.mode === '040000' ? await store.readTree(root.oid) : null;
  return folder?.entries.some(({ name }) => name === 'policy') ?? false;
}

/** The line that makes git ignore a path, or null. check-ignore refuses to run with literal pathspecs. */
async function ignoreRule(
  { git, dirs, env, config }: GitAccess & Directories & Settings,
  path: string,
): Promise<string | null> {
  if (!mayBeIgnored({ dirs, env, config: await config() }, path)) return null;
  const args = ['check-ignore', '-v', '--no-index', '--', path];
  const result = await runGit({ ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } }, args);
  if (result.code > 1) throw gitFailure(args, result);
  return result.code === 0 ? result.stdout.toString('utf8').trim() : null;
}

interface ObtainedKey {
  named: NamedSigner;
  /** The file that was written, if any. */
  save(repoId: string): Promise<string[]>;
}

/** A key that is here already (a maintainer's own, or one made before), else a new one, saved under the repo's id. */
async function obtainKey(repository: Repository, identity: string): Promise<ObtainedKey> {
  const existing = identity === 'bot' ? [] : await signersFor(repository, null, identity);
  if (existing[0]) return { named: { identity, signer: existing[0] }, save: async () => [] };
  const key = generateKey();
  return {
    named: { identity, signer: toSigner(key) },
    async save(repoId) {
      const path = keyPath(keyRing(repository, repoId), identity);
      await writeKey(path, key);
      return [path];
    },
  };
}

function genesis({ identity, signer }: NamedSigner, at: string, branch: string, advisory: boolean): PolicyDocument {
  return {
    handoff: 1,
    kind: 'policy',
    version: 1,
    prev: null,
    at,
    nonce: randomBytes(16).toString('hex'),
    root: { threshold: 1, keys: [`${identity} ${keyLine(signer.publicKey)}`] },
    protected: [branch],
    writeback: { required: true, review: false, open_sessions: 'warning', ...(advisory && { advisory }) },
    exempt: [],
    stale_after: 600,
    limits: { record_bytes: 262144, records_per_push: 10000 },
    sections: ['current work', 'progress', 'decisions', 'blockers', 'files', 'next steps'],
  };
}

/** The branch work is merged into: the current one if it is called so, else main. */
function protectedRef({ dirs }: Directories): string {
  const headFile = readFileSync(join(dirs.gitDir, 'HEAD'), 'utf8');
  const branch = /^ref: refs\/heads\/(main|master|trunk)\n?$/.exec(headFile)?.[1] ?? 'main';
  return `refs/heads/${branch}`;
}

/** A directory can have a line break in its name; a project cannot. */
function oneLine(name: string): string {
  return name.replace(/\p{Cc}+/gu, ' ').trim() || 'project';
}

const ATTRIBUTES = [
  '.handoff/** -text -filter -ident',
  '.handoff/** -working-tree-encoding',
  '.handoff/proofs/** linguist-generated',
  '.handoff/ledger/tile/** linguist-generated',
];

/** Signed bytes must survive autocrlf and filters. Null when the lines are there. */
function attributesFile(topLevel: string): { path: string; bytes: Uint8Array } | null {
  const text = ifThere(() => readFileSync(join(topLevel, '.gitattributes'), 'utf8')) ?? '';
  const lines = ATTRIBUTES.filter((line) => !text.split('\n').includes(line));
  if (lines.length === 0) return null;
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return { path: '.gitattributes', bytes: new TextEncoder().encode(`${text}${separator}${lines.join('\n')}\n`) };
}

function foreign(message: string, hint: string): HandoffError {
  return new HandoffError('foreign_directory', message, { hint });
}

function usage(message: string): HandoffError {
  return new HandoffError('usage', message, { hint: 'git handoff init --help' });
}

function thresholdTooHigh(threshold: number): HandoffError {
  return new HandoffError('usage', `A threshold of ${threshold} needs as many root keys; init makes one.`, {
    hint: 'Run git handoff init, sign in a second maintainer, then: git handoff policy set root.keys A,B and git handoff policy set root.threshold 2',
  });
}
