import type { Oid } from '../objects/store.ts';
import { EXTENDED, flagsOf, LENGTH, MARKED, MODE, MTIME, nameOffset, OID, SIZE, sizeOf } from './index-layout.ts';

/** A file as git's index remembers it. */
export interface IndexedFile {
  oid: Oid;
  stat: FileStat;
}

/** As `fs.fstat` tells it with `bigint`. */
interface FileStat {
  ctimeNs: bigint;
  mtimeNs: bigint;
  dev: bigint;
  ino: bigint;
  uid: bigint;
  gid: bigint;
  size: bigint;
}

/** A path as it is to be in the index. */
export interface Wanted {
  path: string;
  /** What is there already is good enough. */
  onlyIfAbsent: boolean;
  /** `gone`: it is not to be there. Null where git has to say what to do. */
  read(): IndexedFile | 'gone' | null;
}

const SUBMODULE = 0o160000;

/** A whole checkout can be of one second. git compares such files before it makes everybody compare them. */
const MOST_RACY = 64;

/** What is known of an index before its entries are read. */
export interface Entries {
  count: number;
  /** Bytes of an id. */
  width: number;
  /** The second in which the index was written. */
  writtenAt: number;
  /** Whether the file of that name is what the index says. */
  isUnchanged(name: Uint8Array, oid: Uint8Array): boolean;
}

/** What goes out: a part of the index as it was, or something new. */
export type Emit = (bytes: Uint8Array) => void;

/**
 * The entries of an index, in pieces of any size, with some more in their places and some less. It does what git does, byte
 * for byte, in the plain case; `failed` once it meets what only git should handle.
 */
export class EntryMerger {
  failed = false;
  changed = false;
  /** How many entries there are more, or less. */
  added = 0;
  #left: number;
  #racy = 0;
  #lastStart = 0;
  #next = 0;
  readonly #goals: Goal[];
  readonly #parents: Uint8Array = new Uint8Array(LENGTH + 1);
  readonly #parentNames: Set<string> = new Set();
  readonly #width: number;
  readonly #writtenAt: number;
  readonly #isUnchanged: Entries['isUnchanged'];
  readonly #emit: Emit;

  constructor({ count, width, writtenAt, isUnchanged }: Entries, wanted: readonly Wanted[], emit: Emit) {
    this.#left = count;
    this.#width = width;
    this.#writtenAt = writtenAt;
    this.#isUnchanged = isUnchanged;
    this.#emit = emit;
    this.#goals = toGoals(wanted);
    for (const { path } of wanted) {
      for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
        this.#parentNames.add(path.slice(0, end));
        this.#parents[end] = 1;
      }
    }
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  /** Nothing more is added or taken out from here on. */
  get isSettled(): boolean {
    return this.#next === this.#goals.length;
  }

  /** Takes whole entries from a piece and returns how many bytes they were. What is racy is changed in place. */
  push(piece: Buffer): number {
    const end = this.#walk(piece);
    if (this.failed) return end;
    const from = this.#isNear(piece, end) ? this.#place(piece, end) : 0;
    this.#emit(piece.subarray(from, end));
    return end;
  }

