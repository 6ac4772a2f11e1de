// Codex runs only hooks that its user has trusted, and passes over the others without a word.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { ask, json, run } from '../place.mjs';
import { DONE, PROMPT, STATUS_CARD, writeReader } from './words.mjs';

export async function untrusted(place, program, claim) {
  run(place, 'git-handoff', 'connect', program.name, '--as', 'donna');
  run(place, 'git-handoff', 'start', '--as', 'donna');
  place.model.rules = [writeReader(place, program)];
  const { status, stdout } = await ask(place, { ...program, headless: program.untrusted }, PROMPT);
  await claim('it works, and is told nothing of us', () => {
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(DONE));
    assert.ok(place.model.heard.every(({ text }) => !STATUS_CARD.test(text)));
    assert.equal(existsSync(`${place.work}/.git/handoff/runtimes/${program.name}`), false);
  });
  await claim('doctor says that the hooks are not trusted, and where to trust them', () => {
    const { ok, checks } = json(place, 'doctor');
    assert.equal(ok, false);
    const check = checks.find(({ name }) => name === program.name);
    assert.equal(check.ok, false);
    assert.match(check.detail, /has not been trusted/);
    assert.match(check.fix, /Trust all and continue/);
  });
}
