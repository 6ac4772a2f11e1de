/**
 * The `TREE` extension of an index, which knows the ids of folders, after files in some of them have changed: these folders
 * and all above them are unknown. In parts, since one of many folders is large. Null when it is malformed.
 */
export function forgetTrees(trees: Buffer, folders: readonly string[], width: number): Buffer[] | null {
  try {
    const nodes = folders.flatMap((folder) => nodesAlong(trees, folder.split('/'), width));
    const byNul = new Map(nodes.filter(({ isKnown }) => isKnown).map((node) => [node.nul, node]));
    return withUnknown(
      trees,
      [...byNul.values()].sort((a, b) => a.nul - b.nul),
    );
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

/** From the top down to a folder, as far as it is there. */
function nodesAlong(trees: Buffer, folder: readonly string[], width: number): Node[] {
  const nodes = [readNode(trees, 0, width)];
  for (const name of folder) {
    const at = findChild(trees, nodes.at(-1)!, name, width);
    if (at === null) break;
    nodes.push(readNode(trees, at, width));
  }
  return nodes;
}

function withUnknown(trees: Buffer, nodes: readonly Node[]): Buffer[] {
  let done = 0;
  const parts = nodes.flatMap(({ nul, children, end }) => {
    const before = trees.subarray(done, nul + 1);
    done = end;
    return [before, Buffer.from(`-1 ${children}\n`)];
  });
  return [...parts, trees.subarray(done)];
}

interface Node {
  /** Where its name ends. */
  nul: number;
  isKnown: boolean;
  children: number;
  end: number;
}

function findChild(trees: Buffer, parent: Node, name: string, width: number): number | null {
  const wanted = Buffer.from(`${name}\0`);
  let at = parent.end;
  for (let child = 0; child < parent.children; child++) {
    if (trees.subarray(at, at + wanted.length).equals(wanted)) return at;
    for (let left = 1; left > 0; left--) {
      const node = readNode(trees, at, width);
      left += node.children;
      at = node.end;
    }
  }
  return null;
}

const MINUS = 0x2d;
const SPACE = 0x20;
const NEWLINE = 0x0a;
const ZERO = 0x30;

/** `<name>\0<entries> <children>\n<id, if known>`, each node followed by its children. */
function readNode(trees: Buffer, at: number, width: number): Node {
  const nul = trees.indexOf(0, at);
  const space = trees.indexOf(SPACE, nul);
  const newline = trees.indexOf(NEWLINE, space);
  const isKnown = trees[nul + 1] !== MINUS;
  const end = newline + 1 + (isKnown ? width : 0);
  if (nul < 0 || space < 0 || newline < 0 || end > trees.length) throw new Malformed();
  let children = 0;
  for (let digit = space + 1; digit < newline; digit++) children = children * 10 + trees[digit]! - ZERO;
  return { nul, isKnown, children, end };
}

class Malformed extends Error {}
