// Says whether a program is outside of a folder all the way: its path, every link on it, and what they lead to.
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';

const [program, folder] = process.argv.slice(2);
const MOST_LINKS = 40;

function isOutside(path, tree) {
  const rest = (isAbsolute(path) ? path : join(process.cwd(), path)).split(sep);
  let at = sep;
  for (let links = 0; rest.length > 0; ) {
    const name = rest.shift();
    const next = name === '..' ? dirname(at) : join(at, name);
    if (next.startsWith(tree + sep)) return false;
    const link = linkAt(next);
    if (link === null) at = next;
    else if (++links > MOST_LINKS) return false;
    else {
      rest.unshift(...link.split(sep));
      if (isAbsolute(link)) at = sep;
    }
  }
  return true;
}

function linkAt(path) {
  return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
}

process.exit(isOutside(program, realpathSync(folder)) ? 0 : 1);