  /** After the last entry: what belongs behind all of them. */
  finish(): void {
    for (; this.#next < this.#goals.length && !this.failed; this.#next++) this.#insert(this.#goals[this.#next]!);
  }

  /** Counts entries, and makes sure that each is one that may be left as it is. */
  #walk(piece: Buffer): number {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
    const fixed = nameOffset(0, this.#width);
    let at = 0;
    while (this.#left > 0 && at + fixed <= piece.length) {
      const flags = view.getUint16(at + fixed - 2);
      const length = flags & LENGTH;
      const size = sizeOf(flags, this.#width);
      if (at + size > piece.length) break;
      if (view.getUint32(at + MTIME) >= this.#writtenAt && view.getUint32(at + MODE) !== SUBMODULE) {
        // as git does it: an entry without a size is compared byte by byte by whoever looks next
        if (!this.#isClean(piece, at)) view.setUint32(at + SIZE, 0);
        this.#racy++;
      }
      if (length === LENGTH || this.#racy > MOST_RACY || (this.#parents[length] && this.#isParent(piece, at))) {
        this.failed = true;
        return 0;
      }
      this.#lastStart = at;
      at += size;
      this.#left--;
    }
    return at;
  }

  #isClean(piece: Buffer, at: number): boolean {
    const oid = piece.subarray(at + OID, at + OID + this.#width);
    return this.#racy < MOST_RACY && this.#isUnchanged(nameOf(piece, at, this.#width), oid);
  }

  #isParent(piece: Buffer, at: number): boolean {
    return this.#parentNames.has(nameOf(piece, at, this.#width).toString('latin1'));
  }

  /** Whether the next goal is not behind all of this piece. */
  #isNear(piece: Buffer, end: number): boolean {
    const goal = this.#goals[this.#next];
    if (!goal || end === 0) return false;
    return Buffer.compare(nameOf(piece, this.#lastStart, this.#width), goal.name) >= 0;
  }

  /** Puts goals between the entries of a piece. Returns up to where the piece has gone out. */
  #place(piece: Buffer, end: number): number {
    const starts = this.#startsIn(piece, end);
    let from = 0;
    for (; this.#next < this.#goals.length && !this.failed; this.#next++) {
      const goal = this.#goals[this.#next]!;
      const entry = firstFrom(piece, starts, goal.name, this.#width);
      if (entry === starts.length) break; // it belongs behind this piece
      const at = starts[entry]!;
      const name = nameOf(piece, at, this.#width);
      if (goal.isGuard) {
        if (name.subarray(0, goal.name.length).equals(goal.name)) this.failed = true;
        continue;
      }
      this.#emit(piece.subarray(from, at));
      from = at;
      if (!name.equals(goal.name)) this.#insert(goal);
      else if (flagsOf(piece, at, this.#width) & (MARKED | EXTENDED)) this.failed = true;
      else if (!goal.wanted.onlyIfAbsent) {
        from = starts[entry + 1] ?? end;
        this.added--;
        this.changed = true;
        this.#insert(goal);
      }
    }
    return from;
  }

  #startsIn(piece: Buffer, end: number): number[] {
    const starts: number[] = [];
    for (let at = 0; at < end; ) {
      starts.push(at);
      at += sizeOf(flagsOf(piece, at, this.#width), this.#width);
    }
    return starts;
  }

  #insert({ wanted, isGuard, name }: Goal): void {
    if (isGuard) return;
    const file = wanted.read();
    if (file === 'gone') return;
    if (!file) this.failed = true;
    else this.#emit(formatEntry(name, file, this.#width));
    this.added++;
    this.changed = true;
  }
}

/** A path, or the guard behind it: nothing may be in a folder of that name. */
interface Goal {
  wanted: Wanted;
  name: Buffer;
  isGuard: boolean;
}

function toGoals(wanted: readonly Wanted[]): Goal[] {
  const goals = wanted.flatMap((each) => [
    { wanted: each, name: Buffer.from(each.path), isGuard: false },
    { wanted: each, name: Buffer.from(`${each.path}/`), isGuard: true },
  ]);
  return goals.sort((a, b) => Buffer.compare(a.name, b.name));
}

/** The first of these entries whose name is not before this one. */
function firstFrom(piece: Buffer, starts: readonly number[], name: Buffer, width: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare(nameOf(piece, starts[middle]!, width), name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nameOf(piece: Buffer, start: number, width: number): Buffer {
  const flags = flagsOf(piece, start, width);
  const at = start + nameOffset(flags, width);
  return piece.subarray(at, at + (flags & LENGTH));
}

const NANO = 1_000_000_000n;
const PLAIN_FILE = 0o100644n;

function formatEntry(name: Buffer, { oid, stat }: IndexedFile, width: number): Buffer {
  const entry = Buffer.alloc(sizeOf(name.length, width));
  const { ctimeNs, mtimeNs, dev, ino, uid, gid, size } = stat;
  const times = [ctimeNs / NANO, ctimeNs % NANO, mtimeNs / NANO, mtimeNs % NANO];
  const numbers = [...times, dev, ino, PLAIN_FILE, uid, gid, size];
  for (const [place, number] of numbers.entries()) entry.writeUInt32BE(Number(BigInt.asUintN(32, number)), place * 4);
  entry.write(oid, OID, 'hex');
  entry.writeUInt16BE(name.length, OID + width);
  name.copy(entry, OID + width + 2);
  return entry;
}
