import { ROOT } from '../../core/paths.ts';
import type { Placed, TreePair } from '../delta/differences.ts';
import { finding, type Report } from '../finding.ts';
import { FOLDERS_AT_ONCE, limiter } from '../source/limit.ts';
import { type Entry, FOLDER, find, type Source } from '../source/source.ts';

/** Each that waits costs whoever reads the tree something, and one root principal alone can propose it. */
const MOST_NEW_NAMES = 100;

/** SPEC §10.3.4: so many identities wait whose names nobody has yet. What waited before, and is replaced, is not counted again. */
export async function reportCrowd({ now }: TreePair, changes: readonly Placed[], report: Report): Promise<void> {
  const arriving = changes.filter(
    ({ path, before, use }) => use === 'pending' && before === null && path.endsWith('/pending.yaml'),
  );
  if (arriving.length === 0) return;
  const newNames = new Set(await waitingNewNames(now));
  if (newNames.size <= MOST_NEW_NAMES || !arriving.some(({ path }) => newNames.has(path.split('/')[2]!))) return;
  const expected = `at most ${MOST_NEW_NAMES} new identities that wait for signatures`;
  const hint =
    'Let the other root principals sign some of them first: git handoff policy show, git handoff policy sign';
  report(finding('too_large', `${ROOT}/identities`, expected, String(newNames.size), hint));
}

async function waitingNewNames(source: Source): Promise<string[]> {
  const folder = await find(source, `${ROOT}/identities`);
  const folders = folder?.mode === FOLDER ? await source.list(folder) : [];
  const limit = limiter(FOLDERS_AT_ONCE);
  const waitsAlone = async (each: Entry): Promise<boolean> => {
    const names = each.mode === FOLDER ? (await source.list(each)).map(({ name }) => name) : [];
    return names.includes('pending.yaml') && !names.includes('identity.yaml');
  };
  const found = await Promise.all(folders.map((each) => limit(1, () => waitsAlone(each))));
  return folders.filter((_, at) => found[at]).map(({ name }) => name);
}
