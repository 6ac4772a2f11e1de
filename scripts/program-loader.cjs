// Becomes dist/main.cjs. Loads the program beside it from the code that V8 kept of it when it was built: for a short verb,
// compiling is a fifth of the time. Another V8 refuses what was kept, and compiles.
const { existsSync, readFileSync } = require('node:fs');
const { wrap } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const filename = join(__dirname, 'program.cjs');
const kept = `${filename}.v8`;
const cachedData = existsSync(kept) ? readFileSync(kept) : undefined;
const script = new Script(wrap(readFileSync(filename, 'latin1')), { filename, cachedData });
script.runInThisContext().call(exports, exports, require, module, filename, __dirname);

/** For the build: what V8 has compiled by now. */
if (process.env.HANDOFF_KEEP_COMPILED === kept) module.exports.compiled = () => script.createCachedData();
