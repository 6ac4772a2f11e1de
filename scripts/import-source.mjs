// Loads a module of src/cli that only describes commands: what the commands do is left out, since nobody calls it.
import { build } from 'esbuild';

export async function importSource(path) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    logLevel: 'warning',
    external: ['../../verbs/*', '../text/*', '../gate/*'],
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
