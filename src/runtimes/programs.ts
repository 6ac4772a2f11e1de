import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import type { RuntimeProgram } from './runtime-settings.ts';

/** Every runtime, in the order in which they are shown. */
export const PROGRAMS: readonly RuntimeProgram[] = [claude, codex, gemini, opencode, copilot];
