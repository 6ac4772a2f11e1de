import { parseTilePath } from '../../core/ledger/tiles.ts';
import { isIdentityName } from '../../core/names.ts';
import { CHECKPOINT, isProofName, parsePolicyName, parseSessionFolder, parseTaskName, ROOT } from '../../core/paths.ts';

/** What a path in `.handoff` is for, SPEC §2.2; null for a path that is for nothing. */
export type PathUse =
  | 'policy'
  | 'identity'
  | 'project'
  | 'task-definition'
  | 'pending'
  | 'skill'
  | 'record'
  | 'ledger'
  | 'proof';

export function useOf(path: string): PathUse | null {
  const [top, room, ...rest] = path.split('/');
  if (top !== ROOT) return null;
  if (room === 'project.yaml') return rest.length === 0 ? 'project' : null;
  if (room === 'policy' && rest.length === 1) return policyUse(rest[0]!);
  if (room === 'tasks' && rest.length === 1) return parseTaskName(rest[0]!) ? 'task-definition' : null;
  if (room === 'identities' && rest.length === 2) return isIdentityName(rest[0]!) ? identityUse(rest[1]!) : null;
  if (room === 'ledger') return isLedgerFile(rest.join('/')) ? 'ledger' : null;
  if (room === 'proofs' && rest.length === 1) return isProofName(rest[0]!) ? 'proof' : null;
  if (room !== 'sessions' || rest.length !== 3) return null;
  return isIdentityName(rest[0]!) && parseSessionFolder(rest[1]!) ? 'record' : null;
}

/** Which of the tiles it should have follows from its size. */
function isLedgerFile(path: string): boolean {
  return path === CHECKPOINT || parseTilePath(path) !== null;
}

function policyUse(name: string): PathUse | null {
  const parsed = parsePolicyName(name);
  return parsed && (parsed.pending ? 'pending' : 'policy');
}

function identityUse(name: string): PathUse | null {
  if (name === 'identity.yaml') return 'identity';
  if (name === 'skill.md') return 'skill';
  return name === 'pending.yaml' ? 'pending' : null;
}
