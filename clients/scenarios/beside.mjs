// Copilot CLI runs the hooks of Claude Code, too: where both are connected, each event comes twice.
import assert from 'node:assert/strict';
import { ask, run } from '../place.mjs';
import { assertArrived, EVENTS, holdStops } from '../records.mjs';
import { HELD, PROMPT, STATUS_CARD, writeReader } from './words.mjs';

export async function beside(place, program, other, claim) {
  holdStops(place);
  for (const { name } of [other, program]) run(place, 'git-handoff', 'connect', name, '--as', 'donna');
  run(place, 'git-handoff', 'start', '--as', 'donna');
  place.model.rules = [writeReader(place, program), HELD];
  const { status } = await ask(place, program, PROMPT);
  await claim('it is told once where it stands', () => {
    assert.equal(status, 0);
    const [first] = place.model.heard.filter(({ tools }) => tools.length > 0);
    assert.equal(first.text.match(new RegExp(STATUS_CARD, 'g'))?.length, 1);
  });
  await claim('a stop is held once, and then let go', () => {
    assert.equal(place.model.heard.filter(({ turn }) => turn.text === HELD.turns[0].text).length, 1);
  });
  await claim('its events are its own', () => {
    assertArrived(place, program, EVENTS);
    assert.throws(() => assertArrived(place, other, ['session_start']));
  });
}
