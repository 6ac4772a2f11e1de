import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { show } from '../cli/commands/reading/show.ts';
import { batons, sessions } from '../cli/commands/session/sessions.ts';
import { toJson } from '../cli/json.ts';
import { VERBS } from '../verbs/table.ts';
import { asText } from './answer.ts';
import { type Setting, withRepository } from './setting.ts';

/** Batons and sessions, to be read without a tool. Words of others are fenced as on the command line. */
export function offerResources(server: McpServer, setting: Setting): void {
  offerList(server, setting, {
    name: 'batons',
    description: batons.summary,
    read: VERBS.batons,
  });
  offerList(server, setting, { name: 'sessions', description: sessions.summary, read: VERBS.sessions });
  offerOne(server, setting, 'baton', 'the baton of that id: what its author left');
  offerOne(server, setting, 'session', 'the records of that session');
}

interface Listing {
  name: string;
  description: string;
  read: typeof VERBS.batons | typeof VERBS.sessions;
}

function offerList(server: McpServer, setting: Setting, { name, description, read }: Listing): void {
  const mimeType = 'application/json';
  server.registerResource(name, `handoff://${name}`, { description, mimeType }, (uri) =>
    setting.inTurn(async () => {
      const listed = await withRepository(setting, setting.directory, [], async (repository) =>
        (await read())(repository),
      );
      return { contents: [{ uri: uri.href, mimeType, text: toJson(listed) }] };
    }),
  );
}

function offerOne(server: McpServer, setting: Setting, name: string, description: string): void {
  const template = new ResourceTemplate(`handoff://${name}/{id}`, { list: undefined });
  const mimeType = 'text/plain';
  server.registerResource(name, template, { description, mimeType }, (uri, { id }) =>
    setting.inTurn(async () => {
      const shown = await withRepository(setting, setting.directory, [], async (repository) =>
        (await VERBS.showNamed())(repository, { record: String(id) }),
      );
      return { contents: [{ uri: uri.href, mimeType, text: await asText(show, shown, setting.directory) }] };
    }),
  );
}
