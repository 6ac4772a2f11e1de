import { hash } from '../signing.mjs';

// SPEC §9.3, written out for what these histories do: files come, go, or have other words in the same lines.

const CONTEXT = 3;

/** The paths of code, and of what is exempt, in which two trees differ. */
export function pathsBetween(before, after) {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths.filter((path) => before[path] !== after[path] && !path.startsWith('.handoff/'));
}

export function patchId(before, after) {
  const lines = pathsBetween(before, after).flatMap((path) => patchOf(path, before[path], after[path]));
  return hash('sha256', lines.map((line) => `${line}\n`).join('')).toString('hex');
}

function patchOf(path, old, now) {
  const head = `diff --git a/${path} b/${path}`;
  if (old === undefined)
    return [head, 'new file mode 100644', '--- /dev/null', `+++ b/${path}`, '@@', ...marked('+', now)];
  if (now === undefined)
    return [head, 'deleted file mode 100644', `--- a/${path}`, '+++ /dev/null', '@@', ...marked('-', old)];
  return [head, `--- a/${path}`, `+++ b/${path}`, ...hunksOf(linesOf(old), linesOf(now))];
}

function hunksOf(old, now) {
  if (old.length !== now.length) throw new Error('Here a file keeps its number of lines.');
  const changed = [...old.keys()].filter((at) => old[at] !== now[at]);
  const hunks = [];
  for (const at of changed) {
    if (hunks.length > 0 && at - hunks.at(-1).at(-1) <= 2 * CONTEXT + 1) hunks.at(-1).push(at);
    else hunks.push([at]);
  }
  return hunks.flatMap((places) => ['@@', ...hunkOf(old, now, places)]);
}

/** Lines that changed one after the other are all taken away first, and then all put there. */
function hunkOf(old, now, places) {
  const lines = [];
  const end = Math.min(old.length, places.at(-1) + CONTEXT + 1);
  for (let at = Math.max(0, places[0] - CONTEXT); at < end; at++) {
    if (!places.includes(at)) {
      lines.push(` ${old[at]}`);
      continue;
    }
    let after = at;
    while (places.includes(after)) after++;
    lines.push(...old.slice(at, after).map((line) => `-${line}`), ...now.slice(at, after).map((line) => `+${line}`));
    at = after - 1;
  }
  return lines;
}

function marked(mark, text) {
  return linesOf(text).map((line) => mark + line);
}

function linesOf(text) {
  return text.replace(/\n$/, '').split('\n');
}
