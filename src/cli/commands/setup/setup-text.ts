import { isAbsolute } from 'node:path';
import { ROOT } from '../../../core/paths.ts';
import type { InitResult } from '../../../verbs/setup/init.ts';
import type { TrustResult } from '../../../verbs/setup/trust.ts';
import type { Paint } from '../../terminal.ts';
import { committed, count, fields, headedTable, lines } from '../../text/layout.ts';

export function formatInit(result: InitResult, paint: Paint): string {
  const { created, commit, root, identity, fingerprint } = result;
  const facts: [string, string][] = [
    ['root', root],
    ['maintainer', `${identity} ${fingerprint}`],
  ];
  return lines(
    `${paint('green', '✓')} Set up: ${count(created.length, 'file')} (${committed(commit)})`,
    ...created.map((path) => `  ${path}`),
    '',
    ...fields(facts, paint),
    '',
    headedTable(['TURNED ON', 'WHERE', 'OFF AGAIN'], turnedOn(result), paint),
    ...sharedHooks(result),
    '',
    'Tell the root to everyone who will verify; they compare it with git handoff trust.',
    'Next:',
    '  git handoff identity add NAME   sign in an agent',
    '  git handoff verify              check everything that is committed',
  );
}

/** All that is there now and was not before. */
function turnedOn({ created, hook_files, key_files, advisory, protected: ref }: InitResult): string[][] {
  const branch = ref.replace('refs/heads/', '');
  return [
    advisory
      ? [
          `a gate that only warns, for ${branch}`,
          `${ROOT}/policy`,
          'git handoff policy set writeback.advisory false: it refuses',
        ]
      : [
          `a gate that refuses, for ${branch}`,
          `${ROOT}/policy`,
          'git handoff policy set writeback.advisory true: it only warns',
        ],
    ...listed('hooks', hook_files, 'git handoff hooks uninstall'),
    ['the root that this clone trusts', '.git/config', 'git config --unset handoff.root'],
    ...listed('private keys', key_files, 'delete them, once nobody needs them'),
    ['what is committed', ROOT, `git rm -r ${ROOT}, and commit`],
    ...listed(
      'lines that keep it byte for byte',
      created.filter(isAttributes),
      `delete those that begin ${ROOT}/, and commit`,
    ),
  ];
}

function isAttributes(path: string): boolean {
  return path === '.gitattributes';
}

function listed(what: string, paths: readonly string[], off: string): string[][] {
  return paths.map((path, at) => (at === 0 ? [what, path, off] : ['', path, '']));
}

/** husky's, for example: whoever works with hooks of the work tree shares them by a commit. */
function sharedHooks({ hook_files }: InitResult): string[] {
  const isShared = hook_files.some((path) => !path.startsWith('.git/') && !isAbsolute(path));
  return isShared ? ['Those hooks are in the work tree: commit them, and the others have them too.'] : [];
}

export function formatTrust({ root, first_use, given, policy_version }: TrustResult, paint: Paint): string {
  const pinned = given ? 'Pinned, as given' : 'Pinned on first use';
  const facts: [string, string][] = [
    ['root', root],
    ['policy', policy_version === null ? 'none here yet' : `version ${policy_version}`],
  ];
  const advice =
    first_use && !given ? ['', 'Compare the root with what a maintainer tells you over another channel.'] : [];
  return lines(`${paint('green', '✓')} ${first_use ? pinned : 'As pinned'}`, ...fields(facts, paint), ...advice);
}
