import { describe, expect, test } from 'vitest';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { branch, codesOf, document, taskFields } from '../gate/scenario.ts';
import { newKey, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { codes, identityOf, template } from '../threats/forge.ts';

// M25: version 1 has no predecessor, and every other version has one. A tree shows no more: after a squash a document may
// arrive with a version up to 16 (M69), and its predecessors are nowhere.

const place = template(({ dir }) => {
  git(dir, 'rm', '--quiet', '.handoff/project.yaml'); // so that one can arrive
  git(dir, 'commit', '--quiet', '--message', 'without a project');
});
const PREV = `sha256:${'ab'.repeat(32)}`;

type Fields = Parameters<typeof document>[2];

const KINDS: Record<string, [path: string, fields: (here: Place, change: YamlMap) => Fields]> = {
  'a task': ['tasks/P0.1.yaml', (here, change) => taskFields(here, 'P0.1', change)],
  'the project': ['project.yaml', (here, change) => ({ ...projectOf(here), ...change })],
  'an identity': ['identities/frank/identity.yaml', (here, change) => identityOf(here, 'frank', newKey(), change)],
};

function projectOf({ root }: Place): Fields {
  const common = { handoff: 1, kind: 'project' as const, repo: root, version: 1, prev: null };
  return { ...common, at: '2026-02-20T14:30:25.123Z', name: 'here' };
}

describe.each(Object.entries(KINDS))('%s', (_, [path, fieldsOf]) => {
  test.each<[string, YamlMap]>([
    ['of version 1 with a predecessor', { version: 1, prev: PREV }],
    ['of version 2 without one', { version: 2, prev: null }],
    ['of version 16 without one', { version: 16, prev: null }],
  ])('%s is refused by verify and gate', async (_name, change) => {
    const here = place();
    branch(here, 'feature');
    document(here, path, fieldsOf(here, change));
    expect(await codes(here)).toEqual([`schema_invalid ${path.replace(/.*\//, '')}`]);
    expect(await codesOf(here, {})).toContain('schema_invalid');
  });

  test('of a later version with one may be what a squash left', async () => {
    const here = place();
    branch(here, 'feature');
    document(here, path, fieldsOf(here, { version: 16, prev: PREV }));
    expect(await codes(here)).toEqual([]);
    expect(await codesOf(here, {})).toEqual([]);
  });

  test('of version 17 is not', async () => {
    const here = place();
    branch(here, 'feature');
    document(here, path, fieldsOf(here, { version: 17, prev: PREV }));
    expect(await codes(here)).toEqual([]);
    expect(await codesOf(here, {})).toEqual(['policy_rollback']);
  });
});
