import { RECORD_KINDS } from '../../../core/record/kinds.ts';
import type { LogEntry, LogOptions } from '../../../verbs/reading/log.ts';
import { defineVerb } from '../../command.ts';

export const log = defineVerb<LogOptions, { records: LogEntry[] }>({
  name: 'log',
  summary: 'records, newest first',
  purpose:
    'Lists the records that are committed, staged or waiting for a commit here, newest first. A record that does not hold is marked, and what it ' +
    'says is not shown.',
  flags: [
    { flags: '--session <id>', about: 'only this session, on whatever branch; the beginning of its id is enough' },
    { flags: '--task <id>', about: 'only this task' },
    { flags: '--identity <name>', about: 'only records of this identity' },
    { flags: '--kind <kind>', about: 'only this kind: note, thought, baton …', choices: RECORD_KINDS },
    { flags: '-n, --limit <n>', about: 'at most so many', atLeast: 0 },
  ],
  examples: [
    { run: 'git handoff log -n 10', does: 'what happened last' },
    { run: 'git handoff log --identity ada --kind baton', does: "ada's handoffs" },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/reading/log.ts')).log(await context.repository(), options),
  text: async (result, paint) => (await import('./log-text.ts')).formatLog(result, paint),
});
