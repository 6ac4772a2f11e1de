import type { Role } from '../../../core/trust/trust.ts';
import type { IdentityOptions, IdentityResult } from '../../../verbs/setup/identity.ts';
import type { KeygenResult } from '../../../verbs/setup/identity-keygen.ts';
import type { IdentityListing } from '../../../verbs/setup/identity-list.ts';
import type { IdentityResignOptions, IdentityResignResult } from '../../../verbs/setup/identity-resign.ts';
import type { ResignOptions, RevokeResult } from '../../../verbs/setup/identity-revoke.ts';
import type { RotateResult } from '../../../verbs/setup/identity-rotate.ts';
import type { SkillOptions, SkillResult } from '../../../verbs/setup/identity-skill.ts';
import { type Argument, defineVerb, type Family, type Flag, PUBLISH_FLAGS, type Verb } from '../../command.ts';

const verbs = () => import('../../../verbs/setup/identity.ts');
const lists = () => import('../../../verbs/setup/identity-list.ts');
const text = () => import('./identity-text.ts');

const NAME: Argument = { name: 'NAME', about: 'an identity: lower-case letters, digits, dot, dash, underscore' };
const PUBLIC_KEY: Flag = { flags: '--key <file.pub>', about: 'an OpenSSH ed25519 public key', isPath: true };

const add = defineVerb<IdentityOptions & { role?: Role }, IdentityResult>({
  name: 'add',
  summary: 'sign in a new identity',
  purpose:
    'Signs an identity in, so that the records it signs count. Without --key it uses the key of that name on this ' +
    'machine, or makes one. Agents on other machines run "identity keygen" there and send you the public key.',
  args: [NAME],
  flags: [
    { flags: '--role <role>', about: 'agent (default), maintainer or bot', choices: ['agent', 'maintainer', 'bot'] },
    PUBLIC_KEY,
    ...PUBLISH_FLAGS,
  ],
  examples: [
    { run: 'git handoff identity add developer-1', does: 'an agent on this machine' },
    { run: 'git handoff identity add grace --role maintainer --key grace.pub', does: 'a second maintainer' },
  ],
  run: async (context, options) => (await verbs()).identityAdd(await context.repository(), options),
  text: async (result, paint) => (await text()).formatAdded(result, paint),
});

const ownKey = defineVerb<{ name: string }, KeygenResult>({
  name: 'keygen',
  summary: 'make a key on this machine',
  purpose:
    'Makes an Ed25519 key outside the work tree and prints its public line. Nothing is signed in: send the ' +
    'line to a maintainer, who runs "identity add". If there is a key already, its line is printed again: no ' +
    'key is overwritten. "keygen" and "identity keygen" are the same.',
  args: [NAME],
  examples: [{ run: 'git handoff identity keygen developer-1', does: 'run by the agent, on its own machine' }],
  run: async (context, options) =>
    (await import('../../../verbs/setup/identity-keygen.ts')).identityKeygen(
      { repository: await context.anyRepository(), env: context.env },
      options,
    ),
  text: async (result, paint) => (await text()).formatKeygen(result, paint),
});

/** Who is new types this first, and belongs to no family yet. */
export const keygen: Verb = {
  ...ownKey,
  examples: [{ run: 'git handoff keygen developer-1', does: 'run by the agent, on its own machine' }],
};

const list = defineVerb<object, IdentityListing>({
  name: 'list',
  summary: 'identities and their keys',
  purpose: 'Lists who is signed in, in which role, and each key with its state: active, retired or revoked.',
  examples: [{ run: 'git handoff identity list', does: 'who may sign here' }],
  run: async (context) => (await lists()).identityList(await context.repository()),
  text: async (result, paint) => (await text()).formatListing(result, paint),
});

