import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { newKey, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { identityOf, publicLine } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { skilled } from './attacks-unsigned.ts';
import {
  branch,
  checkout,
  code,
  document,
  documentAfter,
  identityAfter,
  maintainer,
  type Scenario,
  taskFields,
} from './scenario.ts';
import { second, secondKey, signAlong, throwaways, twoMaintainers } from './two-maintainers.ts';

const SECOND = 'identities/second/identity.yaml';
const DONNA = 'identities/donna/identity.yaml';

/** What two maintainers do together, and what each may do alone. */
export const TWO_MAINTAINERS: Scenario[] = [
  {
    name: 'a maintainer whom both sign in',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const { handoff } = open(place);
      await handoff.identity.add({ name: 'third', role: 'maintainer', as: 'maintainer' });
      await handoff.policy.sign({ as: 'second' });
    },
  },
  {
    name: 'a maintainer who waits for the second signature',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      await open(place).handoff.identity.add({ name: 'third', role: 'maintainer', as: 'maintainer' });
    },
  },
  {
    name: 'the second signature, on a branch of its own',
    async build(place) {
      await twoMaintainers(place);
      await open(place).handoff.identity.add({ name: 'third', role: 'maintainer', as: 'maintainer' });
      branch(place, 'feature');
      await open(place).handoff.policy.sign({ as: 'second' });
    },
  },
  {
    name: 'a maintainer whom both demote',
    async build(place) {
      await twoMaintainers(place);
      const third = identityOf(place, 'third', newKey(), { role: 'maintainer' });
      document(place, 'identities/third/identity.yaml', third, [maintainer(place), second(place)]);
      branch(place, 'feature');
      const fields = identityAfter(place, 'third', { role: 'agent' });
      document(place, 'identities/third/identity.yaml', fields, [maintainer(place), second(place)]);
    },
  },
  {
    name: 'a maintainer whose key both revoke',
    isVariant: true,
    async build(place) {
      await twoMaintainers(place);
      const key = newKey();
      const both = [maintainer(place), second(place)];
      const third = identityOf(place, 'third', key, { role: 'maintainer' });
      document(place, 'identities/third/identity.yaml', third, both);
      branch(place, 'feature');
      const keys = [{ key: publicLine(key), state: 'revoked' }];
      document(place, 'identities/third/identity.yaml', identityAfter(place, 'third', { keys }), both);
    },
  },
  {
    name: 'two maintainers who rotate their keys, each with the signature of the other',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      for (const [name, other] of [
        ['second', 'maintainer'],
        ['maintainer', 'second'],
      ] as const) {
        await open(place).handoff.identity.rotate({ name });
        await open(place).handoff.policy.sign({ as: other });
      }
    },
  },
  ...(['second', 'maintainer'] as const).map((name, at) => ({
    name: `the root key of ${name} rotated, where an older gate let both be filled with lines of nobody`,
    isVariant: at > 0,
    async build(place: Place) {
      await twoMaintainers(place);
      for (const each of ['maintainer', 'second']) signAlong(place, each, throwaways(253));
      branch(place, 'feature');
      await open(place).handoff.identity.rotate({ name });
      await open(place).handoff.policy.sign({ as: name === 'second' ? 'maintainer' : 'second' });
    },
  })),
  {
    name: 'lines of nobody that an agent takes away',
    async build(place) {
      await twoMaintainers(place);
      const path = `.handoff/${SECOND}`;
      signAlong(place, 'second', throwaways(3));
      branch(place, 'feature');
      git(place.dir, 'checkout', '--quiet', 'HEAD~1', '--', path);
      git(place.dir, 'commit', '--quiet', '--message', 'away');
    },
  },
  {
    name: 'a rotation that waits for the other maintainer',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      await open(place).handoff.identity.rotate({ name: 'second' });
    },
  },
  {
    name: 'one of two who lays down their own key, alone',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const keys = [{ key: publicLine(secondKey(place)), state: 'revoked' }];
      document(place, SECOND, identityAfter(place, 'second', { keys }), [second(place)]);
    },
  },
  {
    name: 'a single maintainer who demotes another, with a threshold of one',
    async build(place) {
      await open(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
      branch(place, 'feature');
      document(place, SECOND, identityAfter(place, 'second', { role: 'agent' }));
    },
  },
  {
    name: 'one of two who signs in an agent, and revokes another',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const { handoff } = open(place);
      await handoff.identity.add({ name: 'fay', as: 'second' });
      await handoff.identity.revoke({ name: 'erin', as: 'second' });
    },
  },
];

