import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { namespaceOf } from '../../core/record/kinds.ts';
import { fingerprint, parsePublicKey, parseSshsig } from '../../core/trust/sshsig.ts';
import { nodeHashes } from '../../crypto.ts';
import type { Signer } from './keys.ts';

/** Signs with an OpenSSH key through ssh-keygen: a key file, or a key that only an ssh-agent holds. */
export async function readSshKey(path: string, env: NodeJS.ProcessEnv): Promise<Signer> {
  const file = expandHome(path, env);
  const bytes = parsePublicKey(await readPublicLine(file)).key;
  return {
    publicKey: { bytes, fingerprint: fingerprint(bytes, nodeHashes) },
    async sign(record) {
      const armoured = await sshKeygen(
        ['-Y', 'sign', '-n', namespaceOf(record.kind), '-f', file],
        record.signedBytes,
        env,
      );
      return parseSshsig(armoured).signature;
    },
  };
}

/** Where the private half is; null when only an ssh-agent has it. */
export function sshKeyFolder(path: string, env: NodeJS.ProcessEnv): string | null {
  const file = expandHome(path, env).replace(/\.pub$/, '');
  return existsSync(file) ? dirname(realpathSync(file)) : null;
}

function expandHome(path: string, env: NodeJS.ProcessEnv): string {
  return path.startsWith('~/') ? join(env.HOME || homedir(), path.slice(2)) : path;
}

/** `handoff.signingKey` may name either half of the pair; the public half is what is read. */
async function readPublicLine(file: string): Promise<string> {
  const path = file.endsWith('.pub') ? file : `${file}.pub`;
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new HandoffError('no_key', `The public key ${path} cannot be read: ${cause.message}`, {
      hint: 'git config handoff.signingKey ~/.ssh/id_ed25519.pub',
      cause,
    });
  });
  return text.trimEnd();
}

async function sshKeygen(args: readonly string[], input: Uint8Array, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('ssh-keygen', args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  child.stdin.on('error', () => child.stdin.destroy()); // it may refuse before it reads; its exit code says so
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (cause) =>
      reject(new HandoffError('no_key', `ssh-keygen cannot be run: ${cause.message}`, { cause })),
    );
    child.on('close', resolve);
  });
  if (code === 0) return Buffer.concat(output).toString('latin1');
  throw new HandoffError('no_key', `ssh-keygen did not sign: ${Buffer.concat(errors).toString('utf8').trim()}`, {
    hint: 'Is the private key beside the .pub file, or loaded in ssh-agent (ssh-add -l)?',
  });
}
