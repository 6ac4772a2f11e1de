// A story in a throwaway repository: two identities, a few signed records, one forger, and a check by stock OpenSSH.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeSession } from './write-record.mjs';

const base = mkdtempSync(join(tmpdir(), 'git-handoff-demo-'));
const dir = join(base, 'project');
const cli = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  HANDOFF_KEYS: join(base, 'keys'),
  GIT_CONFIG_GLOBAL: '/dev/null',
};

try {
  tell('A new repository, and git handoff in it');
  run('git', 'init', '-q', '-b', 'main', dir, { quiet: true });
  handoff('init', '--name', 'demo');
  const { root } = JSON.parse(handoff('trust', '--json', { quiet: true }));

  tell('An agent called donna gets a key, and the maintainer signs her in');
  handoff('identity', 'add', 'donna');
  handoff('identity', 'list');

  tell('donna works and leaves her session behind: four files, each signed, each bound to the one before');
  const keyFile = join(base, 'keys', root.slice(0, 12), 'donna.pem');
  const session = {
    dir,
    repo: root,
    identity: 'donna',
    keyFile,
    session_id: randomUUID(),
    at: new Date().toISOString(),
  };
  const [, note] = writeSession(session, [
    { kind: 'start', intent: 'set up the package' },
    { kind: 'note', text: 'Node and git are all it needs' },
    {
      kind: 'decision',
      title: 'Records are YAML',
      status: 'accepted',
      body: 'Reviewers read them in a pull request.\n',
    },
    { kind: 'baton', summary: 'half way: the writer is missing', body: '# Next steps\n\nWrite the writer.\n' },
  ]);
  git('add', '.handoff');
  git('commit', '-q', '-m', 'donna hands over');
  handoff('log');
  console.log(readFileSync(join(dir, note.path), 'utf8').replace(/^/gm, '    '));

  tell('Does all of it hold?');
  handoff('verify');

  tell('Somebody rewrites a note and commits it. git does not mind; git handoff does (exit code 1)');
  const path = join(dir, note.path);
  writeFileSync(path, readFileSync(path, 'utf8').replace('are all it needs', 'and a database are what it needs'));
  git('commit', '-q', '-a', '-m', 'a small correction');
  handoff('verify', { expect: 1 });
  git('revert', '--no-edit', 'HEAD');
  tell('Taken back; it holds again');
  handoff('verify');

  tell('And nobody has to take our word: stock OpenSSH says the same');
  handoff('show', note.id, '--sshsig', join(base, 'proof'), { quiet: true });
  opensshVerify();
  console.log('\nThat is the foundation. The repository was temporary and is gone.');
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
  const cwd = join(base, 'proof');
  console.log(`$ ssh-keygen ${args.join(' ')} < payload`);
  const { error, status, stdout } = spawnSync('ssh-keygen', args, { cwd, input: readFileSync(join(cwd, 'payload')) });
  if (error) return console.log('  (skipped: ssh-keygen is not installed here)');
  if (status !== 0) throw new Error('ssh-keygen did not agree');
  console.log(`  ${stdout.toString().trim()}`);
}

function handoff(...args) {
  const options = typeof args.at(-1) === 'object' ? args.pop() : {};
  if (!options.quiet) console.log(`$ git handoff ${args.join(' ')}`);
  return run(process.execPath, cli, '-C', dir, ...args, options);
}

function git(...args) {
  const author = ['-c', 'user.name=demo', '-c', 'user.email=demo@example.org'];
  return run('git', '-C', dir, ...author, ...args, { quiet: true });
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
