/** What happens in an agent's program, in our words. */
export const AGENT_EVENTS = [
  'session_start',
  'prompt',
  'tool',
  'stop',
  'compacting',
  'compacted',
  'session_end',
  'context',
] as const;
export type AgentEvent = (typeof AGENT_EVENTS)[number];

export const RUNTIME_NAMES = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

/** A client program that runs agents: how it is found, where it is told of us, and how it speaks. It is data and one translator. */
export interface Runtime {
  name: RuntimeName;
  /** As its makers write it. */
  title: string;
  /** What to look for on the PATH. */
  program: string;
  speech: RuntimeSpeech;
}

/** How a runtime tells what happens, and how it wants to be answered. */
export interface RuntimeSpeech {
  /** Its own names of events, and what they are in our words. An event of ours that none of its names means is one it lacks. */
  events: Readonly<Record<string, AgentEvent>>;
  /** What it sent, which nobody has checked: a key that is missing or of another type is null. */
  read(event: AgentEvent, sent: Readonly<Record<string, unknown>>): EventFacts;
  /** What goes to stdout. Empty where there is nothing to say, or this runtime cannot hear it at this event. */
  spell(event: AgentEvent, ownName: string, answer: EventAnswer): string;
  /** Whether a person is shown a notice at a stop. Where not, it is only told to the model, later. */
  showsNotices: boolean;
  /** Where it can be told what it has forgotten: the next event of ours after a compaction. Null where nothing says that there was one. */
  afterCompaction: 'session_start' | 'compacted' | 'prompt' | null;
}

/** What an event says, as far as it says it. */
export interface EventFacts {
  /** The runtime's own id of its session. */
  runtimeSession: string | null;
  directory: string | null;
  prompt: string | null;
  /** Why a session starts. */
  source: 'startup' | 'resume' | 'clear' | 'compact' | null;
  /** This stop follows one that was held: it must be let go. */
  isHeldBefore: boolean;
  /** At this stop work of its own goes on in the background: it is not over. */
  isAtWorkBehind: boolean;
  /** Percent of the context that is used. */
  contextUsed: number | null;
  /** The program tells of this on every turn, whether or not it happens. */
  isOnEveryTurn?: boolean;
}

/** `context` is told to the model; `notice` to the person, and nothing goes on for it; `hold` makes the model go on, with the reason. */
export interface EventAnswer {
  context?: string;
  notice?: string;
  hold?: string;
}
