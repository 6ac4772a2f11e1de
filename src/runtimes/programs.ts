import { claude } from './claude.ts';
import type { RuntimeProgram } from './runtime-settings.ts';

/** Every client program that can be connected. */
export const PROGRAMS: readonly RuntimeProgram[] = [claude];
