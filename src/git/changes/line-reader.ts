/** Takes what git prints for one comparison, line by line: a patch of any size is hashed, never held. */
export interface LineReader<T> {
  line(line: Buffer): void;
  finish(): T;
}
