import type { GateSession } from '../../../../gate/result.ts';
import { shortSession } from './facts.ts';

/** Larger pictures cannot be read, and are not drawn everywhere. */
const MOST = 2000;
const LABEL = 40;

/** Who handed over to whom, as the text of a Mermaid diagram; null when it would be too large. */
export function custodyDiagram(sessions: readonly GateSession[]): string | null {
  const before = sessions.flatMap(({ predecessor_session_id: id }) => id ?? []);
  const ids = [...new Set([...sessions.map(({ session_id }) => session_id), ...before])];
  const byId = new Map(sessions.map((session) => [session.session_id, session]));
  const nodes = ids.map((id, at) => node(id, at, byId.get(id)));
  const edges = sessions
    .filter(({ predecessor_session_id: id }) => id !== null)
    .map((session) => `  s${ids.indexOf(session.predecessor_session_id!)} --> s${ids.indexOf(session.session_id)}`);
  const text = ['flowchart LR', ...nodes, ...edges].join('\n');
  return text.length < MOST ? text : null;
}

/** A session of this change as a box; one that was there before, round. */
function node(id: string, at: number, session: GateSession | undefined): string {
  if (!session) return `  s${at}(["${label(`earlier ${shortSession(id)}`)}"])`;
  return `  s${at}["${label(`${session.identity} ${shortSession(id)} ${session.state}`)}"]`;
}

/** Whatever is no plain letter or digit goes in as its number, which Mermaid draws and does not read. */
function label(text: string): string {
  return [...text]
    .slice(0, LABEL)
    .map((char) => (/[A-Za-z0-9 ]/.test(char) ? char : `#${char.codePointAt(0)};`))
    .join('');
}
