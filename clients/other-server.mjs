// A server of the Model Context Protocol that has nothing to do with git-handoff.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const server = new McpServer({ name: 'other', version: '1.0.0' });
server.registerTool('tell_colour', { description: 'The colour of today.' }, () => ({
  content: [{ type: 'text', text: 'green' }],
}));
await server.connect(new StdioServerTransport());
