import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Every file under a folder, with its bytes and whether it can be run. Not what git, we, or a program's own packages keep there. */
export function snapshot(folder, leaveOut = ['.git', '.handoff', 'node_modules']) {
  const files = readdirSync(folder, { recursive: true })
    .filter((path) => !path.split('/').some((name) => leaveOut.includes(name)))
    .map((path) => [path, contentOf(join(folder, path))]);
  return Object.fromEntries(files.filter(([, content]) => content !== null).sort());
}

function contentOf(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  return stat?.isFile() ? `${(stat.mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}` : null;
}

/** What differs, by path. */
export function differences(before, after) {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return paths.filter((path) => before[path] !== after[path]);
}
