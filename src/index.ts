import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Role } from './core/trust/trust.ts';
import type { WaitingBaton } from './custody/baton/waiting-batons.ts';
import type { SessionChoice } from './custody/chosen-session.ts';
import type { GateResult } from './gate/result.ts';
import { nodeHost } from './host.ts';
import type { Actor } from './journal/keys/signers.ts';
import { openRepositoryAt, type Program, type Repository, type RepositoryOptions } from './repository/repository.ts';
import type { LedgerAppendOptions, LedgerAppendResult } from './verbs/ledger/append.ts';
import type { CheckProofOptions, CheckProofResult } from './verbs/ledger/check-proof.ts';
import type { LedgerKeyResult } from './verbs/ledger/key.ts';
import type { ProveOptions, ProveResult } from './verbs/ledger/prove.ts';
import type { LedgerVerifyOptions, LedgerVerifyResult } from './verbs/ledger/verify.ts';
import type { DecisionListing, DecisionsOptions } from './verbs/reading/decisions.ts';
import type { LogEntry, LogOptions } from './verbs/reading/log.ts';
import type { SessionShown, ShowOptions, ShowResult } from './verbs/reading/show.ts';
import type { VerifyOptions, VerifyResult } from './verbs/reading/verify.ts';
import type { AuditStartOptions, AuditStartResult } from './verbs/seal/audit-start.ts';
import type { AuditVerifyOptions, AuditVerifyResult } from './verbs/seal/audit-verify.ts';
import type { LedgerRoot, RootOptions, RootResult } from './verbs/seal/root.ts';
import type { SealOptions, SealResult } from './verbs/seal/seal.ts';
import type { PickupOptions, PickupResult } from './verbs/session/pickup.ts';
import type { DecideOptions, RecordOptions, RecordResult, SignalOptions } from './verbs/session/record-verbs.ts';
import type { ReleaseOptions, SessionStateResult } from './verbs/session/release.ts';
import type { RestoreOptions, RestoreResult } from './verbs/session/restore.ts';
import type { SessionEntry } from './verbs/session/sessions.ts';
import type { PendingResult } from './verbs/session/signal-pending.ts';
import type { StartOptions, StartResult } from './verbs/session/start.ts';
import type { StatusResult } from './verbs/session/status.ts';
import type { WipListing } from './verbs/session/wip-list.ts';
import type { WrapOptions, WrapResult } from './verbs/session/wrap.ts';
import type { WrapDraft } from './verbs/session/wrap-draft.ts';
import type { HooksOptions, HooksResult, HooksStatus } from './verbs/setup/hooks.ts';
import type { IdentityOptions, IdentityResult } from './verbs/setup/identity.ts';
import type { KeygenResult } from './verbs/setup/identity-keygen.ts';
import type { IdentityListing } from './verbs/setup/identity-list.ts';
import type { IdentityResignOptions, IdentityResignResult } from './verbs/setup/identity-resign.ts';
import type { ResignOptions, RevokeResult } from './verbs/setup/identity-revoke.ts';
import type { RotateResult } from './verbs/setup/identity-rotate.ts';
import type { InitOptions, InitResult } from './verbs/setup/init.ts';
import type { PolicyResult, PolicySetOptions } from './verbs/setup/policy.ts';
import type { PolicySignOptions } from './verbs/setup/policy-sign.ts';
import type { TrustOptions, TrustResult } from './verbs/setup/trust.ts';
import type { ClaimOptions, ClaimResult } from './verbs/task/claim.ts';
import type { TaskDefineOptions, TaskDefineResult } from './verbs/task/define.ts';
import type { DoneResult } from './verbs/task/done.ts';
import type { TaskGraphResult } from './verbs/task/graph.ts';
import type { TaskDetail, TaskEntry, TaskListOptions } from './verbs/task/list.ts';
import type { NextResult } from './verbs/task/next.ts';
import type { TaskUpdateOptions, TaskUpdateResult } from './verbs/task/update.ts';
import type { EscalateOptions, EscalateResult } from './verbs/writeback/escalate.ts';
import type { GateOptions } from './verbs/writeback/gate.ts';
import type { ReconcileOptions, ReconcileResult } from './verbs/writeback/reconcile.ts';
import type { ReviewOptions } from './verbs/writeback/review.ts';
import type { ThoughtOptions, ThoughtResult } from './verbs/writeback/thought.ts';
import type { WaiverOptions, WaiverResult } from './verbs/writeback/waiver.ts';

