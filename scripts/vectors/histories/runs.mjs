import { DIGEST } from '../signing.mjs';
import { nextPolicy } from '../world/documents.mjs';
import { baton, says, session, start, thought } from '../world/sessions.mjs';
import { error, warning } from '../world/verdict.mjs';
import { GROUND_COMMIT as G, history, NEW, on, records } from './making.mjs';

// SPEC §10.5: what a policy asks for of the runs of a task that is done.

const asking = (rule) =>
  on(G, nextPolicy(G.files, { rules: [['open_sessions: warning', `open_sessions: warning\n  ${rule}`]] }), {
    message: rule,
  });
const ran = (exitCode, tree) => `evidence:
  - command:
      - npm
      - test
    exit_code: ${exitCode}
    duration_ms: 12
${tree ? `    tree: ${tree}\n` : ''}    output_digest: ${DIGEST}
`;

/** A task is done, by a thought with what `own` adds to it; it may name the tree of the code. */
function done(name, rule, base, own, findingsOf = () => []) {
  const code = on(base, NEW, { message: 'code' });
  const account = thought([code], { own: own(code.tree) });
  const said = session('the work', [start(), says('in_progress'), account, says('done'), baton()], { clock: 10 });
  history(name, [rule], { base, head: records(code, said) }, findingsOf(said));
}
const failed = ({ of }) => error('run_failed', of('thought').path);
const told = ({ of }) => warning('run_failed', of('thought').path);
const missing = ({ records: all }) => error('evidence_missing', all.findLast(({ kind }) => kind === 'task').path);
const [none, passed, broke] = [() => '', (tree) => ran(0, tree), (tree) => ran(1, tree)];

const strict = asking('runs: error');
done('a task is done whose run passed, where the policy refuses one that failed', 'M95', strict, passed);
done('a task is done whose run failed, where the policy refuses that', 'M95', strict, broke, (made) => [failed(made)]);
done('a task is done whose run failed, where the policy warns', 'M95', G, broke, (made) => [told(made)]);

const run = asking('evidence: run');
done('a task is done with a run that failed, where the policy asks for one', 'M96', run, broke, (made) => [told(made)]);
done('a task is done without a run, where the policy asks for one', 'M96', run, none, (made) => [missing(made)]);

const pass = asking('evidence: passed');
done('a task is done with a run that passed, where the policy asks for that', 'M96', pass, passed);
done(
  'a task is done with a run on nobody knows what, where the policy asks for one that passed',
  'M96',
  pass,
  () => ran(0),
  (made) => [missing(made)],
);
