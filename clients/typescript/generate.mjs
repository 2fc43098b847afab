#!/usr/bin/env node
// Writes the types and the table of operations of the HTTP API: src/api.gen.ts, made from the server's own
// openapi.json. Needs nothing but Node. The file is made at build time and is not in the repository, so that it
// cannot differ from the server that is built with it.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const source = process.argv[2] ?? join(here, '../../src/http/resources/operations/openapi.json');
const target = process.argv[3] ?? join(here, 'src/api.gen.ts');
const api = JSON.parse(readFileSync(source, 'utf8'));

const name = (ref) => ref.split('/').pop();
const key = (text) => (/^[A-Za-z_$][\w$]*$/.test(text) ? text : JSON.stringify(text));
const comment = (text, pad) =>
  text ? `${pad}/** ${text.replaceAll('*/', '* /').trim()} */\n` : '';

function object(schema, pad) {
  const required = new Set(schema.required ?? []);
  const inner = `${pad}  `;
  const members = Object.entries(schema.properties ?? {}).map(
    ([member, value]) =>
      `${comment(value.description, inner)}${inner}${key(member)}${required.has(member) ? '' : '?'}: ` +
      `${type(value, inner)};\n`,
  );
  if (members.length > 0) return `{\n${members.join('')}${pad}}`;
  const rest = schema.additionalProperties;
  if (rest && typeof rest === 'object') return `Record<string, ${type(rest, pad)}>`;
  return rest === false ? 'Record<string, never>' : 'Record<string, unknown>';
}

function single(kind, schema, pad) {
  if (kind === 'object') return object(schema, pad);
  if (kind === 'array') return `(${type(schema.items ?? {}, pad)})[]`;
  if (kind === 'integer' || kind === 'number') return 'number';
  return kind; // string, boolean, null
}

function type(schema, pad = '') {
  if (schema.$ref) return name(schema.$ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  const several = schema.oneOf ?? schema.anyOf;
  if (several) return several.map((one) => type(one, pad)).join(' | ');
  // What holds only for some values of a member (if, then) is not in the type: a reader checks it.
  const all = (schema.allOf ?? []).filter((one) => !one.if);
  if (all.length > 0) return all.map((one) => type(one, pad)).join(' & ');
  if (!schema.type) return 'unknown';
  return [schema.type]
    .flat()
    .map((kind) => single(kind, schema, pad))
    .join(' | ');
}

const resolve = (thing, group) => (thing.$ref ? api.components[group][name(thing.$ref)] : thing);

function body(content) {
  const json = content?.content?.['application/json']?.schema;
  return json ? type(json, '    ') : 'undefined';
}

function answer(operation) {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const types = good.map(([, response]) => body(resolve(response, 'responses')));
  const known = [...new Set(types.filter((one) => one !== 'undefined'))];
  return known.length > 0 ? known.join(' | ') : 'undefined';
}

function parameters(operation, shared, place) {
  const all = [...shared, ...(operation.parameters ?? [])]
    .map((one) => resolve(one, 'parameters'))
    .filter((one) => one.in === place);
  const fields = all.map(
    (one) => `${key(one.name)}${one.required ? '' : '?'}: ${type(one.schema, '    ')}`,
  );
  return fields.length > 0 ? `{ ${fields.join('; ')} }` : 'Record<string, never>';
}

let text = '// Made by generate.mjs from openapi.json. Do not edit.\n\n';
for (const [schema, value] of Object.entries(api.components.schemas)) {
  text += `${comment(value.description, '')}export type ${schema} = ${type(value)};\n\n`;
}
const table = [];
text += 'export interface Operations {\n';
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (!operation.operationId) continue;
    const keyed = parameters(operation, methods.parameters ?? [], 'header').includes(
      'Idempotency-Key',
    );
    table.push([operation.operationId, method.toUpperCase(), path, keyed]);
    text +=
      `${comment(operation.summary, '  ')}  ${operation.operationId}: {\n` +
      `    path: ${parameters(operation, methods.parameters ?? [], 'path')};\n` +
      `    query: ${parameters(operation, methods.parameters ?? [], 'query')};\n` +
      `    body: ${body(operation.requestBody && resolve(operation.requestBody, 'requestBodies'))};\n` +
      `    answer: ${answer(operation)};\n  };\n`;
  }
}
// Method, path, and whether it takes an Idempotency-Key.
text +=
  '}\n\nexport const operations: Record<keyof Operations, readonly [string, string, boolean]> = {\n';
for (const [id, method, path, keyed] of table)
  text += `  ${id}: ['${method}', '${path}', ${keyed}],\n`;
text += '};\n';
writeFileSync(target, text);
