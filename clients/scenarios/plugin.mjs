// Claude Code with the plugin folder of this tree, and nothing of ours in its settings.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { ask, run } from '../place.mjs';
import { assertArrived, commitAll, EVENTS, recordsOf } from '../records.mjs';
import { NOTE, PROMPT, STATUS_CARD } from './words.mjs';

const FOLDER = fileURLToPath(new URL('../../examples/claude-plugin', import.meta.url));
const SERVER = 'mcp__plugin_git-handoff_handoff';

export async function plugin(place, program, claim) {
  run(place, 'git-handoff', 'start', '--as', 'donna');
  const note = { name: `${SERVER}__handoff_note`, input: { text: NOTE } };
  place.model.rules = [{ on: /WRITE-READER/, turns: [{ calls: [note] }, { text: 'It is noted.' }] }];
  const headless = (prompt) => ['--print', prompt, '--plugin-dir', FOLDER, '--allowed-tools', SERVER];
  const { status } = await ask(place, { ...program, headless }, PROMPT);
  await claim('a session that starts tells the model where it stands, and its events arrive', () => {
    assert.equal(status, 0);
    assert.match(place.model.heard[0].text, STATUS_CARD);
    assertArrived(place, program, [...EVENTS, 'session_end']);
  });
  await claim('the model writes a signed note through MCP, and verify accepts it', () => {
    assert.deepEqual(
      recordsOf(place, 'note').map(({ summary }) => summary),
      [NOTE],
    );
    commitAll(place, 'The note');
    run(place, 'git-handoff', 'verify');
  });
}
