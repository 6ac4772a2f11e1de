import type { Family, Verb } from '../command.ts';

/**
 * In which file a verb is described. Whoever names one need not wait until all are described; for a word that is not here, the table
 * of all of them is asked.
 */
const PLACES: readonly [load: () => Promise<Record<string, Verb | Family>>, names: readonly string[]][] = [
  [() => import('./session/records.ts'), ['note', 'checkpoint', 'decide', 'decisions', 'wip', 'signal', 'accept']],
  [
    () => import('./session/sessions.ts'),
    [
      'start',
      'pickup',
      'hd-exec',
      'wrap',
      'restore',
      'status',
      'sessions',
      'batons',
      'heartbeat',
      'release',
      'salvage',
    ],
  ],
  [() => import('./task/tasks.ts'), ['task', 'next', 'claim', 'unclaim']],
  [() => import('./writeback/writeback.ts'), ['thought', 'done', 'escalate', 'review', 'waiver', 'reconcile']],
  [() => import('./writeback/gate.ts'), ['gate']],
  [() => import('./setup/hooks.ts'), ['hooks']],
  [() => import('./reading/verify.ts'), ['verify']],
  [() => import('./reading/log.ts'), ['log']],
  [() => import('./reading/show.ts'), ['show']],
  [() => import('./seal/seals.ts'), ['seal', 'root', 'prove', 'check-proof', 'ledger']],
  [() => import('./seal/audit.ts'), ['audit']],
  [() => import('./setup/trust.ts'), ['trust']],
  [() => import('./setup/init.ts'), ['init']],
  [() => import('./setup/identity.ts'), ['identity', 'keygen']],
  [() => import('./setup/policy.ts'), ['policy']],
  [() => import('./setup/doctor.ts'), ['doctor']],
  [() => import('./setup/completion.ts'), ['completion']],
  [() => import('./agents/mcp.ts'), ['mcp']],
  [() => import('./agents/connect.ts'), ['connect', 'disconnect']],
  [() => import('./agents/agent-event.ts'), ['agent-event']],
  [() => import('./agents/agent.ts'), ['agent']],
  [() => import('./agents/relay.ts'), ['relay']],
];

/** The verbs that are among these words: most often one, which is what is called. */
export async function describe(words: readonly string[]): Promise<(Verb | Family)[]> {
  const places = PLACES.filter(([, names]) => names.some((name) => words.includes(name)));
  const found = await Promise.all(places.map(([load]) => load()));
  const verbs = found.flatMap((file) => Object.values(file));
  return verbs.filter(({ name, alias }) => words.includes(name) || (alias !== undefined && words.includes(alias)));
}
