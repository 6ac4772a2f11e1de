import { AUDIENCES, type Command, type Example, GLOBAL_FLAGS, isFamily, type Verb } from './command.ts';
import { COMMANDS } from './commands/table.ts';
import { synopsis, visibleFlags } from './help.ts';
import { CONFIGURATION, DESCRIPTION, ENVIRONMENT, EXIT_STATUS } from './reference.ts';

/** git-handoff(1), which `git handoff --help` opens. */
export function formatManual(version: string): string {
  return `${[
    `.TH GIT\\-HANDOFF 1 "" "git\\-handoff ${version}" "Git Handoff Manual"`,
    ...section('NAME', 'git\\-handoff \\- hand work from one agent to the next, signed and verifiable'),
    ...section(
      'SYNOPSIS',
      '.B git handoff',
      '[\\fB\\-C\\fR \\fIdir\\fR] [\\fB\\-\\-json\\fR] \\fIverb\\fR [\\fIoptions\\fR]',
    ),
    ...section('DESCRIPTION', escapeRoff(DESCRIPTION)),
    ...section('OPTIONS', ...GLOBAL_FLAGS.flatMap(({ flags, about }) => item(flags, about))),
    ...AUDIENCES.flatMap(audienceSection),
    ...section('EXIT STATUS', ...EXIT_STATUS.flatMap(([code, meaning]) => item(code, meaning))),
    ...section('ENVIRONMENT', ...ENVIRONMENT.flatMap(([name, meaning]) => item(name, meaning))),
    ...section('CONFIGURATION', ...CONFIGURATION.flatMap(([name, meaning]) => item(name, meaning))),
    ...section('SEE ALSO', '.BR git (1),', '.BR ssh\\-keygen (1)'),
  ].join('\n')}\n`;
}

function audienceSection(audience: string): string[] {
  const commands = COMMANDS.filter((command) => command.audience === audience);
  return commands.length === 0 ? [] : section(audience.toUpperCase(), ...commands.flatMap(formatCommand));
}

function formatCommand(command: Command): string[] {
  if (!isFamily(command)) return formatVerb(command, '');
  const heading = subsection(`git handoff ${command.name}`, command.purpose);
  return [...heading, ...command.verbs.flatMap((verb) => formatVerb(verb, command.name))];
}

function formatVerb(verb: Verb, family: string): string[] {
  return [
    ...subsection(synopsis(verb, family), verb.purpose),
    ...verb.args.flatMap(({ name, about }) => item(name, about)),
    ...visibleFlags(verb).flatMap(({ flags, about }) => item(flags, about)),
    ...formatExamples(verb.examples),
  ];
}

function formatExamples(examples: readonly Example[]): string[] {
  return ['.PP', 'Examples:', ...examples.flatMap(({ run, does }) => item(run, does))];
}

function section(title: string, ...body: string[]): string[] {
  return [`.SH "${title}"`, ...body];
}

function subsection(title: string, text: string): string[] {
  return [`.SS "${escapeRoff(title).replaceAll('"', '\\(dq')}"`, escapeRoff(text)];
}

function item(term: string, text: string): string[] {
  return ['.TP', `\\fB${escapeRoff(term)}\\fR`, escapeRoff(text)];
}

/** A dash that can be copied, a backslash that shows, and no line that roff takes for a request. */
function escapeRoff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...').replace(/^[.']/gm, '\\&$&');
}
