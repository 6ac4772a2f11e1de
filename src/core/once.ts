/** Reads when it is first asked for, and only then: whoever asks again has the same answer, or the same failure. */
export function once<T>(read: () => T): () => T {
  const readIt = oncePer(read);
  return () => readIt(undefined);
}

/** As `once`, for each key; `nameOf` says which keys ask the same. */
export function oncePer<K, T>(read: (key: K) => T, nameOf: (key: K) => unknown = (key) => key): (key: K) => T {
  const answers = new Map<unknown, { answer: T }>();
  return (key) => {
    const name = nameOf(key);
    const found = answers.get(name) ?? { answer: read(key) };
    answers.set(name, found);
    return found.answer;
  };
}
