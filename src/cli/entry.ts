#!/usr/bin/env node
declare const __VERSION__: string;
declare const __BUILD__: string;

const args = process.argv.slice(2);

// Answered before anything is loaded: tools ask for the version often, and it should cost no more than Node itself.
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${__VERSION__}\n`);
} else {
  const { main } = await import('./main.ts');
  process.exit(await main(args, process, { version: __VERSION__, build: __BUILD__ }));
}
