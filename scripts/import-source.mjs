// Loads a module of src/cli that only describes commands.
import { build } from 'esbuild';

export async function importSource(path) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'], // one package's main cannot be bundled
    write: false,
    logLevel: 'warning',
    plugins: [{ name: 'described', setup: ({ onResolve }) => onResolve({ filter: /^\./ }, leftOut) }],
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** What a command loads when it runs says nothing about it. */
function leftOut({ kind, path }) {
  return kind === 'dynamic-import' ? { path, external: true } : undefined;
}
