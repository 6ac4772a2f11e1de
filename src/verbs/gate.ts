import { HandoffError } from '../core/error.ts';
import type { GateResult } from './gate-result.ts';
import type { Repository } from './repository.ts';

export interface GateOptions {
  base: string;
  head: string;
  root?: string;
  /** Head takes base's place as it is, as in a push: what base has and head has not is lost. Else head is to be merged. */
  replaces?: boolean;
  /** What these commits have was judged elsewhere and is not judged again. */
  known?: readonly string[];
}

/** May head replace base on a protected branch? SPEC §10 */
export async function gate(_repository: Repository, _options: GateOptions): Promise<GateResult> {
  throw new HandoffError('unsupported', 'being written');
}
