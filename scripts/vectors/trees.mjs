import './trees/holding.mjs';
import './trees/documents.mjs';
import './trees/sessions.mjs';
import './trees/ledger.mjs';
import './trees/names.mjs';
import { cases, store } from './trees/making.mjs';
import { bundleOf } from './world/git-objects.mjs';
import { refOf } from './world/verdict.mjs';

export const trees = cases;
export const treesBundle = bundleOf(
  Object.fromEntries(cases.map(({ name, commit }) => [`refs/trees/${refOf(name)}`, commit])),
  store.objects,
);
