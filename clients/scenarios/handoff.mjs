// Claude Code works, commits, and leaves a baton; Codex picks it up and goes on. Both speak to us through MCP alone.
import assert from 'node:assert/strict';
import { ask, json, run } from '../place.mjs';
import { commitAll, recordsOf } from '../records.mjs';
import { WAITING_BATON } from './words.mjs';

const BATON = `# Where it stands

The reader reads plain text, line by line, and gives each line back as it is. Quoted text comes through with its quotes on, which the
task does not want. What is committed was tried on three files of ours.

## Next

Take the quotes off in reader.txt, in the branch that handles a line. Do not touch how lines are split: the writer depends on it.
`;

export async function handoff(place, { claude, codex }, claim) {
  run(place, 'git-handoff', 'connect', 'claude', '--as', 'donna');
  run(place, 'git-handoff', 'connect', 'codex', '--as', 'rick');
  commitAll(place, 'Connected');
  const base = run(place, 'git', 'rev-parse', 'HEAD').trim();
  run(place, 'git', 'switch', '--quiet', '--create', 'reader');
  place.model.rules = [
    { on: /BEGIN-READER/, turns: firstStint(place, claude) },
    { on: /GO-ON-WITH-READER/, turns: secondStint(place, codex) },
  ];

  await claim('Claude Code claims, commits, accounts for the commit and leaves a baton', async () => {
    const { status, stdout } = await ask(place, claude, 'BEGIN-READER');
    assert.equal(status, 0);
    assert.match(stdout, /The baton lies there/);
    assert.deepEqual(
      recordsOf(place, 'thought').map(({ identity }) => identity),
      ['donna'],
    );
    assert.deepEqual(
      recordsOf(place, 'baton').map(({ identity }) => identity),
      ['donna'],
    );
  });
  await claim('Codex is told that a baton waits, picks it up and goes on', async () => {
    const { status } = await ask(place, codex, 'GO-ON-WITH-READER');
    assert.equal(status, 0);
    assert.match(heardBy(place, 'GO-ON-WITH-READER')[0].text, WAITING_BATON);
    assert.match(heardBy(place, 'GO-ON-WITH-READER').at(-1).text, /Take the quotes off in reader\.txt/);
    assert.deepEqual(
      recordsOf(place, 'thought').map(({ identity }) => identity),
      ['rick', 'donna'],
    );
  });
  await claim('the gate lets the branch in, and verify accepts every record', () => {
    run(place, 'git-handoff', 'verify');
    const verdict = json(place, 'gate', '--base', base, '--head', 'HEAD');
    assert.equal(verdict.pass, true, JSON.stringify(verdict, null, 2));
  });
}

function firstStint(place, program) {
  const call = (tool, input) => ({ calls: [program.calls('handoff', tool, input)] });
  return [
    call('task_claim', { task_id: 'P0.1' }),
    { calls: [program.writes(place, 'reader.txt', 'plain text\n')] },
    { calls: [program.runs('git add reader.txt && git commit -q -m "The reader"')] },
    call('thought_record', { task_id: 'P0.1', summary: 'The reader reads plain text.' }),
    call('handoff_wrap', { body: BATON, next_agent: 'rick' }),
    { text: 'The baton lies there.' },
  ];
}

function secondStint(place, program) {
  const call = (tool, input) => ({ calls: [program.calls('handoff', tool, { identity: 'rick', ...input })] });
  return [
    call('hd_exec', {}),
    { calls: [program.writes(place, 'quotes.txt', 'quoted text\n')] },
    { calls: [program.runs('git add quotes.txt && git commit -q -m "Quoted text"')] },
    call('thought_record', { task_id: 'P0.1', summary: 'Quotes are taken off.' }),
    call('task_update', { task_id: 'P0.1', status: 'done' }),
    call('handoff_wrap', { body: BATON }),
    { text: 'Quoted text works.' },
  ];
}

function heardBy({ model }, prompt) {
  return model.heard.filter(({ entries }) => entries.some(({ who, text }) => who === 'user' && text.includes(prompt)));
}
