// A story in a throwaway repository. A shell runs every line that is printed after a `$`, just as it stands there; below it is
// what it printed, or the beginning of that.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-demo-')));
const project = join(base, 'project');
const worktree = join(project, '.worktrees/max/p0-1-the-writer');
const env = environment();
const WIDTH = 140;
const OPENSSH = 'ssh-keygen -Y verify -f allowed_signers -I donna -n git-handoff/v1/note -s payload.sig < payload';

try {
  console.log(
    'git-handoff in a throwaway repository: a handover, a forgery, a task and a proof. "$" is what you would type.',
  );
  mkdirSync(project);
  run('git init -q -b main', project);

  tell('donna works: every record is a signed file, which names the one before it');
  show('git handoff init');
  show('for name in donna lola max; do git handoff identity add $name; done');
  show('git handoff start --as donna >/dev/null && git handoff note "Node and git are all it needs"');
  show('tail -n 2 .handoff/sessions/donna/*/0002-note.yaml', { lines: 2 });

  tell('Her files are deleted. Nothing is lost: the next verb puts them back, and says so');
  show('rm -r .handoff/sessions && git handoff checkpoint "plain text works" >/dev/null');

  tell('lola, in a work tree of her own, cannot take what donna holds. Once donna has wrapped, she is handed it');
  show('git worktree add -q -b lola ../lola && git handoff -C ../lola pickup --as lola', { exit: 3 });
  show('git handoff wrap --message "Plain text works. Next: quoted text." --next-agent lola');
  show('git handoff -C ../lola pickup --as lola | tail -n 3', { lines: 3 });

  tell('Somebody rewrites a note. The hook refuses the commit; if it is skipped, verify finds the forgery');
  show(
    'sed -i.old "s/are all/are not all/" .handoff/sessions/donna/*/0002-note.yaml && rm .handoff/sessions/donna/*/*.old',
  );
  show('git commit -q -a -m "a small correction"', { exit: 1 });
  show('git commit -q -a -m "a small correction" --no-verify && git handoff verify', { exit: 1 });
  show('git revert --no-edit HEAD >/dev/null && git handoff verify');

  tell('max does a task. It is not done, and cannot be merged, before he has written back what he did');
  show('git handoff task add P0.1 --title "The writer"');
  show('git handoff start --as max >/dev/null && git handoff claim P0.1 --worktree');
  show('cd .worktrees/max/p0-1-the-writer && echo "export const write = String;" > writer.mjs && git add writer.mjs');
  show('git commit -q -m "The writer" && git handoff task update P0.1 --status done', { in: worktree, exit: 1 });
  show('git handoff gate --base main', { in: worktree, exit: 1 });
  show('git handoff thought P0.1 "Writes anything as text." --run -- node --check writer.mjs', { in: worktree });
  show('git handoff task update P0.1 --status done && git handoff wrap --message "P0.1 is done." --seal', {
    in: worktree,
  });
  show('git handoff gate --base main', { in: worktree });

  tell(
    'A proof of what he wrote, checked without a repository, with one public key; and what OpenSSH says of the note',
  );
  show('cd ../../.. && git merge -q --no-edit feature/p0-1-the-writer && git handoff ledger append', { in: worktree });
  show(
    'git handoff ledger key > ../key && git handoff prove .handoff/sessions/max/*/0003-thought.yaml -o ../proof.yaml',
  );
  show('git handoff show .handoff/sessions/donna/*/0002-note.yaml --sshsig ../openssh >/dev/null');
  show('cd .. && git-handoff check-proof proof.yaml --vkey "$(cat key)"', { lines: 2 });
  if (run('command -v ssh-keygen', base).status === 0) show(`cd openssh && ${OPENSSH}`, { in: base });
  else console.log('  (ssh-keygen is not installed here)');
  console.log('The repository was temporary and is gone.');
} finally {
  rmSync(base, { recursive: true, force: true });
}

/** What the demo is about to show. */
function tell(text) {
  console.log(`\n— ${text}`);
}

/** Prints a command, runs it, and prints the first lines of its answer. It must end as expected. */
function show(command, { in: directory = project, lines = 1, exit = 0 } = {}) {
  console.log(`$ ${command}`);
  const { status, output } = run(command, directory);
  const answer = output === '' ? [] : output.split('\n');
  const left = answer.length - lines;
  const more = left > 0 ? `  … ${left} more line${left === 1 ? '' : 's'}` : '';
  const ending = `${more}${exit === 0 ? '' : `  (exit code ${exit})`}`;
  const shown = answer.slice(0, lines).map((line) => `  ${line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line}`);
  if (shown.length > 0) console.log(`${shown.join('\n')}${ending}`);
  if (status !== exit) throw new Error(`${command} ended with ${status}\n${output}`);
}

function run(command, cwd) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}`.trimEnd() };
}

/** Nobody's configuration and keys, and a `git-handoff` on the path that is the one built here. */
function environment() {
  const bin = join(base, 'bin');
  mkdirSync(bin);
  symlinkSync(fileURLToPath(new URL('../dist/cli.cjs', import.meta.url)), join(bin, 'git-handoff'));
  const own = Object.entries(process.env).filter(([name]) => !/^(?:GIT|HANDOFF)_/.test(name));
  const person = { NAME: 'demo', EMAIL: 'demo@example.org' };
  const people = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(person).map(([name, value]) => [`GIT_${role}_${name}`, value]),
  );
  const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  const keys = join(base, 'keys');
  return { ...Object.fromEntries([...own, ...people]), PATH: path, HANDOFF_KEYS: keys, GIT_CONFIG_GLOBAL: '/dev/null' };
}
