import type { Workplace } from './compare.ts';
import { FILE, type Text, type Texts } from './edits.ts';
import { judgeByReference, judgeFast } from './judge.ts';
import type { Oid } from './objects.ts';
import type { Random } from './random.ts';
import type { Writer } from './writer.ts';

/**
 * A branch and main, both of which move files between code and what is no code, leave copies, change them and take them away. What
 * the gate says without making most of the picks is what making every one of them says.
 */
export async function assertRebasedAlike({ lab, open }: Workplace, seed: number): Promise<void> {
  for (let n = 0; n < BRANCHES; n++) {
    const { random, writer } = open(seed * BRANCHES + n);
    const { base, head } = makeBranch(random, writer);
    const none = { accounts: [], waived: new Set<Oid>(), baseAccounts: [], baseWaived: new Set<Oid>() };
    const change = { ...none, base, head, isMerged: true, exempt: ['docs'] };
    const [fast, slow] = [await judgeFast(lab.courts.plain, change), await judgeByReference(lab.courts.plain, change)];
    if (fast.isLandedUnlike !== slow.isLandedUnlike)
      throw new Error(`${head} onto ${base}: unlike ${fast.isLandedUnlike}, and made slowly ${slow.isLandedUnlike}`);
  }
}

const BRANCHES = 4;

function makeBranch(random: Random, writer: Writer): { base: Oid; head: Oid } {
  const start = writer.commit(new Map([[random.one(PLACES), text()], ...OTHER]), []);
  const goOn = (from: Oid, count: number): Oid[] => {
    const line = [from];
    for (let n = count; n > 0; n--)
      line.push(writer.commit(changed(random, writer.read(line.at(-1)!)), [line.at(-1)!]));
    return line;
  };
  const main = goOn(start, 1 + random.below(4));
  const fork = random.one(main.slice(0, -1));
  const branch = goOn(fork, 2 + random.below(3));
  let head = branch.at(-1)!;
  if (random.chance(0.4))
    head = goOn(join(writer, head, random.one([...main, ...goOn(fork, 2)])), random.below(3)).at(-1)!;
  if (random.chance(0.3)) head = again(random, writer, { head, main });
  return { base: main.at(-1)!, head };
}

/** A commit of main, made once more on the branch, and another one on top of it. */
function again(random: Random, writer: Writer, { head, main }: { head: Oid; main: Oid[] }): Oid {
  const made = writer.pick(random.one(main.slice(1)), head);
  if (!made || made.conflicts.length > 0) return head;
  const picked = writer.commit(made.files, [head]);
  return writer.commit(changed(random, made.files), [picked]);
}

function join(writer: Writer, ours: Oid, theirs: Oid): Oid {
  const made = writer.merge(ours, theirs);
  return made && made.conflicts.length === 0 ? writer.commit(made.files, [ours, theirs]) : ours;
}

const OTHER: [string, Text][] = [['other.txt', { mode: FILE, text: 'other\n' }]];
/** Of one folder there are two files: a folder can be renamed. */
const PLACES = ['app.txt', 'lib/app.txt', 'lib/core.txt', 'docs/copy', 'docs/other', '.handoff/copy'];
const LINES = Array.from({ length: 12 }, (_, n) => `line ${n}`);

function text(lines: readonly string[] = LINES): Text {
  return { mode: FILE, text: `${lines.join('\n')}\n` };
}

/** One or two files come, go, move or change, or are as they were first. */
function changed(random: Random, files: Texts): Texts {
  const next = new Map(files);
  for (let n = 1 + random.below(2); n > 0; n--) changeOne(random, next);
  return next;
}

function changeOne(random: Random, files: Map<string, Text>): void {
  const here = PLACES.filter((path) => files.has(path));
  const free = PLACES.filter((path) => !files.has(path));
  if (here.length === 0 || (free.length > 0 && random.chance(0.2))) {
    files.set(random.one(free), text());
    return;
  }
  const path = random.one(here);
  const was = files.get(path)!;
  const now = random.one([null, text(), edited(random, was), edited(random, was)]);
  if (now === null) files.delete(path);
  else files.set(path, now);
  if (free.length > 0 && random.chance(0.35)) {
    files.set(random.one(free), now ?? was);
    files.delete(path);
  }
}

/** A line is another one, or several go. */
function edited(random: Random, { text: before }: Text): Text {
  const lines = before.split('\n').slice(0, -1);
  if (lines.length > 4 && random.chance(0.3)) lines.splice(2, lines.length - 4);
  else lines[random.below(lines.length)] = `new ${random.below(3)}`;
  return text(lines);
}
