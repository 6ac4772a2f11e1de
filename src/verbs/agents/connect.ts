import { HandoffError } from '../../core/error.ts';
import type { RuntimeName } from '../../runtimes/runtime.ts';
import type { RuntimeProgram, Scope } from '../../runtimes/runtime-settings.ts';
import {
  type ConnectedRuntime,
  changedFiles,
  KNOWN,
  namedPrograms,
  partsOf,
  placeFor,
  type Standpoint,
  scopeOf,
} from './connection.ts';
import { findProgram, programVersion } from './found-program.ts';
import { SettingsPlan } from './settings-plan.ts';
import { writePlan } from './settings-write.ts';

export interface ConnectOptions {
  runtime?: RuntimeName[];
  user?: boolean;
  dryRun?: boolean;
  as?: string;
}

export interface ConnectResult {
  runtimes: ConnectedRuntime[];
}

/** Tells agents' own programs of us: hooks, the MCP server, what to read. Everything is planned before anything is written. */
export async function connect(stand: Standpoint, options: ConnectOptions = {}): Promise<ConnectResult> {
  const scope = scopeOf(options);
  const place = placeFor(scope, stand);
  const plan = new SettingsPlan(place);
  const found = chosen(options.runtime, stand.env).map((program) => ({
    program,
    files: partsOf(program, scope, stand, options.as).map((placed) => plan.add(placed)),
  }));
  const versions = await Promise.all(found.map(({ program }) => versionOf(program, stand.env)));
  const runtimes = found.map(({ program, files }, at) => {
    const todo = todoFor(program, scope, stand.env);
    return { runtime: program.name, version: versions[at]!, files: changedFiles(files), todo };
  });
  if (!options.dryRun) writePlan(plan.files, place.boundary);
  return { runtimes };
}

/** Without a name all that are installed. */
function chosen(names: readonly string[] | undefined, env: NodeJS.ProcessEnv): readonly RuntimeProgram[] {
  const named = namedPrograms(names);
  if (names && names.length > 0) return named;
  const found = named.filter(({ program }) => findProgram(program, env) !== null);
  if (found.length > 0) return found;
  throw new HandoffError('usage', `No agent's program is on your PATH; git-handoff knows ${KNOWN}.`, {
    hint: 'To connect one all the same, name it: git handoff connect claude',
  });
}

async function versionOf({ program }: RuntimeProgram, env: NodeJS.ProcessEnv): Promise<string | null> {
  const path = findProgram(program, env);
  return path === null ? null : programVersion(path, env);
}

function todoFor({ title, program, byHand }: RuntimeProgram, scope: Scope, env: NodeJS.ProcessEnv): string[] {
  const isInstalled = findProgram(program, env) !== null;
  const install = isInstalled
    ? []
    : [`${title} is not on your PATH here: install it, and ${program} finds the settings.`];
  const isReachable = findProgram('git-handoff', env) !== null;
  const path = isReachable ? [] : ['git-handoff is not on your PATH: hooks find it there, and do nothing until then.'];
  return [...path, ...install, ...byHand[scope]];
}
