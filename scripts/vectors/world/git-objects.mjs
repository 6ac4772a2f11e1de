import { hash } from '../signing.mjs';

// Objects of git and a bundle of them, byte by byte: what git itself packs differs from one version to the next.

const KINDS = { commit: 1, tree: 2, blob: 3 };
const FILE = '100644';
const FOLDER = '40000';
const WHO = 'Ada <ada@vectors.invalid>';

/** Keeps every object that is made. */
export function openStore() {
  const objects = new Map();
  /** `below` are the ids that it names. */
  const write = (kind, bytes, below = []) => {
    const oid = hash('sha1', Buffer.concat([Buffer.from(`${kind} ${bytes.length}\0`), bytes])).toString('hex');
    objects.set(oid, { kind, bytes, below });
    return oid;
  };
  const writeTree = (files) => writeFolder(toFolder(files), write);
  let time = 1771597825;
  /** Each commit is a minute newer than the one that was made before. */
  const commit = (files, { parents = [], message = 'work', author = WHO } = {}) => {
    time += 60;
    const tree = writeTree(files);
    const head = [`tree ${tree}`, ...parents.map(({ oid }) => `parent ${oid}`), `author ${author} ${time} +0000`];
    const bytes = Buffer.from(`${head.join('\n')}\ncommitter ${WHO} ${time} +0000\n\n${message}\n`);
    const oid = write('commit', bytes, [tree, ...parents.map((parent) => parent.oid)]);
    return { oid, tree, files, parents };
  };
  return { objects, writeTree, commit };
}

/**
 * The folders of `{path: content}`, where content is text, bytes, `{mode, content, name}`, or a list of all that stand there. A
 * `name` is bytes that are no text.
 */
function toFolder(files) {
  const top = new Map();
  for (const [path, content] of Object.entries(files)) {
    const names = path.split('/');
    const last = names.pop();
    let folder = top;
    for (const name of names) {
      if (!folder.has(name)) folder.set(name, new Map());
      folder = folder.get(name);
    }
    folder.set(last, content);
  }
  return top;
}

/** In git's order: the name of a folder is compared as if it ended in a slash. */
function writeFolder(folder, write) {
  const entries = [...folder].flatMap(([name, content]) => [content].flat().map((each) => entryOf(name, each, write)));
  const key = ({ name, mode }) => Buffer.concat([Buffer.from(name), Buffer.from(mode === FOLDER ? '/' : '')]);
  const sorted = entries.toSorted((a, b) => Buffer.compare(key(a), key(b)));
  const bytes = sorted.flatMap(({ name, mode, oid }) => [
    Buffer.from(`${mode} `),
    Buffer.from(name),
    Buffer.of(0),
    Buffer.from(oid, 'hex'),
  ]);
  return write(
    'tree',
    Buffer.concat(bytes),
    sorted.map(({ oid }) => oid),
  );
}

function entryOf(name, given, write) {
  if (given instanceof Map) return { name, mode: FOLDER, oid: writeFolder(given, write) };
  const file = typeof given === 'string' || Buffer.isBuffer(given) ? { content: given } : given;
  return { name: file.name ?? name, mode: file.mode ?? FILE, oid: write('blob', Buffer.from(file.content)) };
}

/** gitformat-bundle, version 2: refs by their names, and a pack of all that they lead to. What no ref leads to is not to be had. */
export function bundleOf(refs, objects) {
  const lines = Object.entries(refs).map(([name, oid]) => `${oid} ${name}\n`);
  const wanted = new Set(Object.values(refs));
  for (const oid of wanted) for (const each of objects.get(oid).below) wanted.add(each);
  const packed = packOf([...wanted].map((oid) => objects.get(oid)));
  return Buffer.concat([Buffer.from(`# v2 git bundle\n${lines.join('')}\n`), packed]);
}

/** gitformat-pack, version 2, without deltas. */
function packOf(objects) {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const packed = objects.flatMap(({ kind, bytes }) => [kindAndSize(kind, bytes.length), stored(bytes)]);
  const body = Buffer.concat([head, ...packed]);
  return Buffer.concat([body, hash('sha1', body)]);
}

/** Four bits of the size are in the first byte, and seven in each that follows. */
function kindAndSize(kind, size) {
  const bytes = [(KINDS[kind] << 4) | (size & 15)];
  for (let left = size >> 4; left > 0; left >>= 7) {
    bytes[bytes.length - 1] |= 0x80;
    bytes.push(left & 0x7f);
  }
  return Buffer.from(bytes);
}

/** RFC 1950 without compression, whose bytes differ from one machine to the next. One block is enough for what is here. */
function stored(bytes) {
  const head = Buffer.from([0x78, 0x01, 1, 0, 0, 0, 0]);
  head.writeUInt16LE(bytes.length, 3);
  head.writeUInt16LE(~bytes.length & 0xffff, 5);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(adler32(bytes));
  return Buffer.concat([head, bytes, sum]);
}

function adler32(bytes) {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return b * 65_536 + a;
}
