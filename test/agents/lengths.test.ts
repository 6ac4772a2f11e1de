import { expect, test } from 'vitest';
import { wordsOf } from '../../src/cli/commands/agents/event-words.ts';
import { claudeSpeech } from '../../src/runtimes/speech/claude.ts';
import { skillContext } from '../../src/verbs/relay/skill.ts';

const BATON = {
  session_id: '3ed5c1fb-79c7-4eb6-ad99-c348166d5fe2',
  delta_id: '3ed5c1fb-79c7-4eb6-ad99-c348166d5fe2/000002',
  found_on: 'HEAD',
  age: 60,
  identity: 'donna',
  next_agent: null,
  branch: 'main',
  at: '2026-01-02T03:04:05Z',
  task_ids: [],
  summary: 's"'.repeat(9_000),
};

test.each([10, 3_000, 3_990, 60_000])(
  'a skill of %i letters and a card are no more than a program takes',
  (letters) => {
    const path = '/repo/.handoff/identities/donna/skill.md';
    const context = skillContext({ next_agent: 'donna' }, { path, text: 'x'.repeat(letters) });
    const answer = wordsOf({
      card: { kind: 'batons', identity: 'donna', batons: [BATON] },
      reminder: Array.from({ length: 3 }, () => ({ kind: 'no_thought', message: 'm'.repeat(500) })),
      notice: null,
      hold: null,
      relay: { context },
    });
    expect(claudeSpeech.spell('session_start', 'SessionStart', answer).length).toBeLessThanOrEqual(10_000);
    expect(answer.context).toContain(letters < 4_000 ? 'x'.repeat(letters) : path);
    expect(answer.context).toMatch(/----- END \w{32} -----$/);
  },
);
