/**
 * A word of a command that is printed for somebody to type: whatever it holds, a shell takes it for this one word. What
 * comes from a ref, a record or a file may hold `$(…)`, quotes or spaces.
 */
export function quoteWord(word: string): string {
  if (/^[\w./-]+$/.test(word)) return word;
  return CONTROLS.test(word) ? quoteControls(word) : `'${word.replaceAll("'", "'\\''")}'`;
}

const CONTROLS = /[\x00-\x1f\x7f]/;

/** On one line whatever it holds, as bash, zsh and newer shells read it. */
function quoteControls(word: string): string {
  const escaped = word.replace(/[\\']/g, '\\$&').replace(new RegExp(CONTROLS, 'g'), (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `$'${escaped}'`;
}
