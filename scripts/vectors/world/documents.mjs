import { document, genesis, identityText, policyText, REPO } from '../documents.mjs';
import { AT, ada, con, donna, idOf } from '../signing.mjs';

// Files of a tree are objects `{path: content}`; putting two together is `{...a, ...b}`. Here are the documents.

/** Who signs what they sign with, unless said otherwise. */
export const KEYS = { ada, donna, 'con-1': con };

const idFrom = (file) => idOf(file.slice(0, file.indexOf('signatures:\n')));
const RULES = { version: 1, prev: null, signers: [ada] };
const identityPath = (name) => `.handoff/identities/${name}/identity.yaml`;
const taskPath = (id) => `.handoff/tasks/${id}.yaml`;
const policyPath = (version) => `.handoff/policy/${String(version).padStart(4, '0')}.yaml`;

export function identity(name, { role = 'agent', keys = [[KEYS[name], 'active']], skill, signers, ...rest } = {}) {
  const text = identityText(name, role, keys, { ...RULES, ...rest }) + (skill ? `skill: ${skill}\n` : '');
  return { [identityPath(name)]: document('identity', text, signers ?? RULES.signers).file };
}

export function task(id, { more = '', repo = REPO, signers, ...rest } = {}) {
  const { version, prev } = { ...RULES, ...rest };
  const text = `handoff: 1
kind: task-definition
repo: ${repo}
version: ${version}
prev: ${prev}
at: ${AT}
task_id: ${id}
title: Task ${id}
${more}`;
  return { [taskPath(id)]: document('task-definition', text, signers ?? RULES.signers).file };
}

export function project() {
  const text = `handoff: 1\nkind: project\nrepo: ${REPO}\nversion: 1\nprev: null\nat: ${AT}\nname: vectors\n`;
  return { '.handoff/project.yaml': document('project', text, [ada]).file };
}

/** The first policy is that of `documents.json`, unless rules are changed: then it has another root. */
export const POLICY = { [policyPath(1)]: document('policy', policyText(genesis), [ada]).file };

/** The next version of the newest policy of these files. */
export function nextPolicy(files, { signers = [ada], ...change } = {}) {
  const version = Object.keys(files).filter((path) => path.startsWith('.handoff/policy/')).length + 1;
  const prev = idFrom(files[policyPath(version - 1)]);
  const text = policyText({ ...genesis, version, prev, repo: REPO, nonce: null, ...change });
  return { [policyPath(change.number ?? version)]: document('policy', text, signers).file };
}

/** Where the next version of an identity stands in its chain. */
export function after(files, name, version = 2) {
  return { version, prev: idFrom(files[identityPath(name)]) };
}

export function afterTask(files, id, version = 2) {
  return { version, prev: idFrom(files[taskPath(id)]) };
}

export function without(files, ...paths) {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !paths.includes(path)));
}
