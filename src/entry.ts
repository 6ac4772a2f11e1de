#!/usr/bin/env node
import type { ServerSetting } from './mcp/setting.ts';

declare const __VERSION__: string;
declare const __BUILD__: string;

const args = process.argv.slice(2);

// Answered before anything is loaded: tools ask for the version often, and it should cost no more than Node itself.
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${__VERSION__}\n`);
} else {
  endBetweenSteps();
  void import('./cli/main.ts')
    .then(({ main }) => main(args, process, { version: __VERSION__, build: __BUILD__ }, serveClient))
    .then((code) => process.exit(code));
}

/** What it takes to speak MCP is a file of its own, which no other verb loads. */
async function serveClient(setting: ServerSetting): Promise<void> {
  const { serve } = await import('./mcp/serve.ts');
  return serve(setting, process);
}

/** Whoever is asked to end does so once JavaScript waits: git's locks are taken and let go before that, and none is left. */
function endBetweenSteps(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.kill(process.pid, signal));
}
