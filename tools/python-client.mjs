// Generates parts of the Python client: types.py and the methods of resources from docs/openapi.json, with the names in
// clients/python/methods.json, and the synchronous client from the asynchronous one. A core without I/O would not avoid
// the second copy, because every public method needs `async def` and `def` to have precise types.
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
export const PYTHON_CLIENT = join(root, 'clients/python/src/tracking_client');
const HEAD = '# Made from docs/openapi.json by `npm run client-types`: not to be edited.\n';
const SYNC_HEAD = '# Made from _async by `npm run client-types`: not to be edited.\n';
const VERBS = ['get', 'post', 'put', 'patch', 'delete'];
const LINE_WIDTH = 120;
const PYTHON_KEYWORDS = new Set(['from', 'import', 'class', 'in', 'is', 'not', 'or', 'and', 'as', 'global', 'pass']);

/**
 * @param description the OpenAPI description
 * @param methods names of the methods, by resource; a method is an operation id, or an object with its `operation` and
 * - `field`: the method's argument is this field of the body
 * - `whole`: the method returns the body of a list, not its items
 * - `ends_own_session`: see ApiRequest
 * - `by`: the class that contains the method, which is not generated
 * @returns {Promise<Record<string, string>>} the content of each generated file, by its path in the package
 */
export async function pythonClient(description, methods) {
  const resources = new Resources(description, methods);
  const generated = { 'resources.py': resources.print() };
  const files = {
    'types.py': printTypes(description, resources.queries),
    '_async/resources.py': generated['resources.py'],
  };
  const written = (await readdir(join(PYTHON_CLIENT, '_async'))).filter((name) => name.endsWith('.py'));
  for (const name of new Set([...Object.keys(generated), ...written])) {
    const text = generated[name] ?? (await readFile(join(PYTHON_CLIENT, '_async', name), 'utf8'));
    files[`_sync/${name}`] = SYNC_HEAD + toSynchronous(text.replace(HEAD, ''));
  }
  return files;
}

/** Converts asynchronous code to the same code that blocks. */
export function toSynchronous(text) {
  return text
    .replaceAll(/\basync (?=def|for|with)/g, '')
    .replaceAll(/\bawait /g, '')
    .replaceAll(/\bAwaitable\[((?:[^[\]]|\[[^[\]]*\])*)\]/g, '$1')
    .replaceAll(/\bAwaitable, /g, '')
    .replaceAll('from anyio import sleep', 'from time import sleep')
    .replaceAll(/\b(Stop)?Async(?=[A-Z])/g, '$1')
    .replaceAll(/\b__a(iter|next|enter|exit)__/g, '__$1__')
    .replaceAll(/\ba(close|iter_bytes)\b/g, '$1');
}

/** Prints the module of types: aliases of literals, classes, aliases of unions, and query parameters. */
function printTypes(description, queries) {
  const [literals, classes, unions] = [[], [], []];
  const types = new Types((name, schema) => classes.push(printClass(name, schema)));
  const printField = (type, name, text) => `    ${identifier(name)}: ${type}\n${docstring(text, 4)}`;
  const printClass = (name, { properties, required = [], description: text }) => {
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = types.print(schema, name + pascal(field));
      return printField(required.includes(field) ? type : `NotRequired[${type}]`, field, schema.description);
    });
    return `class ${name}(TypedDict):\n${docstring(text, 4)}${fields.join('') || '    pass\n'}`;
  };
  for (const [name, schema] of Object.entries(description.components.schemas)) {
    if (schema.properties !== undefined) {
      classes.push(printClass(name, schema));
      continue;
    }
    const [list, quote] = schema.enum === undefined ? [unions, '"'] : [literals, ''];
    list.push(`${name}: TypeAlias = ${quote}${types.print(schema, name)}${quote}\n${docstring(schema.description, 0)}`);
  }
  const parameters = queries.map(({ name, base, query }) => {
    const fields = query.map(({ name: parameter, description: text, schema }) => {
      const item = schema.type === 'array' ? types.print(schema.items, name) : undefined;
      return printField(item ? `${item} | Sequence[${item}]` : types.print(schema, name), parameter, text);
    });
    return `class ${name}(${base}, total=False):\n${fields.join('')}`;
  });
  const head = [
    '"""Types of the API: bodies of requests and responses, events, and parameters of methods."""\n',
    'from __future__ import annotations\n',
    'from collections.abc import Sequence',
    'from typing import Any, Literal, TypeAlias\n',
    'from typing_extensions import NotRequired, TypedDict\n',
    'from ._options import ReadOptions, RequestOptions\n',
  ];
  const all = [HEAD + head.join('\n'), ...literals, '', ...classes, ...unions, ...parameters];
  return all.join('\n').replaceAll(/\n{2}(?=class )/g, '\n\n\n');
}

