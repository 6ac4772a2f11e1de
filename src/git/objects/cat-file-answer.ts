/** What follows a header line: this many bytes and a newline, nothing, or an answer that is thrown away. */
export type Expectation = number | 'nothing' | 'stop';

export interface AnswerSink {
  header(line: string): Expectation;
  /** In the parts that it came in, which are not copied: a large one would take as long to copy as to hash. */
  body(parts: Buffer[]): void;
}

const NEWLINE = 0x0a;

/** Cuts the output of `git cat-file` into header lines and bodies. */
export class AnswerParser {
  readonly #sink: AnswerSink;
  #line = '';
  #wanted: number | undefined;
  #parts: Buffer[] = [];
  #filled = 0;
  #afterBody = false;
  #stopped = false;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#stopped)
      at = this.#wanted === undefined ? this.#header(chunk, at) : this.#fill(chunk, at);
  }

  // git writes the newline after a body together with the next header, so a body is handed over before it arrives.
  #header(chunk: Buffer, at: number): number {
    const start = this.#afterBody ? at + 1 : at;
    this.#afterBody = false;
    const end = chunk.indexOf(NEWLINE, start);
    this.#line += chunk.toString('latin1', start, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    const what = this.#sink.header(this.#line);
    this.#line = '';
    return this.#expect(what, end + 1);
  }

  #expect(what: Expectation, at: number): number {
    if (what === 'stop') this.#stopped = true;
    if (typeof what !== 'number') return at;
    this.#wanted = what;
    return what === 0 ? this.#hand(at) : at;
  }

  #fill(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#wanted! - this.#filled);
    this.#parts.push(chunk.subarray(at, end));
    this.#filled += end - at;
    return this.#filled === this.#wanted ? this.#hand(end) : end;
  }

  #hand(end: number): number {
    const parts = this.#parts;
    this.#wanted = undefined;
    this.#parts = [];
    this.#filled = 0;
    this.#afterBody = true;
    this.#sink.body(parts);
    return end;
  }
}
