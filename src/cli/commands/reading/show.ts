import type { SessionShown, ShowOptions, ShowResult } from '../../../verbs/reading/show.ts';
import { defineVerb } from '../../command.ts';

export const show = defineVerb<ShowOptions, ShowResult | SessionShown>({
  name: 'show',
  summary: 'one record: its fields, its text, who signed it; or a session',
  purpose:
    'Shows one record or document. If the name is that of a session, it lists the records of that session. ' +
    'What is not here is looked for on other branches. With --sshsig it also writes what stock OpenSSH needs ' +
    'to confirm the signature without git-handoff: payload, payload.sig and allowed_signers.',
  args: [{ name: 'RECORD', about: 'a path, an id, or six or more hexadecimal digits of one; or a session' }],
  flags: [{ flags: '--sshsig <dir>', about: 'write payload, payload.sig and allowed_signers there', isPath: true }],
  examples: [
    { run: 'git handoff show 3f9a1c', does: 'by the beginning of its id' },
    { run: 'git handoff show .handoff/project.yaml --sshsig /tmp/proof', does: 'and check it with ssh-keygen' },
  ],
  async run(context, { record, ...options }) {
    const { recordSeenFrom } = await import('../../../repository/record-path.ts');
    const repository = await context.repository();
    const name = recordSeenFrom(repository, context.directory, record);
    return (await import('../../../verbs/reading/show.ts')).showNamed(repository, { ...options, record: name });
  },
  text: async (result, paint) =>
    'records' in result
      ? (await import('./log-text.ts')).formatLog(result, paint)
      : (await import('./show-text.ts')).formatShow(result, paint),
});
