import { mkdirSync, watch } from 'node:fs';
import { asHandoffError } from '../../core/error.ts';
import { markedRelays, openFolder, readRelay, unmark } from './chain.ts';
import { drive } from './drive.ts';
import { beginDriving } from './driver.ts';
import type { Relay } from './relay.ts';
import { isOver } from './steps.ts';
import { takeUntold } from './told.ts';
import type { World } from './world.ts';

/** A process that is gone makes no sound: so often somebody looks. Milliseconds. */
const LOOK_EVERY = 3_000;

/** Drives one relay until it is over, or only a person can go on. `onLook` is called whenever something may have happened. */
export async function driveOne(world: World, id: string, onLook: () => void): Promise<void> {
  const bell = openBell(world);
  try {
    for (;;) {
      onLook();
      const again = await drive(world, id);
      await tellNew(world, id);
      onLook();
      if (readRelay(world, id)?.relay.state !== 'under_way') return;
      await bell.wait(again);
    }
  } finally {
    bell.close();
  }
}

/** Drives all of them, as the only one who does; ends when none is under way. False where somebody else drives. */
export async function driveAll(world: World): Promise<boolean> {
  for (let driving = beginDriving(world); driving; driving = hasWork(world) ? beginDriving(world) : null) {
    const bell = openBell(world);
    try {
      await driveWhile(world, bell);
    } finally {
      bell.close();
      driving.end(); // before the last look: whoever begins a relay after it finds that nobody drives
    }
    if (!hasWork(world)) return true;
  }
  return false;
}

async function driveWhile(world: World, bell: Bell): Promise<void> {
  const busy = new Set<string>();
  const known = new Set(markedRelays(world)); // of some only the end is to be told
  const due = new Map<string, Date>();
  for (let ids = underWay(world); ids.length > 0; ids = underWay(world)) {
    for (const id of ids.filter((each) => !busy.has(each))) {
      busy.add(id);
      const done = drive(world, id)
        .catch(skipBroken)
        .then((again) => (again ? due.set(id, again) : due.delete(id)));
      void done.finally(() => busy.delete(id)).then(bell.ring);
    }
    for (const id of new Set([...known, ...ids])) await tellNew(world, id);
    for (const id of ids) known.add(id);
    await bell.wait(busy.size > 0 ? null : soonest([...due.values()]));
  }
  for (const id of known) await tellNew(world, id);
}

/** Each step is told once, whoever made it and however many drive. */
async function tellNew(world: World, id: string): Promise<void> {
  try {
    for (const relay of takeUntold(world, id)) await world.tell(relay);
    const relay = tryRead(world, id);
    if (relay && isOver(relay)) unmark(world, relay);
  } catch (error) {
    skipBroken(error);
  }
}

function underWay(world: World): string[] {
  return markedRelays(world).filter((id) => tryRead(world, id)?.state === 'under_way');
}

/** One whose files are damaged is told of by whoever looks at it, and is in no other's way. */
function tryRead(world: World, id: string): Relay | null {
  try {
    return readRelay(world, id)?.relay ?? null;
  } catch (error) {
    return skipBroken(error);
  }
}

function skipBroken(error: unknown): null {
  asHandoffError(error);
  return null;
}

export function hasWork(world: World): boolean {
  return underWay(world).length > 0;
}

function soonest(dates: readonly Date[]): Date | null {
  return dates.length === 0 ? null : new Date(Math.min(...dates.map((date) => date.getTime())));
}

interface Bell {
  /** Until something happens to a relay, or that moment, and no longer than until the next look. */
  wait(until: Date | null): Promise<void>;
  ring(): void;
  close(): void;
}

/** Every step of anybody touches a file in the folder of what is open. */
function openBell(world: World): Bell {
  const folder = openFolder(world);
  mkdirSync(folder, { recursive: true });
  let wake = (): void => {};
  let hasRung = false;
  const ring = (): void => {
    hasRung = true;
    wake();
  };
  const watcher = watch(folder, ring);
  watcher.on('error', () => watcher.close()); // then the slow look is all there is
  const wait = async (until: Date | null): Promise<void> => {
    const left = until ? until.getTime() - world.now().getTime() : LOOK_EVERY;
    if (!hasRung) await pause(Math.max(10, Math.min(left, LOOK_EVERY)), (woken) => (wake = woken));
    hasRung = false;
  };
  return { wait, ring, close: () => watcher.close() };
}

function pause(milliseconds: number, onWait: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    onWait(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
