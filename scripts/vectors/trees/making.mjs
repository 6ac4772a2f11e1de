import { openStore } from '../world/git-objects.mjs';
import { ROOT } from '../world/verdict.mjs';

export const store = openStore();
export const cases = [];

/** `checked`: how many files the verdict is about. */
export function tree(name, rule, files, checked, findings = []) {
  const { oid } = store.commit(files, { message: name });
  const valid = findings.every(({ severity }) => severity === 'warning');
  cases.push({ name, rule, commit: oid, root: ROOT, checked, valid, findings });
}

export const OTHER_ROOT = 'ab'.repeat(32);
