import type { YamlMap } from '../bytes/yaml.ts';
import type { PolicyDocument } from '../generated/types.ts';

type WritebackRules = PolicyDocument['writeback'];

const WRITEBACK = { runs: 'warning', evidence: 'none', advisory: false } satisfies Partial<WritebackRules>;

type AgentRules = NonNullable<PolicyDocument['agents']>;

const AGENTS = { stop: 'remind' } satisfies Required<AgentRules>;

/** Keys that a policy may leave out, and what that means; by section. SPEC §5.1 */
export const POLICY_DEFAULTS: Readonly<Record<string, YamlMap>> = { writeback: WRITEBACK, agents: AGENTS };

export function agentRules(rules: AgentRules | undefined): Required<AgentRules> {
  return { ...AGENTS, ...rules };
}

export function writebackRules(rules: WritebackRules): Required<WritebackRules> {
  return { ...WRITEBACK, ...rules };
}
