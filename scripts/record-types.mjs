// The TypeScript types of records and documents, from the same schemas as their validators: what was validated has the
// type of its kind. Only for the schema features that protocol/schemas use; any other is refused.

const HEADER = `// Made by scripts/generate-validators.mjs from protocol/schemas.
import type { YamlValue } from '../bytes/yaml.ts';
`;

/** `parts`: name of the type → { title, schema }. `maps`: name of the map → [kind, name of the type] of each kind. */
export function recordTypes(parts, maps) {
  const types = Object.entries(parts).map(
    ([name, { title, schema }]) => `/** ${title}. */\nexport type ${name} = ${typeOf(schema, '')};\n`,
  );
  const unions = Object.entries(maps).map(
    ([name, kinds]) =>
      `export type ${name} = {\n${kinds.map(([kind, type]) => `  '${kind}': ${type};\n`).join('')}};\n`,
  );
  return [HEADER, ...types, ...unions].join('\n');
}

/** `task-definition` and `Document` → `TaskDefinitionDocument`. */
export function typeName(kind, suffix) {
  return kind.replace(/(?:^|-)([a-z])/g, (_, letter) => letter.toUpperCase()) + suffix;
}

function typeOf(schema, pad) {
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  return [schema.type]
    .flat()
    .map((type) => namedType(type, schema, pad))
    .join(' | ');
}

function namedType(type, schema, pad) {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      return listOf(typeOf(schema.items, pad));
    case 'object':
      return objectOf(schema, pad);
    default:
      throw new Error(`No type for ${JSON.stringify(schema)}`);
  }
}

function listOf(item) {
  return / \| /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

/** An alias and no interface: only an alias of an object type is a YamlMap without a cast. */
function objectOf({ properties = {}, required = [], additionalProperties, patternProperties }, pad) {
  const keys = Object.entries(properties).map(
    ([key, value]) => `${key}${required.includes(key) ? '' : '?'}: ${typeOf(value, `${pad}  `)};`,
  );
  if (additionalProperties) keys.push(`[key: string]: ${typeOf(additionalProperties, `${pad}  `)};`);
  if (patternProperties) keys.push(...Object.keys(patternProperties).map(extension));
  return `{\n${keys.map((line) => `${pad}  ${line}\n`).join('')}${pad}}`;
}

/** SPEC §3.6: keys that begin with x_ are kept and signed, and mean nothing to us. */
function extension(pattern) {
  if (!pattern.startsWith('^x_')) throw new Error(`No type for keys like ${pattern}`);
  return '[key: `x_$' + '{string}`]: YamlValue | undefined;';
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
