import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { onTestFinished } from 'vitest';

/** Serves the files of a folder on loopback until the running test ends, as any server of static files would. */
export async function serveFolder(folder: string): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer(({ url }, response) => {
    requests.push(url!);
    const bytes = readOrNull(join(folder, normalize(decodeURIComponent(url!))));
    response.writeHead(bytes ? 200 : 404, { 'content-type': 'application/octet-stream' }).end(bytes ?? 'not found');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code!)) return null;
    throw error;
  }
}
