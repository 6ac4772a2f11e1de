/** What somebody does while records are pending: git's words, `note` for a record more, and what is written to a file. */
export type Step = readonly string[];

export interface Flow {
  name: string;
  steps: readonly Step[];
  /** How many records HEAD has of the session after that, by the hook; without hooks none. Absent where it does not matter. */
  taken?: number;
}

/**
 * All begin on `feature`, which has mine.txt, with three records that no commit holds. `main` has gone on, `origin/main` further,
 * and `topic` has a commit to be had.
 */
export const FLOWS: readonly Flow[] = [
  { name: 'pull --rebase', steps: [['pull', '--rebase', '--quiet', 'origin', 'main']] },
  {
    name: 'pull --rebase, then a record, then push',
    steps: [pullRebase(), ['note'], ['push', '--quiet', 'origin', 'HEAD']],
  },
  { name: 'rebase', steps: [['rebase', '--quiet', 'main']] },
  { name: 'rebase --apply', steps: [['rebase', '--quiet', '--apply', 'main']] },
  {
    name: 'rebase --interactive --autosquash',
    steps: [
      ['write', 'mine.txt'],
      ['commit', '--quiet', '--all', '--fixup', 'HEAD'],
      ['note'],
      ['-c', 'sequence.editor=:', 'rebase', '--quiet', '--interactive', '--autosquash', 'main'],
    ],
    taken: 3,
  },
  {
    name: 'rebase --interactive that stops at a commit, which is amended with a record more',
    steps: [
      ['write', 'mine.txt'],
      ['commit', '--quiet', '--all', '--message', 'second'],
      ['-c', 'sequence.editor=sed -i s/^pick/edit/', 'rebase', '--quiet', '--interactive', 'main'],
      ['note'],
      ['write', 'third.txt'],
      ['add', 'third.txt'],
      ['commit', '--quiet', '--amend', '--no-edit'],
      ['rebase', '--continue'],
      ['rebase', '--continue'],
    ],
  },
  {
    name: 'a rebase that drops the commit with records, which is then picked again',
    steps: [
      ['write', 'mine.txt'],
      ['add', '--all'],
      ['commit', '--quiet', '--message', 'with records'],
      ['branch', 'kept'],
      ['rebase', '--quiet', '--onto', 'HEAD~1', 'HEAD'],
      ['note'],
      ['cherry-pick', 'kept'],
    ],
  },
  { name: 'merge', steps: [['merge', '--quiet', '--no-edit', 'main']] },
  {
    name: 'merge --ff-only',
    steps: [
      ['switch', '--quiet', 'main'],
      ['merge', '--quiet', '--ff-only', 'origin/main'],
    ],
  },
  {
    name: 'merge --squash',
    steps: [
      ['merge', '--quiet', '--squash', 'topic'],
      ['commit', '--quiet', '--message', 'squashed'],
    ],
    taken: 3,
  },
  {
    name: 'a merge with a conflict, and a record while it is resolved',
    steps: [
      ['merge', '--quiet', 'rival', '!'],
      ['note'],
      ['write', 'mine.txt'],
      ['add', 'mine.txt'],
      ['commit', '--quiet', '--no-edit'],
    ],
    taken: 4,
  },
  { name: 'cherry-pick', steps: [['cherry-pick', 'topic']] },
  {
    name: 'a cherry-pick with a conflict',
    steps: [
      ['cherry-pick', 'rival', '!'],
      ['write', 'mine.txt'],
      ['add', 'mine.txt'],
      ['-c', 'core.editor=:', 'cherry-pick', '--continue'],
    ],
  },
  { name: 'revert', steps: [['revert', '--no-edit', 'HEAD']] },
  {
    name: 'stash, and pop',
    steps: [['write', 'mine.txt'], ['stash', '--quiet'], ['note'], ['stash', 'pop', '--quiet']],
  },
  {
    name: 'stash --include-untracked, a record, and pop',
    steps: [['write', 'new.txt'], ['stash', '--quiet', '--include-untracked'], ['note'], ['stash', 'pop', '--quiet']],
  },
  {
    name: 'stash of records that were staged, a record, and pop',
    steps: [['add', '--all'], ['stash', '--quiet'], ['note'], ['stash', 'pop', '--quiet'], ['reset', '--quiet']],
  },
  { name: 'switch there and back', steps: [['switch', '--quiet', 'main'], ['note'], ['switch', '--quiet', 'feature']] },
  { name: 'switch --create', steps: [['switch', '--quiet', '--create', 'other'], ['note']] },
  {
    name: 'switch back to the branch that has some of the records',
    steps: [['note', '--commit'], ['switch', '--quiet', 'main'], ['note'], ['switch', '--quiet', 'feature']],
  },
  {
    name: 'merge of the branch that has some of the records',
    steps: [
      ['note', '--commit'],
      ['switch', '--quiet', 'main'],
      ['note'],
      ['merge', '--quiet', '--no-edit', 'feature'],
    ],
  },
  {
    name: 'checkout -- .',
    steps: [
      ['write', 'mine.txt'],
      ['checkout', '--quiet', '--', '.'],
    ],
  },
  { name: 'reset --hard', steps: [['write', 'mine.txt'], ['reset', '--quiet', '--hard'], ['note']] },
  {
    name: 'reset --hard that takes back a commit with records, which a pull brings again',
    steps: [
      ['note', '--commit'],
      ['push', '--quiet', 'origin', 'feature'],
      ['reset', '--quiet', '--hard', 'HEAD~1'],
      ['note'],
      ['pull', '--quiet', '--rebase', 'origin', 'feature'],
    ],
  },
  {
    name: 'reset --soft, and a commit of the same',
    steps: [
      ['note', '--commit'],
      ['reset', '--quiet', '--soft', 'HEAD~1'],
      ['commit', '--quiet', '--message', 'again'],
    ],
  },
  {
    name: 'commit --all',
    steps: [
      ['write', 'mine.txt'],
      ['commit', '--quiet', '--all', '--message', 'all'],
    ],
    taken: 3,
  },
  {
    name: 'commit --amend',
    steps: [
      ['write', 'mine.txt'],
      ['add', 'mine.txt'],
      ['commit', '--quiet', '--amend', '--no-edit'],
    ],
    taken: 3,
  },
  {
    name: 'commit -- PATH, with something else staged',
    steps: [
      ['write', 'new.txt'],
      ['add', 'new.txt'],
      ['write', 'mine.txt'],
      ['commit', '--quiet', '--message', 'one file', '--', 'mine.txt'],
    ],
    taken: 3,
  },
  {
    name: 'a commit that is given up, and one that has nothing to commit',
    steps: [
      ['commit', '--quiet', '--message', 'nothing', '!'],
      ['write', 'mine.txt'],
      ['-c', 'core.editor=false', 'commit', '--all', '!'],
      ['commit', '--dry-run', '--all', '--quiet'],
      ['checkout', '--quiet', '--', '.'],
      ['pull', '--rebase', '--quiet', 'origin', 'main'],
    ],
    taken: 0,
  },
  { name: 'worktree add', steps: [['worktree', 'add', '--quiet', '../beside', 'topic'], ['note']] },
  { name: 'clean -fd', steps: [['clean', '--quiet', '-fd'], ['note']] },
  {
    name: 'am',
    steps: [
      ['format-patch', '--quiet', '-1', 'topic', '--output-directory', '../patches'],
      ['am', '--quiet', '../patches/0001-topic.patch'],
    ],
  },
];

function pullRebase(): Step {
  return ['pull', '--rebase', '--quiet', 'origin', 'main'];
}
