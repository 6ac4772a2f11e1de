import { type Finding, HandoffError } from '../core/error.ts';
import type { HookName } from '../repository/git-hooks/section.ts';
import type { Messages } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import type { HookCall, Judgement } from './judgement.ts';

export interface HookResult {
  hook: HookName;
  pass: boolean;
  judged: Judgement[];
}

type Hook = (repository: Repository, call: HookCall) => Promise<Judgement[]>;

/** Loaded when it is called: a hook should load nothing that it does not need. */
const LOAD: Record<HookName, () => Promise<Hook>> = {
  'pre-commit': async () => (await import('./pre-commit.ts')).preCommit,
  'prepare-commit-msg': async () => async () => [], // the shell does it all
  'pre-merge-commit': async () => (await import('./pre-merge-commit.ts')).preMergeCommit,
  'pre-push': async () => (await import('./pre-push.ts')).prePush,
  'reference-transaction': async () => (await import('./reference-transaction.ts')).referenceTransaction,
  'pre-receive': async () => (await import('./pre-receive.ts')).preReceive,
};

/** What git asks before it goes on. */
export async function runHook(repository: Repository, hook: HookName, call: HookCall): Promise<HookResult> {
  const judged = await (await LOAD[hook]())(repository, call).catch((error) => withoutVerdict(repository, hook, error));
  const heard = hook === 'pre-receive' ? judged : judged.map(asAdvice);
  return { hook, pass: heard.every(({ pass }) => pass), judged: heard };
}

/** A shallow clone lacks what the verdict needs. That is no fault of the work, and whoever has it all decides. */
function asAdvice(judgement: Judgement): Judgement {
  const isShallow = ({ code, severity }: Finding) => code === 'shallow_repository' || severity === 'warning';
  const undecided = judgement.findings.length > 0 && judgement.findings.every(isShallow);
  return undecided ? { ...judgement, pass: true } : judgement;
}

/** Where nothing can be judged, advice is not given, and work goes on; a server does not take what it cannot judge. */
function withoutVerdict(repository: Messages, hook: HookName, error: unknown): Judgement[] {
  if (!(error instanceof HandoffError) || error.exitCode !== 4 || hook === 'pre-receive') throw error;
  repository.warn(`${hook} checked nothing: ${error.message} ${error.hint ?? ''}`.trimEnd());
  return [];
}
