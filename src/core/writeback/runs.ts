import type { PolicyDocument, ThoughtRecord } from '../generated/types.ts';
import { commandLine } from '../text/command-line.ts';

/** What a thought of a task tells about runs. */
export interface Told {
  /** Null for one that is about to be written. */
  delta_id: string | null;
  path: string;
  /** The tree of the commit that it is about. */
  tree: string | null;
  files: readonly string[];
  /** It says itself that it covers nothing. */
  isNoCode: boolean;
  evidence: NonNullable<ThoughtRecord['evidence']>;
}

/** All thoughts of a task, and those since it last entered in_progress: the newest first. */
export interface ToldOfTask {
  all: readonly Told[];
  since: readonly Told[];
}

/** A command that was run. */
export interface Run {
  told: Told;
  /** The tree it ran on; null where that was not all committed. */
  tree: string | null;
  command: readonly string[];
  line: string;
  exit_code: number;
}

/** What is missing: a thought about something, a run, or one that passed. */
export type Lack = 'thought' | 'run' | 'passed';

/** The second half of a sentence whose first half says that a task is reported done. */
export const LACKS: Readonly<Record<Lack, string>> = {
  thought:
    'its thought records cover nothing: the policy asks for evidence, and there is nothing that it could be about',
  run: 'the policy asks for a run on the tree of its thought record, and there is none',
  passed: 'the policy asks that the newest run passed on what is committed, and none did with everything committed',
};

export interface RunVerdict {
  /** The newest run, if it failed. */
  failed: Run | null;
  lack: Lack | null;
}

export type EvidenceRule = NonNullable<PolicyDocument['writeback']['evidence']>;

type ToldFields = Pick<ThoughtRecord, 'tree' | 'files_changed' | 'no_code' | 'evidence'>;

export function toTold(fields: ToldFields, place: Pick<Told, 'delta_id' | 'path'>): Told {
  const { tree = null, files_changed: files, no_code, evidence = [] } = fields;
  return { ...place, tree, files, isNoCode: no_code === true && files.length === 0, evidence };
}

/** Whose tree decides: the newest that covers code, else the newest. A remark on another commit hides no run. */
export function decisiveAmong(since: readonly Told[]): Told | null {
  return since.find(({ files }) => files.length > 0) ?? since[0] ?? null;
}

/** The trees that runs name, and that may be that of `decisive` but for records. */
export function treesOfRuns(all: readonly Told[]): Set<string> {
  const trees = all.flatMap(({ tree, evidence }) => [tree, ...evidence.map((each) => each.tree)]);
  return new Set(trees.filter((tree) => typeof tree === 'string'));
}

/** SPEC §10.5. `here`: the trees whose code is that of the decisive thought's tree. */
export function judgeRuns({ all, since }: ToldOfTask, here: ReadonlySet<string>, asked: EvidenceRule): RunVerdict {
  const decisive = decisiveAmong(since);
  const runs = all.flatMap(runsIn).filter((run) => isOn(run, decisive, here));
  const [newest] = runs;
  const failed = newest && newest.exit_code !== 0 ? newest : null;
  return { failed, lack: decisive && asked !== 'none' ? lackOf(decisive, all, runs, asked) : null };
}

function lackOf(decisive: Told, all: readonly Told[], runs: readonly Run[], asked: 'run' | 'passed'): Lack | null {
  // whoever has written code for it cannot say later that there was none
  if (decisive.isNoCode && all.every(({ files }) => files.length === 0)) return null;
  if (decisive.files.length === 0 && !decisive.isNoCode) return 'thought';
  const [newest] = runs;
  if (!newest) return 'run';
  if (asked === 'run') return null;
  const proof = runs.find(({ tree }) => tree !== null); // one on what was not committed proves nothing
  return newest.exit_code === 0 && proof?.exit_code === 0 ? null : 'passed';
}

/** The runs of one thought, whatever it ran on. */
export function lastRunIn(told: Told): Run | null {
  return runsIn(told)[0] ?? null;
}

/** The newest first. */
function runsIn(told: Told): Run[] {
  return told.evidence
    .map(({ command, exit_code, tree = null }) => ({ told, tree, command, line: commandLine({ command }), exit_code }))
    .reverse();
}

/** One on what was not all committed is said of its thought's commit. */
function isOn({ told, tree }: Run, decisive: Told | null, here: ReadonlySet<string>): boolean {
  const on = tree ?? told.tree;
  return on === null ? told === decisive : here.has(on);
}
