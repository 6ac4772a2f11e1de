import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc, { type Arbitrary } from 'fast-check';
import type { YamlMap, YamlValue } from '../../src/core/bytes/yaml.ts';
import type { Kind } from '../../src/core/record/kinds.ts';

interface Schema {
  $ref?: string;
  allOf?: [{ $ref: string }];
  type?: string | string[];
  const?: YamlValue;
  enum?: YamlValue[];
  pattern?: string;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  required?: string[];
  $defs?: Record<string, Schema>;
}

/** Fields that the published schema of a kind accepts, with extension keys. */
export function fieldsOf(kind: Kind): Arbitrary<YamlMap & { kind: Kind }> {
  const own = readSchema(`${kind}.json`);
  const base = readSchema(own.allOf![0].$ref);
  const { handoff: _, kind: __, ...properties } = { ...base.properties, ...own.properties };
  const required = [...base.required!, ...own.required!].filter((key) => key !== 'handoff' && key !== 'kind');
  return fc
    .tuple(
      objectOf({ properties, required }),
      fc.dictionary(fc.stringMatching(/^x_[a-z0-9_]{1,62}$/), yamlValue, { maxKeys: 3 }),
    )
    .map(([fields, more]) => ({ handoff: 1, kind, ...fields, ...more }));
}

/** Any Markdown that a record may hold. */
export const markdown: Arbitrary<string> = fc
  .array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '---', '\n---\n', 'signature: ', '# ', '\t')))
  .map((parts) =>
    parts
      .join('')
      .replace(/[\0\r]/g, '')
      .replace(/^\ufeff+/, ''),
  );

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    '010',
    'no',
    '1e3',
    'null',
    '~',
    'true',
    '0x1F',
    '- a',
    'a: b',
    'a #b',
    '"',
    "'",
    '\n',
    'signatures:',
    '---',
    '{}',
    '[]',
  ),
);

const key = fc
  .stringMatching(/^[a-z][a-z0-9_]{0,63}$/)
  .filter((name) => !['constructor', 'prototype', 'null', 'true', 'false'].includes(name));
const scalar = fc.oneof(text, fc.maxSafeNat(), fc.boolean(), fc.constant(null));

/** What `writeYaml` takes, three levels deep: no sequence directly in a sequence. */
const yamlValue: Arbitrary<YamlValue> = fc.letrec<{ value: YamlValue; item: YamlValue; map: YamlValue }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('item'), { maxLength: 3 }), tie('map')),
  item: fc.oneof({ maxDepth: 3 }, scalar, tie('map')),
  map: fc.dictionary(key, tie('value'), { maxKeys: 3 }) as Arbitrary<YamlValue>,
})).value;

function readSchema(name: string): Schema {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../protocol/schemas', name), 'utf8'));
}

const definitions = readSchema('common.json').$defs!;

function arbitraryOf(schema: Schema): Arbitrary<YamlValue> {
  if (schema.$ref) return arbitraryOf(definitions[schema.$ref.split('/').at(-1)!]!);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const [type] = [schema.type].flat();
  if (Array.isArray(schema.type)) return fc.oneof(fc.constant(null), stringOf(schema));
  if (type === 'array') return fc.array(arbitraryOf(schema.items!), { minLength: schema.minItems ?? 0, maxLength: 4 });
  if (type === 'object') return objectOf(schema);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: schema.minimum!, max: schema.maximum! });
  return stringOf(schema);
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): Arbitrary<YamlMap> {
  if (additionalProperties)
    return fc.dictionary(key, arbitraryOf(additionalProperties), { maxKeys: 3 }) as Arbitrary<YamlMap>;
  const arbitraries = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, arbitraryOf(schema)]),
  );
  return fc.record(arbitraries, { requiredKeys: required, noNullPrototype: true }) as Arbitrary<YamlMap>;
}

/** Look-aheads, which only exclude a few names, are left to a filter. */
function stringOf({ pattern, minLength = 0 }: Schema): Arbitrary<string> {
  if (!pattern) return text.filter((value) => value.length >= minLength);
  const whole = new RegExp(pattern, 'u');
  if (pattern.startsWith('^[^')) return text.filter((value) => value.length >= minLength && whole.test(value));
  const plain = pattern.replace(/\(\?!(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g, '');
  return fc.stringMatching(new RegExp(plain)).filter((value) => whole.test(value));
}
