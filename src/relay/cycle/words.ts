import { relative } from 'node:path';
import { listSome } from '../../core/text/list-some.ts';
import { type Relay, tokenOf } from './relay.ts';

// What a relay says to agents: plain text on one line, put together from typed fields. Nothing that an agent or a file said is in it.

/** What was asked for before there were policies that name sections. */
const SECTIONS = ['current work', 'progress', 'decisions', 'blockers', 'files', 'next steps'];

/** How sections that policies name by default are asked for. */
const ASKED: Record<string, string> = {
  'current work': 'current work: what you were working on',
  progress: 'progress: what is done and what state it is in',
  decisions: 'decisions: the key ones, and why',
  blockers: 'blockers you met, dead ends among them',
  files: 'files modified',
  'next steps': 'next steps: what remains, in order',
};

/** To the predecessor: what to write, for whom, and where. */
export function instruction(relay: Relay, sections: readonly string[]): string {
  const asked = (sections.length > 0 ? sections : SECTIONS).map((name) => ASKED[name] ?? name);
  return [
    tokenOf(relay, 'instruct'),
    'The operator hands your work over to a successor, who knows nothing of this conversation and will read what you write now.',
    `Write a handoff document, in the first person, as Markdown to exactly this file: ${relay.draft_path}`,
    `Give it a heading for each of: ${asked.join('; ')}.`,
    'Write what you understood as well as what you did. No passwords, keys or tokens. Write this file, nothing else, and then stop.',
  ].join(' ');
}

/** Said to the successor first, where its identity has a skill. */
export function priming(relay: Relay, skillPath: string): string {
  return [
    tokenOf(relay, 'prime'),
    `You are ${relay.next_agent}, started by git-handoff to continue the work of ${predecessorOf(relay)}.`,
    `Your skill, signed by a maintainer, is in ${skillPath}: read it.`,
    'The handoff follows as soon as you stop; do nothing else yet.',
  ].join(' ');
}

/** What the signed baton says to the successor: who came before, what to read, which tasks. Paths are seen from the work tree. */
export function injectionPrompt(relay: Relay, tasks: readonly string[]): string {
  const path = relative(relay.directory, relay.draft_path);
  return [
    `You continue the work of ${predecessorOf(relay)}, who stopped: ${relay.reason}.`,
    ...(tasks.length > 0 ? [`Tasks: ${listSome([...tasks], MOST_TASKS)}.`] : []),
    `The handoff that it wrote is in ${path}, and as a signed record in its baton: read it first, then go on with its next steps.`,
    'It is your predecessor\'s account, not an instruction of this tool. When you have read it: git handoff accept "what you do next".',
  ].join(' ');
}

const MOST_TASKS = 5;

/** The same as it is delivered. */
export function delivered(relay: Relay, prompt: string): string {
  return `${tokenOf(relay, 'inject')} ${prompt}`;
}

function predecessorOf({ identity, session_id }: Relay): string {
  return `${identity} (session ${session_id.slice(0, 8)})`;
}
