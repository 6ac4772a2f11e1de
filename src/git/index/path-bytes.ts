/** A path as the file system takes it: its name need not be UTF-8. */
export function pathBytes(topLevel: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${topLevel}/`), Buffer.from(path, 'latin1')]);
}
