// Reads [{type, value}] and says which values are not what the protocol's schema calls that type.
import Ajv from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';

const path = new URL('node_modules/@agentclientprotocol/sdk/schema/v1/schema.json', import.meta.url);
const schema = JSON.parse(readFileSync(path));
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(schema, 'acp');
const wrong = [];
for (const { type, value } of JSON.parse(readFileSync(0))) {
  const check = ajv.getSchema(`acp#/$defs/${type}`);
  if (!check) wrong.push({ type, errors: 'there is no such type' });
  else if (!check(value)) wrong.push({ type, value, errors: check.errors });
}
process.stdout.write(JSON.stringify(wrong));