export { type ErrorCode, type Finding, HandoffError } from './core/error.ts';
export { nodeHashes, verifyEd25519 } from './crypto.ts';
export { openIsomorphicStore } from './git/isomorphic/isomorphic-store.ts';
export { openNativeStore } from './git/objects/native-store.ts';
export type { GitStore } from './git/objects/store.ts';

declare const __BUILD__: string | undefined;

/** The verbs as functions: each returns what `--json` prints and throws HandoffError. */
export interface Handoff extends SessionVerbs, TaskVerbs, WritebackVerbs, SealVerbs {
  init(options?: InitOptions): Promise<InitResult>;
  identity: {
    add(options: IdentityOptions & { role?: Role }): Promise<IdentityResult>;
    keygen(options: { name: string }): Promise<KeygenResult>;
    list(): Promise<IdentityListing>;
    rotate(options: IdentityOptions): Promise<RotateResult>;
    revoke(options: IdentityOptions & ResignOptions): Promise<RevokeResult>;
    resign(options?: IdentityResignOptions): Promise<IdentityResignResult>;
    export(): Promise<{ allowed_signers: string }>;
  };
  policy: {
    show(): Promise<PolicyResult>;
    set(options: PolicySetOptions): Promise<PolicyResult>;
    sign(options?: PolicySignOptions): Promise<PolicyResult>;
  };
  hooks: {
    install(options?: HooksOptions): Promise<HooksResult>;
    uninstall(): Promise<HooksResult>;
    status(): Promise<HooksStatus>;
  };
  audit: {
    start(options: AuditStartOptions): Promise<AuditStartResult>;
    verify(options?: AuditVerifyOptions): Promise<AuditVerifyResult>;
  };
  trust(options?: TrustOptions): Promise<TrustResult>;
  verify(options?: VerifyOptions): Promise<VerifyResult>;
  gate(options: GateOptions): Promise<GateResult>;
  log(options?: LogOptions): Promise<{ records: LogEntry[] }>;
  show(options: ShowOptions): Promise<ShowResult>;
  /** The same, and where no record is called so, the records of a session. */
  showNamed(options: ShowOptions): Promise<ShowResult | SessionShown>;
  /** Ends the git process that reads objects. */
  close(): Promise<void>;
}

interface SealVerbs {
  seal(options?: SealOptions): Promise<SealResult>;
  root(options?: RootOptions): Promise<RootResult | LedgerRoot>;
  prove(options: ProveOptions): Promise<ProveResult>;
  checkProof(options: CheckProofOptions): Promise<CheckProofResult>;
  ledger: {
    append(options?: LedgerAppendOptions): Promise<LedgerAppendResult>;
    verify(options?: LedgerVerifyOptions): Promise<LedgerVerifyResult>;
    key(options?: Actor): Promise<LedgerKeyResult>;
  };
}

interface WritebackVerbs {
  thought(options: ThoughtOptions): Promise<ThoughtResult>;
  escalate(options: EscalateOptions): Promise<EscalateResult>;
  review(options: ReviewOptions): Promise<RecordResult>;
  waiver(options: WaiverOptions): Promise<WaiverResult>;
  reconcile(options?: ReconcileOptions): Promise<ReconcileResult>;
}

interface SessionVerbs {
  start(options?: StartOptions): Promise<StartResult>;
  pickup(options?: PickupOptions): Promise<PickupResult>;
  wrap(options: WrapOptions): Promise<WrapResult>;
  wrapDraft(options?: SessionChoice): Promise<WrapDraft>;
  restore(options?: RestoreOptions): Promise<RestoreResult>;
  note(options: RecordOptions & { text: string }): Promise<RecordResult>;
  checkpoint(options?: RecordOptions & { text?: string }): Promise<RecordResult>;
  decide(options: DecideOptions): Promise<RecordResult>;
  decisions(options?: DecisionsOptions): Promise<DecisionListing>;
  wip: {
    open(options: RecordOptions & { key: string; text: string }): Promise<RecordResult>;
    close(options: RecordOptions & { key: string; text?: string }): Promise<RecordResult>;
    list(): Promise<WipListing>;
  };
  signal: {
    send(options: SignalOptions): Promise<RecordResult>;
    pending(options?: SessionChoice): Promise<PendingResult>;
  };
  heartbeat(options?: SessionChoice): Promise<SessionStateResult>;
  release(options: ReleaseOptions): Promise<SessionStateResult>;
  sessions(): Promise<{ sessions: SessionEntry[] }>;
  batons(): Promise<{ batons: WaitingBaton[] }>;
  status(options?: SessionChoice): Promise<StatusResult>;
}

