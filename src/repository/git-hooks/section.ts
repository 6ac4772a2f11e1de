// What git-handoff writes into a hook: one section between two marks, so that it can be taken out again to the byte. Texts
// are latin1, a character for each byte: a hook may be in any encoding, or a program.

export const CLIENT_HOOKS = [
  'pre-commit',
  'prepare-commit-msg',
  'pre-merge-commit',
  'pre-push',
  'reference-transaction',
] as const;
export const SERVER_HOOKS = ['pre-receive'] as const;
export type HookName = (typeof CLIENT_HOOKS)[number] | (typeof SERVER_HOOKS)[number];

/** Git tells these on standard input what it is about to do, and only once. */
const READS_INPUT: readonly HookName[] = ['pre-push', 'reference-transaction', 'pre-receive'];

/** What a section's first line remembers of the hook before it. */
export interface SectionOrigin {
  /** There was no hook, or it was moved aside: the whole file is ours. */
  created: boolean;
  /** Its only line had no end. */
  unended: boolean;
  /** What `receive.fsckObjects` was before a server's hook set it; absent for other hooks. */
  fsck?: string;
}

export interface Section {
  name: HookName;
  origin: SectionOrigin;
  /** Null: found on the PATH, in a file that others get too. */
  program: { node: string; hook: string } | null;
  /** The hook that was here before runs afterwards, from `<name>.before-handoff`. */
  chained: boolean;
}

export const HEADER = '#!/bin/sh\n';
export const MOVED = '.before-handoff';
const END = '# <<< git-handoff <<<\n';
const SECTION = /^# >>> git-handoff((?: \[[^\]\n]*\])*) >>>.*\n[\s\S]*?^# <<< git-handoff <<<\n/m;

export function formatSection({ name, origin, program, chained }: Section): string {
  const call = formatCall(name, program);
  const body = READS_INPUT.includes(name) ? handOn(name, call) : onlyIfNeeded(name, call('', ''));
  const before = `if [ -f "$0${MOVED}" ] && [ -x "$0${MOVED}" ]; then\n  "$0${MOVED}" "$@" || exit $?\nfi\n`;
  return `# >>> git-handoff${formatOrigin(origin)} >>> git handoff hooks uninstall takes this out\n${body}${chained ? before : ''}${END}`;
}

/** The call that fails as ours does. `from`, and the lines `after` it: what it reads. */
type Call = (from: string, after: string) => string;

function formatCall(name: HookName, program: Section['program']): Call {
  if (!program) {
    return (from, after) =>
      `if command -v git-handoff-hook >/dev/null 2>&1; then\n  git-handoff-hook ${name} "$@"${from} || exit $?\n${after}fi\n`;
  }
  const isServer = (SERVER_HOOKS as readonly string[]).includes(name);
  const gone = isServer
    ? 'git-handoff: the program is gone. Nothing can be judged, so nothing is accepted.'
    : `git-handoff: warning: the program is gone, so ${name} checked nothing. Repair: git handoff hooks install`;
  const [node, hook] = [quote(program.node), quote(program.hook)];
  return (from, after) =>
    `if [ -f ${hook} ]; then\n  HANDOFF_NODE=${node} sh ${hook} ${name} "$@"${from} || exit $?\n${after}` +
    `else\n  echo '${gone}' >&2\n${isServer ? '  exit 1\n' : ''}fi\n`;
}

/**
 * The hook asks this before it starts our script: mostly no record is pending and nothing of ours is staged, and a second shell costs
 * as much as the question. Where the git directory is elsewhere, the script finds it.
 */
function onlyIfNeeded(name: HookName, call: string): string {
  if (name !== 'pre-commit') return call;
  const isPending = `[ -d .git/handoff-pending ] || [ ! -d .git ] || [ -n "\${GIT_DIR-}" ]`;
  return `if ${isPending} || ! git diff-index --cached --quiet HEAD -- .handoff 2>/dev/null; then\n${call}fi\n`;
}

/** Reads what git says, gives it to ours, and puts it back for what follows. */
function handOn(name: HookName, call: Call): string {
  const ours = call(' <<HANDOFF_INPUT', '$handoff_input\nHANDOFF_INPUT\n');
  const putBack =
    'if [ -n "$handoff_input" ]; then\n  exec <<HANDOFF_INPUT\n$handoff_input\nHANDOFF_INPUT\nelse\n  exec </dev/null\nfi\n' +
    'unset handoff_input\n';
  if (name !== 'reference-transaction') return `handoff_input=$(cat)\n${ours}${putBack}`;
  // a fetch can move thousands of refs, none of them a branch
  const ifBranches = `case $handoff_input in *' refs/heads/'*)\n${ours};; esac\n`;
  return `if [ "\${1-}" = prepared ]; then\nhandoff_input=$(cat)\n${ifBranches}${putBack}fi\n`;
}

function quote(text: string): string {
  return `'${Buffer.from(text).toString('latin1').replaceAll("'", "'\\''")}'`;
}

function formatOrigin({ created, unended, fsck }: SectionOrigin): string {
  const notes = [created && 'created', unended && 'unended', fsck !== undefined && `fsck=${fsck}`];
  return notes.map((note) => (note ? ` [${note}]` : '')).join('');
}

function parseOrigin(notes: string): SectionOrigin {
  const fsck = /\[fsck=([^\]]*)\]/.exec(notes)?.[1];
  const origin = { created: notes.includes('[created]'), unended: notes.includes('[unended]') };
  return fsck === undefined ? origin : { ...origin, fsck };
}

export interface FoundSection {
  origin: SectionOrigin;
  /** The hook without it. */
  rest: string;
  /** The hook with another in its place. */
  replaceBy(section: string): string;
}

export function findSection(text: string): FoundSection | null {
  const match = SECTION.exec(text);
  if (!match) return null;
  const origin = parseOrigin(match[1]!);
  const [head, tail] = [text.slice(0, match.index), text.slice(match.index + match[0].length)];
  return {
    origin,
    rest: origin.unended && tail === '' ? head.slice(0, -1) : head + tail,
    replaceBy: (section) => head + section + tail,
  };
}

/** After the line that names the shell, so that ours comes first; at the top where no line does. */
export function insertSection(text: string, format: (unended: boolean) => string): string {
  if (!text.startsWith('#!')) return format(false) + text;
  const end = text.indexOf('\n') + 1;
  return end === 0 ? `${text}\n${format(true)}` : text.slice(0, end) + format(false) + text.slice(end);
}

const SHELL =
  /^#! ?(?:\/\S*\/(?:sh|bash|dash|zsh|ksh)|\/\S*\/env (?:-S )?(?:sh|bash|dash|zsh|ksh))(?:[ \t][^\n]*)?(?:\n|$)/;

export function isShellScript(text: string): boolean {
  return SHELL.test(text) && !text.includes('\0');
}

/** Whether a hook does nothing but what ours does. */
export function isOursAlone(text: string): boolean {
  const found = findSection(text);
  return found?.origin.created === true && found.rest === HEADER && !text.includes(MOVED);
}
