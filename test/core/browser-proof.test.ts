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
  result: string;
  checked?: string[];
}

const ROOT = join(import.meta.dirname, '../..');
const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const isThere = existsSync(CHROMIUM);
if (!isThere) console.warn(`skipped: no Chromium at ${CHROMIUM}; install it or set CHROMIUM_PATH`);

const PAGE = `<!doctype html>
<script type="module">
  import { browserSuite, checkProof, HandoffError, parseProof } from './core.js';
  globalThis.check = async (file, vkeys, witnesses) => {
    try {
      const proof = parseProof(new TextEncoder().encode(file));
      const { checked } = await checkProof(proof, { vkeys, witnesses }, browserSuite);
      return { result: 'valid', checked };
    } catch (error) {
      return { result: error instanceof HandoffError ? error.code : String(error), checked: null };
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

  test.each(readVectors<ProofCase>('proofs'))('$name: $result', async ({ file, vkeys, witnesses, result, checked }) => {
    expect(await check(file, vkeys, witnesses)).toEqual({ result, checked: checked ?? null });
  });

  async function check(...args: [file: string, vkeys: string[], witnesses: string[]]) {
    return page.evaluate(
      (given) => (globalThis as unknown as { check: (...args: unknown[]) => unknown }).check(...given),
      args,
    );
  }
});
