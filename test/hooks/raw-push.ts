import { execFileSync, spawnSync } from 'node:child_process';
import { isolatedEnv } from '../temporary.ts';

export const NOTHING = '0'.repeat(40);

/** What a client asks a server for. A client of git tells the truth about `old`; nothing makes another one do so. */
export interface Command {
  old: string;
  now: string;
  ref: string;
}

export interface Answer {
  /** What the hooks said. */
  said: string;
  /** `ok`, or why not, by ref. */
  refs: Record<string, string>;
}

/** Speaks git's protocol by itself, to a real `git receive-pack`. */
export function rawPush(dir: string, server: string, commands: readonly Command[], isAtomic = false): Answer {
  const capabilities = `report-status side-band-64k${isAtomic ? ' atomic' : ''}`;
  const lines = commands.map(({ old, now, ref }, at) =>
    packet(`${old} ${now} ${ref}${at === 0 ? `\0${capabilities}` : ''}`),
  );
  const wanted = commands.map(({ now }) => now).filter((oid) => oid !== NOTHING);
  const pack = wanted.length > 0 ? packOf(dir, wanted) : Buffer.alloc(0);
  const input = Buffer.concat([...lines, Buffer.from('0000'), pack]);
  const { stdout } = spawnSync('git', ['receive-pack', server], { input, env: isolatedEnv });
  return toAnswer(afterAdvertisement(stdout));
}

function packOf(dir: string, oids: readonly string[]): Buffer {
  const args = ['-C', dir, 'pack-objects', '--revs', '--stdout', '--quiet'];
  return execFileSync('git', args, { input: `${oids.join('\n')}\n`, env: isolatedEnv });
}

function packet(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

function packets(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    found.push(length === 0 ? FLUSH : bytes.subarray(at + 4, at + length));
    at += Math.max(4, length);
  }
  return found;
}

const FLUSH = Buffer.alloc(0);

function afterAdvertisement(stdout: Buffer): Buffer[] {
  const all = packets(stdout);
  return all.slice(all.indexOf(FLUSH) + 1);
}

/** Band 1 has packets of its own, with the report; band 2 what the hooks print. */
function toAnswer(answers: readonly Buffer[]): Answer {
  const band = (number: number) =>
    Buffer.concat(answers.filter((each) => each[0] === number).map((each) => each.subarray(1)));
  const report = packets(band(1)).map((line) => line.toString('utf8').trimEnd());
  const refs = report.flatMap((line) => {
    const [, verdict, ref, why] = /^(ok|ng) (\S+) ?(.*)$/.exec(line) ?? [];
    return ref === undefined ? [] : [[ref, verdict === 'ok' ? 'ok' : why!]];
  });
  return { said: band(2).toString('utf8'), refs: Object.fromEntries(refs) };
}
