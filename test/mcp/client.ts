import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { CLI } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';

interface Answer {
  isError: boolean;
  text: string;
  /** `structuredContent`. */
  object: Record<string, unknown>;
}

export interface Served {
  client: Client;
  pid: number;
  call(name: string, args?: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<Answer>;
}

export type Era = 'legacy' | '2026-07-28';

/** The published server as a process, spoken to by somebody else's client. */
export async function serve({ dir, env }: Pick<Place, 'dir' | 'env'>, era: Era = '2026-07-28'): Promise<Served> {
  const mode = era === 'legacy' ? 'legacy' : { pin: era };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const words = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]));
  const transport = new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp'], cwd: dir, env: words });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    pid: transport.pid!,
    async call(name, args = {}, options = {}) {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args }, options);
      const [first] = content as [{ type: string; text: string }];
      return { isError: isError === true, text: first.text, object: structuredContent as Record<string, unknown> };
    },
  };
}
