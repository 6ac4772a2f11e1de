import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { type Agent, agentsFolder, readAgent, readAgents, removeAgent, writeAgent } from '../../src/relay/agents.ts';
import { typedLine } from '../../src/relay/line.ts';
import { ancestors, isInForeground, isRunning, markProcess } from '../../src/relay/processes.ts';
import { temporaryDirectory } from '../temporary.ts';

const ID = '7c1f09aa-0000-4000-8000-000000000001';
const OTHER = '7c1f09aa-0000-4000-8000-000000000002';
const MARK = { pid: 4711, space: 'here', started: '1' };

function agent(changes: Partial<Agent> = {}): Agent {
  return {
    session_id: ID,
    identity: 'donna',
    runtime: 'claude',
    seat: { place: { kind: 'tmux', socket: '/tmp/tmux/default', pane: '%1' }, first: MARK },
    program: MARK,
    directory: '/repo',
    previous_session_id: OTHER,
    started_at: '2026-02-20T14:30:25.123Z',
    bound_by: 'run',
    ...changes,
  };
}

describe('the register of agents', () => {
  it('gives back what was written, one agent a session', () => {
    const at = { stateDir: temporaryDirectory() };
    expect(readAgents(at)).toEqual({ agents: [], broken: [] });
    writeAgent(at, agent());
    writeAgent(at, agent({ identity: 'lola', runtime: null, seat: null, program: null }));
    writeAgent(at, agent({ session_id: OTHER, started_at: '2026-01-01T00:00:00.000Z' }));
    const { agents } = readAgents(at);
    expect(agents.map(({ session_id, identity }) => [session_id, identity])).toEqual([
      [OTHER, 'donna'],
      [ID, 'lola'],
    ]);
    expect(readAgent(at, ID)).toEqual(agents[1]);
    removeAgent(at, ID);
    expect(readAgent(at, ID)).toBeNull();
  });

  it('skips what is not as we write it, says so, and goes on', () => {
    const at = { stateDir: temporaryDirectory() };
    writeAgent(at, agent());
    const folder = agentsFolder(at);
    const whole = JSON.stringify(agent({ session_id: OTHER }));
    const hostile: Record<string, string> = {
      [`${OTHER}.json`]: JSON.stringify(agent()),
      'half.json': whole.slice(0, 40),
      'null.json': 'null',
      'list.json': '[]',
      'name.json': JSON.stringify(agent({ identity: '../x' })),
      'runtime.json': JSON.stringify({ ...agent(), runtime: 'sh -c x' }),
      'by.json': JSON.stringify({ ...agent(), bound_by: 'me' }),
    };
    for (const [name, text] of Object.entries(hostile)) writeFileSync(join(folder, name), text);
    symlinkSync('/etc/passwd', join(folder, 'link.json'));
    mkdirSync(join(folder, 'folder.json'));
    const { agents, broken } = readAgents(at);
    expect(agents).toEqual([agent()]);
    expect(broken).toHaveLength(Object.keys(hostile).length + 2);
    expect(broken.every(({ reason }) => reason !== '')).toBe(true);
  });

  it('takes a seat whose place is not one of ours for none', () => {
    const at = { stateDir: temporaryDirectory() };
    writeAgent(at, agent());
    const seats = [{}, { place: {}, first: MARK }, { place: agent().seat!.place, first: { ...MARK, pid: '1' } }, 'x'];
    for (const seat of seats) {
      writeFileSync(join(agentsFolder(at), `${ID}.json`), JSON.stringify({ ...agent(), seat }));
      expect(readAgent(at, ID)).toEqual(agent({ seat: null }));
    }
  });

  it('finds nothing by a name that is no session', () => {
    const at = { stateDir: temporaryDirectory() };
    expect(readAgent(at, '../../etc/passwd')).toBeNull();
  });
});

describe('a process', () => {
  it('is the same one only with the same beginning, on the same machine', () => {
    const own = markProcess(nodeHost, process.pid)!;
    expect(isRunning(nodeHost, own)).toBe(true);
    expect(isRunning(nodeHost, { ...own, started: '1' })).toBe(false);
    expect(isRunning(nodeHost, { ...own, space: 'elsewhere' })).toBe(false);
    expect(isInForeground(nodeHost, { ...own, started: '1' })).toBe(false);
    expect(ancestors(process.pid)[0]).toBe(process.ppid);
    expect(markProcess(nodeHost, 2 ** 30)).toBeNull();
    expect(markProcess(nodeHost, -1)).toBeNull();
  });
});

describe('a line that is typed', () => {
  it('has no key in it, no line end, and nothing that cannot be seen', () => {
    expect(typedLine('a\r\nb\tc\u0000\u001b[0m\u0085d\u2028e\u200bf\u{e0041}g\ufe0fh ')).toBe(
      'a b c [0m d e f g' + 'h',
    );
  });
});
