import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Comment {
  id: number;
  body: string;
  user: { login: string; type: string };
  author: { id: number };
}

export interface Api {
  url: string;
  comments: Comment[];
  /** `METHOD /path` of each request, in order. */
  requests: string[];
}

export interface ApiOptions {
  /** What writes are answered with. */
  writes?: number;
  /** Who GET /user says the token is; null: it may not ask. */
  user?: { login: string; type: string; id: number } | null;
}

const BOT = { login: 'github-actions[bot]', type: 'Bot', id: 1 };

/** The part of GitHub's API (and of GitLab's) that keeps the comments of one pull request. */
export async function serveComments(
  comments: Comment[] = [],
  { writes = 200, user = null }: ApiOptions = {},
): Promise<Api> {
  const requests: string[] = [];
  const me = user ?? BOT;
  const write = (body: string, id = comments.length + 1): Comment => ({ id, body, user: me, author: { id: me.id } });
  const answer = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    requests.push(`${request.method} ${request.url}`);
    const token = request.headers.authorization ?? `Bearer ${request.headers['private-token']}`;
    if (token !== 'Bearer secret-token') return [401, {}];
    if (pathname === '/user') return user ? [200, user] : [403, {}];
    if (request.method === 'GET') return [200, page(comments, searchParams)];
    const { body } = JSON.parse(await readText(request));
    if (writes !== 200) return [writes, { message: 'Resource not accessible by integration' }];
    if (request.method === 'POST') comments.push(write(body));
    else {
      const id = Number(pathname.split('/').at(-1));
      comments[comments.findIndex((comment) => comment.id === id)]!.body = body;
    }
    return [200, {}];
  };
  const server = createServer((request, response) => {
    answer(request).then(
      ([status, body]) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, comments, requests };
}

function page(comments: readonly Comment[], search: URLSearchParams): readonly Comment[] {
  const size = Math.min(100, Number(search.get('per_page') ?? 30));
  const number = Number(search.get('page') ?? 1);
  return comments.slice((number - 1) * size, number * size);
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

export function someoneElse(id: number, body: string): Comment {
  return { id, body, user: { login: 'mallory', type: 'User' }, author: { id: 666 } };
}
