import { describe, expect, test } from 'vitest';
import { assertReason, REASONS, refusedTrigger, type TriggerFacts } from '../../src/relay/cycle/trigger.ts';
import { codeOf } from './code-of.ts';

const SESSION = '7c1f09aa-0000-4000-8000-000000000001';
const FINE: TriggerFacts = {
  session: SESSION,
  exists: true,
  isActive: true,
  hasPersona: true,
  hasTerminal: true,
  relay: null,
};
const answer = (facts: Partial<TriggerFacts>) => {
  const refusal = refusedTrigger({ ...FINE, ...facts });
  return refusal && { status: refusal.status, error: refusal.error, code: refusal.code };
};

describe('who may be replaced: the answers of the endpoint, to the letter', () => {
  test('Valid handoff trigger: nothing is in the way', () => {
    expect(answer({})).toBeNull();
  });

  test('FR2: an agent that does not exist', () => {
    expect(answer({ exists: false })).toEqual({ status: 404, error: 'Agent not found', code: 'unknown_session' });
  });

  test('Agent already ended', () => {
    expect(answer({ isActive: false })).toEqual({ status: 400, error: 'Agent is not active', code: 'session_ended' });
  });

  test('Agent without persona', () => {
    expect(answer({ hasPersona: false })).toEqual({ status: 400, error: 'Agent has no persona', code: 'no_persona' });
  });

  test('Agent without tmux pane', () => {
    expect(answer({ hasTerminal: false })).toEqual({
      status: 400,
      error: 'Agent has no tmux pane',
      code: 'no_terminal',
    });
  });

  test('Agent already has handoff record', () => {
    const relay = { relay_id: `${SESSION}.1`, state: 'under_way' as const };
    expect(answer({ relay })).toEqual({ status: 409, error: 'Handoff already in progress', code: 'relay_in_progress' });
  });

  test('of several reasons the first in the order of the requirements is told', () => {
    const relay = { relay_id: `${SESSION}.1`, state: 'failed' as const };
    const wrong: [keyof TriggerFacts, unknown, string][] = [
      ['relay', relay, 'Handoff already in progress'],
      ['hasTerminal', false, 'Agent has no tmux pane'],
      ['hasPersona', false, 'Agent has no persona'],
      ['isActive', false, 'Agent is not active'],
      ['exists', false, 'Agent not found'],
    ];
    let facts: Partial<TriggerFacts> = {};
    for (const [key, value, error] of wrong) {
      facts = { ...facts, [key]: value };
      expect(answer(facts)?.error).toBe(error);
    }
  });
});

describe('reasons', () => {
  test.each([...REASONS, 'x'.repeat(64), 'the day is over; übergeben'])('%s is one', (reason) => {
    expect(codeOf(() => assertReason(reason))).toBeNull();
  });

  test.each(['', '  ', 'x'.repeat(65), 'two\nlines', 'a\u0000b', 'a\u202eb', '\u001b[31m'])('%j is none', (reason) => {
    expect(codeOf(() => assertReason(reason))).toBe('usage');
  });
});
