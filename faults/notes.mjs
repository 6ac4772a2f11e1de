// A hundred writers in one session, alone and while somebody takes it away from them.
import { readFileSync } from 'node:fs';
import {
  assertTreeIsClean,
  assertVerified,
  attempt,
  check,
  git,
  handoff,
  journal,
  newPlace,
  worktree,
} from './place.mjs';

const WRITERS = 100;

export async function parallelNotes() {
  const place = newPlace();
  const { session_id } = handoff(place, 'start', '--as', 'donna');
  const runs = await Promise.all(texts().map((text) => attempt(place, ['note', text])));
  const failed = runs.filter(({ code }) => code !== 0);
  check(failed.length === 0, `${failed.length} of ${WRITERS} notes failed`, failed[0]);
  const records = journal(place, session_id);
  check(records.length === WRITERS + 1, `Expected ${WRITERS + 1} records`, records.length);
  const written = new Set(records.map(({ text }) => text));
  check(
    texts().every((text) => written.has(text)),
    'Texts are missing',
    [...written],
  );
  check(new Set(records.map(({ clock }) => clock)).size === records.length, 'A clock was used twice', records);
  handoff(place, 'wrap', '--message', 'all written');
  assertTreeIsClean(place);
  await assertVerified(
    place,
    runs.map(({ json }) => json.delta_id),
  );
  return `${WRITERS} processes note at once: ${records.length} records in one chain, all acknowledged`;
}

/** Whoever was faster than the pickup is in the chain; everybody else is told, and keeps the text. */
export async function notesAgainstPickup() {
  const place = newPlace();
  const other = worktree(place, 'other');
  const { session_id } = handoff(place, 'start', '--as', 'donna');
  handoff(place, 'note', 'before', '--commit');
  const writers = texts().map((text) => attempt(place, ['note', text]));
  await Promise.race(writers); // the first is through, the others are on their way
  const taken = await attempt(other, ['pickup', '--as', 'rick', '--force', '--from-session', session_id]);
  check(taken.code === 0, 'The pickup failed', taken);
  const runs = await Promise.all(writers);
  const records = journal(place, session_id);
  check(
    records.at(-1).end?.session_id === taken.json.session_id,
    'The chain does not end with the pickup',
    records.at(-1),
  );
  const chain = new Set(records.map(({ text }) => text));
  runs.forEach((run, index) => {
    const text = texts()[index];
    check(run.code === 0 ? chain.has(text) : isDraft(run, text, chain), `What became of "${text}"?`, run);
  });
  const written = runs.filter(({ code }) => code === 0).map(({ json }) => json.delta_id);
  git(place, 'add', '.handoff');
  git(place, 'commit', '-q', '-m', 'what donna left');
  assertTreeIsClean(place);
  await assertVerified(place, written);
  return `${WRITERS} processes note while another picks up by force: ${written.length} in the chain, ${WRITERS - written.length} drafts`;
}

function isDraft({ code, json }, text, chain) {
  const { code: reason, data } = json.error;
  return code === 3 && reason === 'session_released' && !chain.has(text) && readFileSync(data.draft, 'utf8') === text;
}

function texts() {
  return Array.from({ length: WRITERS }, (_, i) => `note ${i + 1} of ${WRITERS}`);
}
