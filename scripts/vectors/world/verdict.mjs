import { REPO } from '../documents.mjs';

export const ROOT = REPO;

export function error(code, path, commit) {
  return { code, severity: 'error', ...(path && { path }), ...(commit && { commit: commit.oid }) };
}

export function warning(code, path) {
  return { ...error(code, path), severity: 'warning' };
}

/** The name of a case as a part of the name of a ref. */
export function refOf(name) {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
