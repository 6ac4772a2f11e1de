import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { type Found, judging, told, unbundle } from '../bundles.ts';
import { readVectors } from '../core/examples.ts';
import { disposableDirectory } from '../temporary.ts';

interface TreeCase extends TreeVerdict {
  name: string;
  rule: string[];
  commit: string;
  root: string;
}

interface TreeVerdict {
  /** The code that ends it; then nothing else is said. */
  error?: string;
  checked?: number;
  valid?: boolean;
  findings?: Found[];
}

const trees = readVectors<TreeCase>('trees');
const objects = disposableDirectory();
beforeAll(() => unbundle('trees.bundle', objects.path));
afterAll(objects.remove);

describe('the published trees', () => {
  test.each(trees)('$name', async (tree) => {
    expect(await verdictOn(tree)).toEqual(expected(tree));
  });

  test('are told apart: with another commit the verdict is another', async () => {
    const good = trees.find(({ name }) => name === 'all that a tree may have')!;
    for (const bad of trees.filter(({ valid }) => valid === false)) {
      expect(await verdictOn({ ...good, commit: bad.commit }), bad.name).not.toEqual(expected(good));
      expect(await verdictOn({ ...bad, commit: good.commit }), bad.name).not.toEqual(expected(bad));
    }
  });
});

async function verdictOn({ commit, root }: TreeCase): Promise<unknown> {
  try {
    const { checked, valid, findings } = await judging(objects.path, commit).verify({ rev: commit, root });
    return { checked, valid, findings: told(findings) };
  } catch (error) {
    if (error instanceof HandoffError) return { error: error.code };
    throw error;
  }
}

function expected({ error, checked, valid, findings }: TreeVerdict): unknown {
  return error === undefined ? { checked, valid, findings: told(findings ?? []) } : { error };
}
