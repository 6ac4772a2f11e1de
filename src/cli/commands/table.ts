import type { Command } from '../command.ts';
import { completion } from './completion.ts';
import { identity } from './identity.ts';
import { init } from './init.ts';
import { log } from './log.ts';
import { policy } from './policy.ts';
import { show } from './show.ts';
import { trust } from './trust.ts';
import { verify } from './verify.ts';

/** Every command there is. What is not here does not exist, and is documented nowhere. */
export const COMMANDS: readonly Command[] = [
  { audience: 'Agents', ...log },
  { audience: 'Agents', ...show },
  { audience: 'Reviewers', ...verify },
  { audience: 'Reviewers', ...trust },
  { audience: 'Maintainers', ...identity },
  { audience: 'Maintainers', ...policy },
  { audience: 'Setup', ...init },
  { audience: 'Setup', ...completion },
];
