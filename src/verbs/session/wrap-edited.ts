import { readFileSync, rmSync } from 'node:fs';
import { HandoffError } from '../../core/error.ts';
import { runGitOnTerminal } from '../../git/run.ts';
import { keepDraft } from '../../journal/drafts/draft-file.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { GitAccess, Settings } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { type WrapOptions, type WrapResult, wrap } from './wrap.ts';
import { wrapDraft } from './wrap-draft.ts';

/** A person's wrap: their editor opens on the draft, and what they leave there is the baton. */
export async function wrapEdited(repository: Repository, options: WrapOptions): Promise<WrapResult> {
  const { draft } = await wrapDraft(repository, options);
  const path = keepDraft(dirsOf(repository).drafts, 'wrap', 'md', draft);
  const code = await openEditor(repository, path);
  if (code !== 0) {
    if (readFileSync(path, 'utf8') === draft) rmSync(path);
    throw new HandoffError('usage', `The editor ended with exit code ${code}, and the session is still open.`, {
      hint: 'Wrap again, or give the text: git handoff wrap FILE. GIT_EDITOR, or git config core.editor, names another editor.',
    });
  }
  const text = readFileSync(path);
  if (text.toString().trim() === '') rmSync(path);
  const result = await wrap(repository, { ...options, draft: text }).catch((error: unknown) => {
    if (text.toString().trim() !== '') repository.warn(`What you wrote is kept: ${path}`);
    throw error;
  });
  rmSync(path, { force: true });
  return result;
}

/** git knows which editor, and how its command line is read: by a shell that git starts. */
const EDIT = '!f() { eval "$(git var GIT_EDITOR) \\"\\$@\\""; }; f';

function openEditor({ git, env }: GitAccess & Settings, path: string): Promise<number> {
  const set = { ...git.set, ...(env.GIT_EDITOR === undefined ? {} : { GIT_EDITOR: env.GIT_EDITOR }) };
  return runGitOnTerminal({ ...git, set }, ['handoff-edit', path], { 'alias.handoff-edit': EDIT });
}
