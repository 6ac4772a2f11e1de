/**
 * How many times as much the second costs as the first: in time of the processor, so that what else the machine does is not
 * counted; the least of several runs, one after the other in turn. What is compiled on the way is done before.
 */
export async function growth(half: () => Promise<unknown>, whole: () => Promise<unknown>, runs = 4): Promise<number> {
  await half();
  const times = { half: Number.POSITIVE_INFINITY, whole: Number.POSITIVE_INFINITY };
  for (let run = 0; run < runs; run++) {
    times.half = Math.min(times.half, await processorTime(half));
    times.whole = Math.min(times.whole, await processorTime(whole));
  }
  return times.whole / times.half;
}

async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/** A machine that is busy is asked again; what grows with the square never passes. */
export const AGAIN = { retry: 4 };
