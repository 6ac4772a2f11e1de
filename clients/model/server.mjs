// A model that says what a script says, in the four dialects that the programs speak, on loopback. It keeps every request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { chat } from './chat.mjs';
import { gemini } from './gemini.mjs';
import { messages } from './messages.mjs';
import { responses } from './responses.mjs';
import { nextTurn } from './script.mjs';

const DIALECTS = [messages, responses, chat, gemini];

/** `heard` has each request for an answer of the model, `asked` all requests by method and path. */
export async function startModel() {
  const model = { url: '', rules: [], heard: [], asked: [], close: () => server.close() };
  const server = createServer((request, response) => {
    serve(model, request, response).catch((error) => {
      model.asked.push(`failed: ${error.stack}`);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  model.url = `http://127.0.0.1:${server.address().port}`;
  return model;
}

async function serve(model, request, response) {
  const url = new URL(request.url, 'http://model');
  model.asked.push(`${request.method} ${url.pathname}`);
  const body = await bodyOf(request);
  const dialect = request.method === 'POST' && DIALECTS.find(({ isAt }) => isAt(url));
  if (!dialect) return serveRest(request, response, url);
  const heard = dialect.hear(body);
  const turn = nextTurn(model.rules, heard);
  model.heard.push({ ...heard, text: JSON.stringify(body), turn });
  if (!dialect.isStreamed(body, url)) return sendJson(response, 200, dialect.whole(turn, body, url));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const line of dialect.stream(turn, body, url)) response.write(line);
  response.end();
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const sent = Buffer.concat(parts);
  const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString('utf8');
  return text.startsWith('{') ? JSON.parse(text) : {};
}

/** What programs ask beside: how many tokens, which models, whether anybody is there. */
function serveRest({ method }, response, { pathname }) {
  if (pathname.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: 900 });
  if (pathname.endsWith(':countTokens')) return sendJson(response, 200, { totalTokens: 900 });
  if (pathname.endsWith('/models')) return sendJson(response, 200, { object: 'list', data: [], models: [] });
  if (method === 'HEAD') return response.writeHead(200).end();
  return sendJson(response, 404, { error: { type: 'not_found_error', message: `no ${method} ${pathname} here` } });
}

function sendJson(response, status, object) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(object));
}
