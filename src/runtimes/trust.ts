import { dirname } from 'node:path';
import { type ParseError, parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import type { ProgramTrust } from './runtime-settings.ts';

/** Claude Code keeps it beside much else. Its own settings need none. */
export const claudeTrust: ProgramTrust = {
  file: ({ home, env }) => `${env.CLAUDE_CONFIG_DIR || home}/.claude.json`,
  isGiven: (text, { top }) => top === null || at(json(text), 'projects', top, 'hasTrustDialogAccepted') === true,
};

/** Codex trusts a folder, and then each hook by a hash of what it runs; which hash that would be is its own affair. */
export const codexTrust: ProgramTrust = {
  file: ({ home, env }) => `${env.CODEX_HOME || `${home}/.codex`}/config.toml`,
  isGiven(text, { top, hooksFile }) {
    const settings: unknown = parseToml(text, { integersAsBigInt: 'asNeeded' });
    const isFolder = top === null || at(settings, 'projects', top, 'trust_level') === 'trusted';
    const hooks = Object.keys(asObject(at(settings, 'hooks', 'state')));
    return isFolder && hooks.some((hook) => hook.startsWith(`${hooksFile}:`));
  },
};

/** Gemini CLI trusts folders, with what is in them. */
export const geminiTrust: ProgramTrust = {
  file: ({ home, env }) =>
    env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || `${env.GEMINI_CLI_HOME || home}/.gemini/trustedFolders.json`,
  isGiven: (text, { top }) => top === null || above(top).some((folder) => folder in asObject(json(text))),
};

export const copilotTrust: ProgramTrust = {
  file: ({ home, env }) => `${env.COPILOT_HOME || `${home}/.copilot`}/config.json`,
  isGiven(text, { top }) {
    const folders = at(json(text), 'trustedFolders');
    return top === null || above(top).some((folder) => Array.isArray(folders) && folders.includes(folder));
  },
};

/** A folder, and those that it is in. */
function above(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...above(parent)];
}

function json(text: string): unknown {
  const errors: ParseError[] = [];
  return parseJson(text, errors, { allowTrailingComma: true });
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce((inner, key) => asObject(inner)[key], value);
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
