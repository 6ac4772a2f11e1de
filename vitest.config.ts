import { defineConfig } from 'vitest/config';

// Whole processes, servers, remotes and hooks: minutes, so that they have a command of their own (npm run gauntlet).
const GAUNTLET = [
  'test/{demo,docs-walks,package}.test.ts',
  'test/agents/{claude,events,harmless,turns,words}.test.ts',
  'test/audit/{evidence,history,seals,trust-growth,wrong-kind}.test.ts',
  'test/ci/**/*.test.ts',
  'test/coverage/{histories,many-histories}.test.ts',
  'test/cli/{arguments,as-whom,completion,completion-names,gate,gate-formats,help,output,policy-sign,proof,seed-proof,seed-writeback,sessions,tasks,writeback}.test.ts',
  'test/core/{history-bounds,history-bytes,proof,tiles}.test.ts',
  'test/git/{index-file,move-checkout,native-store,readers-many,remerge,store-conformance,tree-sift-growth}.test.ts',
  'test/journal/{keys,remote-locks*}.test.ts',
  'test/ledger/**/*.test.ts',
  'test/mcp/**/*.test.ts',
  'test/threats/{exhaustion,ledger}.test.ts',
  'test/verbs/{batons,bundle-limits,claim,claim-numbers,commit-session,doctor,everywhere,find-records,journal,ledger,ledger-attacks,ledger-verify,names,naughty,no-branch,pickup-*,processes*,reads,reconcile,restore,revoked,saved,seal,seal-too-early,two-machines*,way-back,wrap-draft}.test.ts',
  'test/gate/{accepted,accepted-many,attacks,deep,growth,honest,server-attacks,server-honest,around-hooks,vectors}.test.ts',
  'test/hooks/**/*.test.ts',
  'test/relay/{tmux,agent-*,seed-cycle,failures,faults,salvage,skill}.test.ts',
  'test/recipe.test.ts',
  'test/runtimes/{bad-files,bad-settings,connect,doctor}.test.ts',
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
