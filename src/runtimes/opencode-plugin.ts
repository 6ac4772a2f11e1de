/**
 * The plugin that opencode loads: JavaScript that starts git-handoff for what happens, hands in what it knows as JSON, and does what
 * is answered. It throws nothing: without git-handoff, or with one that fails, opencode is as it would be without the plugin.
 */
export function pluginText(as: string | undefined): string {
  const who = as === undefined ? '' : `, '--as', ${JSON.stringify(as)}`;
  return PLUGIN.replace('%WHO%', () => who);
}

const PLUGIN = `%MARKER%
import { spawn } from "node:child_process";

// The shell front is preferred: it does without Node where there is nothing to say.
const PROGRAMS = ['git-handoff-hook', 'git-handoff'];
const PATIENCE = 10000;

function start(program, event, input, directory) {
  return new Promise((resolve) => {
    const child = spawn(program, ['agent-event', 'opencode', event%WHO%], {
      cwd: directory,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: PATIENCE,
    });
    let output = '';
    child.on('error', (error) => resolve({ isMissing: error.code === 'ENOENT' }));
    child.on('close', () => resolve({ output }));
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stdin.end(JSON.stringify(input));
  });
}

async function tell(event, input, directory) {
  try {
    for (const program of PROGRAMS) {
      const { isMissing, output } = await start(program, event, input, directory);
      if (!isMissing) return output ? JSON.parse(output) : {};
    }
    return {};
  } catch {
    return {}; // whatever it was, the agent goes on
  }
}

export const GitHandoff = async ({ client, directory }) => {
  const parents = new Map(); // session of a subagent → the one that a person began
  const begun = new Map(); // session → that it was told of
  const cards = new Map(); // session → where its work stands: its model is told so with every request
  const reminders = new Map(); // session → what its model is told besides, until the next prompt
  const held = new Set(); // sessions whose last stop was held

  const ask = async (event, sessionID, more = {}) => {
    const answer = await tell(event, { sessionID, directory, ...more }, directory);
    if (event === 'chat.message') reminders.delete(sessionID);
    if (answer.context) (event === 'chat.message' ? reminders : cards).set(sessionID, answer.context);
    if (answer.notice)
      await client.tui.showToast({ body: { message: answer.notice, variant: 'info' } }).catch(() => {});
    return answer;
  };

  const rootOf = (sessionID) => parents.get(sessionID) ?? sessionID;

  const begin = (sessionID, source) => {
    if (!begun.has(sessionID)) begun.set(sessionID, ask('session.created', sessionID, { source }));
    return begun.get(sessionID);
  };

  const stopped = async (sessionID) => {
    const { hold } = await ask('session.idle', sessionID, { stop_hook_active: held.has(sessionID) });
    held.delete(sessionID);
    if (!hold) return;
    held.add(sessionID);
    const prompt = { path: { id: sessionID }, body: { parts: [{ type: 'text', text: hold }] } };
    await client.session.promptAsync(prompt).catch(() => {});
  };

  const happened = async ({ type, properties }) => {
    const sessionID = properties?.sessionID ?? properties?.info?.id;
    const parentID = properties?.info?.parentID;
    if (type === 'session.created' && parentID) parents.set(sessionID, rootOf(parentID));
    if (!sessionID || parents.has(sessionID)) return;
    if (type === 'session.created') await begin(sessionID, 'startup');
    if (type === 'session.compacted') await ask(type, sessionID);
    if (type === 'session.idle') await stopped(sessionID);
    if (type === 'session.deleted') await ask(type, sessionID);
  };

  return {
    event: async ({ event }) => {
      await happened(event).catch(() => {});
    },
    'chat.message': async ({ sessionID }, { parts }) => {
      if (parents.has(sessionID)) return;
      const text = (parts ?? []).flatMap((part) => (part?.type === 'text' ? [part.text] : [])).join('\\n');
      await begin(sessionID, 'resume');
      await ask('chat.message', sessionID, { text });
    },
    'tool.execute.after': async ({ sessionID, tool }) => {
      await ask('tool.execute.after', rootOf(sessionID), { tool }); // a subagent at work is its agent at work
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      if (!parents.has(sessionID)) await ask('experimental.session.compacting', sessionID);
    },
    'experimental.chat.system.transform': async ({ sessionID }, { system }) => {
      for (const told of [cards, reminders]) if (told.has(sessionID)) system.push(told.get(sessionID));
    },
  };
};
`;
