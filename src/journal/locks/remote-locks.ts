import { asHandoffError, HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Oid, Ref } from '../../git/objects/store.ts';
import { listRemote, type PushAnswer, pushRef, remoteFailure, shownName } from '../../git/refs/remote.ts';
import type { Holder } from './holder.ts';
import type { UncheckedLock } from './lock-commit.ts';
import { type LockSource, readLocks, writeLock } from './lock-objects.ts';
import { HIGHEST, lockPrefix, lockRef, parseLockRef, releaseRef } from './lock-ref.ts';
import { isLock, type LockWriters, mayBeLock } from './lock-signature.ts';

/** A remote, and whose locks count there. */
export interface LockRemote extends LockSource, LockWriters {
  /** Brings in keys that this clone has not fetched yet: false where there is nothing new. Absent where nobody is to be asked. */
  fetchKeys?(): Promise<boolean>;
}

export interface RemoteHold {
  number: number;
  holder: Holder;
  /** Who ended it and why; null while it holds. */
  released: Holder | null;
}

/** All that the remote has under the name of a lock, noise included. */
interface Listing {
  /** Object ids by full name. */
  refs: ReadonlyMap<string, Oid>;
  /** The numbers of refs that are named like locks, the highest first. */
  numbers: readonly number[];
}

/** The highest number that somebody who is trusted signed: it is the hold. Null when the name was never held. */
export async function readRemoteHold(at: LockRemote, name: string): Promise<RemoteHold | null> {
  return highestHold(at, name, await listLocks(at, name));
}

/**
 * Takes the number after `prior`, which `readRemoteHold` returned. What is no lock and has that number is noise, and is
 * written over: all who want the lock want the same number, so the remote lets one of them through. Only whoever holds
 * `prior` may go on by more than one.
 */
export async function takeRemoteHold(
  at: LockRemote,
  name: string,
  prior: RemoteHold | null,
  holder: Holder,
  steps = 1,
): Promise<'taken' | 'lost'> {
  const before = prior?.number ?? 0;
  for (let number = before + steps; number <= HIGHEST; ) {
    const { whose, listing } = await place(at, name, lockRef(name, number), holder);
    if (whose === 'theirs') return 'lost';
    if (whose === 'ours') return settle(at, name, { number, holder, released: null }, before, listing);
    number = firstPossible(listing, name, number + 1);
  }
  throw noneLeft(at, name, lockRef(name, prior?.number ?? HIGHEST));
}

/** Ends a hold for good; again, it does nothing. */
export async function releaseRemoteHold(at: LockRemote, name: string, hold: RemoteHold, by: Holder): Promise<void> {
  if (hold.released) return;
  const ref = releaseRef(name, hold.number);
  const { whose, listing } = await place(at, name, ref, by, ({ identity }) => identity === hold.holder.identity);
  if (whose === 'nobody') throw inTheWay(at, blocking(listing, ref)!);
}

/**
 * Nobody else may have a number after the one that was there before. Above ours it is the hold. Below ours, its holder took
 * a number that we passed over, and may have seen nobody: we give way, so that two never have it.
 */
async function settle(
  at: LockRemote,
  name: string,
  own: RemoteHold,
  before: number,
  listing: Listing,
): Promise<'taken' | 'lost'> {
  const numbers = listing.numbers.filter((each) => each > before && each !== own.number);
  const other = await highestHold(at, name, { ...listing, numbers });
  if (other === null) return 'taken';
  if (other.number < own.number) await releaseRemoteHold(at, name, own, own.holder);
  return 'lost';
}

