/**
 * Text as it may be typed into a terminal: one line of what can be printed. A control character would be a key, a line end would
 * submit what is before it, and what cannot be seen has no business there.
 */
export function typedLine(text: string): string {
  return text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim();
}
