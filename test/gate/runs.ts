import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import type { Draft, Place } from '../handoff.ts';
import { git } from '../temporary.ts';

/** A policy that asks for runs. */
export function asking(rules: YamlMap): YamlMap {
  return { writeback: { required: true, review: false, open_sessions: 'warning', ...rules } };
}

export const PASSED = asking({ evidence: 'passed' });
export const STRICT = asking({ runs: 'error' });

export function treeOf({ dir }: Place, rev = 'HEAD'): string {
  return git(dir, 'rev-parse', `${rev}^{tree}`);
}

/** As `--run` records it; without a tree, on what was not committed. */
export function ran(exit_code: number, tree?: string, command = ['npm', 'test']) {
  const output_digest = `sha256:${'ab'.repeat(32)}`;
  return { command, exit_code, duration_ms: 1, ...(tree === undefined ? {} : { tree }), output_digest };
}

export function withRuns(thought: Draft, ...evidence: ReturnType<typeof ran>[]): Draft {
  return { ...thought, evidence };
}
