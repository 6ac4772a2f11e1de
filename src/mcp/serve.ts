import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './server.ts';
import type { ServerSetting } from './setting.ts';

/** Serves one client until it closes its end, and ends once the call that is under way has. */
export async function serve(setting: ServerSetting, host: Pick<NodeJS.Process, 'stdin' | 'stdout'>): Promise<void> {
  const turns = openTurns();
  const transport = new StdioServerTransport(host.stdin, host.stdout);
  const closed = whenClosed(transport);
  serveStdio(() => createServer({ ...setting, inTurn: turns.take }), { transport });
  await closed;
  await turns.idle();
}

function whenClosed(transport: StdioServerTransport): Promise<void> {
  const close = transport.close.bind(transport);
  return new Promise((resolve) => {
    transport.close = () => close().finally(resolve);
  });
}

/** Each waits for the one before it, however that ended. */
function openTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take<T>(work: () => Promise<T>): Promise<T> {
      const turn = last.then(work);
      last = turn.catch(() => {});
      return turn;
    },
    idle: () => last,
  };
}
