// What the floor needs to know about a repository's records: oid, kind, and whose key.
import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function writePlan({ dir, env, root }, file) {
  const listing = execFileSync('git', ['-C', dir, 'ls-tree', '-r', 'HEAD', '.handoff/sessions'], {
    env,
    maxBuffer: 1 << 30,
  }).toString();
  const owners = [];
  const blobs = listing
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [meta, path] = line.split('\t');
      const [, , owner, , name] = path.split('/');
      if (!owners.includes(owner)) owners.push(owner);
      return [meta.split(' ')[2], name.replace(/^\d+-|\..*$/g, ''), owners.indexOf(owner)];
    });
  const keys = owners.map(
    (owner) =>
      createPrivateKey(readFileSync(join(env.HANDOFF_KEYS, root.slice(0, 12), `${owner}.pem`))).export({
        format: 'jwk',
      }).x,
  );
  writeFileSync(file, JSON.stringify({ keys, blobs }));
}
