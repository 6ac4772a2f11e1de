// The gate as a process, for a program that has no such verb yet: -C DIR gate --base REV --head REV
import { openRepository } from '../dist/index.js';

const [, dir, , , base, , head] = process.argv.slice(2);
const handoff = openRepository(dir);
const { pass, findings } = await handoff.gate({ base, head });
await handoff.close();
if (!pass) throw new Error(JSON.stringify(findings));