async function editTwice(place: Place): Promise<void> {
  const { handoff } = open(place);
  await handoff.task.edit({ id: 'P0.5', title: 'better' });
  await handoff.task.edit({ id: 'P0.5', title: 'best' });
}

/** Documents that change more than once on their way. */
export const SEVERAL_VERSIONS: Scenario[] = [
  {
    name: 'a key that is rotated, and then revoked, in one branch',
    async build(place) {
      branch(place, 'feature');
      const [old] = (await open(place).handoff.identity.list()).identities.find(
        ({ identity }) => identity === 'erin',
      )!.keys;
      await open(place).handoff.identity.rotate({ name: 'erin' });
      await open(place).handoff.identity.revoke({ name: 'erin', key: old!.fingerprint });
    },
  },
  {
    name: 'a task that is edited twice in one branch',
    async build(place) {
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'));
      branch(place, 'feature');
      await editTwice(place);
    },
  },
  {
    name: 'the same, while the protected branch has moved',
    async build(place) {
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'));
      branch(place, 'feature');
      await editTwice(place);
      checkout(place, 'main');
      document(place, 'tasks/P0.6.yaml', taskFields(place, 'P0.6'));
      checkout(place, 'feature');
    },
  },
  {
    name: 'the same, after the protected branch was merged into it',
    isVariant: true,
    async build(place) {
      document(place, 'tasks/P0.5.yaml', taskFields(place, 'P0.5'));
      branch(place, 'feature');
      await editTwice(place);
      checkout(place, 'main');
      code(place, { 'README.md': 'moved\n' });
      checkout(place, 'feature');
      git(place.dir, 'merge', '--quiet', '--no-edit', 'main');
    },
  },
  {
    name: 'a task that is added, and edited twice',
    async build(place) {
      branch(place, 'feature');
      await open(place).handoff.task.add({ id: 'P0.5', title: 'good' });
      await editTwice(place);
    },
  },
  {
    name: 'the same, squashed',
    async build(place) {
      branch(place, 'feature');
      await open(place).handoff.task.add({ id: 'P0.5', title: 'good' });
      await editTwice(place);
      git(place.dir, 'reset', '--quiet', '--soft', 'main');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    },
  },
  {
    name: 'a change that is taken back, and made anew',
    isVariant: true,
    build(place) {
      branch(place, 'feature');
      document(place, DONNA, identityAfter(place, 'donna', { x_note: 'one' }));
      document(place, DONNA, identityAfter(place, 'donna', { x_note: 'two' }));
      git(place.dir, 'revert', '--no-edit', 'HEAD');
      document(place, DONNA, identityAfter(place, 'donna', { x_note: 'three' }));
    },
  },
  {
    name: 'a change on both sides, made anew on top of the other',
    build(place) {
      branch(place, 'feature');
      document(place, DONNA, identityAfter(place, 'donna', { x_note: 'feature' }));
      checkout(place, 'main');
      document(place, DONNA, identityAfter(place, 'donna', { x_note: 'main' }));
      checkout(place, 'feature');
      git(place.dir, 'merge', '--quiet', '--no-edit', '--strategy-option=theirs', 'main');
      document(place, DONNA, identityAfter(place, 'donna', { x_note: 'both' }));
    },
  },
  {
    name: 'a key that is revoked although an older gate let its identity jump to version 2147483647',
    async build(place) {
      document(place, 'identities/erin/identity.yaml', identityAfter(place, 'erin', { version: 2147483647 }));
      branch(place, 'feature');
      await open(place).handoff.identity.revoke({ name: 'erin' });
    },
  },
  {
    name: 'a skill that goes with the word of its identity',
    build(place) {
      skilled(place);
      branch(place, 'feature');
      rmSync(join(place.dir, '.handoff/identities/donna/skill.md'));
      const { skill: _, ...fields } = identityAfter(place, 'donna', {});
      document(place, DONNA, fields as typeof fields & { kind: 'identity' });
    },
  },
  {
    name: 'a project that changes, signed by two',
    async build(place) {
      await twoMaintainers(place);
      branch(place, 'feature');
      const fields = documentAfter(place, 'project.yaml', { phase: 'two' });
      document(place, 'project.yaml', fields, [maintainer(place)]);
      document(place, 'project.yaml', fields, [maintainer(place), second(place)]);
    },
  },
];
