// Fetches the real programs from npm, each version into a folder of its own outside the tree. What is there is used again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const LIMIT_MS = 5 * 60_000;

/** `{folder}`, or `{missing}` with the reason. */
export async function installed({ name, packages, beside = {} }) {
  const [version] = Object.values(packages);
  const folder = join(cacheFolder(), `${name}-${version}`);
  if (existsSync(folder)) return { folder };
  console.log(`installing ${name} ${version} from npm`);
  mkdirSync(cacheFolder(), { recursive: true });
  const draft = mkdtempSync(join(cacheFolder(), `.${name}-`));
  try {
    const missing = (await npmInstall(draft, packages)) ?? (await installBeside(join(draft, 'beside'), beside));
    if (missing) return { missing };
    renameSync(draft, folder);
    return { folder };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function cacheFolder() {
  const { HANDOFF_CLIENTS_CACHE, XDG_CACHE_HOME } = process.env;
  return HANDOFF_CLIENTS_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'git-handoff', 'clients');
}

/** What a program would fetch by itself later. It wants a folder in which there is nothing else. */
async function installBeside(folder, packages) {
  if (Object.keys(packages).length === 0) return null;
  mkdirSync(folder);
  return npmInstall(folder, packages);
}

/** The exact version is named: npm would choose an older one where a package says that it wants a newer Node. */
async function npmInstall(folder, packages) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
  const flags = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--fetch-retries=1'];
  const npm = spawn('npm', ['install', ...flags], { cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  npm.stderr.on('data', (data) => {
    said += data;
  });
  const limit = setTimeout(() => {
    said = `npm install took more than ${LIMIT_MS / 60_000} minutes`;
    process.kill(-npm.pid, 'SIGKILL');
  }, LIMIT_MS);
  try {
    const [code] = await once(npm, 'close');
    return code === 0 ? null : said.trim().split('\n').slice(0, 3).join(' ') || `npm install ended with ${code}`;
  } catch (error) {
    return error.message;
  } finally {
    clearTimeout(limit);
  }
}
