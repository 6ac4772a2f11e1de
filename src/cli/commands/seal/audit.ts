import type { AuditStartOptions, AuditStartResult } from '../../../verbs/seal/audit-start.ts';
import type { AuditVerifyOptions, AuditVerifyResult } from '../../../verbs/seal/audit-verify.ts';
import { defineVerb, type Family, RECORD_FLAGS } from '../../command.ts';

const text = () => import('./audit-text.ts');

const start = defineVerb<AuditStartOptions, AuditStartResult>({
  name: 'start',
  summary: 'an auditable stretch of work begins',
  purpose:
    'Records what is going to be done, before it is done, in the session that is open here. Where none is, it opens one ' +
    'as start does.',
  flags: [
    { flags: '--intent <text>', about: 'what is going to be done', required: true },
    { flags: '--task <id>', about: 'the task it is about' },
    ...RECORD_FLAGS.filter(({ flags }) => flags !== '--allow-secret'),
  ],
  examples: [{ run: 'git handoff audit start --intent "move the keys" --task P0.1', does: 'before the work' }],
  run: async (context, options) =>
    (await import('../../../verbs/seal/audit-start.ts')).auditStart(await context.repository(), options),
  text: async (result, paint) => (await text()).formatAuditStart(result, paint),
});

const verify = defineVerb<AuditVerifyOptions, AuditVerifyResult>({
  name: 'verify',
  summary: 'check sessions as they are now',
  purpose:
    'Checks signatures, chains and seals of sessions as they are in the work tree now, committed or not, and that no ' +
    'record that was written here is lost. Prints every problem it finds and exits with 1 if there is one. It changes nothing.',
  args: [{ name: 'SESSION', about: 'the beginning of its id (default: all sessions)', optional: true }],
  examples: [
    { run: 'git handoff audit verify', does: 'every session' },
    { run: 'git handoff audit verify 7c1f09aa', does: 'one of them' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/seal/audit-verify.ts')).auditVerify(await context.repository(), options),
  text: async (result, paint) => (await text()).formatAuditVerify(result, paint),
  refused: ({ valid }) => !valid,
});

export const audit: Family = {
  name: 'audit',
  summary: 'an auditable stretch of work: start, verify',
  purpose:
    'Records what you are going to do before you do it, and checks afterwards that no record was changed or lost.',
  examples: [{ run: 'git handoff audit verify', does: 'does every record hold?' }],
  verbs: [start, verify],
};
