import { RUNTIME_NAMES } from '../../../runtimes/runtime.ts';
import type { Driven } from '../../../verbs/relay/drive.ts';
import type { RelayAbandoned } from '../../../verbs/relay/exits.ts';
import type { RelayEntry } from '../../../verbs/relay/relays.ts';
import type { RelayBegun, RelayOptions } from '../../../verbs/relay/trigger.ts';
import { type Argument, type Context, defineVerb, type Family } from '../../command.ts';

const text = () => import('./relay-text.ts');
const exits = () => import('../../../verbs/relay/exits.ts');
const ID: Argument = { name: 'ID', about: 'a relay, or its session; the beginning is enough' };

type Words = Omit<RelayOptions, 'target'> & { session: string; wait?: boolean };

const start = defineVerb<Words, RelayBegun | RelayEntry>({
  name: 'start',
  isDefault: true,
  summary: 'have an agent replaced',
  purpose:
    'Has an agent write a handoff, ends its session with it, and starts a successor that is told to read it. The word start may be left ' +
    'out: git handoff relay SESSION. It answers at once, and a process of its own goes on; with --wait it goes on here and shows each ' +
    'step. A step that fails says why, and git handoff relay retry, abandon or force goes on from there.',
  args: [{ name: 'SESSION', about: 'the session of the agent, or the beginning' }],
  flags: [
    {
      flags: '--reason <r>',
      about: 'why: context_limit, shift_end, task_boundary, rate_limit, manual (default), or a few words',
    },
    { flags: '--to <runtime>', about: 'another program continues', choices: RUNTIME_NAMES },
    { flags: '--next-agent <name>', about: 'another identity continues' },
    { flags: '--keep', about: 'leave the program of the predecessor running' },
    { flags: '--wait', about: 'go through with it here, and show each step' },
    { flags: '--timeout <s>', about: 'how long a step may take; default: 300', atLeast: 1 },
  ],
  examples: [
    { run: 'git handoff relay 7c1f09aa --reason context_limit', does: 'its context is full' },
    { run: 'git handoff relay start 7c1f09aa --keep', does: 'leave its program running' },
    { run: 'git handoff relay 7c1f09aa --to codex --reason rate_limit --wait', does: 'another program goes on' },
  ],
  async run(context, { session, wait, ...options }) {
    const { relay, relayWaiting } = await import('../../../verbs/relay/trigger.ts');
    const repository = await context.repository();
    const given = { target: session, ...options };
    return wait ? relayWaiting(repository, given, await stepsShown(context)) : relay(repository, given);
  },
  text: async (result, paint) => (await text()).formatBegun(result, paint),
  refused: isFailed,
});

const list = defineVerb<object, { relays: RelayEntry[] }>({
  name: 'list',
  summary: 'relays and where they stand',
  purpose: 'Lists the relays of this repository, the newest first, with what failed and what can be done about it.',
  examples: [{ run: 'git handoff relay list', does: 'which are under way' }],
  run: async (context) => (await import('../../../verbs/relay/relays.ts')).relayList(await context.repository()),
  text: async (result, paint) => (await text()).formatRelays(result, paint),
});

const show = defineVerb<{ id: string }, RelayEntry>({
  name: 'show',
  summary: 'one relay, step by step',
  purpose: 'Shows where a relay stands: its steps, the draft, the baton, the successor, what failed, and the ways out.',
  args: [ID],
  examples: [{ run: 'git handoff relay show 7c1f09aa', does: 'where it stands' }],
  run: async (context, options) =>
    (await import('../../../verbs/relay/relays.ts')).relayShow(await context.repository(), options),
  text: async (result, paint) => (await text()).formatRelay(result, paint),
});

const watch = defineVerb<{ id?: string }, { relays: RelayEntry[] }>({
  name: 'watch',
  summary: 'steps as they are made',
  purpose:
    'Shows each step of a relay, or of all of them, as it is made, and rings the bell of the terminal when one fails or is done. It ends ' +
    'when none of them is under way.',
  args: [{ ...ID, optional: true }],
  examples: [{ run: 'git handoff relay watch', does: 'in a window of its own' }],
  run: async (context, options) =>
    (await import('../../../verbs/relay/watch.ts')).relayWatch(
      await context.repository(),
      options,
      await stepsShown(context),
    ),
  text: async (result, paint) => (await text()).formatRelays(result, paint),
});

