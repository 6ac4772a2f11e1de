import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { parseJson } from '../../../core/bytes/json.ts';
import { bestEffort } from '../../../disk/best-effort.ts';
import { discoverRepository, type RepositoryDirs } from '../../../git/discover.ts';
import type { Repository } from '../../../repository/repository.ts';
import type { EventFacts } from '../../../runtimes/runtime.ts';
import type { Sent } from '../../../runtimes/speech/sent.ts';
import { eventNamed, runtimeNamed, SPEECHES } from '../../../runtimes/speech/speeches.ts';
import type { Context } from '../../command.ts';
import { toFailure } from '../../failure.ts';
import { escapeLine } from '../../text/escape.ts';
import { wordsOf } from './event-words.ts';

export interface EventWords {
  runtime: string;
  event: string;
  as?: string;
}

export interface EventAnswered {
  /** As the program reads it. Empty where there is nothing to say. */
  answer: string;
}

const NOTHING: EventAnswered = { answer: '' };

/** Longer than any answer takes, and shorter than a program waits for one. Milliseconds. */
const LONGEST = 5_000;

/** Never fails, and never takes long: what goes wrong here is not the fault of whoever works with the program that calls. */
export async function answerEvent(context: Context, words: EventWords): Promise<EventAnswered> {
  const known = nameEvent(words);
  if (!known) return NOTHING;
  const { speech, event } = known;
  const facts = speech.read(event, await readSent(context));
  const place = placeOf(context, facts);
  if (place === null) return NOTHING;
  let repository: Repository | undefined;
  try {
    repository = await context.eventRepository(place);
    const answer = await inTime(speak(repository, known, facts, words));
    return { answer };
  } catch (error) {
    await log(repository, words, error);
    return NOTHING;
  }
}

type Named = NonNullable<ReturnType<typeof nameEvent>>;

function nameEvent({ runtime, event }: EventWords) {
  const name = runtimeNamed(runtime);
  const named = name && eventNamed(name, event);
  return name && named ? { runtime: name, speech: SPEECHES[name], ...named } : null;
}

async function speak(
  repository: Repository,
  { runtime, speech, event, ownName }: Named,
  facts: EventFacts,
  { as }: EventWords,
): Promise<string> {
  const { agentEvent } = await import('../../../verbs/agents/agent-event.ts');
  const findings = await agentEvent(repository, { runtime, event, facts, as });
  return speech.spell(event, ownName, wordsOf(findings));
}

/** How long we wait for a program that opens the pipe and sends nothing. Milliseconds. */
const PATIENCE = 1_000;
const MOST_INPUT = 8 * 1024 * 1024;

/** Input that cannot be read, or is no object, counts as an empty one: the event has happened all the same. */
async function readSent({ isTerminal, readInput }: Context): Promise<Sent> {
  if (isTerminal) return {};
  const bytes = await Promise.race([readInput(MOST_INPUT), after(PATIENCE)]).catch(() => undefined);
  const sent = parseJson<unknown>(Buffer.from(bytes ?? []).toString('utf8'));
  return typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? { ...sent } : {};
}

/** Where the agent works, if that is a directory of the repository that this process is in; else where this process is. */
function placeOf({ directory, env }: Context, { directory: told }: EventFacts): string | null {
  const here = find(directory, env);
  if (!here || !isOurs(here)) return null;
  const there = told !== null && isAbsolute(told) ? find(told, env) : null;
  return there?.commonDir === here.commonDir && isOurs(there) ? told : directory;
}

function find(directory: string, env: NodeJS.ProcessEnv): RepositoryDirs | null {
  try {
    const found = discoverRepository(directory, env);
    return isWithin(realpathSync(directory), found.gitDir) ? null : found;
  } catch {
    return null; // none, or none that can be read: whatever is wrong with it, it is not for an event to say
  }
}

/** A git directory may be a part of what was cloned, with settings that start programs: nobody works in one. */
function isWithin(directory: string, gitDir: string): boolean {
  return directory === gitDir || directory.startsWith(gitDir + sep);
}

/** Whether somebody uses git-handoff there. Elsewhere nothing is said, and nothing is left behind. */
function isOurs({ topLevel }: RepositoryDirs): boolean {
  const folder = topLevel === null ? null : join(topLevel, '.handoff');
  return folder !== null && (bestEffort(() => statSync(folder, { throwIfNoEntry: false }))?.isDirectory() ?? false);
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const result = await Promise.race([work.then((value) => ({ value })), after(LONGEST)]);
  if (result === undefined) throw new Error(`no answer within ${LONGEST} ms`);
  return result.value;
}

function after(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, undefined).unref());
}

async function log(repository: Repository | undefined, { runtime, event }: EventWords, error: unknown): Promise<void> {
  if (!repository) return;
  const { logFault } = await import('../../../verbs/agents/event-state.ts');
  const { code, message } = toFailure(error);
  const words = [repository.now().toISOString(), runtime, event, code, message].map((word) => escapeLine(word));
  logFault(repository, words.join(' ').slice(0, 1000));
}
