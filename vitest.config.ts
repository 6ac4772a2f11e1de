import { defineConfig } from 'vitest/config';

// Whole processes, servers, remotes and hooks: minutes, so that they have a command of their own (npm run gauntlet).
const GAUNTLET = [
  'test/{demo,docs-walks}.test.ts',
  'test/audit/{seals,trust-growth}.test.ts',
  'test/ci/**/*.test.ts',
  'test/coverage/many-histories.test.ts',
  'test/cli/{arguments,output,proof,seed-proof,seed-writeback,sessions,tasks,writeback}.test.ts',
  'test/core/{proof,tiles}.test.ts',
  'test/git/{store-conformance,readers-many}.test.ts',
  'test/journal/remote-locks*.test.ts',
  'test/ledger/**/*.test.ts',
  'test/threats/{exhaustion,ledger}.test.ts',
  'test/verbs/{claim,claim-numbers,find-records,ledger,ledger-attacks,ledger-verify,reconcile,seal,seal-too-early,two-machines*}.test.ts',
  'test/gate/{accepted-many,attacks,growth,honest,server-attacks,server-honest,around-hooks}.test.ts',
  'test/hooks/**/*.test.ts',
  'test/recipe.test.ts',
];

const COMMON = { testTimeout: 240_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default'],
    projects: [
      { test: { ...COMMON, name: 'quick', include: ['test/**/*.test.ts'], exclude: GAUNTLET } },
      { test: { ...COMMON, name: 'gauntlet', include: GAUNTLET } },
    ],
  },
});
