import { PROGRAMS } from '../../runtimes/programs.ts';
import type { RuntimeName } from '../../runtimes/runtime.ts';
import type { PlacedPart, RuntimeProgram, Scope } from '../../runtimes/runtime-settings.ts';
import type { ConnectResult } from './connect.ts';
import { changedFiles, namedPrograms, partsOf, placeFor, type Standpoint, scopeOf } from './connection.ts';
import { SettingsPlan } from './settings-plan.ts';
import { writePlan } from './settings-write.ts';

export interface DisconnectOptions {
  runtime?: RuntimeName[];
  user?: boolean;
  dryRun?: boolean;
}

/** Takes out what connect wrote, and nothing else. What another connected program reads as well stays. */
export async function disconnect(stand: Standpoint, options: DisconnectOptions = {}): Promise<ConnectResult> {
  const scope = scopeOf(options);
  const place = placeFor(scope, stand);
  const plan = new SettingsPlan(place);
  const leaving = namedPrograms(options.runtime);
  const kept = keptParts(leaving, scope, stand, new SettingsPlan(place));
  const runtimes = leaving.map((program) => {
    const parts = partsOf(program, scope, stand).filter((placed) => !kept.has(keyOf(placed)));
    // what was added last goes first: only then is what is left as it was before the last but one
    const files = parts.toReversed().map((placed) => plan.remove(placed));
    return { program, files };
  });
  const told = new Set<string>();
  const result = runtimes.map(({ program, files }) => ({
    runtime: program.name,
    version: null,
    files: changedFiles(files).filter(({ path, change }) => change !== 'unchanged' && isFirst(told, path)),
    todo: [],
  }));
  if (!options.dryRun) writePlan(plan.files, place.boundary);
  return { runtimes: result.filter(({ files, runtime }) => files.length > 0 || options.runtime?.includes(runtime)) };
}

/** A file that several programs read leaves once: a program that was never connected is not said to be. */
function isFirst(told: Set<string>, path: string): boolean {
  if (told.has(path)) return false;
  told.add(path);
  return true;
}

function keptParts(
  leaving: readonly RuntimeProgram[],
  scope: Scope,
  stand: Standpoint,
  plan: SettingsPlan,
): ReadonlySet<string> {
  const staying = PROGRAMS.filter((program) => !leaving.includes(program));
  const parts = staying.map((program) => partsOf(program, scope, stand));
  const connected = parts.filter((placed) =>
    placed.some((each) => each.use === 'hooks' && plan.look(each).state !== 'absent'),
  );
  return new Set(connected.flat().map(keyOf));
}

/** Two programs that read one file read the same of ours in it. */
function keyOf({ use, paths }: PlacedPart): string {
  return `${use} ${paths.join(' ')}`;
}
