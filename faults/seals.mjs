// Many processes seal one session at once, alone and while others write to it.

import { assertTreeIsClean, assertVerified, attempt, call, check, git, handoff, journal, newPlace } from './place.mjs';
import { withRacers } from './races.mjs';

const SEALERS = 20;
const ROUNDS = 50;
const CLI_ROUNDS = 2;
const MIXED_ROUNDS = 10;
const MESSAGE = 'Merkle finalization in progress. Retry in 5s.';

/** One seal for each thing there is to seal, and one root for everybody who asks. */
export async function sealRace() {
  const place = newPlace();
  const { session_id } = handoff(place, 'start', '--as', 'donna');
  const told = { late: 0 };
  await withRacers(sealers(place), async (race) => {
    for (let round = 1; round <= ROUNDS; round++) {
      await oneSeal(place, session_id, round, told, () => race('seal', {}));
    }
  });
  for (let round = ROUNDS + 1; round <= ROUNDS + CLI_ROUNDS; round++) {
    await oneSeal(place, session_id, round, told, async () => {
      const runs = await Promise.all(sealers(place).map((each) => attempt(each, ['seal'])));
      return runs.map(({ code, json }) => (code === 0 ? json : json.error));
    });
  }
  await assertVerified(place, []);
  return `${SEALERS} processes seal at once: one seal in each of ${ROUNDS} rounds and ${CLI_ROUNDS} with the CLI, ${told.late} were told to come back`;
}

async function oneSeal(place, session, round, told, race) {
  await call(place, (verbs) => verbs.note({ text: `round ${round}` }));
  const answers = await race();
  const sealed = answers.filter(({ root }) => root);
  const late = answers.filter(({ code, message }) => code === 'seal_in_progress' && message === MESSAGE);
  told.late += late.length;
  check(sealed.length + late.length === SEALERS, `round ${round}: an answer that is none`, answers);
  const [first, ...more] = sealed.filter(({ already_sealed }) => !already_sealed);
  check(first && more.length === 0, `round ${round}: ${more.length + 1} say that the seal is theirs`, answers);
  check(
    sealed.every(({ root, delta_id }) => root === first.root && delta_id === first.delta_id),
    `round ${round}: roots differ`,
    sealed,
  );
  const kinds = journal(place, session).map(({ kind }) => kind);
  check(kinds.filter((kind) => kind === 'seal').length === round, `round ${round}: too many seals`, kinds);
  check(git(place, 'status', '--porcelain') === '', `round ${round}: git status is not clean`);
  const again = await call(place, (verbs) => verbs.seal());
  check(again.already_sealed && again.root === first.root, `round ${round}: the retry is no no-op`, again);
}

/** Every second one notes something: it is under the seal, or after it, and never beside it. */
export async function sealsAgainstNotes() {
  const place = newPlace();
  const { session_id } = handoff(place, 'start', '--as', 'donna');
  const counts = { seals: 0 };
  await withRacers(sealers(place), async (race) => {
    for (let round = 1; round <= MIXED_ROUNDS; round++) {
      await call(place, (verbs) => verbs.note({ text: `something to seal in round ${round}` }));
      const answers = await race((index) =>
        index % 2 === 0
          ? { verb: 'seal', options: {} }
          : { verb: 'note', options: { text: `note ${index} of round ${round}` } },
      );
      const wrong = answers.filter(({ code, root }, index) =>
        index % 2 === 0 ? !root && code !== 'seal_in_progress' : code,
      );
      check(wrong.length === 0, `round ${round}: refused`, wrong);
      await call(place, (verbs) => verbs.seal());
      const records = journal(place, session_id);
      const kinds = records.map(({ kind }) => kind);
      check(kinds.at(-1) === 'seal', `round ${round}: it does not end with a seal`, kinds);
      check(
        kinds.every((kind, at) => kind !== 'seal' || kinds[at - 1] !== 'seal'),
        `round ${round}: two seals over the same`,
        kinds,
      );
      const notes = kinds.filter((kind) => kind === 'note').length;
      check(notes === round * (1 + SEALERS / 2), `round ${round}: notes are missing`, kinds);
      counts.seals = kinds.filter((kind) => kind === 'seal').length;
      assertTreeIsClean(place);
    }
  });
  await assertVerified(place, []);
  return `${SEALERS / 2} processes seal while as many note, ${MIXED_ROUNDS} rounds: every note is in the chain, under one of ${counts.seals} seals`;
}

function sealers(place) {
  return Array.from({ length: SEALERS }, () => place);
}
