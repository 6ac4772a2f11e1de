import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { HandoffError } from '../../core/error.ts';
import type { GitConfig } from '../config.ts';
import { type Git, gitFailure, spawnGit, startFailure } from '../run.ts';
import { readTracedConfig, TRACE_CONFIG, TRACE_FD } from '../trace-config.ts';
import { AnswerParser, type Expectation } from './cat-file-answer.ts';
import type { Oid } from './store.ts';
import { tooLarge } from './store-error.ts';

export interface ObjectHeader {
  oid: Oid;
  type: string;
  size: number;
}

export interface GitObject extends ObjectHeader {
  bytes: Buffer;
}

/** An object in the chunks that it came in. */
export interface ObjectParts extends ObjectHeader {
  parts: Buffer[];
}

interface Request {
  command: 'info' | 'contents';
  rev: string;
  limit: number;
  /** Whether whoever asked takes it in parts. */
  inParts?: boolean;
  header?: ObjectHeader;
  // biome-ignore lint/suspicious/noExplicitAny: what the answer is follows from the command; or it is a HandoffError
  answer(answer: any): void;
  next?: Request;
}

const ARGS = ['cat-file', '--batch-command', '--buffer'];
const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * One long-lived `git cat-file`. Requests are answered in the order they were made, and any number may be waiting.
 * A rev that names nothing is null.
 *
 * A limit must hold without inflating the object, but asking for the size first takes a fifth more time. So `contents`
 * is asked at once, and the header that precedes the bytes is judged. The first object over its limit costs the
 * process, which is started anew, and from then on sizes are asked first: a tree full of huge objects costs one restart.
 */
export class CatFile {
  readonly #git: Git;
  #child: ChildProcessWithoutNullStreams | undefined;
  #first: Request | undefined;
  #last: Request | undefined;
  #outgoing = '';
  #asksSizeFirst = false;
  #failure: HandoffError | undefined;
  #config: Promise<GitConfig | null> | undefined;
  /** How many wait for the configuration. */
  #asked = 0;

  constructor(git: Git) {
    this.#git = git;
  }