const rotate = defineVerb<IdentityOptions, RotateResult>({
  name: 'rotate',
  summary: 'a new key; the old one signs nothing new',
  purpose:
    'Gives an identity a new key and retires the old one: what it signed stands, and it signs nothing new. Where no ' +
    'maintainer has a key on this machine, it prints the new public line for one, and the old key signs until then.',
  args: [NAME],
  flags: [PUBLIC_KEY, ...PUBLISH_FLAGS],
  examples: [
    { run: 'git handoff identity rotate developer-1', does: 'make a new key here, and sign it in or ask for that' },
    { run: 'git handoff identity rotate developer-1 --key developer-1.pub', does: 'a maintainer signs in that line' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/setup/identity-rotate.ts')).identityRotate(await context.repository(), options),
  text: async (result, paint) => (await text()).formatRotated(result, paint),
});

const revoke = defineVerb<IdentityOptions & ResignOptions, RevokeResult>({
  name: 'revoke',
  summary: 'a key nobody should trust any more',
  purpose:
    'Revokes a key that was lost or stolen; without --key, every active key of the identity. What only a revoked key ' +
    'signed counts for nothing from then on, but for what the ledger had sealed: that stays valid. Of a maintainer, ' +
    'you sign in its place the tasks that only it had signed, and of the agents those that you confirm. A maintainer ' +
    'who names itself with --as lays down all of its own keys at once; those of another one need the threshold.',
  args: [NAME],
  flags: [
    { flags: '--key <fingerprint>', about: 'only this key: SHA256:…' },
    {
      flags: '--since <rev>',
      about: 'a commit or date at which the key was in good hands: what it signed since is set back or left distrusted',
    },
    { flags: '--resign <document>', about: 'sign this one in its place: an agent, a task or a path', repeats: true },
    { flags: '--resign-all', about: 'sign all of them in its place; look at each' },
    ...PUBLISH_FLAGS,
  ],
  examples: [
    { run: 'git handoff identity revoke developer-1', does: 'its machine was stolen' },
    { run: 'git handoff identity revoke grace --since 2026-03-01', does: 'a maintainer, whose key was stolen then' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/setup/identity-revoke.ts')).identityRevoke(await context.repository(), options),
  text: async (result, paint) => (await text()).formatRevoked(result, paint),
});

const resign = defineVerb<IdentityResignOptions, IdentityResignResult>({
  name: 'resign',
  summary: 'sign what somebody whose key counts no more had signed',
  purpose:
    'A maintainer signs agents, tasks or the project in the place of a key that was revoked or retired, so that they ' +
    'count again. Without a name it lists those that only revoked keys have signed.',
  args: [{ name: 'DOCUMENT', about: 'an agent, a task or a path', optional: true, variadic: true }],
  flags: [{ flags: '--all', about: 'every one that only revoked keys have signed; look at each' }, ...PUBLISH_FLAGS],
  examples: [
    { run: 'git handoff identity resign', does: 'what waits for a signature' },
    { run: 'git handoff identity resign developer-1 P0.1.1', does: 'an agent and a task' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/setup/identity-resign.ts')).identityResign(await context.repository(), options),
  text: async (result, paint) => (await text()).formatResigned(result, paint),
});

const skill = defineVerb<Omit<SkillOptions, 'text'> & { file?: string; remove?: boolean }, SkillResult>({
  name: 'skill',
  summary: 'what a persona reads first',
  purpose:
    'Signs a text in that an agent of this name is told when it takes over: who it is, how it works. A maintainer signs its digest, ' +
    'so no other text passes for it. --remove takes it away.',
  args: [NAME, { name: 'FILE', about: 'Markdown; - reads it from standard input', optional: true }],
  flags: [
    { flags: '--remove', about: 'it has none any more' },
    { flags: '--allow-secret', about: 'a person has looked: what seems to be a secret is none' },
    ...PUBLISH_FLAGS,
  ],
  examples: [{ run: 'git handoff identity skill developer-1 developer.md', does: 'who developer-1 is' }],
  async run(context, { file, remove = false, ...options }) {
    const { identitySkill, readSkillFile } = await import('../../../verbs/setup/identity-skill.ts');
    const text = await readSkillFile(file, remove, context);
    return identitySkill(await context.repository(), { ...options, ...(text === null ? {} : { text }) });
  },
  text: async (result, paint) => (await text()).formatSkill(result, paint),
});

const exportSigners = defineVerb<object, { allowed_signers: string }>({
  name: 'export',
  summary: 'an OpenSSH allowed_signers file',
  purpose: 'Prints the identities as an OpenSSH allowed_signers file, so that git and ssh-keygen can check them too.',
  examples: [{ run: 'git handoff identity export > .git/allowed_signers', does: 'for gpg.ssh.allowedSignersFile' }],
  run: async (context) => (await lists()).identityExport(await context.repository()),
  text: async ({ allowed_signers }) => allowed_signers,
});

export const identity: Family = {
  name: 'identity',
  summary: 'who may sign: add, keygen, list, rotate, revoke, resign, skill, export',
  purpose:
    'An identity is a named holder of keys: a person, an agent, the bot. A maintainer signs identities in; each then ' +
    'signs its own records.',
  examples: [
    { run: 'git handoff identity keygen developer-1', does: 'the agent makes its key' },
    { run: 'git handoff identity add developer-1 --key developer-1.pub', does: 'a maintainer signs it in' },
  ],
  verbs: [add, ownKey, list, rotate, revoke, resign, skill, exportSigners],
};
