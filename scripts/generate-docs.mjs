// Writes what tests compare with its source: docs/commands.md from the table of commands, the table in docs/performance.md from
// the last run of the bench, and the plugin for Claude Code from what connect would write.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importSource } from './import-source.mjs';

const PERFORMANCE = 'docs/performance.md';
const TABLE = /(<!-- table: .* -->\n\n)[\s\S]*?(\n<!-- end of table -->)/;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { formatCommandsPage } = await importSource('src/cli/commands-page.ts');
writeFileSync('docs/commands.md', formatCommandsPage());

const { claudePlugin } = await importSource('src/runtimes/claude-plugin.ts');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
for (const [path, text] of Object.entries(claudePlugin(version))) {
  const file = join('examples/claude-plugin', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const { rows } = JSON.parse(readFileSync('bench/results.json', 'utf8'));
const table = ['| what | measured | aim |', '|---|---|---|', ...rows.map(formatRow)]
  .map((line) => `${line}\n`)
  .join('');
const page = readFileSync(PERFORMANCE, 'utf8');
if (!TABLE.test(page)) throw new Error(`${PERFORMANCE} has no marks between which the table could go`);
writeFileSync(
  PERFORMANCE,
  page.replace(TABLE, (_, begin, end) => `${begin}${table}${end}`),
);

function formatRow({ name, value, at_most, at_least, held }) {
  const aim = at_most === undefined ? `at least ${at_least}` : `at most ${at_most}`;
  return `| ${name} | ${value} | ${aim}${held ? '' : ': missed'} |`;
}
