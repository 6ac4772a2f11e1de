/** Null for text that is no JSON. What it holds is only what the caller hopes for: it has to look. */
export function parseJson<T>(text: string): T | null {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
