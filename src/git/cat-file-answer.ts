/** What follows a header line: this many bytes and a newline, nothing, or an answer nobody wants. */
export type Expectation = number | 'nothing' | 'stop';

export interface AnswerSink {
  header(line: string): Expectation;
  body(bytes: Buffer): void;
}

const NEWLINE = 0x0a;

/** Cuts the output of `git cat-file` into header lines and bodies. A body within one chunk is a view of it, not a copy. */
export class AnswerParser {
  readonly #sink: AnswerSink;
  #line = '';
  #wanted: number | undefined;
  #parts: Buffer | undefined;
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
    return this.#expect(what, chunk, end + 1);
  }

  #expect(what: Expectation, chunk: Buffer, at: number): number {
    if (what === 'stop') this.#stopped = true;
    if (typeof what !== 'number') return at;
    this.#wanted = what;
    return what === 0 ? this.#hand(chunk.subarray(at, at), at) : at;
  }

  // Copies only when a body spans chunks.
  #fill(chunk: Buffer, at: number): number {
    const size = this.#wanted!;
    if (!this.#parts && at + size <= chunk.length) return this.#hand(chunk.subarray(at, at + size), at + size);
    this.#parts ??= Buffer.allocUnsafeSlow(size);
    const end = at + chunk.copy(this.#parts, this.#filled, at);
    this.#filled += end - at;
    return this.#filled === size ? this.#hand(this.#parts, end) : end;
  }

  #hand(body: Buffer, end: number): number {
    this.#wanted = this.#parts = undefined;
    this.#filled = 0;
    this.#afterBody = true;
    this.#sink.body(body);
    return end;
  }
}
