import type { PolicyResult, PolicySetOptions } from '../../../verbs/setup/policy.ts';
import type { PolicySignOptions } from '../../../verbs/setup/policy-sign.ts';
import { defineVerb, type Family, PUBLISH_FLAGS } from '../../command.ts';

const verbs = () => import('../../../verbs/setup/policy.ts');
const signing = () => import('../../../verbs/setup/policy-sign.ts');
const text = () => import('./policy-text.ts');

const show = defineVerb<object, PolicyResult>({
  name: 'show',
  summary: 'the policy in force',
  purpose: 'Shows the policy in force, who signed it, and whether a change waits for more signatures.',
  examples: [{ run: 'git handoff policy show', does: 'what a merge must carry, and who decides' }],
  run: async (context) => (await verbs()).policyShow(await context.repository()),
  text: async (result, paint) => (await text()).formatPolicy(result, paint),
});

const set = defineVerb<PolicySetOptions, PolicyResult>({
  name: 'set',
  summary: 'change one key: a new, signed version',
  purpose:
    'Writes the next version of the policy with one key changed, signed by a root principal. With a threshold above ' +
    'one the change waits until enough of them ran "policy sign". One change waits at a time: another takes its place, ' +
    'which is how to take one back. Lists are separated by commas.',
  args: [
    { name: 'KEY', about: 'for example stale_after, writeback.review, root.threshold, root.keys' },
    { name: 'VALUE', about: 'a number, true or false, a text, or a list A,B' },
  ],
  flags: PUBLISH_FLAGS,
  examples: [
    { run: 'git handoff policy set writeback.review true', does: 'every thought needs a review' },
    { run: 'git handoff policy set root.keys ada,grace', does: 'two maintainers hold root keys' },
  ],
  run: async (context, options) => (await verbs()).policySet(await context.repository(), options),
  text: async (result, paint) => (await text()).formatChange(result, paint),
});

const sign = defineVerb<PolicySignOptions, PolicyResult>({
  name: 'sign',
  summary: 'sign what waits for root principals',
  purpose:
    'Adds your signature to what waits for root principals: the next policy, and maintainers. It signs what you name, and ' +
    'nothing else; where one document waits, no name is needed. "policy show" lists what waits and what it changes. Named ' +
    'by its id, a document is signed only if it still says what you have seen.',
  args: [
    {
      name: 'WHAT',
      about: 'policy/VERSION, identity/NAME, or the id of the document',
      optional: true,
      variadic: true,
    },
  ],
  flags: PUBLISH_FLAGS,
  examples: [
    { run: 'git handoff policy sign --as grace', does: 'the second of two signatures' },
    { run: 'git handoff policy sign policy/3 identity/ada', does: 'a root key that ada rotates' },
  ],
  run: async (context, options) => (await signing()).policySign(await context.repository(), options),
  text: async (result, paint) => (await text()).formatSigned(result, paint),
});

export const policy: Family = {
  name: 'policy',
  summary: 'the rules, signed and versioned: show, set, sign',
  purpose:
    'The policy says who is trusted and what a merge must carry. Versions are only ever added, each signed by the ' +
    'threshold of root principals of the version before and of its own.',
  examples: [{ run: 'git handoff policy show', does: 'the policy in force' }],
  verbs: [show, set, sign],
};
