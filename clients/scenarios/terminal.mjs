// A program that a person sits before, connected for all repositories of that person.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { json, run, sitDown } from '../place.mjs';
import { assertArrived, commitAll, EVENTS, holdStops, recordsOf } from '../records.mjs';
import { differences, snapshot } from '../snapshot.mjs';
import { until } from '../until.mjs';
import { HELD, PROMPT, STATUS_CARD, writeReader } from './words.mjs';

const SECOND = { on: /SECOND-PROMPT/, turns: [{ text: 'It is still there.' }] };

export async function terminal(place, program, claim) {
  holdStops(place);
  await claim("connect --user and disconnect --user give back every byte of the user's settings", () => {
    const before = snapshot(place.home, []);
    const [{ files }] = json(place, 'connect', program.name, '--user', '--as', 'donna').runtimes;
    assert.notEqual(files.length, 0);
    run(place, 'git-handoff', 'disconnect', program.name, '--user');
    const after = snapshot(place.home, []);
    assert.deepEqual(
      differences(before, after).filter((path) => isOurs(files, path, after)),
      [],
    );
  });
  run(place, 'git-handoff', 'connect', program.name, '--user', '--as', 'donna');
  run(place, 'git-handoff', 'start', '--as', 'donna');
  place.model.rules = [writeReader(place, program), SECOND, HELD];

  const seat = sitDown(place, program);
  await settle(seat, program);
  await claim('a session that starts tells the model where it stands', async () => {
    await say(place, seat, PROMPT);
    assert.match(heard(place, PROMPT).text, STATUS_CARD);
  });
  await claim('a stop is held once, and then let go', async () => {
    await until('the model hears why', () => answered(place, HELD.turns[0].text));
    await quiet(seat);
    assert.equal(place.model.heard.filter(({ turn }) => turn.text === HELD.turns[0].text).length, 1);
  });
  await claim('a compaction leaves a signed checkpoint', async () => {
    await enter(seat, program.compact);
    await until('a checkpoint is written', () => recordsOf(place, 'checkpoint').length > 0);
    await quiet(seat);
    assert.match(recordsOf(place, 'checkpoint')[0].summary, /Before a compaction/);
  });
  await claim('after it the model is told where it stood', async () => {
    await say(place, seat, 'SECOND-PROMPT');
    assert.match(heard(place, 'SECOND-PROMPT').text, /Before a compaction/);
  });
  await claim('ends when it is told to', async () => {
    await enter(seat, program.exit);
    await until('the program ends', seat.isOver);
    assert.equal(seat.exitCode(), 0);
  });
  await claim('the end of its session is told', () => assertArrived(place, program, ['session_end']));
  await claim('its events arrive', () => assertArrived(place, program, [...EVENTS, ...program.compactionEvents]));
  await claim('what was written holds', () => {
    commitAll(place, 'The reader');
    run(place, 'git-handoff', 'verify');
  });
}

/** A program that is asked for its version writes in its user's home, too. */
function isOurs(files, path, { [path]: text = '' }) {
  return files.some((file) => file.path.endsWith(path)) || /agent-event|git-handoff"/.test(text);
}

/** Ready, and through with what it asks at a first start. */
async function settle(seat, program) {
  for (const { asks, keys } of program.questions ?? []) {
    await seat.shows(asks);
    for (const key of keys) {
      await sleep(300);
      seat.key(key);
    }
  }
  await seat.shows(program.ready);
  await quiet(seat);
}

/** What is drawn is not yet listening: wait until nothing changes any more. */
async function quiet(seat, ms = 1_500) {
  let last = '';
  let since = performance.now();
  await until('the screen is quiet', () => {
    const screen = seat.screen();
    if (screen !== last) since = performance.now();
    last = screen;
    return performance.now() - since > ms;
  });
}

/** A prompt has arrived when the model hears it, and not when it is on the screen. */
async function say(place, seat, prompt) {
  await enter(seat, prompt);
  await until(`the model hears ${prompt}`, () => heard(place, prompt));
}

async function enter(seat, text) {
  seat.paste(text);
  await quiet(seat, 500);
  seat.key('Enter');
}

function heard({ model }, prompt) {
  return model.heard.find(({ tools, entries }) => {
    return tools.length > 0 && entries.some(({ who, text }) => who === 'user' && text.includes(prompt));
  });
}

function answered({ model }, text) {
  return model.heard.some(({ turn }) => turn.text === text);
}