/** From this number on the first that is no folder of other refs: git has no ref of that name. */
function firstPossible({ refs }: Listing, name: string, from: number): number {
  const { length } = lockPrefix(name);
  const folders = new Set([...refs.keys()].map((ref) => /^(\d{8})\//.exec(ref.slice(length))?.[1]));
  let number = from;
  while (folders.has(String(number).padStart(8, '0'))) number++;
  return number;
}

const ATTEMPTS = 4;

interface Placed {
  /** `nobody`: git has no ref that another one has as its folder, so nobody can have it. */
  whose: 'ours' | 'theirs' | 'nobody';
  listing: Listing;
}

/** What the remote has after the push decides, not what it answered: an answer can be lost. */
async function place(
  at: LockRemote,
  name: string,
  ref: string,
  holder: Holder,
  counts: (there: Holder) => boolean = () => true,
): Promise<Placed> {
  let expected = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const oid = await writeLock(at.git, at, ref, holder);
    const listing = await pushAndLook(at, name, { name: ref, oid }, expected);
    const there = listing.refs.get(ref);
    if (there === undefined) return { whose: 'nobody', listing };
    if (there === oid) return { whose: 'ours', listing };
    const [other] = await readHolders(at, [{ name: ref, oid: there }]);
    if (other && counts(other)) return { whose: 'theirs', listing };
    expected = there;
  }
  throw remoteFailure(at, `${ref} is no lock that is known here, and cannot be written over`, perhapsNew(at, ref));
}

async function pushAndLook(at: LockRemote, name: string, { name: ref, oid }: Ref, expected: Oid): Promise<Listing> {
  const answer = await pushRef(at, oid, ref, expected).catch(asHandoffError);
  const noAnswer = answer instanceof HandoffError ? answer : null;
  const listing = await listUntil(at, name, ref).catch((error) => {
    throw noAnswer ?? error; // no answer, and no way to look: what went wrong first tells more
  });
  if (listing.refs.has(ref) || blocking(listing, ref)) return listing;
  const above = await folderRef(at, ref);
  if (above) throw inTheWay(at, above);
  throw noAnswer ?? notThere(at, ref, answer);
}

/** Who lost the race can look before the winner's ref is in place, and a replica may lag: it looks again for a second. */
async function listUntil(at: LockRemote, name: string, ref: string): Promise<Listing> {
  for (let attempt = 1; ; attempt++) {
    const listing = await listLocks(at, name);
    if (listing.refs.has(ref) || blocking(listing, ref) || attempt === ATTEMPTS) return listing;
    await new Promise((resolve) => setTimeout(resolve, attempt * 150));
  }
}

async function listLocks(at: LockRemote, name: string): Promise<Listing> {
  const prefix = lockPrefix(name);
  const refs = await listRemote(at, prefix);
  const locks = refs.map((ref) => parseLockRef(prefix, ref.name)).filter((lock) => lock !== null && !lock.released);
  const numbers = locks.map((lock) => lock!.number).sort((a, b) => b - a);
  return { refs: new Map(refs.map((ref) => [ref.name, ref.oid])), numbers };
}

/** Noise costs: each step down reads sixteen times as many as the one before, so that thousands take a few steps. */
const STEP = 16;

async function highestHold(at: LockRemote, name: string, { refs, numbers }: Listing): Promise<RemoteHold | null> {
  for (let from = 0, size = 1; from < numbers.length; from += size, size *= STEP) {
    const batch = numbers.slice(from, from + size);
    const names = batch.flatMap((number) => [lockRef(name, number), releaseRef(name, number)]);
    const found = names.filter((ref) => refs.has(ref)).map((ref) => ({ name: ref, oid: refs.get(ref)! }));
    const holders = await readHolders(at, found);
    const byRef = new Map(found.map((ref, i) => [ref.name, holders[i]!]));
    const number = batch.find((each) => byRef.get(lockRef(name, each)));
    if (number !== undefined) return toHold(name, number, byRef);
  }
  return null;
}

/** Only whoever holds a lock can give it back; others take the next number. */
function toHold(name: string, number: number, byRef: ReadonlyMap<string, Holder | null>): RemoteHold {
  const holder = byRef.get(lockRef(name, number))!;
  const released = byRef.get(releaseRef(name, number)) ?? null;
  return { number, holder, released: released?.identity === holder.identity ? released : null };
}

/** Who signed each of these refs; null for noise. What may be signed by a key that is new is not noise before that was looked for. */
export async function readHolders(at: LockRemote, refs: readonly Ref[]): Promise<(Holder | null)[]> {
  const locks = refs.length === 0 ? [] : await readLocks(at, refs);
  const holders = await holdersOf(at, locks);
  const isInDoubt = locks.some((lock, i) => lock && holders[i] === null && mayBeLock(lock, at.repo));
  return isInDoubt && (await at.fetchKeys?.()) ? holdersOf(at, locks) : holders;
}

function holdersOf(at: LockRemote, locks: readonly (UncheckedLock | null)[]): Promise<(Holder | null)[]> {
  return Promise.all(locks.map(async (lock) => (lock && (await isLock(lock, at)) ? lock.holder : null)));
}

/** A ref inside of what should be a ref, if there is one. */
function blocking({ refs }: Listing, ref: string): string | null {
  for (const name of refs.keys()) if (name.startsWith(`${ref}/`)) return name;
  return null;
}

/** A ref where the namespace has a folder, if there is one. */
async function folderRef(at: LockRemote, ref: string): Promise<string | null> {
  const refs = await listRemote(at, 'refs/handoff/locks');
  return refs.find(({ name }) => ref.startsWith(`${name}/`))?.name ?? null;
}

function inTheWay(at: LockRemote, ref: string): HandoffError {
  return remoteFailure(at, `${ref} is no lock of git-handoff, and is in the way of one`, removal(at, ref));
}

/** Nobody gets there by counting. A server that judges locks lets nobody jump so far (SPEC §8.7); others do. */
function noneLeft(at: LockRemote, name: string, ref: string): HandoffError {
  const hint = `${removal(at, ref)}. Where the server keeps locks, whoever runs it does: git update-ref -d ${quoteWord(ref)}`;
  return remoteFailure(at, `${name} has no number left: whoever signed ${ref} did it on purpose`, hint);
}

/** A server that judges locks keeps those of people, and keys, that it has and this clone has not fetched. */
function perhapsNew(at: LockRemote, ref: string): string {
  return `Who holds it may be new on the protected branch: git fetch ${quoteWord(shownName(at))}, then try again. Else nobody does. ${removal(at, ref)}`;
}

function removal(at: LockRemote, ref: string): string {
  return `Whoever may push there removes it: git push ${quoteWord(shownName(at))} --delete ${quoteWord(ref)}`;
}

function notThere(at: LockRemote, ref: string, answer: unknown): HandoffError {
  const { summary } = answer as PushAnswer;
  return remoteFailure(at, `it does not have ${ref} after the push, which it answered with ${summary}`);
}
