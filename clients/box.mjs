// A place that has loopback and no other network, and that takes every process with it when it ends.
import { spawnSync } from 'node:child_process';

const APART = ['unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const INSIDE = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

/** `{command}` to put before another, or `{missing}` with the reason. */
export function box() {
  let missing = '';
  for (const command of [
    [...APART, ...INSIDE],
    [...APART, '--map-root-user', ...INSIDE],
  ]) {
    const [file, ...words] = [...command, 'true'];
    const { status, stderr, error } = spawnSync(file, words, { encoding: 'utf8', timeout: 20_000 });
    if (status === 0) return { command };
    missing = (error?.message ?? stderr ?? '').trim().split('\n')[0];
  }
  return { missing: `no network of its own can be made here: ${missing}` };
}
