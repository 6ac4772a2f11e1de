// What the scripted model says next. It keeps no state: the answer follows from the conversation that a request carries, so that
// requests on the side (titles, warm-ups, repeated ones) change nothing for the others.

/** @typedef {{ who: 'user' | 'model' | 'tool' | 'system', text: string }} Entry */
/** @typedef {{ name: string, input?: object, raw?: string, group?: string }} Call */
/** @typedef {{ text?: string, calls?: Call[] }} Turn */
/** @typedef {{ on: RegExp, turns: Turn[] }} Rule */

const NOTHING = { text: 'Noted.' };

/**
 * The newest text of the user's that a rule knows decides, and the turns that the model has had since.
 * @param {Rule[]} rules
 * @param {{ entries: Entry[], tools: string[], schema?: object }} heard
 * @returns {Turn}
 */
export function nextTurn(rules, { entries, tools, schema }) {
  if (schema) return { text: JSON.stringify(exampleOf(schema)) };
  for (let at = entries.length - 1; at >= 0; at--) {
    const rule = entries[at].who === 'user' && rules.find(({ on }) => on.test(entries[at].text));
    if (rule) return tools.length > 0 ? turnAfter(rule, entries.slice(at + 1)) : NOTHING;
  }
  return NOTHING;
}

function turnAfter({ turns }, since) {
  const had = since.filter(({ who }, at) => who === 'model' && since[at - 1]?.who !== 'model').length;
  return turns[had] ?? { text: turns.at(-1)?.text ?? NOTHING.text };
}

/** The smallest value that a JSON schema takes: programs ask so for titles, and which model to use. */
function exampleOf(schema) {
  if (schema.enum) return schema.enum[0];
  const type = [schema.type].flat()[0] ?? (schema.properties ? 'object' : 'string');
  switch (String(type).toLowerCase()) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, exampleOf(value)]));
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return schema.minimum ?? 1;
    default:
      return 'scripted';
  }
}