  info(rev: string): Promise<ObjectHeader | null> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ command: 'info', rev, limit: UNLIMITED, answer: settle(resolve, reject) });
    });
  }

  contents(rev: string, limit = UNLIMITED): Promise<GitObject | null> {
    return new Promise((resolve, reject) => {
      this.#admit({ command: 'contents', rev, limit, answer: settle(resolve, reject) });
    });
  }

  contentsInParts(rev: string): Promise<ObjectParts | null> {
    return new Promise((resolve, reject) => {
      this.#admit({ command: 'contents', rev, limit: UNLIMITED, inParts: true, answer: settle(resolve, reject) });
    });
  }

  /** Many objects for the price of one promise: `take` gets for each what `contents` would have given, or thrown. */
  contentsOfAll(
    revs: readonly string[],
    limit: number | undefined,
    take: (index: number, object: GitObject | null | HandoffError) => void,
  ): Promise<void> {
    return new Promise((resolve) => {
      let open = revs.length;
      if (open === 0) resolve();
      revs.forEach((rev, index) => {
        const answer = (object: GitObject | null | HandoffError): void => {
          take(index, object);
          if (--open === 0) resolve();
        };
        this.#admit({ command: 'contents', rev, limit: limit ?? UNLIMITED, answer });
      });
    });
  }

  /** The configuration as the process told it when it started; null when it did not. */
  async config(): Promise<GitConfig | null> {
    this.#child ??= this.#start();
    keepAlive(this.#child, true);
    this.#asked++;
    try {
      return await this.#config!;
    } finally {
      this.#asked--;
      this.#rest();
    }
  }

  getReady(): void {
    if (this.#failure) return;
    this.#child ??= this.#start();
    this.#rest();
  }

  /** Answers what is waiting, then ends the process. */
  async close(): Promise<void> {
    const child = this.#end();
    if (!child) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    keepAlive(child, true);
    await ended;
  }

  /** The same for whoever is about to end and need not see it: git ends when its input does. */
  leave(): void {
    this.#end();
  }

  #end(): ChildProcessWithoutNullStreams | undefined {
    this.#send();
    this.#failure ??= new HandoffError('io', 'The git store is closed');
    this.#child?.stdin.end();
    return this.#child;
  }

  #admit(request: Request): void {
    this.#enqueue(this.#asksSizeFirst && request.limit < UNLIMITED ? this.#probe(request) : request);
  }

  #probe(request: Request): Request {
    const answer = (header: ObjectHeader | null | HandoffError) => {
      if (header === null || header instanceof HandoffError) request.answer(header);
      else if (header.size > request.limit) request.answer(tooLarge(header.oid, header.size, request.limit));
      else this.#enqueue(request);
    };
    return { command: 'info', rev: request.rev, limit: UNLIMITED, answer };
  }

  #enqueue(request: Request): void {
    if (this.#failure) {
      request.answer(this.#failure);
      return;
    }
    const isIdle = this.#last === undefined;
    if (this.#last) this.#last.next = request;
    else this.#first = request;
    this.#last = request;
    if (this.#outgoing === '') this.#sendSoon(isIdle);
    this.#outgoing += `${request.command} ${request.rev}\n`;
  }

  /** What git is busy with gives time to ask for more at once; an idle git should not wait for whatever else there is to do. */
  #sendSoon(isIdle: boolean): void {
    if (isIdle)
      Promise.resolve().then(() => this.#send()); // queueMicrotask takes a millisecond to get ready
    else setImmediate(() => this.#send());
  }

  #take(): Request {
    const request = this.#first!;
    this.#first = request.next;
    if (this.#first) return request;
    this.#last = undefined;
    this.#rest();
    return request;
  }

  /** Nobody waits for anything, not even for the end. */
  #rest(): void {
    if (this.#child && !this.#first && this.#asked === 0 && !this.#failure) keepAlive(this.#child, false);
  }

  #send(): void {
    if (this.#outgoing === '') return;
    const text = `${this.#outgoing}flush\n`;
    this.#outgoing = '';
    this.#child ??= this.#start();
    keepAlive(this.#child, true);
    this.#child.stdin.write(text);
  }

  #start(): ChildProcessWithoutNullStreams {
    const git = { ...this.#git, set: { ...this.#git.set, ...TRACE_CONFIG } };
    const child = spawnGit(git, ARGS, {}, TRACE_FD + 1);
    this.#config ??= readTracedConfig(child.stdio[TRACE_FD] as Readable);
    const parser = new AnswerParser({
      header: (line) => this.#header(line),
      body: (parts) => {
        const { header, inParts, answer } = this.#take();
        const { oid, type, size } = header!;
        answer(inParts ? { oid, type, size, parts } : { oid, type, size, bytes: joined(parts) });
      },
    });
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => parser.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-8192);
    });
    child.stdin.on('error', () => {}); // the process has ended, and 'close' tells why
    child.on('error', (cause) => {
      this.#failure ??= startFailure(cause);
      this.#hasEnded(child, this.#failure);
    });
    child.on('close', (code) => this.#hasEnded(child, endFailure(code, stderr)));
    return child;
  }

  #header(line: string): Expectation {
    const header = parseHeader(line);
    const { command, limit, rev } = this.#first!;
    if (header === 'ambiguous') this.#take().answer(ambiguous(rev));
    else if (header === null) this.#take().answer(null);
    else if (command === 'info') this.#take().answer(header);
    else if (header.size > limit) return this.#restart(header);
    else {
      this.#first!.header = header;
      return header.size;
    }
    return 'nothing';
  }

  #restart(header: ObjectHeader): Expectation {
    const child = this.#child!;
    this.#child = undefined;
    child.kill('SIGKILL');
    keepAlive(child, false);
    this.#asksSizeFirst = true;
    const refused = this.#take();
    refused.answer(tooLarge(header.oid, header.size, refused.limit));
    const waiting = this.#first;
    this.#first = this.#last = undefined;
    this.#outgoing = '';
    for (let request = waiting; request; ) {
      const next: Request | undefined = request.next;
      delete request.next;
      this.#admit(request);
      request = next;
    }
    return 'stop';
  }

  /** git dies of some revisions (`@{upstream}` without one). What was waiting fails; the next request starts it anew. */
  #hasEnded(child: ChildProcessWithoutNullStreams, failure: HandoffError): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    this.#outgoing = ''; // what was asked and not sent fails as well, and nobody would wait for its answer
    while (this.#first) this.#take().answer(failure);
  }
}

/** One part is a view of the chunk that it came in, not a copy. */
function joined(parts: Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function settle<T>(resolve: (answer: T) => void, reject: (error: HandoffError) => void) {
  return (answer: T | HandoffError): void => (answer instanceof HandoffError ? reject(answer) : resolve(answer));
}

function parseHeader(line: string): ObjectHeader | 'ambiguous' | null {
  if (line.endsWith(' missing') || line.endsWith(' submodule')) return null;
  if (line.endsWith(' ambiguous')) return 'ambiguous';
  const afterOid = line.indexOf(' ');
  const afterType = line.indexOf(' ', afterOid + 1);
  return { oid: line.slice(0, afterOid), type: line.slice(afterOid + 1, afterType), size: +line.slice(afterType + 1) };
}

function ambiguous(rev: string): HandoffError {
  return new HandoffError('usage', `More than one object is called ${rev}`, { hint: 'Give more digits of the id.' });
}

function endFailure(code: number | null, stderr: string): HandoffError {
  if (/unknown option/.test(stderr)) {
    return new HandoffError('unsupported', 'git is older than 2.36', { hint: 'Install git 2.36 or later.' });
  }
  return gitFailure(ARGS, { code: code ?? 128, stderr });
}

// While nothing is waiting the process must not keep Node running; it ends when its input does.
function keepAlive(child: ChildProcessWithoutNullStreams, alive: boolean): void {
  const pipes = child.stdio as unknown as Socket[]; // which is what they are; Node's types say only that they are streams
  for (const handle of [child, ...pipes]) {
    if (alive) handle.ref();
    else handle.unref();
  }
}
