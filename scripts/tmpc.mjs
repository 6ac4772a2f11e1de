import { build } from 'esbuild';

await build({
  stdin: {
    contents:
      "export {openRepositoryAt} from './src/verbs/repository.ts'; export {verify} from './src/verbs/verify.ts';",
    resolveDir: '/work/main',
    sourcefile: 'entry.ts',
  },
  outfile: '/tmp/vb/entry.js',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  packages: 'bundle',
  external: ['isomorphic-git'],
});
