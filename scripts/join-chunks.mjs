// Makes one script of the chunks that esbuild splits a program into, each a function that runs when it is first asked for.
// V8 then keeps, of what a verb does not load, one function and nothing inside it; and there is one file to read.

/** The body of a module in Node's sense, which exports what `entry` does. `chunks` maps the name of each to its code. */
export function joinChunks(chunks, entry) {
  const names = new Map(Object.keys(chunks).map((name, at) => [name, at]));
  const functions = Object.entries(chunks).map(([name, code]) => asFunction(name, code, names));
  return `"use strict";var __made=[],__chunk=at=>__made[at]??=__chunks[at](),__later=async load=>load(),__chunks=[${functions.join(',\n')}];
module.exports=__chunk(${names.get(entry)});`;
}

/** What a chunk imports is known before it runs, because no two import each other: so each name is a variable, as it was in one scope. */
function asFunction(name, code, names) {
  const body = code
    .replace(
      /\bimport\{([^{}]*)\}from"([^"]+)";/g,
      (_, list, from) => `var{${renamed(list, ':')}}=${source(from, names)};`,
    )
    .replace(/\bimport ([\w$]+) from"([^"]+)";/g, (_, first, from) => `var ${first}=${source(from, names)};`)
    .replace(/\bimport"([^"]+)";/g, (_, from) => `${source(from, names)};`)
    .replace(/\bimport\("([^"]+)"\)/g, (_, from) => `__later(()=>${source(from, names)})`)
    .replace(/\bexport\{([^{}]*)\};\s*$/, (_, list) => `return{${renamed(list, ':', true)}};`);
  const left = /\bimport(?:\(["'`\w]|\.meta\b)/.exec(body); // of any other form V8 says so itself
  if (left)
    throw new Error(
      `${name} has an import or export of a form that is not known: ${body.slice(left.index, left.index + 80)}`,
    );
  return `function(){${body}}`;
}

/** `a as b` says which name is whose: of an import the first is the other's, of an export the first is its own. */
function renamed(list, sign, isExport = false) {
  const pairs = list.split(',').map((pair) => pair.split(' as '));
  return pairs
    .map(([first, second = first]) => (isExport ? `${second}${sign}${first}` : `${first}${sign}${second}`))
    .join(',');
}

function source(from, names) {
  return from.startsWith('./') && !from.endsWith('.cjs') ? `__chunk(${numberOf(from, names)})` : `require("${from}")`;
}

function numberOf(from, names) {
  const at = names.get(from.slice(2));
  if (at === undefined) throw new Error(`No chunk is called ${from}`);
  return at;
}
