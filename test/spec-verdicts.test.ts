import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { YamlMap } from '../src/core/bytes/yaml.ts';
import { parseRecord } from '../src/core/record/record.ts';
import { commitAll, type Draft, newKey, type Place, privateKey, STORY, writeBytes, writeSession } from './handoff.ts';
import { commitAndFind, codes as namesAndCodes, reopen, signDocument, template } from './threats/forge.ts';

// Verdicts on trees of which SPEC.md says more than its rules: who is at fault, and what a fault does to others.

const place = template();
const START: Draft = { kind: 'start', intent: 'set up the package' };
const SESSION = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';
const LATER = '2026-02-21T00:00:00.000Z';
const identity = (name: string) => `.handoff/identities/${name}/identity.yaml`;

describe('SPEC §2.5: what waits for signatures', () => {
  const waiting = (here: Place, change: YamlMap, signer = 'donna') =>
    signDocument({ ...fieldsOf(here, identity('donna')), kind: 'identity', ...change }, [
      [signer, privateKey(here, 'donna')],
    ]);

  it('is read in a tree, and nobody asks who signed it', async () => {
    const here = place();
    writeBytes(here.dir, '.handoff/identities/donna/pending.yaml', waiting(here, { role: 'maintainer' }, 'nobody'));
    expect(await commitAndFind(here)).toEqual([]);
  });

  it('is where its name says', async () => {
    const here = place();
    writeBytes(here.dir, '.handoff/identities/erin/pending.yaml', waiting(here, { role: 'maintainer' }));
    expect(await commitAndFind(here)).toEqual(['path_mismatch identities/erin/pending.yaml']);
  });

  it('is of this repository', async () => {
    const here = place();
    writeBytes(here.dir, '.handoff/identities/donna/pending.yaml', waiting(here, { repo: 'ab'.repeat(32) }));
    expect(await commitAndFind(here)).toEqual(['repo_mismatch identities/donna/pending.yaml']);
  });
});

describe('SPEC §3.1: which files are parsed', () => {
  it('a skill holds any bytes, by their digest', async () => {
    const here = place();
    const skill = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);
    const digest = `sha256:${createHash('sha256').update(skill).digest('hex')}`;
    const fields = { ...fieldsOf(here, identity('donna')), kind: 'identity' as const, skill: digest };
    writeBytes(here.dir, identity('donna'), signDocument(fields, [['maintainer', privateKey(here, 'maintainer')]]));
    writeBytes(here.dir, '.handoff/identities/donna/skill.md', skill);
    expect(await commitAndFind(here)).toEqual([]);
    writeBytes(here.dir, '.handoff/identities/donna/skill.md', 'x'.repeat(262_145));
    expect(await commitAndFind(here)).toEqual(['too_large identities/donna/skill.md']);
  });

  it('a record that is larger than the newest policy allows stays valid', async () => {
    const here = place();
    writeSession(here, [START, { kind: 'note', text: 'x'.repeat(2000) }]);
    commitAll(here);
    await reopen(here).handoff.policy.set({ key: 'limits.record_bytes', value: '1024' });
    expect(await commitAndFind(here)).toEqual([]);
  });
});

describe('SPEC §5.2: a policy and the name of its file', () => {
  it('another number in the name is path_mismatch', async () => {
    const here = place();
    writeBytes(here.dir, '.handoff/policy/0002.yaml', readFileSync(join(here.dir, '.handoff/policy/0001.yaml')));
    rmSync(join(here.dir, '.handoff/policy/0001.yaml'));
    expect(await commitAndFind(here)).toEqual(['path_mismatch policy/0002.yaml']);
  });
});

describe('SPEC §7.6: what a file that does not hold does to others', () => {
  it('those after it have no finding because of it', async () => {
    const here = place();
    const [, note] = writeSession(here, STORY);
    writeBytes(here.dir, note!.path, 'no record');
    commitAll(here);
    expect(await namesAndCodes(here)).toEqual(['yaml_invalid 0002-note.yaml']);
  });

  it('the next is not compared, and the one after that is', async () => {
    const here = place();
    const strange = { kind: 'note', text: 'x', prev: `sha256:${'ab'.repeat(32)}` } as const;
    const [, note] = writeSession(here, [START, { kind: 'note', text: 'x' }, strange, strange]);
    writeBytes(here.dir, note!.path, 'no record');
    commitAll(here);
    expect(await namesAndCodes(here)).toEqual(['yaml_invalid 0002-note.yaml', 'chain_broken 0004-note.yaml']);
  });

  it('a record that violates several rules has a finding for each', async () => {
    const here = place();
    writeSession(here, [START, { ...START, clock: 1, prev: null }]);
    commitAll(here);
    expect(await namesAndCodes(here)).toEqual(Array(3).fill('chain_broken 0002-start.yaml'));
  });

  it('what an identity signed that does not hold has an unknown signer', async () => {
    const here = place();
    const fields = { ...fieldsOf(here, identity('donna')), kind: 'identity' as const };
    writeBytes(here.dir, identity('donna'), signDocument(fields, [['maintainer', newKey()]]));
    writeSession(here, [START]);
    commitAll(here);
    expect(await namesAndCodes(here)).toEqual(['signer_unknown identity.yaml', 'signer_unknown 0001-start.yaml']);
  });
});

describe('SPEC §6.6: who is at fault', () => {
  it('M47: the folder that is later in the order of paths', async () => {
    const here = place();
    for (const at of [LATER, '2026-02-20T00:00:00.000Z']) writeSession(here, [START], { sessionId: SESSION, at });
    commitAll(here);
    expect(await namesAndCodes(here)).toEqual(['chain_broken 20260221T000000-7c1f09aa']);
  });

  it('M48: likewise, and not a folder that does not hold', async () => {
    const here = place();
    const locked = { ...START, lock: { task: 'T1', token: 1 } };
    const [first] = writeSession(here, [locked], { at: '2026-02-20T00:00:00.000Z' });
    const [second] = writeSession(here, [locked], { at: LATER });
    commitAll(here);
    expect(await commitAndFind(here)).toEqual([`stale_token ${folderOf(second!.path)}`]);
    writeBytes(here.dir, first!.path, 'no record');
    expect(await commitAndFind(here)).toEqual([`yaml_invalid ${first!.path.slice('.handoff/'.length)}`]);
  });
});

describe('SPEC §10.3.1: records_per_push', () => {
  it('counts every file that is added, changed or deleted, and says nothing else of .handoff', async () => {
    const here = place();
    await here.handoff.policy.set({ key: 'limits.records_per_push', value: '3' });
    const base = commitAll(here);
    writeSession(here, [START, { kind: 'note', text: 'x', prev: null }]);
    writeBytes(here.dir, '.handoff/tasks/T1.yaml', 'no task');
    rmSync(join(here.dir, '.handoff/project.yaml'));
    const head = commitAll(here);
    const { findings } = await reopen(here).handoff.gate({ base, head });
    expect(findings.map(({ code, path }) => `${code} ${path}`)).toEqual(['too_large .handoff']);
  });
});

function fieldsOf({ dir }: Place, path: string): YamlMap {
  return parseRecord(readFileSync(join(dir, path))).fields;
}

function folderOf(path: string): string {
  return path.slice('.handoff/'.length, path.lastIndexOf('/'));
}
