import { driveAll, hasWork } from '../../relay/cycle/driving.ts';
import type { Repository } from '../../repository/repository.ts';
import { openWorld } from './world.ts';

export interface Driven {
  /** False where another process drives already. */
  drove: boolean;
  under_way: boolean;
}

/** Goes through with every relay of this repository, as the only process that does, until none is under way. */
export async function relayDrive(repository: Repository): Promise<Driven> {
  const world = openWorld(repository);
  const drove = await driveAll(world);
  return { drove, under_way: hasWork(world) };
}
