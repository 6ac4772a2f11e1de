import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { chosenIdentity } from '../../custody/chosen-session.ts';
import { guarded } from '../../disk/durable.ts';
import { readGit } from '../../git/run.ts';
import { requireSigner } from '../../journal/keys/identity-choice.ts';
import { requireIdentity } from '../../journal/keys/signers.ts';
import type { GitAccess } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { remoteNames } from '../../repository/tracking.ts';
import { readTrust } from '../../repository/trusted-now.ts';
import { connectionLooks } from '../agents/connection-checks.ts';
import { hooksStatus } from './hooks.ts';

/** One thing that work here stands on. `fix` is what to type: to mend it, or, where it is well, what would make it better. */
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string | null;
}

export interface DoctorResult {
  ok: boolean;
  checks: Check[];
}

type Finding = Omit<Check, 'name' | 'ok'>;

const well = (detail: string, fix: string | null = null): Finding => ({ detail, fix });

/** Looks at everything that work here stands on, in the order in which to mend it, and changes nothing. */
export async function doctor(repository: Repository | null, { as }: { as?: string } = {}): Promise<DoctorResult> {
  if (!repository) return summed([{ name: 'repository', ok: false, ...OUTSIDE }]);
  const checks = [
    await checked('git', () => gitVersion(repository)),
    await checked('repository', () => place(repository)),
  ];
  let trust: Trust | null = null;
  const policy = await checked('policy', async () => {
    trust = await readTrust(repository);
    return policyOf(trust);
  });
  checks.push(policy, await checked('root', () => pinnedRoot(repository, trust)));
  if (trust && repository.dirs.topLevel) checks.push(...(await whoActs(repository, trust, as)));
  for (const [name, look] of AROUND) checks.push(await checked(name, () => look(repository)));
  checks.push(...(await Promise.all(connectionLooks(repository).map(([name, look]) => checked(name, look)))));
  return summed(checks);
}

const OUTSIDE: Finding = {
  detail: 'This is no git repository.',
  fix: 'cd to one, or make one: git init && git handoff init',
};

function summed(checks: Check[]): DoctorResult {
  return { ok: checks.every(({ ok }) => ok), checks };
}

/** A failing check gives its reason and remedy: the same words that a verb would show. */
async function checked(name: string, look: () => Finding | Promise<Finding>): Promise<Check> {
  try {
    return { name, ok: true, ...(await look()) };
  } catch (error) {
    if (error instanceof HandoffError) return { name, ok: false, detail: error.message, fix: error.hint ?? null };
    if (!hasCode(error)) throw error;
    return { name, ok: false, detail: error.message, fix: 'Check who may read and write there.' };
  }
}

const OLDEST_GIT = [2, 36];

async function gitVersion({ git }: GitAccess): Promise<Finding> {
  const said = (await readGit(git, ['--version'])).toString('utf8').trim();
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(said)?.slice(1) ?? []).map(Number);
  const isOld = major < OLDEST_GIT[0]! || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1]!);
  if (isOld) throw new HandoffError('unsupported', `${said} is too old.`, { hint: 'Install git 2.36 or later.' });
  return well(said);
}

/** Where records, locks and keys would be written, as far as that can be seen without writing. */
async function place(repository: Repository): Promise<Finding> {
  const { dirs, stateDir, store } = repository;
  guarded(stateDir, () => accessSync(existing(stateDir), constants.W_OK));
  const where = dirs.topLevel ?? `${dirs.gitDir}, which has no work tree`;
  if (await store.isShallow()) return well(`${where}; its history is cut off, and gate needs all of it`, UNSHALLOW);
  return well(where);
}

const UNSHALLOW = 'git fetch --unshallow';

function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}

function policyOf({ policy, identities }: Trust): Finding {
  const { version, root, rules } = policy;
  const signers = `${root.threshold} of ${root.principals.size} sign the next`;
  const refs = rules.protected.join(', ') || 'nothing';
  return well(`version ${version}, ${signers}; ${identities.size} identities; protected: ${refs}`);
}

async function pinnedRoot(repository: Repository, trust: Trust | null): Promise<Finding> {
  const pin = (await repository.config()).get('handoff.root');
  if (pin !== undefined) return well(`${pin} is what this clone trusts`);
  if (trust)
    return well(
      `${trust.repoId} will be trusted at the first use: compare it with a maintainer's before you pin it`,
      `git handoff trust --root ${trust.repoId}`,
    );
  return well('none is pinned: the first policy that is seen will be trusted', 'git handoff trust --root ROOT');
}

async function whoActs(repository: Repository, trust: Trust, as: string | undefined): Promise<Check[]> {
  let name: string | null = null;
  const identity = await checked('identity', async () => {
    name = await chosenIdentity(repository, trust, as);
    return well(`${name}, ${requireIdentity(trust, name).role}`);
  });
  if (name === null || !identity.ok) return [identity];
  const who: string = name;
  return [identity, await checked('key', async () => keyOf(repository, trust, who))];
}

async function keyOf(repository: Repository, trust: Trust, name: string): Promise<Finding> {
  const { publicKey } = await requireSigner(repository, trust, name);
  return well(`${publicKey.fingerprint} of ${name} is on this machine`);
}

const AROUND: [string, (repository: Repository) => Promise<Finding>][] = [
  ['hooks', hooksHere],
  ['remote', sharedLocks],
];

const HAS_SECTION: ReadonlySet<string> = new Set(['not_executable', 'outdated']);

async function hooksHere(repository: Repository): Promise<Finding> {
  const { installed, missing, hooks_path } = await hooksStatus(repository);
  const install = `git handoff hooks install${repository.dirs.topLevel ? '' : ' --server'}`;
  // where no hook has our section, nobody has asked for one: what is there is somebody else's
  const lost = missing.filter(({ reason }) => installed.length > 0 || HAS_SECTION.has(reason));
  if (lost.length === 0)
    return installed.length > 0
      ? well(`${installed.join(', ')}, in ${hooks_path}`)
      : well('none: git asks nobody', install);
  const lacks = lost.map(({ hook, reason }) => `${hook} is ${reason.replaceAll('_', ' ')}`).join(', ');
  throw new HandoffError('unsupported', `Hooks do not run as they should: ${lacks}.`, { hint: install });
}

async function sharedLocks(repository: Repository): Promise<Finding> {
  const config = await repository.config();
  const names = remoteNames(config);
  const name = config.get('handoff.remote');
  if (name !== undefined && !names.includes(name) && config.get(`remote.${name}.url`) === undefined)
    throw new HandoffError('usage', `handoff.remote names ${name}, and there is no such remote.`, {
      hint:
        names.length > 0 ? `git config handoff.remote ${quoteWord(names[0]!)}` : 'git config --unset handoff.remote',
    });
  if (name !== undefined) return well(`locks are shared on ${name}`);
  if (names.length === 0) return well('none: nobody elsewhere can know who is at work');
  return well(
    'locks are not shared: who is at work elsewhere is not known',
    `git config handoff.remote ${quoteWord(names[0]!)}`,
  );
}
