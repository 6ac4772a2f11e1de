// What a scenario says, and what it looks for in what a model hears.

/** How git-handoff begins what it tells at a stop, and how it begins the card of an open session. */
export const STOP_REASON = /git-handoff, at a stop of this session/;
export const STATUS_CARD = /git-handoff: \w+ has session [0-9a-f]{8} open in this work tree/;
export const WAITING_BATON = /A baton waits, and git handoff pickup/;

export const PROMPT = 'WRITE-READER please';

/** The user's task: a file, a note through git-handoff's server, a word from the user's own server. */
export function writeReader(place, program) {
  return {
    on: /WRITE-READER/,
    turns: [
      { text: 'I write the reader.', calls: [program.writes(place, 'reader.txt', 'plain text\n')] },
      { text: 'Now a note.', calls: [program.calls('handoff', 'handoff_note', { text: NOTE })] },
      { text: 'And the colour.', calls: [program.calls('other', 'tell_colour', {})] },
      { text: DONE },
    ],
  };
}

export const NOTE = 'Quoted text is not read yet.';
export const DONE = 'The reader reads plain text.';
/** What the model says to the reason for which a stop is held. */
export const HELD = { on: STOP_REASON, turns: [{ text: `I heard why. ${DONE}` }] };
