import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type AgentEvent, RUNTIME_NAMES, type RuntimeName } from '../../src/runtimes/runtime.ts';
import { eventNamed, runtimeNamed, SPEECHES } from '../../src/runtimes/speech/speeches.ts';

// How each program tells and is answered, in JSON of the shape that it was seen to send.

const ID = 'c02b7c54-378e-495b-a23b-759f42c385b7';
const NOTHING = {
  runtimeSession: null,
  directory: null,
  prompt: null,
  source: null,
  isHeldBefore: false,
  isAtWorkBehind: false,
  contextUsed: null,
};

function facts(runtime: RuntimeName, ownName: string, sent: object) {
  return SPEECHES[runtime].read(eventNamed(runtime, ownName)!.event, { ...sent });
}

function answer(runtime: RuntimeName, ownName: string, told: object) {
  const named = eventNamed(runtime, ownName)!;
  return SPEECHES[runtime].spell(named.event, named.ownName, told);
}

/** What Claude Code sends with everything, and Codex and Gemini too. */
const common = (event: string, more: object) => ({
  session_id: ID,
  transcript_path: '/home/tester/x.jsonl',
  cwd: '/repo',
  hook_event_name: event,
  ...more,
});
const known = { ...NOTHING, runtimeSession: ID, directory: '/repo' };

describe('what a program sends', () => {
  test.each<[RuntimeName, string, object, object]>([
    ['claude', 'SessionStart', common('SessionStart', { source: 'startup' }), { ...known, source: 'startup' }],
    ['claude', 'SessionStart', common('SessionStart', { source: 'compact' }), { ...known, source: 'compact' }],
    ['claude', 'UserPromptSubmit', common('UserPromptSubmit', { prompt: 'a\nb' }), { ...known, prompt: 'a\nb' }],
    ['claude', 'Stop', common('Stop', { stop_hook_active: true }), { ...known, isHeldBefore: true }],
    ['claude', 'StatusLine', common('', { context_window: { used_percentage: 6 } }), { ...known, contextUsed: 6 }],
    ['claude', 'StatusLine', common('', { context_window: { used_percentage: null } }), known],
    [
      'codex',
      'SessionStart',
      common('SessionStart', { source: 'compact', turn_id: ID }),
      { ...known, source: 'compact' },
    ],
    ['codex', 'Stop', common('Stop', { stop_hook_active: false }), known],
    ['gemini', 'BeforeAgent', common('BeforeAgent', { prompt: 'x', timestamp: '' }), { ...known, prompt: 'x' }],
    [
      'gemini',
      'AfterAgent',
      common('AfterAgent', { prompt: 'x', stop_hook_active: true }),
      { ...known, prompt: 'x', isHeldBefore: true },
    ],
    [
      'copilot',
      'sessionStart',
      { sessionId: ID, timestamp: 1, cwd: '/repo', source: 'new', initialPrompt: 'x' },
      { ...known, source: 'startup' },
    ],
    [
      'copilot',
      'agentStop',
      { sessionId: ID, timestamp: 1, cwd: '/repo', stop_hook_active: true },
      { ...known, isHeldBefore: true },
    ],
    ['opencode', 'chat.message', { sessionID: ID, directory: '/repo', text: 'x' }, { ...known, prompt: 'x' }],
  ])('%s, %s', (runtime, ownName, sent, read) => {
    expect(facts(runtime, ownName, sent)).toEqual(read);
  });

  const WRONG: unknown[] = [undefined, null, '', 1, -1, 101, true, [], ['/repo'], {}, { toString: null }];
  const KEYS = [
    'session_id',
    'sessionId',
    'sessionID',
    'cwd',
    'directory',
    'prompt',
    'text',
    'source',
    'stop_hook_active',
    'context_window',
  ];
  test.each(RUNTIME_NAMES)('%s: a key of another type says nothing, and never throws', (runtime) => {
    for (const value of WRONG) {
      const sent = Object.fromEntries(KEYS.map((key) => [key, value]));
      const read = SPEECHES[runtime].read('stop', sent);
      expect({ ...read, isHeldBefore: false }).toEqual(NOTHING);
      expect(read.isHeldBefore).toBe(value === true);
    }
  });

  test('what only a prototype has says nothing', () => {
    const sent = Object.create({ session_id: ID, cwd: '/repo', source: 'compact', prompt: 'x' });
    expect(facts('claude', 'SessionStart', sent)).toEqual(NOTHING);
    expect(facts('claude', 'SessionStart', { source: 'constructor' })).toEqual(NOTHING);
  });
});

