import { resolve } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Settings } from '../../repository/parts.ts';
import { LAUNCHING } from '../../runtimes/launching.ts';
import { RUNTIME_NAMES, type RuntimeName } from '../../runtimes/runtime.ts';
import { findProgram, isProgram } from '../agents/found-program.ts';

export interface ProgramChoice {
  runtime?: RuntimeName;
  /** What it is told first. */
  prompt?: string;
  /** Another program than the runtime's own, and its arguments. */
  command?: readonly string[];
  /** What a path in it is seen from. */
  from?: string;
}

export interface ProgramPlan {
  runtime: RuntimeName | null;
  argv: string[];
  /** For people. */
  title: string;
  /** Variables that the program sees besides. */
  set: Record<string, string>;
}

/** Which program, by its whole path, and how it is given its first prompt. `spawn_failed` where it is not there. */
export async function planProgram(repository: Settings, choice: ProgramChoice): Promise<ProgramPlan> {
  const { command = [], prompt } = choice;
  if (prompt !== undefined && prompt.trim() === '') throw noWords();
  const named = choice.runtime ?? null;
  const runtime = command.length > 0 ? named : (named ?? (await chosenRuntime(repository)));
  const launching = runtime && LAUNCHING[runtime];
  const [name, ...args] = command.length > 0 ? command : [launching!.program, ...launching!.args];
  const program = locate(name!, repository.env, choice.from);
  const words = prompt === undefined || !launching ? [] : launching.prompt(prompt);
  // a command of which we know nothing finds it in its environment
  const set: Record<string, string> = prompt === undefined || launching ? {} : { HANDOFF_PROMPT: prompt };
  return { runtime, argv: [program, ...args, ...words], title: runtime ?? 'agent', set };
}

/** As it is set, else the only one that is installed. */
async function chosenRuntime(repository: Settings): Promise<RuntimeName> {
  const set = (await repository.config()).get('handoff.runtime');
  const known = RUNTIME_NAMES.find((name) => name === set);
  if (known) return known;
  const installed = RUNTIME_NAMES.filter((name) => findProgram(LAUNCHING[name].program, repository.env));
  if (installed.length === 1) return installed[0]!;
  const which = installed.length === 0 ? 'none of them is installed' : `installed are ${installed.join(', ')}`;
  throw new HandoffError(
    'usage',
    `Which program is it to be? git-handoff knows ${RUNTIME_NAMES.join(', ')}; ${which}.`,
    {
      hint: 'Name one: --runtime NAME, git config handoff.runtime NAME, or any other command behind --.',
      data: { installed, ...(set === undefined ? {} : { configured: set }) },
    },
  );
}

function locate(name: string, env: NodeJS.ProcessEnv, from: string | undefined): string {
  const path = name.includes('/') ? resolve(from ?? '/', name) : findProgram(name, env);
  if (path !== null && isProgram(path)) return path;
  throw new HandoffError('spawn_failed', `${name} was not found, or is no program that may be run.`, {
    hint: `Install it, or see that it is on the PATH: command -v ${quoteWord(name)}. Nothing was opened.`,
    data: { program: name },
  });
}

function noWords(): HandoffError {
  return new HandoffError('usage', 'A first prompt needs words, and these are none.', { hint: '--prompt TEXT' });
}