interface TaskVerbs {
  task: {
    add(options: TaskDefineOptions & { title: string }): Promise<TaskDefineResult>;
    edit(options: TaskDefineOptions): Promise<TaskDefineResult>;
    list(options?: TaskListOptions): Promise<{ tasks: TaskEntry[] }>;
    show(options: { id: string }): Promise<TaskDetail>;
    update(options: TaskUpdateOptions): Promise<TaskUpdateResult>;
    graph(options?: { format?: 'text' | 'mermaid' }): Promise<TaskGraphResult>;
  };
  next(options?: { limit?: number }): Promise<NextResult>;
  claim(options: ClaimOptions): Promise<ClaimResult>;
  done(options: ThoughtOptions): Promise<DoneResult>;
  unclaim(options: Omit<ClaimOptions, 'worktree'>): Promise<ClaimResult>;
}

/** Opens the repository that a directory is in. */
export function openRepository(directory = process.cwd(), options: Partial<RepositoryOptions> = {}): Handoff {
  const build = typeof __BUILD__ === 'string' ? __BUILD__ : null;
  const env = options.env ?? process.env;
  const repository = openRepositoryAt(directory, { build, host: nodeHost, program: program(), ...options, env });
  return {
    ...verbs(repository),
    ...sessionVerbs(repository),
    ...recordVerbs(repository),
    ...writebackVerbs(repository),
    ...taskVerbs(repository),
    ...sealVerbs(repository),
    identity: identityVerbs(repository),
    policy: policyVerbs(repository),
    hooks: hookVerbs(repository),
    audit: auditVerbs(repository),
    close: () => repository.close(),
  };
}

/** What hooks start, where it was published beside this file. */
function program(): Program | null {
  const hook = fileURLToPath(new URL('./hook.sh', import.meta.url));
  return existsSync(hook) ? { node: process.execPath, hook } : null;
}

/** Verbs are loaded when they are called: a hook that verifies need not load what signs. */
function verbs(
  repository: Repository,
): Pick<Handoff, 'init' | 'trust' | 'verify' | 'gate' | 'log' | 'show' | 'showNamed'> {
  return {
    init: async (options) => (await import('./verbs/setup/init.ts')).init(repository, options),
    trust: async (options) => (await import('./verbs/setup/trust.ts')).trust(repository, options),
    verify: async (options) => (await import('./verbs/reading/verify.ts')).verify(repository, options),
    gate: async (options) => (await import('./verbs/writeback/gate.ts')).gate(repository, options),
    log: async (options) => (await import('./verbs/reading/log.ts')).log(repository, options),
    show: async (options) => (await import('./verbs/reading/show.ts')).show(repository, options),
    showNamed: async (options) => (await import('./verbs/reading/show.ts')).showNamed(repository, options),
  };
}

function sessionVerbs(
  repository: Repository,
): Pick<
  Handoff,
  'start' | 'pickup' | 'wrap' | 'wrapDraft' | 'restore' | 'heartbeat' | 'release' | 'sessions' | 'batons' | 'status'
> {
  return {
    start: async (options) => (await import('./verbs/session/start.ts')).start(repository, options),
    pickup: async (options) => (await import('./verbs/session/pickup.ts')).pickup(repository, options),
    wrap: async (options) => (await import('./verbs/session/wrap.ts')).wrap(repository, options),
    wrapDraft: async (options) => (await import('./verbs/session/wrap-draft.ts')).wrapDraft(repository, options),
    restore: async (options) => (await import('./verbs/session/restore.ts')).restore(repository, options),
    heartbeat: async (options) => (await import('./verbs/session/heartbeat.ts')).heartbeat(repository, options),
    release: async (options) => (await import('./verbs/session/release.ts')).release(repository, options),
    batons: async () => (await import('./verbs/session/batons.ts')).batons(repository),
    sessions: async () => (await import('./verbs/session/sessions.ts')).sessions(repository),
    status: async (options) => (await import('./verbs/session/status.ts')).status(repository, options),
  };
}

function recordVerbs(
  repository: Repository,
): Pick<Handoff, 'note' | 'checkpoint' | 'decide' | 'decisions' | 'wip' | 'signal'> {
  const load = () => import('./verbs/session/record-verbs.ts');
  return {
    note: async (options) => (await load()).note(repository, options),
    checkpoint: async (options) => (await load()).checkpoint(repository, options),
    decide: async (options) => (await load()).decide(repository, options),
    decisions: async (options) => (await import('./verbs/reading/decisions.ts')).decisions(repository, options),
    wip: {
      open: async (options) => (await load()).wipOpen(repository, options),
      close: async (options) => (await load()).wipClose(repository, options),
      list: async () => (await import('./verbs/session/wip-list.ts')).wipList(repository),
    },
    signal: {
      send: async (options) => (await load()).signalSend(repository, options),
      pending: async (options) =>
        (await import('./verbs/session/signal-pending.ts')).signalPending(repository, options),
    },
  };
}

