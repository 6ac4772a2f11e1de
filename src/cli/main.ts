import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { later } from '../core/later.ts';
import { nodeHost } from '../host.ts';
import type { Program, RepositoryOptions } from '../repository/repository.ts';
import type { Verb } from './command.ts';
import { completeNames } from './completion/names.ts';
import { type OpenContext, openContext } from './context.ts';
import { type Failure, formatFailure, isFollowing, toFailure } from './failure.ts';
import { toJson } from './json.ts';
import { type Parsed, parse } from './program.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { escapeResult } from './text/escape.ts';
import { lines } from './text/layout.ts';

export interface Release {
  version: string;
  build: string;
}

/** How a client of MCP is served: what that takes is not loaded with this program. */
type Serve = (setting: { version: string; directory: string; options: RepositoryOptions }) => Promise<void>;

/** Parses arguments, calls one verb, prints once. Returns the exit code. */
export async function main(
  args: readonly string[],
  host: NodeJS.Process,
  release: Release,
  serve: Serve,
): Promise<number> {
  const terminal = openTerminal(host);
  const json = isJsonWanted(args);
  const crash = new Promise<never>((_, reject) => host.once('uncaughtException', reject));
  try {
    const answer = await Promise.race([perform(args, host, release, terminal, json, serve), crash]);
    await terminal.out(answer.output);
    return answer.exitCode;
  } catch (error) {
    // a program that is told of a failure holds its agent, or shows it to a user who cannot help it
    if (isEvent(args)) return host.stdin.isTTY ? failQuietly(error, terminal) : 0;
    return fail(toFailure(error), terminal, json);
  }
}

/** What the hooks of agents' programs call, behind flags for all verbs. */
function isEvent(args: readonly string[]): boolean {
  let at = 0;
  while (args[at]?.startsWith('-')) at += args[at] === '-C' || args[at] === '--as' ? 2 : 1;
  return args[at] === 'agent-event';
}

async function failQuietly(error: unknown, { err, errorPaint }: Terminal): Promise<number> {
  await err(formatFailure(toFailure(error), errorPaint));
  return 0;
}

type Call = Extract<Parsed, { verb: Verb }>;

interface Answer {
  output: string;
  exitCode: number;
}

async function perform(
  args: readonly string[],
  host: NodeJS.Process,
  release: Release,
  terminal: Terminal,
  json: boolean,
  serve: Serve,
): Promise<Answer> {
  const [word, kind = ''] = args;
  // for shells alone, so in no help: what they ask while somebody types
  if (word === 'complete') return { output: lines(completeNames(kind, host.cwd())), exitCode: 0 };
  const parsed = await parse(args, host.cwd());
  if ('help' in parsed) return { output: json ? toJson(parsed) : parsed.help, exitCode: 0 };
  if ('version' in parsed) return { output: json ? toJson(release) : `${release.version}\n`, exitCode: 0 };
  const context = contextFor(parsed, host, release, terminal, serve);
  try {
    const result = await runVerb(parsed, context);
    await context.showLife(asOf(parsed));
    later(context.leave()); // git ends while the result is put into words
    const output = json ? toJson(result) : await show(result, parsed, release, terminal, host.cwd());
    return { output, exitCode: parsed.verb.refused(result) ? 1 : 0 };
  } finally {
    terminal.progress.clear();
    await context.leave();
  }
}

/** Whoever is refused is at work all the same. */
async function runVerb(call: Call, context: OpenContext): Promise<object> {
  try {
    return await call.verb.run(context, call.options);
  } catch (error) {
    if (!isFollowing(error)) await context.showLifeRefused(asOf(call));
    throw error;
  }
}

function asOf({ options }: Call): string | undefined {
  return typeof options.as === 'string' ? options.as : undefined;
}

async function show(
  result: object,
  { verb, options }: Call,
  { version }: Release,
  { paint }: Terminal,
  cwd: string,
): Promise<string> {
  return (await verb.formatted(result, options, version)) ?? verb.text(escapeResult(result), paint, cwd);
}

function contextFor(
  { directory }: Call,
  host: NodeJS.Process,
  { version, build }: Release,
  { warn, progress, passOn }: Terminal,
  serve: Serve,
): OpenContext {
  const program = programOf(host);
  const options = { env: host.env, host: nodeHost, build, program, warn, progress: progress.show };
  const serveClient = () => {
    host.stdout.on('error', () => {}); // a client that went away
    return serve({ version, directory, options });
  };
  return openContext(directory, options, host, { showOutput: passOn, serveClient });
}

/** What hooks start: this Node, and the script beside the program that runs. */
function programOf({ execPath, argv }: NodeJS.Process): Program | null {
  const hook = join(dirname(realpathSync(argv[1]!)), 'hook.sh');
  return existsSync(hook) ? { node: execPath, hook } : null;
}

async function fail(failure: Failure, terminal: Terminal, json: boolean): Promise<number> {
  const { code, message, hint, data } = failure;
  if (json) await terminal.out(toJson({ error: { code, message, hint, data } }));
  if (!json || failure.stack) await terminal.err(formatFailure(failure, terminal.errorPaint));
  return failure.exitCode;
}

/** Looks at the raw words, because arguments that cannot be parsed must be refused in JSON too. */
function isJsonWanted(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const words = args.slice(0, end < 0 ? args.length : end);
  const format = words[words.indexOf('--format') + 1];
  return (
    words.includes('--json') || words.includes('--format=json') || (words.includes('--format') && format === 'json')
  );
}
