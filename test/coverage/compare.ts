import { disposableDirectory } from '../temporary.ts';
import { makeHistory, type Step } from './history.ts';
import { judgeByReference, judgeFast, passes, type Verdict } from './judge.ts';
import { type CourtName, type Lab, openLab } from './lab.ts';
import type { Merging } from './merging.ts';
import { openRandom, type Random } from './random.ts';
import { openWriter, openWriting, type Writer } from './writer.ts';

/** Where histories are made, and where they are judged. */
export interface Workplace {
  lab: Lab;
  /** Whoever writes the history of a seed, and what decides about it. */
  open(seed: number): { random: Random; writer: Writer };
  close(): Promise<void>;
}

export function openWorkplace(): Workplace {
  const lab = openLab();
  const { path, remove } = disposableDirectory();
  const merging: Merging = openWriting(lab.courts.plain, path);
  return {
    lab,
    open: (seed) => ({ random: openRandom(seed), writer: openWriter(lab.courts.plain, merging, `history-${seed}`) }),
    async close() {
      await lab.close();
      merging.close();
      remove();
    },
  };
}

/** How often there was what. */
export type Tally = Map<string, number>;

/** Every history of some seeds is judged twice. The first difference ends it, and names the seed. */
export async function compareHistories({ lab, open }: Workplace, seeds: Iterable<number>): Promise<Tally> {
  const tally: Tally = new Map();
  for (const seed of seeds) {
    const { random, writer } = open(seed);
    const steps = await makeHistory(random, writer);
    for (const [at, step] of steps.entries()) {
      const court = random.one(COURTS);
      if (court === 'pruned') lab.keep([step.base, step.head]);
      const fast = await judgeFast(lab.courts[court], step);
      const slow = await judgeByReference(lab.courts[court], step);
      assertSame(`seed ${seed}, step ${at}, ${court}: ${[...step.kinds].join(', ')}`, fast, slow);
      assertNotRogue(`seed ${seed}, step ${at}`, step, fast);
      const verdict = fast.isLandedUnlike ? 'would land unlike' : passes(fast) ? 'passes' : 'is refused';
      for (const kind of [...step.kinds, court, verdict]) count(tally, kind);
    }
  }
  return tally;
}

const COURTS: readonly CourtName[] = ['plain', 'plain', 'hostile', 'pruned'];

function count(tally: Tally, kind: string): void {
  tally.set(kind, (tally.get(kind) ?? 0) + 1);
}

function assertSame(name: string, fast: Verdict, slow: Verdict): void {
  const text = (verdict: Verdict): string => JSON.stringify(verdict, null, 1);
  if (text(fast) === text(slow)) return;
  throw new Error(`${name}\nthe gate says ${text(fast)}\nSPEC §10.4, read slowly, says ${text(slow)}`);
}

/** Code that no thought has ever named never passes. */
function assertNotRogue(name: string, { isRogue }: Step, verdict: Verdict): void {
  if (isRogue && passes(verdict)) throw new Error(`${name}: something came that nobody has accounted for`);
}

export function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from + at);
}

/** What histories are made of: none of it is left out by chance. */
export const KINDS = [
  ...['as it is', 'merge', 'squash', 'rebase', 'pick in another order', 'partial pick', 'half', 'again', 'revert'],
  ...['the same patch elsewhere', 'amended pick', 'main has moved', 'merge of main', 'merge of main with a conflict'],
  ...['conflict', 'evil merge', 'rogue commit', 'waiver', 'thought of the base', 'forgotten thought'],
  ...['lines', 'rename', 'add', 'delete', 'mode', 'exempt', 'folder', 'link', 'docs/link.md', 'image.bin', 'library'],
  ...['copy', 'edited copy', 'removed copy', 'moved aside', 'moved back', 'criss-cross'],
  ...['plain', 'hostile', 'pruned', 'passes', 'is refused', 'would land unlike'],
] as const;
