import { AUDIENCES, type Command, type Example, GLOBAL_FLAGS, isFamily, type Verb } from './command.ts';
import { COMMANDS } from './commands/table.ts';
import { synopsis, visibleFlags } from './help.ts';
import { CONFIGURATION, DESCRIPTION, ENVIRONMENT, EXIT_STATUS } from './reference.ts';

/** docs/commands.md: what help and the man page say, as one page of Markdown. */
export function formatCommandsPage(): string {
  const parts = [
    '# Commands',
    '<!-- Made from the text of the help by `npm run docs`. Do not edit it by hand: a test compares. -->',
    escapeMarkdown(DESCRIPTION),
    '`git handoff -h` shows all verbs on one screen, `git handoff VERB -h` explains one with examples, and ' +
      '`git handoff --help` opens the man page. All of them are made from the same text as this page.',
    ...AUDIENCES.map(contents),
    '## Options of every verb',
    items(GLOBAL_FLAGS.map(({ flags, about }) => [flags, about])),
    'With `--json` a failure is `{"error": {"code", "message", "hint", "data"}}`. ' +
      '[troubleshooting.md](troubleshooting.md) explains each code.',
    ...AUDIENCES.flatMap(audienceSection),
    '## Exit status',
    items(EXIT_STATUS),
    '## Environment',
    items(ENVIRONMENT),
    '## Configuration',
    'Keys of git config. Only configuration files count: what `git -c` adds for one call is not heeded.',
    items(CONFIGURATION),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function contents(audience: string): string {
  const links = commandsFor(audience).map(({ name }) => `[${name}](#git-handoff-${name})`);
  return `**${audience}**: ${links.join(' · ')}`;
}

function commandsFor(audience: string): Command[] {
  return COMMANDS.filter((command) => command.audience === audience);
}

function audienceSection(audience: string): string[] {
  return [`## ${audience}`, ...commandsFor(audience).flatMap(formatCommand)];
}

function formatCommand(command: Command): string[] {
  const also = command.alias ? `Also called \`${command.alias}\`.` : '';
  const heading = [`### git handoff ${command.name}`, also, escapeMarkdown(command.purpose)];
  if (!isFamily(command)) return [...heading, ...usage(command, '')];
  return [...heading, ...command.verbs.flatMap((verb) => formatMember(verb, command.name))];
}

function formatMember(verb: Verb, family: string): string[] {
  return [`#### git handoff ${family} ${verb.name}`, escapeMarkdown(verb.purpose), ...usage(verb, family)];
}

function usage(verb: Verb, family: string): string[] {
  const rows = [...verb.args.map(({ name, about }) => [name, about]), ...visibleFlags(verb).map(flagRow)];
  return [block('text', synopsis(verb, family)), items(rows), block('sh', ...verb.examples.flatMap(exampleLines))];
}

function flagRow({ flags, about }: { flags: string; about: string }): string[] {
  return [flags, about];
}

function exampleLines({ run, does }: Example): string[] {
  return [`# ${does}`, run];
}

function items(rows: readonly (readonly string[])[]): string {
  return rows.map(([term = '', about = '']) => `- \`${term}\`: ${escapeMarkdown(about)}`).join('\n');
}

function block(language: string, ...lines: string[]): string {
  return ['```'.concat(language), ...lines, '```'].join('\n');
}

/** Words between angle brackets would be taken for HTML, and stars for emphasis. */
function escapeMarkdown(text: string): string {
  return text.replace(/[<*]/g, '\\$&');
}
