// Writes docs/commands.md from the table of commands. test/docs-commands.test.ts compares it with what is committed.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { importSource } from './import-source.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { formatCommandsPage } = await importSource('src/cli/commands-page.ts');
writeFileSync('docs/commands.md', formatCommandsPage());
