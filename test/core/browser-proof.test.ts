import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readVectors } from './examples.ts';

interface ProofCase {
  name: string;
  file: string;
  vkeys: string[];
  witnesses: string[];
  given?: string;
  result: string;
  checked?: string[];
  trusted?: boolean;
}

const ROOT = join(import.meta.dirname, '../..');
const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const isThere = existsSync(CHROMIUM);
if (!isThere) console.warn(`skipped: no Chromium at ${CHROMIUM}; install it or set CHROMIUM_PATH`);

const PAGE = `<!doctype html>
<script type="module">
  import { browserSuite, checkProof, HandoffError, parseProof } from './core.js';
  const bytes = (text) => new TextEncoder().encode(text);
  globalThis.check = async ({ file, vkeys, witnesses, given }) => {
    try {
      const record = given === undefined ? undefined : bytes(given);
      const { checked, trusted } = await checkProof(parseProof(bytes(file)), { vkeys, witnesses }, browserSuite, record);
      return { result: 'valid', checked, trusted };
    } catch (error) {
      return { result: error instanceof HandoffError ? error.code : String(error), checked: null, trusted: null };
    }
  };
</script>`;

/** The core as an application would bundle it. For a browser esbuild knows no modules of Node, and fails on each. */
async function bundleCore(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'src/core.ts')],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

describe('the core in a browser', () => {
  test('bundles without a module of Node and without a polyfill', async () => {
    expect(await bundleCore()).not.toMatch(/\bnode:|\bprocess\.(?:env|version|cwd)|\bBuffer\.(?:from|alloc)/);
  });

  test('would not bundle with one', async () => {
    const contents = "import { readFileSync } from 'node:fs'; readFileSync('x');";
    const bundle = build({ stdin: { contents }, bundle: true, platform: 'browser', write: false, logLevel: 'silent' });
    await expect(bundle).rejects.toThrow('node:fs');
  });
});

describe.skipIf(!isThere)('proofs in Chromium', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const core = await bundleCore();
    server = createServer(({ url }, response) => {
      const [type, content] = url === '/core.js' ? ['text/javascript', core] : ['text/html', PAGE];
      response.setHeader('content-type', type).end(content);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    // Debian's Chromium has no sandbox for root, and this page is our own.
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });

  afterAll(async () => {
    await browser?.close();
    await new Promise((done) => (server ? server.close(done) : done(null)));
  });

  test.each(readVectors<ProofCase>('proofs'))('$name: $result', async (vector) => {
    const { result, checked = null, trusted = null } = vector;
    expect(await check(vector)).toEqual({ result, checked, trusted });
  });

  async function check(vector: ProofCase) {
    return page.evaluate(
      (asked) => (globalThis as unknown as { check: (asked: unknown) => unknown }).check(asked),
      vector,
    );
  }
});
