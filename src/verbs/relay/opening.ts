import { asHandoffError } from '../../core/error.ts';
import { writeAgent } from '../../relay/agents.ts';
import { advance } from '../../relay/cycle/advance.ts';
import { type Numbered, readRelay } from '../../relay/cycle/chain.ts';
import { claimStep } from '../../relay/cycle/claims.ts';
import type { Relay } from '../../relay/cycle/relay.ts';
import type { World } from '../../relay/cycle/world.ts';
import type { Directories, Settings } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import type { RelayWords } from './relay-words.ts';
import { skillContext, skillOf } from './skill.ts';
import { inTree, takeUp } from './world.ts';

/** A successor's program has begun: its session is opened on exactly the baton of its relay. A second time nothing is delivered. */
export async function openSuccessor(
  repository: Repository,
  world: World,
  standings: readonly Numbered[],
): Promise<RelayWords> {
  const found = standings.find(({ relay }) => isMeant(repository, relay));
  const standing = found && (await begun(world, found));
  if (standing?.relay.step !== 'spawned' || !claimStep(world, standing, 'open')) return {};
  try {
    return await open(repository, world, standing);
  } catch (error) {
    const { code, message, hint = '' } = asHandoffError(error);
    const failure = { step: 'primed' as const, code, message, hint };
    advance(world, standing, { is: 'failed', failure }, {});
    return {};
  }
}

/** What was started for a relay is told so by its environment; a program that drops it is known by its name and place. */
function isMeant({ env, dirs }: Settings & Directories, relay: Relay): boolean {
  if (relay.state !== 'under_way' || !['ended', 'spawned'].includes(relay.step)) return false;
  if (env.HANDOFF_RELAY) return env.HANDOFF_RELAY === relay.relay_id;
  return env.HANDOFF_IDENTITY === relay.next_agent && dirs.topLevel === relay.directory;
}

/** The program may be faster than whoever started it writes down that it has. */
async function begun(world: World, standing: Numbered): Promise<Numbered | null> {
  if (standing.relay.step === 'spawned') return standing;
  const agent = await world.spawned(standing);
  if (!agent) return null;
  const session_id = standing.relay.successor?.session_id ?? null;
  advance(world, standing, { is: 'made', step: 'spawned' }, { successor: { session_id, agent, given: null } });
  return readRelay(world, standing.relay.relay_id);
}

async function open(repository: Repository, world: World, standing: Numbered): Promise<RelayWords> {
  const { relay } = standing;
  const skill = await inTree(repository, relay, (tree) => skillOf(tree, relay.next_agent));
  const session_id = relay.successor?.session_id ?? (await inTree(repository, relay, (tree) => takeUp(tree, relay)));
  register(repository, relay, session_id);
  const successor = { ...relay.successor!, session_id };
  if (skill) {
    advance(world, standing, { is: 'learnt' }, { successor });
    return { context: skillContext(relay, skill), isOpened: true };
  }
  // nothing is to be taken in first, and the prompt is what it was started with: so it says at once, before somebody types it
  const given = { ...successor, given: 'argv' as const };
  advance(world, standing, { is: 'made', step: 'primed' }, { successor: given });
  return { isOpened: true };
}

/** From now on it is an agent like any other, and can be replaced itself. */
function register(repository: Repository, relay: Relay, session_id: string): void {
  const { seat, program, runtime } = relay.successor!.agent;
  writeAgent(repository, {
    session_id,
    identity: relay.next_agent,
    runtime,
    seat,
    program,
    directory: relay.directory,
    previous_session_id: relay.session_id,
    started_at: repository.now().toISOString(),
    bound_by: 'relay',
  });
}
