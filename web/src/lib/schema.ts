// Fields for arguments, from the JSON Schema of their tool.
import { parse, stringify } from './exact';

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  title?: string;
  description?: string;
  items?: Schema;
}

export interface Field {
  name: string;
  kind: 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'json';
  schema: Schema;
  required: boolean;
  choices: unknown[];
}

const kindOf = (schema: Schema, value: unknown): string => {
  const { type } = schema;
  if (typeof type === 'string') return type;
  return value === null || value === undefined
    ? 'string'
    : Array.isArray(value)
      ? 'array'
      : typeof value === 'bigint'
        ? 'integer'
        : typeof value;
};

export function fields(schema: Schema | null, input: unknown): Field[] {
  const given = (input ?? {}) as Record<string, unknown>;
  const known = schema?.properties ?? {};
  const names = [...new Set([...Object.keys(given), ...Object.keys(known)])];
  return names.map((name) => {
    const one = known[name] ?? {};
    const value = given[name];
    const kind = kindOf(one, value);
    const field: Field = {
      name,
      kind: 'json',
      schema: one,
      required: schema?.required?.includes(name) ?? false,
      choices: [],
    };
    if (one.enum) return { ...field, kind: 'choice', choices: one.enum };
    if (kind === 'boolean') return { ...field, kind: 'boolean' };
    if (kind === 'integer' || kind === 'number') return { ...field, kind: 'number' };
    if (kind !== 'string') return field;
    const long = typeof value === 'string' && (value.includes('\n') || value.length > 60);
    return { ...field, kind: long ? 'long' : 'text' };
  });
}

/** A value as the text of its field. */
export function toText(field: Field, value: unknown): string {
  if (value === undefined) return '';
  return field.kind === 'json' ? stringify(value, 2) : String(value);
}

export type Read = { value: unknown; error: null } | { value: undefined; error: string };
const bad = (error: string): Read => ({ value: undefined, error });

function bounds(schema: Schema, value: number | bigint): string | null {
  if (schema.maximum !== undefined && value > schema.maximum)
    return `must be at most ${schema.maximum}`;
  if (schema.minimum !== undefined && value < schema.minimum)
    return `must be at least ${schema.minimum}`;
  return null;
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true; // The server decides on patterns that this browser cannot read.
  }
}

function string(schema: Schema, text: string): Read {
  const length = [...text].length;
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    return bad(`must be at most ${schema.maxLength} characters`);
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    return bad(
      schema.minLength === 1
        ? 'must not be empty'
        : `must be at least ${schema.minLength} characters`,
    );
  }
  if (schema.pattern && !matches(schema.pattern, text)) return bad(`must match ${schema.pattern}`);
  return { value: text, error: null };
}

/** A number with all its digits; null: the text is none. */
function numberOf(text: string): number | bigint | null {
  const plain = Number(text);
  if (!Number.isFinite(plain)) return null;
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(plain) ? BigInt(text) : plain;
}

/** The value of a field's text, or what is wrong with it. */
export function read(field: Field, text: string): Read {
  const { schema, kind } = field;
  if (text === '' && kind !== 'text' && kind !== 'long') {
    return field.required ? bad('must not be empty') : { value: undefined, error: null };
  }
  if (kind === 'number') {
    const value = numberOf(text);
    if (value === null) return bad('must be a number');
    if (schema.type === 'integer' && typeof value === 'number' && !Number.isInteger(value))
      return bad('must be a whole number');
    const error = bounds(schema, value);
    return error ? bad(error) : { value, error: null };
  }
  if (kind === 'boolean') return { value: text === 'true', error: null };
  if (kind === 'choice') {
    return { value: field.choices.find((one) => String(one) === text), error: null };
  }
  if (kind !== 'json') return string(schema, text);
  try {
    return { value: parse(text), error: null };
  } catch {
    return bad('is not JSON');
  }
}

export interface Change {
  name: string;
  before: unknown;
  after: unknown;
}

const same = (a: unknown, b: unknown): boolean => stringify(a) === stringify(b);

export function changes(before: unknown, after: unknown): Change[] {
  const [a, b] = [
    (before ?? {}) as Record<string, unknown>,
    (after ?? {}) as Record<string, unknown>,
  ];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names
    .filter((name) => !same(a[name], b[name]))
    .map((name) => ({ name, before: a[name], after: b[name] }));
}
