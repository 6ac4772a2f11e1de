/**
 * A word of a command that is printed for somebody to type: whatever it holds, a shell takes it for this one word. What
 * comes from a ref, a record or a file may hold `$(…)`, quotes or spaces.
 */
export function quoteWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** On one line, whatever the path holds: a line break in it would look like a line of ours. */
export function formatCd(path: string): string {
  if (!/[\x00-\x1f\x7f]/.test(path)) return `cd ${quoteWord(path)}`;
  const octal = (character: string): string => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  const format = path.replace(/%/g, '%%').replace(/[\x00-\x1f\x7f\\]/g, octal);
  return `cd "$(printf ${quoteWord(format)})"`;
}
