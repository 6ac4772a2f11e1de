// A story in a throwaway repository: one agent hands over to another across two work trees, a third comes too late, somebody
// forges a record, a task is done, written back, sealed and proved, and stock OpenSSH has the last word.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const base = mkdtempSync(join(tmpdir(), 'git-handoff-demo-'));
const dir = join(base, 'project');
const other = join(base, 'project-of-lola');
const cli = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  HANDOFF_KEYS: join(base, 'keys'),
  GIT_CONFIG_GLOBAL: '/dev/null',
};

const BATON = `# Current work

The reader: it takes plain scalars.

# Next steps

Quoted scalars, then the writer.
`;

try {
  tell('A new repository, and git handoff in it');
  run('git', 'init', '-q', '-b', 'main', dir, { quiet: true });
  handoff('init', '--name', 'demo');

  tell('Three agents get keys, and the maintainer signs them in');
  for (const name of ['donna', 'lola', 'max']) handoff('identity', 'add', name, { quiet: true });
  handoff('identity', 'list');

  tell('donna works. Each record is a signed file, bound to the one before it');
  handoff('start', '--as', 'donna', '--intent', 'write the reader');
  const note = JSON.parse(handoff('note', 'Node and git are all it needs', '--json', { quiet: true }));
  console.log(readFileSync(join(dir, note.path), 'utf8').replace(/^/gm, '    '));
  handoff('decide', '--title', 'Records are YAML', 'Reviewers read them in a pull request.');
  handoff('wip', 'open', 'reader', 'quoted scalars are missing');
  handoff('signal', 'send', 'lola', 'mind the tabs');

  tell('A reset takes the files away. Nothing is lost: the next verb puts them back, and says so');
  git('reset', '-q', '--hard');
  handoff('checkpoint', 'plain scalars work');

  tell('lola, in a work tree of her own, cannot take what donna holds (exit code 3)');
  git('worktree', 'add', '-q', '-b', 'lola', other);
  handoff('pickup', '--as', 'lola', { in: other, expect: 3 });

  tell('donna wraps: her baton says where the work stands');
  writeFileSync(join(base, 'baton.md'), BATON);
  handoff('wrap', join(base, 'baton.md'), '--next-agent', 'lola');

  tell('lola picks up, and is handed all of it. The words of others come fenced: they are data, not orders');
  handoff('pickup', '--as', 'lola', { in: other });

  tell('max comes too late: lola has it now (exit code 3)');
  handoff('pickup', '--as', 'max', { expect: 3 });
  handoff('sessions');

  tell('Does all of it hold?');
  handoff('verify');

  tell(
    'Somebody rewrites a note. The hook refuses the commit; without the hook git does not mind, but git handoff does (exit code 1)',
  );
  const path = join(dir, note.path);
  writeFileSync(path, readFileSync(path, 'utf8').replace('are all it needs', 'and a database are what it needs'));
  git('commit', '-q', '-a', '-m', 'a small correction', { quiet: false, expect: 1 });
  git('commit', '-q', '-a', '--no-verify', '-m', 'a small correction');
  handoff('verify', { expect: 1 });
  git('revert', '--no-edit', 'HEAD');
  tell('Taken back; it holds again');
  handoff('verify');

  tell('A task. max claims it, in a work tree of his own');
  handoff('task', 'add', 'P0.1', '--title', 'the writer', '--accept', 'it writes what the reader reads');
  handoff('start', '--as', 'max', { quiet: true });
  const { worktree } = JSON.parse(handoff('claim', 'P0.1', '--worktree', '--as', 'max', '--json', { quiet: true }));
  writeFileSync(join(worktree, 'writer.js'), 'export const write = (text) => text;\n');
  git('add', 'writer.js', { in: worktree });
  git('commit', '-q', '-m', 'the writer', { in: worktree });

  tell('It cannot be done without a thought record, and not be merged either (exit code 1)');
  handoff('task', 'update', 'P0.1', '--status', 'done', { in: worktree, expect: 1 });
  handoff('gate', '--base', 'main', '--head', 'HEAD', { in: worktree, expect: 1 });

  tell('max writes back what he did, and what ran. Then the gate says yes');
  const summary = 'The writer gives back what it is given.';
  const thought = JSON.parse(
    handoff('thought', 'P0.1', summary, '--json', '--run', '--', 'node', '--check', 'writer.js', {
      in: worktree,
      quiet: true,
    }),
  );
  handoff('task', 'update', 'P0.1', '--status', 'done', { in: worktree, quiet: true });
  handoff('wrap', '--message', 'P0.1 is done', '--seal', { in: worktree });
  handoff('gate', '--base', 'main', '--head', 'HEAD', { in: worktree });

  tell('It is merged, and the seal of his session goes into the ledger');
  const branch = git('branch', '--show-current', { in: worktree }).trim();
  git('merge', '-q', '--no-edit', branch);
  handoff('ledger', 'append');

  tell('A proof of what he wrote: one file, checked where there is no repository, with the public key of the ledger');
  handoff('prove', thought.path, '-o', join(base, 'proof.yaml'), { quiet: true });
  const vkey = handoff('ledger', 'key', { quiet: true }).trim();
  handoff('check-proof', 'proof.yaml', '--vkey', vkey, { in: base });

  tell('And nobody has to take our word: stock OpenSSH says the same');
  handoff('show', note.delta_id, '--sshsig', join(base, 'openssh'), { quiet: true });
  opensshVerify();
  console.log('\nThe repository was temporary and is gone.');
} finally {
  rmSync(base, { recursive: true, force: true });
}

function opensshVerify() {
  const args = [
    '-Y',
    'verify',
    '-f',
    'allowed_signers',
    '-I',
    'donna',
    '-n',
    'git-handoff/v1/note',
    '-s',
    'payload.sig',
  ];
  const cwd = join(base, 'openssh');
  console.log(`$ ssh-keygen ${args.join(' ')} < payload`);
  const { error, status, stdout } = spawnSync('ssh-keygen', args, { cwd, input: readFileSync(join(cwd, 'payload')) });
  if (error) return console.log('  (skipped: ssh-keygen is not installed here)');
  if (status !== 0) throw new Error('ssh-keygen did not agree');
  console.log(`  ${stdout.toString().trim()}`);
}

function handoff(...args) {
  const options = typeof args.at(-1) === 'object' ? args.pop() : {};
  const where = options.in ? ` -C ${relative(dir, options.in)}` : '';
  if (!options.quiet) console.log(`$ git handoff${where} ${args.map(quote).join(' ')}`);
  return run(process.execPath, cli, '-C', options.in ?? dir, ...args, options);
}

function quote(word) {
  const short = word.replace(base, '..');
  return /[^\w./:-]/.test(short) ? JSON.stringify(short) : short;
}

function git(...args) {
  const options = { quiet: true, ...(typeof args.at(-1) === 'object' ? args.pop() : {}) };
  if (!options.quiet) console.log(`$ git ${args.map(quote).join(' ')}`);
  const author = ['-c', 'user.name=demo', '-c', 'user.email=demo@example.org'];
  return run('git', '-C', options.in ?? dir, ...author, ...args, options);
}

function run(command, ...args) {
  const options = typeof args.at(-1) === 'object' ? args.pop() : {};
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  if (!options.quiet) console.log(`${stdout}${stderr}`.trimEnd().replace(/^/gm, '  '));
  if (status !== (options.expect ?? 0)) throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stderr}`);
  return stdout;
}

function tell(text) {
  console.log(`\n— ${text}\n`);
}