/** Prints schemas as Python types. */
class Types {
  /**
   * @param {(name: string, schema: object) => void} declare declares the class of an inline object
   * @param {string} module prefix of the names of classes
   */
  constructor(declare, module = '') {
    this.declare = declare;
    this.module = module;
  }

  /** @param {string} name name of the class that an inline object gets */
  print(schema, name) {
    if (schema.$ref !== undefined) return this.module + schemaName(schema);
    const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (parts !== undefined) {
      if (schema.allOf && parts.length > 1) throw new Error(`${name}: allOf with several parts is not supported`);
      return union(parts.map((part) => this.print(part, name)));
    }
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) {
      const values = schema.enum.filter((value) => value !== null);
      return union([`Literal[${values.map(literal).join(', ')}]`, ...(schema.enum.includes(null) ? ['None'] : [])]);
    }
    return union([schema.type].flat().map((type) => this.printPlain(type, schema, name)));
  }

  printPlain(type, schema, name) {
    if (type === 'array') return `list[${this.print(schema.items ?? {}, name)}]`;
    if (type === 'object') return this.printObject(schema, name);
    if (schema.format === 'binary') return 'bytes';
    return { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type] ?? 'Any';
  }

  printObject(schema, name) {
    if (schema.properties !== undefined) {
      this.declare(name, schema);
      return name;
    }
    const { additionalProperties: values } = schema;
    return `dict[str, ${typeof values === 'object' ? this.print(values, `${name}Value`) : 'Any'}]`;
  }
}

/** Prints the classes of resources with a method for every operation. */
class Resources {
  /** Classes of query parameters that the methods need. */
  queries = [];

  constructor(description, methods) {
    this.components = description.components;
    this.methods = methods;
    this.operations = {};
    for (const [path, item] of Object.entries(description.paths)) {
      for (const verb of VERBS.filter((each) => item[each])) {
        const { parameters = [], ...operation } = item[verb];
        const resolved = parameters.map((each) => (each.$ref ? this.components.parameters[schemaName(each)] : each));
        this.operations[operation.operationId] = { ...operation, parameters: resolved, verb: verb.toUpperCase(), path };
      }
    }
    const named = Object.values(methods).flatMap((each) => Object.values(each).map(operationId));
    const ids = Object.keys(this.operations);
    const differing = [...ids.filter((id) => !named.includes(id)), ...named.filter((id) => !ids.includes(id))];
    if (differing.length > 0) throw new Error(`clients/python/methods.json differs in ${differing.join(', ')}`);
  }

  print() {
    const classes = Object.entries(this.methods).map(([resource, methods]) => this.printClass(resource, methods));
    const names = Object.keys(this.methods);
    const attributes = names.map((name) => `        self.${name} = Async${pascal(name)}(requester)\n`);
    const all = [
      'class AsyncResources:\n    """All resources of the API."""\n',
      `    def __init__(self, requester: AsyncRequester) -> None:\n${attributes.join('')}`,
    ].join('\n');
    const head = [
      '"""Methods of the API, by resource."""\n',
      'from __future__ import annotations\n',
      'from collections.abc import Sequence\n',
      'from typing_extensions import Unpack\n',
      'from .. import types as t',
      'from .._options import PostOptions, ReadOptions, RequestOptions, UpsertOptions, WriteOptions',
      'from .documents import AsyncDocumentTransfers',
      'from .events import AsyncEventStreams',
      'from .requester import AsyncRequester, fill_path',
      'from .resource import AsyncPaginator, AsyncResource\n',
    ];
    return [HEAD + head.join('\n'), ...classes, all].join('\n\n');
  }

  printClass(resource, methods) {
    const { by = 'Resource' } = Object.values(methods).find((method) => method.by) ?? {};
    const printed = Object.entries(methods).map(([name, method]) => this.printMethod(name, method));
    return `class Async${pascal(resource)}(Async${by}):\n${printed.filter(Boolean).join('\n')}`;
  }

  printMethod(name, method) {
    const operation = this.operations[operationId(method)];
    const options = this.optionsOf(operation);
    if (method.by !== undefined) return '';
    const path = operation.parameters.filter((each) => each.in === 'path').map((each) => each.name);
    const filled = path.map((each) => `, ${each}=${each}`).join('');
    const target = path.length === 0 ? `"${operation.path}"` : `fill_path("${operation.path}"${filled})`;
    const body = this.bodyOf(operation, method.field);
    const own = [...path.map((each) => `${each}: str`), ...body.parameters];
    const signature = ['self', ...own, `**options: Unpack[${options}]`].join(', ');
    const doc = docstring([operation.summary, operation.description].filter(Boolean).join('\n\n'), 8);
    const result = this.resultOf(operation);
    if (operation.parameters.some((each) => each.name === 'cursor') && !method.whole) {
      const item = schemaName(this.components.schemas[result].properties.data.items);
      const head = `    def ${name}(${signature}) -> AsyncPaginator[t.${item}]:\n`;
      return `${head}${doc}        return self._list(${target}, options)\n`;
    }
    const values = [`"${operation.verb}"`, target, 'options', ...body.values, ...this.deletionOf(operation, method)];
    const head = `    async def ${name}(${signature}) -> t.${result}:\n`;
    return `${head}${doc}        result: t.${result} = await self._call(${values.join(', ')})\n        return result\n`;
  }

