// A program that is asked once, without a terminal, in a repository that has settings of its user's own.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ask, json, run } from '../place.mjs';
import { assertArrived, commitAll, EVENTS, holdStops, recordsOf } from '../records.mjs';
import { differences, snapshot } from '../snapshot.mjs';
import { DONE, HELD, NOTE, PROMPT, STATUS_CARD, STOP_REASON, writeReader } from './words.mjs';

export async function headless(place, program, claim) {
  program.own(place);
  holdStops(place);
  commitAll(place, 'Settings of our own');
  const before = snapshot(place.work);

  await claim('connect adds to settings that are there, and a second time changes nothing', () => {
    const [{ files, version }] = json(place, 'connect', program.name, '--as', 'donna').runtimes;
    const connected = snapshot(place.work);
    const paths = files.map(({ path }) => relative(place.work, path));
    assert.deepEqual(paths.sort(), differences(before, connected).sort());
    assert.equal(version, Object.values(program.packages)[0]);
    run(place, 'git-handoff', 'connect', program.name, '--as', 'donna');
    assert.deepEqual(differences(connected, snapshot(place.work)), []);
  });
  run(place, 'git-handoff', 'start', '--as', 'donna');
  place.model.rules = [writeReader(place, program), HELD];

  await claim('works to its end, as it would without us', async () => {
    const { status, stdout } = await ask(place, program, PROMPT);
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(DONE));
    assert.equal(readFileSync(`${place.work}/reader.txt`, 'utf8'), 'plain text\n');
  });
  await claim('a session that starts tells the model where it stands', () => {
    assert.match(main(place)[0].text, STATUS_CARD);
  });
  await claim('a stop is held once, and then let go', () => {
    const held = main(place).filter(({ turn }) => turn.text === HELD.turns[0].text);
    assert.equal(held.length, 1, `held ${held.length} times`);
    assert.match(held[0].text, STOP_REASON);
  });
  await claim('its events arrive', () => assertArrived(place, program, EVENTS));
  await claim('doctor finds nothing wrong with it, and says what has arrived', () => {
    const check = json(place, 'doctor').checks.find(({ name }) => name === program.name);
    assert.equal(check.ok, true, check.detail);
    for (const event of EVENTS) assert.match(check.detail, new RegExp(`arrived:.*\\b${event} `));
  });
  await claim('the end of its session is told', () => assertArrived(place, program, ['session_end']));
  await claim("the user's own hooks still run", () => {
    const noted = existsSync(place.others) ? readFileSync(place.others, 'utf8').split('\n') : [];
    for (const event of ['start', 'stop']) assert.ok(noted.includes(event), `the log has ${noted}`);
  });
  await claim("the user's own MCP server still answers", () => {
    assert.ok(
      answersOfTools(place).some((text) => text.includes('green')),
      answersOfTools(place).join('\n'),
    );
  });
  await claim('the model writes a signed note through MCP, and verify accepts it', () => {
    const notes = recordsOf(place, 'note');
    assert.deepEqual(
      notes.map(({ summary, valid }) => [summary, valid]),
      [[NOTE, true]],
    );
    commitAll(place, 'The reader');
    run(place, 'git-handoff', 'verify');
  });
  await claim('disconnect gives back every byte', () => {
    run(place, 'git-handoff', 'disconnect', program.name);
    assert.deepEqual(differences(before, snapshot(place.work)), ['reader.txt']);
  });
}

/** Requests in which the model could act: not those for titles. */
function main({ model }) {
  return model.heard.filter(({ tools }) => tools.length > 0);
}

function answersOfTools(place) {
  return main(place).flatMap(({ entries }) => entries.filter(({ who }) => who === 'tool').map(({ text }) => text));
}
