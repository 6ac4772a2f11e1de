// How git lays out an index of version 2 or 3, SHA-1 or SHA-256: gitformat-index(5). `width` is the bytes of an object id.

/** The bytes before the first entry. */
export const HEADER = 12;

// where things are in an entry, from its first byte
export const MTIME = 8;
export const MODE = 24;
export const SIZE = 36;
export const OID = 40;

/** In the flags: more flags follow. */
export const EXTENDED = 0x4000;
/** In the flags: assumed unchanged, or one side of a conflict. */
export const MARKED = 0xb000;
/** In the flags: one side of a conflict. */
export const STAGE = 0x3000;
/** In the flags: the length of the name. A longer name than this ends at the first zero. */
export const LENGTH = 0x0fff;

/** How many entries there are; null for another form than this one. */
export function countEntries(header: Buffer): number | null {
  if (header.length < HEADER || header.toString('latin1', 0, 4) !== 'DIRC') return null;
  return [2, 3].includes(header.readUInt32BE(4)) ? header.readUInt32BE(8) : null;
}

export function flagsOf(bytes: Buffer, at: number, width: number): number {
  return bytes.readUInt16BE(at + OID + width);
}

/** Where the name begins, from the first byte of an entry. */
export function nameOffset(flags: number, width: number): number {
  return OID + width + (flags & EXTENDED ? 4 : 2);
}

/** How many bytes an entry has: after its name one to eight zeros, up to a multiple of eight. */
export function sizeOf(flags: number, width: number): number {
  return withZeros(nameOffset(flags, width) + (flags & LENGTH));
}

function withZeros(size: number): number {
  return (size + 8) & ~7;
}

/** Visits the entries of a whole index until `visit` returns false: where one begins, its flags, where its name begins and ends. */
export function walkEntries(
  index: Buffer,
  width: number,
  visit: (at: number, flags: number, start: number, end: number) => boolean,
): void {
  let at = HEADER;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flags = flagsOf(index, at, width);
    const start = at + nameOffset(flags, width);
    const end = index.indexOf(0, start);
    if (!visit(at, flags, start, end)) return;
    at += withZeros(end - at);
  }
}
