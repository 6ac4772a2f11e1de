import type { Command } from '../command.ts';
import { agent } from './agents/agent.ts';
import { agentEvent } from './agents/agent-event.ts';
import { connect, disconnect } from './agents/connect.ts';
import { mcp } from './agents/mcp.ts';
import { relay } from './agents/relay.ts';
import { log } from './reading/log.ts';
import { show } from './reading/show.ts';
import { verify } from './reading/verify.ts';
import { audit } from './seal/audit.ts';
import { checkProof, ledger, prove, root, seal } from './seal/seals.ts';
import { accept, checkpoint, decide, decisions, note, signal, wip } from './session/records.ts';
import {
  batons,
  heartbeat,
  pickup,
  release,
  restore,
  salvage,
  sessions,
  start,
  status,
  wrap,
} from './session/sessions.ts';
import { completion } from './setup/completion.ts';
import { doctor } from './setup/doctor.ts';
import { hooks } from './setup/hooks.ts';
import { identity, keygen } from './setup/identity.ts';
import { init } from './setup/init.ts';
import { policy } from './setup/policy.ts';
import { trust } from './setup/trust.ts';
import { claim, next, task, unclaim } from './task/tasks.ts';
import { gate } from './writeback/gate.ts';
import { done, escalate, reconcile, review, thought, waiver } from './writeback/writeback.ts';

const OPEN = 'open a session; continue what one left';
const END = 'end it with a baton; what waits, what hangs';
const RECORD = 'a record in the session; what is half done';
const WRITEBACK = 'what was done, what ran; what you took in';
const MORE = 'what is decided, who is told; sign of life';
const WHERE = 'where you stand, who works; all records';
const TASKS = 'what is to be done; take it, give it back';
const AGENTS = 'run agents, replace them; events; tools';
const CHECK = 'check records, or a change; pin the root';
const JUDGE = 'a verdict, an exception; what was reverted';
const PROVE = 'what was sealed; proofs for outsiders';
const SIGN = 'who may sign; what a merge needs; all seals';
const CLIENTS = "agents' own programs; what is wrong here";
const SETUP = 'set up a repository, hooks, shell, a key';

/** Every command there is. What is not here does not exist, and is documented nowhere. */
export const COMMANDS: readonly Command[] = [
  { audience: 'Agents', row: OPEN, ...start },
  { audience: 'Agents', row: OPEN, ...pickup },
  { audience: 'Agents', row: OPEN, ...restore },
  { audience: 'Agents', row: OPEN, ...salvage },
  { audience: 'Agents', row: END, ...wrap },
  { audience: 'Agents', row: END, ...seal },
  { audience: 'Agents', row: END, ...batons },
  { audience: 'Agents', row: END, ...release },
  { audience: 'Agents', row: RECORD, ...note },
  { audience: 'Agents', row: RECORD, ...checkpoint },
  { audience: 'Agents', row: RECORD, ...decide },
  { audience: 'Agents', row: RECORD, ...wip },
  { audience: 'Agents', row: WRITEBACK, ...done },
  { audience: 'Agents', row: WRITEBACK, ...thought },
  { audience: 'Agents', row: WRITEBACK, ...escalate },
  { audience: 'Agents', row: WRITEBACK, ...accept },
  { audience: 'Agents', row: MORE, ...decisions },
  { audience: 'Agents', row: MORE, ...signal },
  { audience: 'Agents', row: MORE, ...heartbeat },
  { audience: 'Agents', row: WHERE, ...status },
  { audience: 'Agents', row: WHERE, ...sessions },
  { audience: 'Agents', row: WHERE, ...log },
  { audience: 'Agents', row: WHERE, ...show },
  { audience: 'Agents', row: TASKS, ...task },
  { audience: 'Agents', row: TASKS, ...next },
  { audience: 'Agents', row: TASKS, ...claim },
  { audience: 'Agents', row: TASKS, ...unclaim },
  { audience: 'Agents', row: AGENTS, ...agent },
  { audience: 'Agents', row: AGENTS, ...relay },
  { audience: 'Agents', row: AGENTS, ...agentEvent },
  { audience: 'Agents', row: AGENTS, ...mcp },
  { audience: 'Reviewers', row: JUDGE, ...review },
  { audience: 'Reviewers', row: JUDGE, ...waiver },
  { audience: 'Reviewers', row: JUDGE, ...reconcile },
  { audience: 'Reviewers', row: CHECK, ...verify },
  { audience: 'Reviewers', row: CHECK, ...gate },
  { audience: 'Reviewers', row: CHECK, ...trust },
  { audience: 'Reviewers', row: CHECK, ...audit },
  { audience: 'Reviewers', row: PROVE, ...prove },
  { audience: 'Reviewers', row: PROVE, ...checkProof },
  { audience: 'Reviewers', row: PROVE, ...root },
  { audience: 'Maintainers', row: SIGN, ...identity },
  { audience: 'Maintainers', row: SIGN, ...policy },
  { audience: 'Maintainers', row: SIGN, ...ledger },
  { audience: 'Setup', row: CLIENTS, ...connect },
  { audience: 'Setup', row: CLIENTS, ...disconnect },
  { audience: 'Setup', row: CLIENTS, ...doctor },
  { audience: 'Setup', row: SETUP, ...init },
  { audience: 'Setup', row: SETUP, ...hooks },
  { audience: 'Setup', row: SETUP, ...completion },
  { audience: 'Setup', row: SETUP, ...keygen },
];
