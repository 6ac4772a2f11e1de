/** `a, b and 3 more`: enough of a list to know which one it is. */
export function listSome(items: readonly string[], most: number): string {
  const rest = items.length - most;
  return items.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