function writebackVerbs(repository: Repository): WritebackVerbs {
  return {
    thought: async (options) => (await import('./verbs/writeback/thought.ts')).thought(repository, options),
    escalate: async (options) => (await import('./verbs/writeback/escalate.ts')).escalate(repository, options),
    review: async (options) => (await import('./verbs/writeback/review.ts')).review(repository, options),
    waiver: async (options) => (await import('./verbs/writeback/waiver.ts')).waiver(repository, options),
    reconcile: async (options) => (await import('./verbs/writeback/reconcile.ts')).reconcile(repository, options),
  };
}

function sealVerbs(repository: Repository): SealVerbs {
  return {
    seal: async (options) => (await import('./verbs/seal/seal.ts')).seal(repository, options),
    root: async (options) => (await import('./verbs/seal/root.ts')).root(repository, options),
    prove: async (options) => (await import('./verbs/ledger/prove.ts')).prove(repository, options),
    checkProof: async (options) =>
      (await import('./verbs/ledger/check-proof.ts')).checkProofFile(options, async () => repository),
    ledger: {
      append: async (options) => (await import('./verbs/ledger/append.ts')).ledgerAppend(repository, options),
      verify: async (options) => (await import('./verbs/ledger/verify.ts')).ledgerVerify(repository, options),
      key: async (options) => (await import('./verbs/ledger/key.ts')).ledgerKey(repository, options),
    },
  };
}

function taskVerbs(repository: Repository): TaskVerbs {
  const loadList = () => import('./verbs/task/list.ts');
  const loadDefine = () => import('./verbs/task/define.ts');
  return {
    task: {
      add: async (options) => (await loadDefine()).taskAdd(repository, options),
      edit: async (options) => (await loadDefine()).taskEdit(repository, options),
      list: async (options) => (await loadList()).taskList(repository, options),
      show: async (options) => (await loadList()).taskShow(repository, options),
      update: async (options) => (await import('./verbs/task/update.ts')).taskUpdate(repository, options),
      graph: async (options) => (await import('./verbs/task/graph.ts')).taskGraph(repository, options),
    },
    next: async (options) => (await import('./verbs/task/next.ts')).next(repository, options),
    done: async (options) => (await import('./verbs/task/done.ts')).done(repository, options),
    claim: async (options) => (await import('./verbs/task/claim.ts')).claim(repository, options),
    unclaim: async (options) => (await import('./verbs/task/unclaim.ts')).unclaim(repository, options),
  };
}

function identityVerbs(repository: Repository): Handoff['identity'] {
  const load = () => import('./verbs/setup/identity.ts');
  const loadList = () => import('./verbs/setup/identity-list.ts');
  return {
    add: async (options) => (await load()).identityAdd(repository, options),
    keygen: async (options) =>
      (await import('./verbs/setup/identity-keygen.ts')).identityKeygen({ repository, env: repository.env }, options),
    list: async () => (await loadList()).identityList(repository),
    rotate: async (options) => (await import('./verbs/setup/identity-rotate.ts')).identityRotate(repository, options),
    revoke: async (options) => (await import('./verbs/setup/identity-revoke.ts')).identityRevoke(repository, options),
    resign: async (options = {}) =>
      (await import('./verbs/setup/identity-resign.ts')).identityResign(repository, options),
    export: async () => (await loadList()).identityExport(repository),
  };
}

function policyVerbs(repository: Repository): Handoff['policy'] {
  const load = () => import('./verbs/setup/policy.ts');
  return {
    show: async () => (await load()).policyShow(repository),
    set: async (options) => (await load()).policySet(repository, options),
    sign: async (options = {}) => (await import('./verbs/setup/policy-sign.ts')).policySign(repository, options),
  };
}

function hookVerbs(repository: Repository): Handoff['hooks'] {
  const load = () => import('./verbs/setup/hooks.ts');
  return {
    install: async (options) => (await load()).hooksInstall(repository, options),
    uninstall: async () => (await load()).hooksUninstall(repository),
    status: async () => (await load()).hooksStatus(repository),
  };
}

function auditVerbs(repository: Repository): Handoff['audit'] {
  return {
    start: async (options) => (await import('./verbs/seal/audit-start.ts')).auditStart(repository, options),
    verify: async (options) => (await import('./verbs/seal/audit-verify.ts')).auditVerify(repository, options),
  };
}
