import type { Repository } from '../repository/repository.ts';
import type { ConnectOptions } from './agents/connect.ts';
import type { DisconnectOptions } from './agents/disconnect.ts';
import type { CheckProofOptions } from './ledger/check-proof.ts';

/**
 * Every verb under the name that the library calls it by. A verb is loaded when it is called: a hook that verifies need not load
 * what signs.
 */
export const VERBS = {
  init: async () => (await import('./setup/init.ts')).init,
  trust: async () => (await import('./setup/trust.ts')).trust,
  identity: {
    add: async () => (await import('./setup/identity.ts')).identityAdd,
    keygen: async () => {
      const { identityKeygen } = await import('./setup/identity-keygen.ts');
      return (repository: Repository, options: { name: string }) =>
        identityKeygen({ repository, env: repository.env }, options);
    },
    list: async () => (await import('./setup/identity-list.ts')).identityList,
    rotate: async () => (await import('./setup/identity-rotate.ts')).identityRotate,
    revoke: async () => (await import('./setup/identity-revoke.ts')).identityRevoke,
    resign: async () => (await import('./setup/identity-resign.ts')).identityResign,
    skill: async () => (await import('./setup/identity-skill.ts')).identitySkill,
    export: async () => (await import('./setup/identity-list.ts')).identityExport,
  },
  policy: {
    show: async () => (await import('./setup/policy.ts')).policyShow,
    set: async () => (await import('./setup/policy.ts')).policySet,
    sign: async () => (await import('./setup/policy-sign.ts')).policySign,
  },
  connect: async () => {
    const { connect } = await import('./agents/connect.ts');
    return (repository: Repository, options?: ConnectOptions) => connect({ repository, env: repository.env }, options);
  },
  disconnect: async () => {
    const { disconnect } = await import('./agents/disconnect.ts');
    return (repository: Repository, options?: DisconnectOptions) =>
      disconnect({ repository, env: repository.env }, options);
  },
  doctor: async () => (await import('./setup/doctor.ts')).doctor,
  hooks: {
    install: async () => (await import('./setup/hooks.ts')).hooksInstall,
    uninstall: async () => (await import('./setup/hooks.ts')).hooksUninstall,
    status: async () => (await import('./setup/hooks.ts')).hooksStatus,
  },

  agent: {
    run: async () => (await import('./terminals/agent-run.ts')).agentRun,
    list: async () => (await import('./terminals/agent-list.ts')).agentList,
    attach: async () => (await import('./terminals/agent-attach.ts')).agentAttach,
    stop: async () => (await import('./terminals/agent-stop.ts')).agentStop,
  },

  relay: {
    start: async () => (await import('./relay/trigger.ts')).relay,
    /** As a page asks for it, with the status and the words of the answer. */
    trigger: async () => (await import('./relay/trigger.ts')).handoffTrigger,
    list: async () => (await import('./relay/relays.ts')).relayList,
    show: async () => (await import('./relay/relays.ts')).relayShow,
    retry: async () => (await import('./relay/exits.ts')).relayRetry,
    abandon: async () => (await import('./relay/exits.ts')).relayAbandon,
    force: async () => (await import('./relay/exits.ts')).relayForce,
    drive: async () => (await import('./relay/drive.ts')).relayDrive,
  },

  start: async () => (await import('./session/start.ts')).start,
  pickup: async () => (await import('./session/pickup.ts')).pickup,
  wrap: async () => (await import('./session/wrap.ts')).wrap,
  wrapDraft: async () => (await import('./session/wrap-draft.ts')).wrapDraft,
  salvage: async () => (await import('./terminals/salvage.ts')).salvage,
  accept: async () => (await import('./session/accept.ts')).accept,
  restore: async () => (await import('./session/restore.ts')).restore,
  heartbeat: async () => (await import('./session/heartbeat.ts')).heartbeat,
  release: async () => (await import('./session/release.ts')).release,
  sessions: async () => (await import('./session/sessions.ts')).sessions,
  batons: async () => (await import('./session/batons.ts')).batons,
  status: async () => (await import('./session/status.ts')).status,
  note: async () => (await import('./session/record-verbs.ts')).note,
  checkpoint: async () => (await import('./session/record-verbs.ts')).checkpoint,
  decide: async () => (await import('./session/record-verbs.ts')).decide,
  wip: {
    open: async () => (await import('./session/record-verbs.ts')).wipOpen,
    close: async () => (await import('./session/record-verbs.ts')).wipClose,
    list: async () => (await import('./session/wip-list.ts')).wipList,
  },
  signal: {
    send: async () => (await import('./session/record-verbs.ts')).signalSend,
    pending: async () => (await import('./session/signal-pending.ts')).signalPending,
  },

  task: {
    add: async () => (await import('./task/define.ts')).taskAdd,
    edit: async () => (await import('./task/define.ts')).taskEdit,
    list: async () => (await import('./task/list.ts')).taskList,
    show: async () => (await import('./task/list.ts')).taskShow,
    update: async () => (await import('./task/update.ts')).taskUpdate,
    graph: async () => (await import('./task/graph.ts')).taskGraph,
  },
  next: async () => (await import('./task/next.ts')).next,
  claim: async () => (await import('./task/claim.ts')).claim,
  unclaim: async () => (await import('./task/unclaim.ts')).unclaim,
  done: async () => (await import('./task/done.ts')).done,

  thought: async () => (await import('./writeback/thought.ts')).thought,
  escalate: async () => (await import('./writeback/escalate.ts')).escalate,
  review: async () => (await import('./writeback/review.ts')).review,
  waiver: async () => (await import('./writeback/waiver.ts')).waiver,
  reconcile: async () => (await import('./writeback/reconcile.ts')).reconcile,
  gate: async () => (await import('./writeback/gate.ts')).gate,

  verify: async () => (await import('./reading/verify.ts')).verify,
  log: async () => (await import('./reading/log.ts')).log,
  show: async () => (await import('./reading/show.ts')).show,
  /** The same, and where no record is called so, the records of a session. */
  showNamed: async () => (await import('./reading/show.ts')).showNamed,
  decisions: async () => (await import('./reading/decisions.ts')).decisions,

  audit: {
    start: async () => (await import('./seal/audit-start.ts')).auditStart,
    verify: async () => (await import('./seal/audit-verify.ts')).auditVerify,
  },
  seal: async () => (await import('./seal/seal.ts')).seal,
  root: async () => (await import('./seal/root.ts')).root,
  prove: async () => (await import('./ledger/prove.ts')).prove,
  checkProof: async () => {
    const { checkProofFile } = await import('./ledger/check-proof.ts');
    return (repository: Repository, options: CheckProofOptions) => checkProofFile(options, async () => repository);
  },
  ledger: {
    append: async () => (await import('./ledger/append.ts')).ledgerAppend,
    verify: async () => (await import('./ledger/verify.ts')).ledgerVerify,
    key: async () => (await import('./ledger/key.ts')).ledgerKey,
  },
} satisfies VerbTable;

// biome-ignore lint/suspicious/noExplicitAny: what each takes is its own affair, and Bound keeps it
type Load = () => Promise<(repository: Repository, ...options: any[]) => Promise<object>>;

interface VerbTable {
  [name: string]: Load | VerbTable;
}

/** The verbs of one repository: each takes its options and answers with what `--json` prints. */
export type Bound<Table> = {
  [Name in keyof Table]: Table[Name] extends () => Promise<
    (repository: Repository, ...options: infer Options) => infer Answer
  >
    ? (...options: Options) => Answer
    : Bound<Table[Name]>;
};

export function bindVerbs<Table extends VerbTable>(table: Table, repository: Repository): Bound<Table> {
  const bound = Object.entries(table).map(([name, entry]) => [
    name,
    typeof entry === 'function'
      ? async (...options: unknown[]) => (await entry())(repository, ...options)
      : bindVerbs(entry, repository),
  ]);
  return Object.fromEntries(bound); // the names and what stands under them are the table's
}
