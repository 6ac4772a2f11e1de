import { RULES } from './rules.mjs';
import { hash } from './signing.mjs';
import { leafOf, nodeOf, split } from './tree.mjs';

// Entry i of every log here is `entry <i>` and a newline. The tree is RFC 6962 §2.1 by its recursion; a tile is the formula of
// c2sp.org/tlog-tiles.

const WIDTH = 256;
const entry = (index) => Buffer.from(`entry ${index}\n`);
const known = new Map();

/** MTH(D[start:end]) */
function rangeHash(start, end) {
  const key = `${start}-${end}`;
  if (!known.has(key)) known.set(key, computeRange(start, end));
  return known.get(key);
}

function computeRange(start, end) {
  if (start === end) return hash('sha256', '');
  if (end - start === 1) return leafOf(entry(start));
  const middle = start + split(end - start);
  return nodeOf(rangeHash(start, middle), rangeHash(middle, end));
}

function bundleOf(entries) {
  return Buffer.concat(entries.flatMap((bytes) => [Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]));
}

/** Path and bytes of every file of a log, sorted by path. */
function filesOf(size) {
  const files = [];
  for (const level of ['entries', 0, 1, 2]) {
    const span = level === 'entries' ? 1 : WIDTH ** level;
    const count = Math.floor(size / span);
    for (let index = 0; index * WIDTH < count; index++) {
      const places = Array.from({ length: Math.min(WIDTH, count - index * WIDTH) }, (_, i) => index * WIDTH + i);
      const bytes =
        level === 'entries'
          ? bundleOf(places.map(entry))
          : Buffer.concat(places.map((place) => rangeHash(place * span, (place + 1) * span)));
      const partial = places.length < WIDTH ? `.p/${places.length}` : '';
      files.push([`tile/${level}/${String(index).padStart(3, '0')}${partial}`, bytes]);
    }
  }
  return files.sort(([a], [b]) => (a < b ? -1 : 1));
}

function pathCase(path, level, index, width) {
  return { name: path, rule: [RULES.tiles], check: 'path', path, tile: { level, index, width }, result: 'valid' };
}

function notPathCase(name, path) {
  return { name, rule: [RULES.tiles], check: 'path', path, result: 'ledger_inconsistent' };
}

/** `listing` is the SHA-256 of a line for each file: its path, a space, its SHA-256 in hex. */
function logCase(size, isListed = true) {
  const digests = filesOf(size).map(([path, bytes]) => [path, hash('sha256', bytes).toString('hex')]);
  return {
    name: `a log of ${size}`,
    rule: [RULES.tiles],
    check: 'log',
    size,
    root: rangeHash(0, size).toString('hex'),
    count: digests.length,
    listing: hash('sha256', digests.map(([path, digest]) => `${path} ${digest}\n`).join('')).toString('hex'),
    ...(isListed && { files: Object.fromEntries(digests) }),
  };
}

function growthCase(from, to) {
  const [before, after] = [from, to].map((size) => filesOf(size).map(([path]) => path));
  return {
    name: `from ${from} to ${to}`,
    rule: [RULES.tiles],
    check: 'growth',
    from,
    to,
    written: after.filter((path) => !before.includes(path)),
    removed: before.filter((path) => !after.includes(path)),
  };
}

function bundleCase(name, width, bytes, entries) {
  const shown = { name, rule: [RULES.tiles], check: 'bundle', width, bundle: bytes.toString('hex') };
  return entries
    ? { ...shown, entries: entries.map((one) => one.toString('hex')), result: 'valid' }
    : { ...shown, result: 'ledger_inconsistent' };
}

const three = [entry(0), Buffer.alloc(0), Buffer.alloc(258, 7)];
const bundle = bundleOf(three);

export const tiles = [
  pathCase('tile/0/000', 0, 0, 256),
  pathCase('tile/0/999.p/1', 0, 999, 1),
  pathCase('tile/1/x001/000.p/255', 1, 1_000, 255),
  pathCase('tile/0/x001/x234/067', 0, 1_234_067, 256),
  pathCase('tile/63/x999/999', 63, 999_999, 256),
  pathCase('tile/entries/x001/234.p/5', 'entries', 1_234, 5),
  notPathCase('a level with a leading zero', 'tile/00/000'),
  notPathCase('a level above 63', 'tile/64/000'),
  notPathCase('a last element of two digits', 'tile/0/00'),
  notPathCase('a first element of zeros', 'tile/0/x000/001'),
  notPathCase('an element that lacks its x', 'tile/0/001/234'),
  notPathCase('an x before the last element', 'tile/0/x001/x234'),
  notPathCase('a width of 0', 'tile/0/000.p/0'),
  notPathCase('a width of 256', 'tile/0/000.p/256'),
  notPathCase('a width with a leading zero', 'tile/0/000.p/05'),
  notPathCase('something after it', 'tile/0/000.p/5/'),
  ...[0, 1, 2, 3, 7, 255, 256, 257, 600].map((size) => logCase(size)),
  logCase(65_536 + 257, false),
  growthCase(0, 1),
  growthCase(1, 2),
  growthCase(255, 256),
  growthCase(255, 257),
  growthCase(256, 257),
  growthCase(300, 300),
  growthCase(300, 600),
  growthCase(65_535, 65_537),
  bundleCase('three entries, one of them empty', 3, bundle, three),
  bundleCase('one entry more than the width', 2, bundle),
  bundleCase('one entry fewer than the width', 4, bundle),
  bundleCase('a last entry that is cut off', 3, bundle.subarray(0, -1)),
  bundleCase('a byte after the last entry', 3, Buffer.concat([bundle, Buffer.of(0)])),
];
