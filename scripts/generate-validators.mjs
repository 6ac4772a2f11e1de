// Compiles protocol/schemas to standalone validators (no ajv at run time), to the shapes the YAML reader types scalars by
// and to the patterns of records. Compiling at run time costs 137 ms, loading the result 5 ms.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv2020 from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { recordPattern } from './record-pattern.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}src/core/generated/validators.js`;
const BASES = new Set(['common', 'record', 'document']);
/** As in src/core/kinds.ts; a test compares what both make of it. */
const MARKDOWN = new Set(['baton', 'decision']);

const schemas = readSchemas();
const kinds = Object.keys(schemas).filter((name) => !BASES.has(name));
const compiled = Object.fromEntries([...kinds, 'record', 'document'].map((name) => [name, ownPart(schemas[name])]));
await writeValidators();

function readSchemas() {
  const dir = `${root}protocol/schemas/`;
  const files = readdirSync(dir).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(files.map((name) => [name.slice(0, -5), JSON.parse(readFileSync(dir + name, 'utf8'))]));
}

/**
 * What a kind adds to its base. The base is compiled once and checked first, so here its keys are only known, not checked:
 * a fifth of the code of folding it into every kind.
 */
function ownPart(schema) {
  if (!schema.allOf) return inline(schema);
  const base = baseOf(schema);
  const known = Object.fromEntries(Object.keys(base.properties).map((key) => [key, true]));
  return inline({
    $id: schema.$id,
    type: 'object',
    required: schema.required,
    properties: { ...known, ...schema.properties },
    patternProperties: base.patternProperties,
    additionalProperties: false,
  });
}

function baseOf(schema) {
  return schemas[schema.allOf[0].$ref.slice(0, -5)];
}

/** References to common.json replaced by what they name. */
function inline(node) {
  if (Array.isArray(node)) return node.map(inline);
  if (node === null || typeof node !== 'object') return node;
  const { description: _, $ref, ...rest } = node;
  if ($ref?.startsWith('common.json#/$defs/'))
    return { ...inline(schemas.common.$defs[$ref.slice(19)]), ...inline(rest) };
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inline(value)]));
}

/** The Shape of src/core/yaml.ts for a schema. */
function shape(schema) {
  if (schema.properties || schema.additionalProperties) {
    const keys = Object.entries(schema.properties ?? {}).map(([key, value]) => [key, shape(value)]);
    const rest = typeof schema.additionalProperties === 'object' ? { rest: shape(schema.additionalProperties) } : {};
    return { keys: Object.fromEntries(keys), order: keys.map(([key]) => key), ...rest };
  }
  if (schema.items) return { items: shape(schema.items) };
  const types = [schema.type].flat();
  const type = types.find((name) => name !== 'null');
  return types.includes('null') ? { type, nullable: true } : { type };
}

async function writeValidators() {
  const ajv = new Ajv2020({
    code: { source: true, esm: true, lines: false },
    allErrors: false,
    messages: false,
    strict: true,
    strictTypes: false,
  });
  for (const schema of Object.values(compiled)) ajv.addSchema(schema);
  const names = Object.fromEntries(Object.keys(compiled).map((name) => [exportName(name), `${name}.json`]));
  const code = standaloneCode(ajv, names);
  const bundled = await build({
    stdin: { contents: code + entry(), resolveDir: root, loader: 'js' },
    bundle: true,
    format: 'esm',
    write: false,
    legalComments: 'none',
    minify: true,
  });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, bundled.outputFiles[0].text);
  writeFileSync(target.replace(/\.js$/, '.d.ts'), declarations());
}

function entry() {
  const shapes = Object.fromEntries(kinds.map((kind) => [kind, wholeShape(schemas[kind])]));
  const map = Object.keys(compiled).map((name) => `${JSON.stringify(name)}: ${exportName(name)}`);
  const patterns = kinds.filter(isRecord).map((kind) => `${JSON.stringify(kind)}: /${pattern(kind)}/`);
  return `\nexport const validators = { ${map.join(', ')} };\nexport const shapes = ${JSON.stringify(shapes)};\nexport const patterns = { ${patterns.join(', ')} };\n`;
}

function isRecord(kind) {
  return schemas[kind].allOf[0].$ref === 'record.json';
}

function pattern(kind) {
  const { properties, required } = schemas[kind];
  const base = baseOf(schemas[kind]);
  const whole = { properties: { ...base.properties, ...properties }, required: [...base.required, ...required] };
  return recordPattern(inline(whole), MARKDOWN.has(kind)).replaceAll('/', '\\/');
}

function wholeShape(schema) {
  return shape(inline({ properties: { ...baseOf(schema).properties, ...schema.properties } }));
}

function declarations() {
  const kind = union(kinds);
  const record = union(kinds.filter(isRecord));
  return `import type { Shape } from '../yaml.ts';
interface SchemaError { instancePath: string; keyword: string; params: Record<string, unknown>; message?: string; data?: unknown; schema?: unknown }
interface Validator { (value: unknown): boolean; errors?: SchemaError[] | null }
export const validators: Record<${kind} | 'record' | 'document', Validator>;
export const shapes: Record<${kind}, Shape>;
export const patterns: Record<${record}, RegExp>;
`;
}

function union(names) {
  return names.map((name) => `'${name}'`).join(' | ');
}

function exportName(kind) {
  return `validate_${kind.replaceAll('-', '_')}`;
}
