import { isSameSession, type SessionKey, type TaskToken } from './state.ts';

/** Records may carry any number. One that is further above than this is no lock's: whoever invents it freezes nothing. SPEC §6.6 */
const TOKEN_REACH = 64;

/**
 * What others say that they hold of a task's lock. Of another identity only its highest number counts: its records may carry
 * any, and one for every 64 would keep all others from ever getting past them.
 */
export function rivalTokens(tokens: readonly TaskToken[], own: readonly SessionKey[]): TaskToken[] {
  const others = tokens.filter((each) => !own.some((session) => isSameSession(session, each)));
  const highest = new Map<string, TaskToken>();
  for (const each of others)
    if (each.token > (highest.get(each.identity)?.token ?? 0)) highest.set(each.identity, each);
  const isOwnIdentity = (each: TaskToken) => own.some(({ identity }) => identity === each.identity);
  return others.filter((each) => isOwnIdentity(each) || highest.get(each.identity) === each);
}

/**
 * The first number, not below `from`, that a claim may keep which came upon `first` in the beginning: nobody else has used it,
 * or passed it. A number that somebody has only used is left to them where that takes no long way: whoever has used thousands
 * in a row keeps nobody waiting.
 */
export function firstFreeToken(from: number, first: number, tokens: readonly TaskToken[], own: SessionKey): number {
  const used = new Set(tokens.filter((each) => !isSameSession(each, own)).map(({ token }) => token));
  const pastUsed = (start: number): number => {
    let token = start;
    while (used.has(token) && token < first + TOKEN_REACH) token++;
    return token;
  };
  const rivals = rivalTokens(tokens, [own]).sort((a, b) => a.token - b.token);
  let free = pastUsed(from);
  for (const rival of rivals) if (rivalAt(free, [rival])) free = pastUsed(rival.token + 1);
  return free;
}

/** Who holds this number of the lock, or has passed it. */
export function rivalAt(token: number, rivals: readonly TaskToken[]): TaskToken | null {
  return rivals.find((each) => each.token >= token && each.token < token + TOKEN_REACH) ?? null;
}
