// Compiles protocol/schemas to standalone validators (no ajv at run time), to the shapes the YAML reader types scalars by,
// to the patterns of records and to their types. Compiling at run time costs 137 ms, loading the result 5 ms.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Ajv2020 from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { recordPattern } from './record-pattern.mjs';
import { recordTypes, typeName } from './record-types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}src/core/generated/`;
const BASES = new Set(['common', 'record', 'document']);
/** Files that are neither records nor documents. Each has a module of its own, which only its reader loads. */
const ALONE = ['proof'];

const VALIDATOR = `import type { Shape } from '../bytes/yaml.ts';
interface SchemaError { instancePath: string; keyword: string; params: Record<string, unknown>; message?: string; data?: unknown; schema?: unknown }
interface Validator { (value: unknown): boolean; errors?: SchemaError[] | null }
`;

const schemas = readSchemas();
const kinds = Object.keys(schemas).filter((name) => !BASES.has(name) && !ALONE.includes(name));
const compiled = Object.fromEntries([...kinds, 'record', 'document'].map((name) => [name, ownPart(schemas[name])]));
const { extensionOf } = await readKinds();
await writeModule('validators', compiled, entry(), declarations());
for (const name of ALONE) {
  const whole = inline(schemas[name]);
  const shapeOf = `\nexport const shape = ${JSON.stringify(shape(whole))};\n`;
  await writeModule(
    name,
    { [name]: whole },
    `${shapeOf}export { ${exportName(name)} as validate };\n`,
    declarationsAlone(),
  );
}
writeFileSync(`${target}types.ts`, types());

function readSchemas() {
  const dir = `${root}protocol/schemas/`;
  const files = readdirSync(dir).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(files.map((name) => [name.slice(0, -5), JSON.parse(readFileSync(dir + name, 'utf8'))]));
}

/** The table of kinds, which says how each of them is written. A kind that it lacks as yet is YAML; the compiler asks for its line. */
async function readKinds() {
  const { outputFiles } = await build({
    entryPoints: [`${root}src/core/record/kinds.ts`],
    bundle: true,
    format: 'esm',
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
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

/** References to common.json, and to a schema's own parts, replaced by what they name. */
function inline(node, own = node.$defs) {
  if (Array.isArray(node)) return node.map((item) => inline(item, own));
  if (node === null || typeof node !== 'object') return node;
  const { description: _, $defs: __, $ref, ...rest } = node;
  const named = $ref?.startsWith('common.json#/$defs/') ? schemas.common.$defs[$ref.slice(19)] : own?.[$ref?.slice(8)];
  const whole = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inline(value, own)]));
  return named ? { ...inline(named, own), ...whole } : whole;
}

/** The Shape of src/core/bytes/yaml.ts for a schema. */
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

async function writeModule(name, parts, more, types) {
  const ajv = new Ajv2020({
    code: { source: true, esm: true, lines: false },
    allErrors: false,
    messages: false,
    strict: true,
    strictTypes: false,
  });
  for (const schema of Object.values(parts)) ajv.addSchema(schema);
  const names = Object.fromEntries(Object.keys(parts).map((part) => [exportName(part), `${part}.json`]));
  const code = standaloneCode(ajv, names);
  const bundled = await build({
    stdin: { contents: code + more, resolveDir: root, loader: 'js' },
    bundle: true,
    format: 'esm',
    write: false,
    legalComments: 'none',
    minify: true,
  });
  mkdirSync(target, { recursive: true });
  writeFileSync(`${target}${name}.js`, bundled.outputFiles[0].text);
  writeFileSync(`${target}${name}.d.ts`, types);
}

function entry() {
  const shapes = Object.fromEntries(kinds.map((kind) => [kind, wholeShape(schemas[kind])]));
  const map = Object.keys(compiled).map((name) => `${JSON.stringify(name)}: ${exportName(name)}`);
  // made when first used, and then kept: all of them take two milliseconds, and a tree has few kinds
  const patterns = kinds
    .filter(isRecord)
    .map((kind) => [JSON.stringify(kind), `/${pattern(kind)}/`])
    .map(
      ([kind, made]) =>
        `get ${kind}() { const value = ${made}; Object.defineProperty(this, ${kind}, { value }); return value; }`,
    );
  return `\nexport const validators = { ${map.join(', ')} };\nexport const shapes = ${JSON.stringify(shapes)};\nexport const patterns = { ${patterns.join(', ')} };\n`;
}

function isRecord(kind) {
  return schemas[kind].allOf[0].$ref === 'record.json';
}

function pattern(kind) {
  return recordPattern(inline(withBase(schemas[kind])), extensionOf(kind) === 'md').replaceAll('/', '\\/');
}

function wholeShape(schema) {
  return shape(inline({ properties: withBase(schema).properties }));
}

/** A kind with the keys of its base, which come first. */
function withBase(schema) {
  const { properties, required, patternProperties } = baseOf(schema);
  return {
    type: 'object',
    properties: { ...properties, ...schema.properties },
    required: [...required, ...schema.required],
    patternProperties,
  };
}

function types() {
  const records = kinds.filter(isRecord).map((kind) => [kind, typeName(kind, 'Record')]);
  const documents = kinds.filter((kind) => !isRecord(kind)).map((kind) => [kind, typeName(kind, 'Document')]);
  const part = (name, schema) => ({ title: schemas[name].title, schema: inline(schema, schemas[name].$defs) });
  const parts = [
    ['RecordHead', part('record', schemas.record)],
    ['DocumentHead', part('document', schemas.document)],
    ...[...records, ...documents].map(([kind, name]) => [name, part(kind, withBase(schemas[kind]))]),
    ...ALONE.map((name) => [typeName(name, 'Fields'), part(name, schemas[name])]),
  ];
  return recordTypes(Object.fromEntries(parts), { RecordFields: records, DocumentFields: documents });
}

function declarations() {
  const kind = union(kinds);
  const record = union(kinds.filter(isRecord));
  return `${VALIDATOR}export const validators: Record<${kind} | 'record' | 'document', Validator>;
export const shapes: Record<${kind}, Shape>;
export const patterns: Record<${record}, RegExp>;
`;
}

function declarationsAlone() {
  return `${VALIDATOR}export const validate: Validator;
export const shape: Shape;
`;
}

function union(names) {
  return names.map((name) => `'${name}'`).join(' | ');
}

function exportName(kind) {
  return `validate_${kind.replaceAll('-', '_')}`;
}
