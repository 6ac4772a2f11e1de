/** What went wrong, in one word. The exit code of a command is a property of the word. */
const EXIT = {
  // 1: a check says no
  not_entitled: 1,
  root_mismatch: 1,
  secret_found: 1,
  writeback_required: 1,
  bytes_invalid: 1,
  too_large: 1,
  too_many_merges: 1,
  over_budget: 1,
  yaml_invalid: 1,
  schema_invalid: 1,
  signature_invalid: 1,
  signer_unknown: 1,
  signer_not_entitled: 1,
  key_revoked: 1,
  path_mismatch: 1,
  repo_mismatch: 1,
  chain_broken: 1,
  record_changed: 1,
  record_deleted: 1,
  mode_invalid: 1,
  name_lookalike: 1,
  policy_invalid: 1,
  policy_rollback: 1,
  stale_token: 1,
  writeback_missing: 1,
  files_uncovered: 1,
  done_without_thought: 1,
  review_missing: 1,
  run_failed: 1,
  evidence_missing: 1,
  nothing_done: 1,
  seal_missing: 1,
  session_open: 1,
  shallow_repository: 1,
  ledger_rewritten: 1,
  ledger_inconsistent: 1,
  proof_invalid: 1,
  seal_too_early: 1,
  would_overwrite: 1,
  delivery_unconfirmed: 1,
  agent_still_running: 1,
  agent_gone: 1,
  spawn_failed: 1,
  prime_failed: 1,
  relay_timeout: 1,
  // 2: wrong usage or bad input
  already_initialised: 2,
  settings_refused: 2,
  foreign_directory: 2,
  key_in_tree: 2,
  unknown_identity: 2,
  unknown_record: 2,
  usage: 2,
  bad_name: 2,
  session_ended: 2,
  ambiguous_session: 2,
  no_session: 2,
  unknown_session: 2,
  baton_missing: 2,
  baton_empty: 2,
  unknown_task: 2,
  unknown_wip: 2,
  task_exists: 2,
  task_cycle: 2,
  unknown_commit: 2,
  no_records: 2,
  no_persona: 2,
  no_terminal: 2,
  nothing_sealed: 2,
  nothing_saved: 2,
  not_protected_branch: 2,
  // 3: someone else holds it
  identity_conflict: 3,
  predecessor_active: 3,
  session_released: 3,
  task_claimed: 3,
  branch_exists: 3,
  not_unblocked: 3,
  seal_in_progress: 3,
  relay_in_progress: 3,
  // 4: the environment
  not_a_repository: 4,
  not_initialised: 4,
  no_key: 4,
  unsupported: 4,
  writeback_failed: 4,
  io: 4,
} as const;

export type ErrorCode = keyof typeof EXIT;

/** The codes that `verify` and `gate` report; the others end a command. Two do both: a cycle, and that there is no policy at all. */
export type FindingCode =
  | 'task_cycle'
  | 'not_initialised'
  | {
      [C in ErrorCode]: (typeof EXIT)[C] extends 1
        ? Exclude<
            C,
            | 'not_entitled'
            | 'root_mismatch'
            | 'writeback_required'
            | 'seal_too_early'
            | 'would_overwrite'
            | 'nothing_done'
            | 'delivery_unconfirmed'
            | 'agent_still_running'
            | 'agent_gone'
            | 'spawn_failed'
            | 'prime_failed'
            | 'relay_timeout'
          >
        : never;
    }[ErrorCode];

export interface ErrorDetail {
  hint?: string;
  data?: ErrorData;
  cause?: unknown;
}

/** For machines: each code has its own. These are read by our own code as well. */
interface ErrorData {
  [key: string]: unknown;
  line?: number;
  /** What is wrong is only that a key was revoked since. SPEC §5.5 */
  distrusted?: boolean;
  /** Bytes that git wanted at once, and may take. */
  wanted?: number;
  limit?: number;
  /** Git gave up on folders in folders. */
  isTooDeep?: boolean;
}

export class HandoffError extends Error {
  override readonly name = 'HandoffError';
  readonly code: ErrorCode;
  /** What to do next: a sentence, preferably with the command. */
  readonly hint: string | undefined;
  readonly data: ErrorData | undefined;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.code = code;
    this.hint = detail.hint;
    this.data = detail.data;
  }

  get exitCode(): 1 | 2 | 3 | 4 {
    return EXIT[this.code];
  }
}

/** One thing an audit found. Audits return all of them; single-record functions throw. */
export interface Finding {
  code: FindingCode;
  severity: 'error' | 'warning';
  path?: string;
  line?: number;
  record?: string;
  commit?: string;
  message: string;
  expected?: string;
  found?: string;
  hint: string;
}

/** What was expected and what was found, as far as the error says so in words. */
export function comparedIn({ data }: HandoffError): Pick<Finding, 'expected' | 'found'> {
  const { expected, found } = data ?? {};
  return {
    ...(typeof expected === 'string' ? { expected } : {}),
    ...(typeof found === 'string' ? { found } : {}),
  };
}

/** Whether any of them is more than a warning. */
export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'error');
}

/** For `catch`, where something else is to be done next than the error says. One of another code is thrown on. */
export function hinting(code: ErrorCode, hint: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HandoffError) || error.code !== code) throw error;
    const { message, data } = error;
    throw new HandoffError(code, message, { hint, ...(data && { data }), cause: error });
  };
}

/** For code that collects results: an error with a code is a result, any other error is thrown on. */
export function asHandoffError(error: unknown): HandoffError {
  if (error instanceof HandoffError) return error;
  throw error;
}