const retry = defineVerb<{ id: string }, RelayEntry>({
  name: 'retry',
  summary: 'again from the step that failed',
  purpose:
    'Goes on with a relay that failed, from the step that failed. What was done by then is looked at first: a text that was taken is not ' +
    'sent again, a handoff that is there by now is recorded, a successor that runs is kept.',
  args: [ID],
  examples: [{ run: 'git handoff relay retry 7c1f09aa', does: 'after you have seen what was in the way' }],
  run: async (context, options) => (await exits()).relayRetry(await context.repository(), options),
  text: async (result, paint) => (await text()).formatRelay(result, paint),
});

const abandon = defineVerb<{ id: string }, RelayAbandoned>({
  name: 'abandon',
  summary: 'stop a relay where it stands',
  purpose: 'Ends a relay, under way or failed. Whoever is alive keeps the work; the answer says who that is.',
  args: [ID],
  examples: [{ run: 'git handoff relay abandon 7c1f09aa', does: 'the agent goes on as before' }],
  run: async (context, options) => (await exits()).relayAbandon(await context.repository(), options),
  text: async (result, paint) => (await text()).formatAbandoned(result, paint),
});

const force = defineVerb<{ id: string; reason: string }, RelayEntry>({
  name: 'force',
  summary: 'go on although unconfirmed',
  purpose:
    'Goes past the step that a relay waits for or failed at, where there is something to go on with: a delivery that nobody confirmed, a ' +
    'handoff that was not written (what is known is put together) or seems to hold a secret, a program that still runs, a successor ' +
    'without hooks. That you said so, and why, stands in the relay.',
  args: [ID],
  flags: [{ flags: '--reason <text>', about: 'why, for the record', required: true }],
  examples: [{ run: 'git handoff relay force 7c1f09aa --reason "it read the instruction, I saw it"', does: 'go on' }],
  run: async (context, options) => (await exits()).relayForce(await context.repository(), options),
  text: async (result, paint) => (await text()).formatRelay(result, paint),
});

const drive = defineVerb<object, Driven>({
  name: 'drive',
  summary: 'go through with all relays here',
  purpose:
    'Makes the steps of all relays of this repository, until none is under way. A relay starts it behind itself, and so does whoever looks ' +
    'at one after a crash: there is always at most one. By hand it is of use where no process may be left behind.',
  examples: [{ run: 'git handoff relay drive', does: 'in a terminal or a service of your own' }],
  run: async (context) => (await import('../../../verbs/relay/drive.ts')).relayDrive(await context.repository()),
  text: async (result) => (await text()).formatDriven(result),
});

export const relay: Family = {
  name: 'relay',
  summary: 'replace an agent by a successor',
  purpose:
    'One command, and a successor works on: the agent writes a handoff, it is checked and signed, the agent ends, and a successor starts and ' +
    'is told to read it. docs/relay.md shows the steps.',
  examples: [
    { run: 'git handoff relay 7c1f09aa', does: 'the same as relay start' },
    { run: 'git handoff relay show 7c1f09aa', does: 'where it stands' },
  ],
  verbs: [start, list, show, watch, retry, abandon, force, drive],
};

function isFailed(result: RelayBegun | RelayEntry): boolean {
  return 'state' in result && result.state === 'failed';
}

/** Each step in a line as it is made; where a person has to look, the terminal says so. */
async function stepsShown({ showOutput, isTerminal }: Context): Promise<(relay: RelayEntry) => void> {
  const { stepLine } = await text();
  return (relay) => {
    const isAsked = isTerminal && ['failed', 'done'].includes(relay.state);
    showOutput(Buffer.from(`${stepLine(relay)}${isAsked ? '\u0007' : ''}\n`));
  };
}
