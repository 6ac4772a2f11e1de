// The same repository on a machine where nobody has installed git-handoff.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { ask, run } from '../place.mjs';
import { commitAll } from '../records.mjs';
import { DONE, PROMPT } from './words.mjs';

export async function without(place, program, claim) {
  program.own(place);
  commitAll(place, 'Settings of our own');
  place.model.rules = [{ on: /WRITE-READER/, turns: [turn(place, program), { text: DONE }] }];
  const never = await askWithout(place, program);
  run(place, 'git-handoff', 'connect', program.name, '--as', 'donna');
  commitAll(place, 'Connected');
  const connected = await askWithout(place, program);
  await claim('ends as before, with the same output', () => {
    assert.equal(never.status, 0);
    assert.equal(connected.status, 0);
    assert.equal(connected.stdout, never.stdout);
  });
  await claim('says nothing of what is not installed', () => {
    assert.doesNotMatch(connected.stderr, /not found|ENOENT|failed|error/i);
  });
}

function turn(place, program) {
  return { text: 'I write the reader.', calls: [program.writes(place, 'reader.txt', 'plain text\n')] };
}

async function askWithout(place, program) {
  const PATH = place.env.PATH.split(':').slice(1).join(':');
  const answer = await ask(place, program, PROMPT, { PATH });
  rmSync(`${place.work}/reader.txt`);
  return answer;
}
