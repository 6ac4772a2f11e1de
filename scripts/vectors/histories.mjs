import { bundleOf } from './world/git-objects.mjs';
import './histories/trust.mjs';
import './histories/sessions.mjs';
import './histories/code.mjs';
import './histories/tasks.mjs';
import './histories/ledger.mjs';
import './histories/runs.mjs';
import { cases, refs, store } from './histories/making.mjs';

export const histories = cases;
export const historiesBundle = bundleOf(refs, store.objects);
