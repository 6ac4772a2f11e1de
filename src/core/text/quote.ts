/**
 * A word of a command that is printed for somebody to type: whatever it holds, a shell takes it for this one word. What
 * comes from a ref, a record or a file may hold `$(…)`, quotes or spaces.
 */
export function quoteWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
