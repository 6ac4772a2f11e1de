import { unlink } from 'node:fs';

/** Files that nobody needs any more. To free the room of a large one takes as long as a git process, so another thread does it. */
export interface Discards {
  /** Its name is that of a file of ours: what cannot be removed now is cleared away by the next verb. */
  add(path: string): void;
  /** Whether one is being removed: then the disk is busy. */
  isBusy(): boolean;
  /** Waits until all were removed, as far as they can be. */
  settled(): Promise<void>;
}

export function openDiscards(): Discards {
  const going = new Set<Promise<void>>();
  return {
    add(path) {
      const gone = new Promise<void>((resolve) => unlink(path, () => resolve())).then(() => void going.delete(gone));
      going.add(gone);
    },
    isBusy: () => going.size > 0,
    async settled() {
      await Promise.all(going);
    },
  };
}
