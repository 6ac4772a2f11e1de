import { expect, test } from 'vitest';
import { branch, codesOf, commitRecords, maintainer } from '../gate/scenario.ts';
import { writeBytes } from '../handoff.ts';
import { codes, policyAfter, policyFile, signDocument, template } from '../threats/forge.ts';

// M22, M23: `repo` of a policy is the root. Whoever reads it, in force or waiting, says `policy_invalid` of another one.

const place = template();

test.each([
  ['a policy', policyFile(2)],
  ['a policy that waits', policyFile(2).replace('.yaml', '.pending.yaml')],
])('%s of another repository is policy_invalid to verify and gate', async (_, path) => {
  const here = place();
  branch(here, 'feature');
  writeBytes(here.dir, path, signDocument(policyAfter(here, 1, { repo: 'ab'.repeat(32) }), [maintainer(here)]));
  commitRecords(here);
  expect(await codes(here)).toEqual([`policy_invalid ${path.replace(/.*\//, '')}`]);
  expect(await codesOf(here, {})).toEqual(['policy_invalid']);
});

test('policy 1 with a repo is policy_invalid', async () => {
  const here = place();
  const { prev: _, ...fields } = policyAfter(here, 1, { version: 1, nonce: '00'.repeat(16) });
  writeBytes(here.dir, policyFile(1), signDocument({ ...fields, prev: null, kind: 'policy' }, [maintainer(here)]));
  commitRecords(here);
  expect(await codes(here)).toContain('policy_invalid 0001.yaml');
});