describe('what a program is answered', () => {
  const hooks = (hookEventName: string) => ({ hookSpecificOutput: { hookEventName, additionalContext: 'c' } });
  test.each<[RuntimeName, string, object, object]>([
    ['claude', 'SessionStart', { context: 'c' }, hooks('SessionStart')],
    ['claude', 'session_start', { context: 'c' }, hooks('SessionStart')],
    ['claude', 'USERPROMPTSUBMIT', { context: 'c' }, hooks('UserPromptSubmit')],
    ['claude', 'Stop', { hold: 'h' }, { decision: 'block', reason: 'h' }],
    ['claude', 'Stop', { notice: 'n' }, { systemMessage: 'n' }],
    ['codex', 'Stop', { hold: 'h' }, { decision: 'block', reason: 'h' }],
    ['gemini', 'BeforeAgent', { context: 'c' }, hooks('BeforeAgent')],
    ['gemini', 'AfterAgent', { hold: 'h' }, { decision: 'block', reason: 'h' }],
    ['copilot', 'userPromptSubmitted', { context: 'c' }, { additionalContext: 'c' }],
    ['copilot', 'agentStop', { hold: 'h' }, { decision: 'block', reason: 'h' }],
    ['opencode', 'session.created', { context: 'c' }, { context: 'c' }],
    ['opencode', 'session.idle', { hold: 'h' }, { hold: 'h' }],
  ])('%s, %s: %j', (runtime, ownName, told, spelt) => {
    expect(JSON.parse(answer(runtime, ownName, told))).toEqual(spelt);
  });

  test.each(RUNTIME_NAMES)('%s: nothing is nothing, not even a line end', (runtime) => {
    for (const ownName of Object.keys(SPEECHES[runtime].events)) expect(answer(runtime, ownName, {})).toBe('');
  });

  test('Claude Code takes context at a stop for a reason to go on: it never gets any there', () => {
    expect(answer('claude', 'Stop', { hold: 'h', context: 'c' })).not.toContain('additionalContext');
  });
});

describe('names', () => {
  test.each([
    ['claude', 'Claude', 'claude'],
    ['claude', 'CODEX', 'codex'],
  ])('of a runtime are read in any case', (_, word, name) => expect(runtimeNamed(word)).toBe(name));

  test.each(['', 'cursor', '__proto__', 'claude ', '../claude'])('of no runtime: %j', (word) =>
    expect(runtimeNamed(word)).toBeNull(),
  );

  test.each(['', 'Nothing', '__proto__', 'constructor', 'context ', 'compacted'])(
    'of no event that Gemini has: %j',
    (word) => expect(eventNamed('gemini', word)).toBeNull(),
  );

  test('every runtime has an event for what an agent cannot do without', () => {
    for (const { events } of Object.values(SPEECHES))
      expect(Object.values(events)).toEqual(
        expect.arrayContaining(['session_start', 'prompt', 'tool', 'stop', 'compacting']),
      );
  });

  test('the shell has the same names for what it answers, and no others', () => {
    const shell = readFileSync(new URL('../../scripts/event.sh', import.meta.url), 'utf8');
    const named = /^name_event\(\) \{.*?^\}/ms.exec(shell)![0].replaceAll(/ \\\n\s*/g, ' ');
    const arms = [...named.matchAll(/^\s+((?:'[^']+'(?: \| )?)+)\) event=(\w+) ;;/gm)];
    const inShell = arms.flatMap(([, names, event]) =>
      [...names!.matchAll(/'([^']+)'/g)].map(([, name]) => `${name} ${event}`),
    );
    const silent: readonly AgentEvent[] = ['prompt', 'tool', 'stop', 'session_end'];
    const ours = RUNTIME_NAMES.flatMap((runtime) => {
      const { events, afterCompaction } = SPEECHES[runtime];
      const isSilent = (event: AgentEvent) =>
        silent.includes(event) || (event === 'compacted' && afterCompaction !== 'compacted');
      return Object.entries(events)
        .filter(([, event]) => isSilent(event))
        .map(([name, event]) => `${runtime} ${name} ${event}`);
    });
    expect(inShell.sort()).toEqual(ours.sort());
  });
});
