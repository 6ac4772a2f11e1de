import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';
import { isolatedEnv, temporaryDirectory } from '../temporary.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What is published, as a program that is installed. */
export const PROGRAM = join(ROOT, 'dist/cli.cjs');

export interface Step {
  id?: string;
  name?: string;
  uses?: string;
  if?: string;
  env?: Record<string, string>;
  with?: Record<string, unknown>;
  run?: string;
  shell?: string;
}

interface Action {
  inputs: Record<string, { description: string; default: string }>;
  runs: { using: string; steps: Step[] };
}

export function readYaml<T>(path: string): T {
  return parse(readFileSync(join(ROOT, path), 'utf8')) as T;
}

export const action = readYaml<Action>('action.yml');

/** What a runner knows: `inputs`, `github`, `steps` and whatever else expressions ask for. */
export type Context = Record<string, unknown>;

/** GitHub's expressions, as far as they are used here: paths, text, ==, !=, &&, || and always(). */
export function evaluate(expression: string, context: Context): unknown {
  const code = expression
    .replace(/'[^']*'|[a-z_][\w.]*/gi, (word) => (word.startsWith("'") ? word : `at(${JSON.stringify(word)})`))
    .replace(/[=!]=/g, '$&=');
  return runInNewContext(code.replaceAll('at("always")()', 'true'), { at: (path: string) => look(context, path) });
}

function look(context: Context, path: string): unknown {
  const value = path.split('.').reduce<unknown>((within, key) => (within as Context | undefined)?.[key], context);
  return value ?? '';
}

function fill(text: string, context: Context): string {
  return text.replace(/\$\{\{(.*?)\}\}/g, (_, expression) => String(evaluate(expression, context)));
}

export interface StepRun {
  name: string;
  code: number | null;
  output: string;
  outputs: Record<string, string>;
}

export interface Job {
  workspace: string;
  env?: NodeJS.ProcessEnv;
  context: Context;
}

export interface ActionRun {
  failed: boolean;
  steps: StepRun[];
  outputs: Record<string, string>;
  summary: string;
  log: string;
}

/** The steps of action.yml as a runner takes them: one after the other, and after a failure only those that want to. */
export async function runAction(job: Job): Promise<ActionRun> {
  const temp = temporaryDirectory();
  const summary = join(temp, 'summary.md');
  const given = (job.context.inputs ?? {}) as Record<string, string>;
  const inputs = { ...defaults(job.context), ...given };
  const steps: Record<string, { outputs: Record<string, string> }> = {};
  const runs: StepRun[] = [];
  let failed = false;
  for (const step of action.runs.steps) {
    const context = { ...job.context, inputs, steps };
    if (step.if === undefined ? failed : !evaluate(step.if, context)) continue;
    const run = await runStep(step, { ...job, context }, temp, summary);
    if (step.id) steps[step.id] = run;
    failed ||= run.code !== 0;
    runs.push(run);
  }
  return {
    failed,
    steps: runs,
    outputs: steps.check?.outputs ?? {},
    summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '',
    log: runs.map(({ output }) => output).join(''),
  };
}

function defaults(context: Context): Record<string, string> {
  return Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, fill(input.default, context)]));
}

export async function runStep(
  step: Step,
  { workspace, env = {}, context }: Job,
  temp = temporaryDirectory(),
  summary = join(temp, 'summary.md'),
): Promise<StepRun> {
  const name = step.name ?? step.id ?? '';
  const file = join(temp, `outputs-${name.replaceAll(' ', '-')}`);
  writeFileSync(file, '');
  const github = context.github as Context;
  const filled = { ...context, github: { action_path: ROOT, ...github } };
  const own = Object.entries(step.env ?? {}).map(([key, value]) => [key, fill(value, filled)]);
  const { code, output } = await shell(['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step.run!], {
    cwd: workspace,
    env: {
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: workspace,
      GITHUB_OUTPUT: file,
      GITHUB_STEP_SUMMARY: summary,
      RUNNER_TEMP: temp,
      ...env,
      ...Object.fromEntries(own),
    },
  });
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const outputs = Object.fromEntries(lines.map((line) => [line.split('=')[0]!, line.slice(line.indexOf('=') + 1)]));
  return { name, code, output, outputs };
}

/** Not spawnSync: the server that a script asks runs in this process. */
export function shell(
  [command = '', ...args]: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...isolatedEnv, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}
