import { bash } from './completion/bash.ts';
import { fish } from './completion/fish.ts';
import { zsh } from './completion/zsh.ts';

/** Only words of ours: nothing that a repository contains is ever put into a shell's hands. */
export function completionScript(shell: 'bash' | 'zsh' | 'fish'): string {
  return { bash, zsh, fish }[shell]();
}
