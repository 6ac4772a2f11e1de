import { execFileSync, spawn } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { generateKey, toSigner } from '../../src/journal/keys/keys.ts';
import type { LockWriters } from '../../src/journal/locks/lock-signature.ts';
import type { LockRemote } from '../../src/journal/locks/remote-locks.ts';
import { gitAt } from '../git/fixture.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';

/** The key of whoever takes locks here, by whatever name. */
export const KEY = generateKey();

/** Everybody is trusted who has the key. */
export function trusting(key: KeyObject = KEY): LockWriters {
  const signer = toSigner(key);
  return { repo: 'a'.repeat(64), keysOf: async () => [signer.publicKey], signerOf: async () => signer };
}

/** A bare repository, and as many fresh ones that call it `origin`. */
export function remotes(count: number, ...init: string[]): { bare: string; clones: LockRemote[] } {
  const root = temporaryDirectory();
  const bare = join(root, 'origin.git');
  git(root, 'init', '--quiet', '--bare', '--initial-branch=main', ...init, bare);
  const writers = trusting();
  const clones = Array.from({ length: count }, (_, i) => {
    const dir = join(root, `clone-${i}`);
    git(root, 'init', '--quiet', '--initial-branch=main', ...init, dir);
    git(dir, 'remote', 'add', 'origin', bare);
    return { git: gitAt(dir), name: 'origin', ...writers };
  });
  return { bare, clones };
}

export function script(path: string, body: string): string {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Serves HTTP on the loopback interface until the test ends; the address has no path. */
export async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** git's own HTTP server, as CGI. */
export function httpBackend(bare: string): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const url = new URL(request.url!, 'http://x');
    const child = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
      env: {
        ...isolatedEnv,
        GIT_PROJECT_ROOT: dirname(bare),
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method!,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    });
    const out: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.on('close', () => answerCgi(Buffer.concat(out), response));
    request.pipe(child.stdin);
  };
}

function answerCgi(out: Buffer, response: ServerResponse): void {
  const end = out.indexOf('\r\n\r\n');
  for (const line of out.toString('latin1', 0, end).split('\r\n')) {
    const [name, value] = [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)];
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.end(out.subarray(end + 4));
}

/** The module for processes of their own: Node 20 reads no TypeScript. */
export function bundle(entry: string): string {
  const out = join(temporaryDirectory(), 'bundle.mjs');
  const esbuild = new URL('../../node_modules/.bin/esbuild', import.meta.url).pathname;
  const source = new URL(`../../src/${entry}`, import.meta.url).pathname;
  execFileSync(esbuild, [
    source,
    '--bundle',
    '--platform=node',
    '--format=esm',
    `--outfile=${out}`,
    '--log-level=error',
  ]);
  return out;
}
