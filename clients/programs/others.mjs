// What a user has besides git-handoff: hooks that leave a line behind, and a server of the Model Context Protocol.
import { fileURLToPath } from 'node:url';

export function noteOf(event) {
  return `echo ${event} >> "$OTHERS_LOG"`;
}

export const OTHER_SERVER = { command: 'node', args: [fileURLToPath(new URL('../other-server.mjs', import.meta.url))] };
