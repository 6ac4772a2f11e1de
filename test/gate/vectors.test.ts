import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { type Found, judging, told, unbundle } from '../bundles.ts';
import { readVectors } from '../core/examples.ts';
import { disposableDirectory } from '../temporary.ts';

interface HistoryCase extends HistoryVerdict {
  name: string;
  rule: string[];
  base: string | null;
  head: string;
  /** Head takes the place of base as it is; else it is to be merged. */
  push: boolean;
  /** Null: none is pinned. */
  root: string | null;
}

interface HistoryVerdict {
  /** The code that ends it; then nothing else is said. */
  error?: string;
  pass?: boolean;
  findings?: Found[];
}

const NOTHING = '0'.repeat(40);
const histories = readVectors<HistoryCase>('histories');
const objects = disposableDirectory();
beforeAll(() => unbundle('histories.bundle', objects.path));
afterAll(objects.remove);

describe('the published histories', () => {
  test.each(histories)('$name', async (history) => {
    expect(await verdictOn(history)).toEqual(expected(history));
  });

  test('are told apart: with another head the verdict is another', async () => {
    const [good, bad] = ['code and its thought', 'code without a thought'].map(named);
    expect(await verdictOn({ ...good!, head: bad!.head })).not.toEqual(expected(good!));
    expect(await verdictOn({ ...bad!, head: good!.head })).not.toEqual(expected(bad!));
  });
});

function named(name: string): HistoryCase {
  return histories.find((each) => each.name === name)!;
}

async function verdictOn({ base, head, push, root }: HistoryCase): Promise<unknown> {
  try {
    const options = { base: base ?? NOTHING, head, replaces: push, ...(root !== null && { root }) };
    const { pass, findings } = await judging(objects.path, base).gate(options);
    return { pass, findings: told(findings) };
  } catch (error) {
    if (error instanceof HandoffError) return { error: error.code };
    throw error;
  }
}

function expected({ error, pass, findings }: HistoryVerdict): unknown {
  return error === undefined ? { pass, findings: told(findings ?? []) } : { error };
}
