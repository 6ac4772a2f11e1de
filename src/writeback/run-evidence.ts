import { HandoffError } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import { commandLine } from '../core/text/command-line.ts';
import { isClean } from '../git/index/status.ts';
import { readUncommitted } from '../git/index/uncommitted.ts';
import type { Oid } from '../git/objects/store.ts';
import { beat, type Writer } from '../journal/append.ts';
import type { Evidence } from '../journal/drafts/thought-file.ts';
import type { Session } from '../journal/sessions/registry.ts';
import type {
  Directories,
  GitAccess,
  IndexAccess,
  Messages,
  StateDirectory,
  TimeAndHost,
} from '../repository/parts.ts';
import { type Repository, requireWorkTree } from '../repository/repository.ts';
import { type CommandToRun, NOT_FOUND, type Ran, runCommand } from './run-command.ts';

const BEAT_EVERY = 60_000;
const BEATS_UNTIL_STALE = 3;

/**
 * Runs a command for the record. That it fails is worth knowing, and so is recorded like anything else. However long it takes, the
 * session shows signs of life.
 */
export async function gatherEvidence(
  repository: Repository,
  { session, trust }: Pick<Writer, 'session' | 'trust'>,
  run: CommandToRun,
): Promise<Evidence> {
  const directory = run.directory ?? requireWorkTree(repository);
  const before = await lookBefore(repository, run);
  const staleAfter = trust.policy.rules.stale_after * 1000;
  tryBeat(repository, session);
  const every = run.beatEvery ?? Math.min(BEAT_EVERY, staleAfter / BEATS_UNTIL_STALE);
  const beats = setInterval(() => tryBeat(repository, session), every);
  const ran = await runCommand({ ...run, directory }, repository.env).finally(() => clearInterval(beats));
  const line = commandLine(ran);
  if (ran.exit_code !== 0) repository.warn(`FAILED: ${whyFailed(line, ran)}, and that is recorded.`);
  const { tree } = before;
  const isSame = tree !== null && (await isUntouched(repository, before)) && (await headTree(repository)) === tree;
  const what = tree === null ? 'ran on what is not committed' : 'has changed what is committed, or somebody else has';
  if (!isSame) repository.warn(`${line} ${what}: the record names no tree for it.`);
  const { command, exit_code, duration_ms, output_digest } = ran;
  return { command, exit_code, duration_ms, ...(isSame ? { tree } : {}), output_digest };
}

function whyFailed(line: string, { command, exit_code, notStarted }: Ran): string {
  if (notStarted === undefined) return `${line} ended with exit code ${exit_code}`;
  const why = exit_code === NOT_FOUND ? 'there is no such command' : `it cannot be run (${notStarted})`;
  return `${command[0]} was not started: ${why}`;
}

interface Before {
  /** Null when the command would see something that no commit has. */
  tree: Oid | null;
  footprint: string | null;
}

/** The footprint comes first: what is written while git looks is not missed. */
async function lookBefore(
  repository: GitAccess & Directories & IndexAccess,
  { refuse }: CommandToRun,
): Promise<Before> {
  const { git } = repository;
  const footprint = footprintOf(repository);
  const changes = refuse ? await readUncommitted(git, ROOT) : [];
  if (changes.length > 0) throw refuse!(changes);
  return { tree: refuse || (await isClean(git, ROOT, true)) ? await headTree(repository) : null, footprint };
}

/** Only where something was written git need be asked whether it is as it was. */
async function isUntouched(repository: GitAccess & Directories & IndexAccess, { footprint }: Before): Promise<boolean> {
  const isSame = footprint !== null && footprint === footprintOf(repository);
  return isSame || isClean(repository.git, ROOT, false);
}

function footprintOf(repository: Directories & IndexAccess): string | null {
  return repository.index.footprint(requireWorkTree(repository), ROOT);
}

async function headTree({ store }: GitAccess): Promise<Oid | null> {
  return (await store.has('HEAD')) ? (await store.readCommit('HEAD')).tree : null;
}

/** A sign of life that fails now may succeed in a minute, and the command goes on meanwhile. */
function tryBeat(repository: StateDirectory & TimeAndHost & Messages, session: Session): void {
  try {
    beat(repository, session);
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(error.message);
  }
}
