// One process of a race: started once, then released at every word of its parent.
import { openRepository } from '../dist/index.js';

const [dir] = process.argv.slice(2);
const handoff = openRepository(dir);
process.on('message', async ({ verb, options }) => {
  const answer = await handoff[verb](options).then(
    ({ session_id, resumed, root, already_sealed, delta_id, tasks }) => ({
      session_id,
      resumed,
      root,
      already_sealed,
      delta_id,
      tasks,
    }),
    ({ code, message, data }) => ({ code: code ?? message, message, data }),
  );
  process.send(answer);
});
process.on('disconnect', () => handoff.close().then(() => process.exit()));
process.send('ready');
