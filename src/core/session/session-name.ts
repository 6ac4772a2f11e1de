/** How a person names a session: by its id or a beginning of it; where two identities have the same, after an identity and a slash. */
export interface SessionName {
  identity: string | null;
  prefix: string;
}

export function parseSessionName(text: string): SessionName {
  const slash = text.indexOf('/');
  return slash < 0
    ? { identity: null, prefix: text }
    : { identity: text.slice(0, slash), prefix: text.slice(slash + 1) };
}

export function isNamed({ identity, prefix }: SessionName, session: { session_id: string; identity: string }): boolean {
  return prefix !== '' && session.session_id.startsWith(prefix) && (identity ?? session.identity) === session.identity;
}
