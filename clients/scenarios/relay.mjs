// An operator has Claude Code replaced by Codex: one command, and Codex goes on with what Claude Code wrote down.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { json, run, sitDown } from '../place.mjs';
import { recordsOf } from '../records.mjs';
import { until } from '../until.mjs';

const HANDOFF = '# Current work\n\nThe reader.\n\n# Next steps\n\nTake the quotes off.\n';

export async function relay(place, { claude, codex }, claim) {
  run(place, 'git-handoff', 'connect', 'claude', '--user', '--as', 'donna');
  run(place, 'git-handoff', 'connect', 'codex', '--user', '--as', 'donna');
  await trustHooks(place, codex);
  Object.assign(place.env, claude.env(place), codex.env(place), { HANDOFF_TMUX_SOCKET: join(place.base, 'tmux') });
  const goesOn = { on: /You continue the work of donna/, turns: [{ text: 'I take the quotes off.' }] };
  place.model.rules = [{ on: /BEGIN-READER/, turns: [{ text: 'The reader is there.' }] }, goesOn];
  const started = ['agent', 'run', '--as', 'donna', '--runtime', 'claude', '--prompt', 'BEGIN-READER'];
  const command = ['--', 'claude', ...claude.interactive.slice(2), ...claude.interactive.slice(0, 2)]; // what lists tools takes all words behind it
  const { session_id } = JSON.parse(run(place, 'git-handoff', '--json', ...started, ...command));
  await until('its first turn is over', () => answered(place, 'The reader is there.') && isIdle(place, session_id));

  let begun;
  await claim('Claude Code is asked, and writes its handoff where it was asked to', async () => {
    begun = json(place, 'relay', session_id, '--to', 'codex', '--reason', 'rate_limit', '--timeout', '60');
    assert.equal(begun.status, 'initiated', JSON.stringify(begun));
    const written = [
      { calls: [claude.writes(place, begun.draft_path.slice(place.work.length + 1), HANDOFF)] },
      { text: 'Written.' },
    ];
    place.model.rules = [{ on: /to exactly this file/, turns: written }, ...place.model.rules];
    await until('the handoff is there', () => existsSync(begun.draft_path));
    assert.equal(readFileSync(begun.draft_path, 'utf8'), HANDOFF);
  });
  await claim('it ends, and Codex takes the prompt that the signed baton has', async () => {
    await until('the relay halts', () => json(place, 'relay', 'show', begun.relay_id).state !== 'under_way', 120_000);
    const shown = json(place, 'relay', 'show', begun.relay_id);
    assert.equal(shown.state, 'done', JSON.stringify(shown, null, 1));
    assert.equal(shown.successor.runtime, 'codex');
    await until('its model has heard it', () => answered(place, 'I take the quotes off.'));
  });
  await claim('one baton, one pickup of it, and every record holds', () => {
    assert.equal(recordsOf(place, 'baton').length, 1);
    assert.equal(recordsOf(place, 'pickup').length, 1);
    run(place, 'git-handoff', 'verify');
  });
}

function answered({ model }, text) {
  return model.heard.some(({ turn }) => turn.text === text);
}

function isIdle({ work }, session) {
  const file = join(work, '.git/handoff/sessions', session, 'agent-turn');
  return existsSync(file) && readFileSync(file, 'utf8').trim() === 'stop';
}

/** Codex asks once whether its hooks may run, and keeps the answer. */
async function trustHooks(place, codex) {
  const seat = sitDown(place, codex);
  for (const { asks, keys } of codex.questions) {
    await seat.shows(asks);
    for (const key of keys) {
      await sleep(500);
      seat.key(key);
    }
  }
  await seat.shows(codex.ready);
  await sleep(1_500); // what is drawn is not yet listening
  seat.paste(codex.exit);
  await sleep(500);
  seat.key('Enter');
  await until('Codex ends', seat.isOver);
}
