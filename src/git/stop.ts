import type { ChildProcess } from 'node:child_process';

/** Ends what nobody waits for any longer. An AbortSignal does the same, and takes Node some milliseconds to load. */
export interface Stop {
  readonly isStopped: boolean;
  /** What is started afterwards is ended at once. */
  stop(): void;
  watch(child: ChildProcess): void;
}

export function openStop(): Stop {
  const children = new Set<ChildProcess>();
  let isStopped = false;
  return {
    get isStopped() {
      return isStopped;
    },
    stop() {
      isStopped = true;
      for (const child of children) child.kill();
    },
    watch(child) {
      if (isStopped) child.kill();
      children.add(child);
      child.once('exit', () => children.delete(child));
    },
  };
}
