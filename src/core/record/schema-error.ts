import type { YamlMap } from '../bytes/yaml.ts';
import { HandoffError } from '../error.ts';

interface SchemaError {
  instancePath: string;
  keyword: string;
  params: Record<string, unknown>;
}

/** A validator's error in the words of a person: which key, what was expected, what was found. */
export function describeSchemaError(kind: string, fields: YamlMap, error: SchemaError): HandoffError {
  const key = keyOf(error);
  const expected = expectation(kind, error);
  const found = isMissing(error) ? 'nothing' : shorten(valueAt(fields, error));
  return new HandoffError('schema_invalid', `${key}: expected ${expected}, found ${found}`, {
    hint: `The keys of a ${kind} record are in protocol/schemas/${kind}.json.`,
    data: { key, expected, found },
  });
}

function keyOf({ instancePath, params }: SchemaError): string {
  const leaf = params.missingProperty ?? params.additionalProperty;
  return `${instancePath}${leaf === undefined ? '' : `/${leaf}`}`.slice(1).replaceAll('/', '.');
}

/** The pattern of `line` in protocol/schemas/common.json. */
const ONE_LINE = '^[^\\n\\r]*$';

function expectation(kind: string, { keyword, params }: SchemaError): string {
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return 'a value';
    case 'additionalProperties':
      return kind === 'proof' || String(params.additionalProperty).startsWith('x_')
        ? 'no such key here'
        : 'no such key (only keys that begin with x_ may be added)';
    case 'const':
      return JSON.stringify(params.allowedValue);
    case 'enum':
      return `one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'type':
      return [params.type].flat().join(' or ');
    case 'pattern':
      return params.pattern === ONE_LINE ? 'one line' : `text like ${params.pattern}`;
    case 'minLength':
      return `at least ${params.limit} characters`;
    case 'maxLength':
      return `at most ${params.limit} characters`;
    default:
      return `${params.comparison ?? keyword} ${params.limit ?? ''}`.trim();
  }
}

function isMissing({ keyword }: SchemaError): boolean {
  return keyword === 'required' || keyword === 'dependentRequired';
}

function valueAt(fields: YamlMap, { instancePath, params }: SchemaError): unknown {
  const steps = instancePath.split('/').slice(1);
  if (typeof params.additionalProperty === 'string') steps.push(params.additionalProperty);
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown>)?.[step], fields);
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
