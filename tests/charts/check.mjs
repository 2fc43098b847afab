// Reads Kubernetes objects as a JSON list and prints what is wrong with each: by the schemas of
// Kubernetes, and members that these do not have.
import { readFileSync } from 'node:fs';

// Returns `value` watched: `seen` gets each object with the names of the members that were read.
function watched(value, seen) {
  if (value === null || typeof value !== 'object') return value;
  const names = new Set();
  const of = new Map();
  seen.push([value, names]);
  return new Proxy(value, {
    get(target, name) {
      names.add(name);
      if (!of.has(name)) of.set(name, watched(target[name], seen));
      return of.get(name);
    },
  });
}

// A validator reads each member that its schema has, so what it never reads is unknown to it.
function unknown(seen) {
  return seen.flatMap(([value, names]) =>
    Object.keys(value).filter((name) => !names.has(name)));
}

async function findings(object) {
  const models = await import(`kubernetes-models/${object.apiVersion}`);
  const model = models[object.kind];
  if (!model) return [`${object.apiVersion} has no ${object.kind}`];
  const seen = [];
  try {
    model.prototype.validate.call(watched(object, seen));
  } catch (error) {
    return [error.message];
  }
  return unknown(seen).map((name) => `unknown member ${name}`);
}

const all = JSON.parse(readFileSync(0, 'utf8'));
const found = [];
for (const object of all)
  for (const text of await findings(object)) found.push(`${object.kind}: ${text}`);
console.log(JSON.stringify(found));