  /** Name of the schema of the successful response. */
  resultOf({ responses, operationId: id }) {
    const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    const names = new Set(answers.map(([, { content }]) => schemaName(content['application/json'].schema)));
    if (names.size !== 1) throw new Error(`${id}: the successful responses have several schemas`);
    return [...names][0];
  }

  /** Parameters of the method and arguments of the call for the body. */
  bodyOf({ requestBody }, field) {
    if (requestBody === undefined) return { parameters: [], values: [] };
    const name = schemaName(requestBody.content['application/json'].schema);
    if (field === undefined) {
      return { parameters: [`body: t.${name}${requestBody.required ? '' : ' | None = None'}`], values: ['json=body'] };
    }
    const types = new Types(() => undefined, 't.');
    const type = types.print(this.components.schemas[name].properties[field], name).replace(/^list/, 'Sequence');
    return { parameters: [`${field}: ${type}`], values: [`json={"${field}": ${field}}`] };
  }

  /** Type of the options, which contain the query parameters. */
  optionsOf({ verb, operationId: id, parameters }) {
    const accepts = (header) => parameters.some((each) => each.in === 'header' && each.name === header);
    if (verb === 'POST') return accepts('If-None-Match') ? 'UpsertOptions' : 'PostOptions';
    if (verb !== 'GET') return 'WriteOptions';
    const base = accepts('If-None-Match') ? 'ReadOptions' : 'RequestOptions';
    // The stream has its own parameter for its position.
    const query = parameters.filter((each) => each.in === 'query' && !(id === 'streamEvents' && each.name === 'after'));
    if (query.length === 0) return base;
    const name = `${pascal(id)}Query`;
    this.queries.push({ name, base, query });
    return `t.${name}`;
  }

  /** Arguments for the result of a DELETE that is repeated after it succeeded. */
  deletionOf(operation, { ends_own_session }) {
    if (operation.verb !== 'DELETE' || !this.components.schemas[this.resultOf(operation)].properties.deleted) return [];
    const result = `result_if_deleted={"id": ${ends_own_session ? '""' : 'id'}, "deleted": True, "warnings": []}`;
    return [result, ...(ends_own_session ? ['ends_own_session=True'] : [])];
  }
}

const operationId = (method) => method.operation ?? method;
const schemaName = ({ $ref }) => $ref.split('/').pop();
const pascal = (name) =>
  name.replace(/^./, (first) => first.toUpperCase()).replaceAll(/_(\w)/g, (_, next) => next.toUpperCase());
const literal = (value) => (typeof value === 'boolean' ? pascal(String(value)) : JSON.stringify(value));
const union = (types) => [...new Set(types)].join(' | ');
/** Name of a field or parameter. A keyword gets an underscore, which the client removes from names of parameters. */
const identifier = (name) => (PYTHON_KEYWORDS.has(name) ? `${name}_` : name);

/** Prints a docstring; nothing for a missing text. */
function docstring(text, indent) {
  if (!text) return '';
  const margin = ' '.repeat(indent);
  const wrapped = text
    .replaceAll('\\', '\\\\')
    .split('\n')
    .flatMap((line) => wrap(line, LINE_WIDTH - indent - 6));
  const [first, ...rest] = wrapped.map((line) => `${margin}${line}`.trimEnd());
  // A quote at the end would run into those that close the docstring.
  if (rest.length === 0 && !first.endsWith('"')) return `${margin}"""${first.trim()}"""\n`;
  return `${margin}"""${first.trim()}\n${rest.map((line) => `${line}\n`).join('')}${margin}"""\n`;
}

function wrap(line, width) {
  const lines = [''];
  for (const word of line.split(' ')) {
    const joined = `${lines.at(-1)} ${word}`.trimStart();
    if (joined.length <= width) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}

if (process.argv[1] === import.meta.filename) {
  const read = async (path) => JSON.parse(await readFile(join(root, path), 'utf8'));
  const files = await pythonClient(await read('docs/openapi.json'), await read('clients/python/methods.json'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(PYTHON_CLIENT, name)), { recursive: true });
    await writeFile(join(PYTHON_CLIENT, name), text);
  }
}
