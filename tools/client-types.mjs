// Generates parts of the client: the types of requests and responses and the table of operations from
// docs/openapi.json, and the filters of the list of shipments from libs/contracts. Error responses all have one form
// (errors.ts) and are omitted.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SHIPMENT_FILTERS } from '@tracking/contracts';
import openapiTypescript, { astToString } from 'openapi-typescript';

const root = join(import.meta.dirname, '..');
const HEAD = '// Made from docs/openapi.json by `npm run client-types`: not to be edited.\n\n';
const FILTERS_HEAD =
  '// Made from libs/contracts/src/shipment-filters.ts by `npm run client-types`: not to be edited.\n\n';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** @returns the content of each generated file, by its name */
export async function clientTypes(description) {
  const succeeding = structuredClone(description);
  const operations = [];
  for (const [path, item] of Object.entries(succeeding.paths)) {
    for (const [method, operation] of Object.entries(item).filter(([name]) => METHODS.includes(name))) {
      operations.push(`  ${operation.operationId}: ['${method.toUpperCase()}', '${path}'],\n`);
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      operation.responses = Object.fromEntries(answers.map(([status, { headers: _, ...answer }]) => [status, answer]));
    }
  }
  delete succeeding.components.headers;
  delete succeeding.components.responses;
  const types = astToString(await openapiTypescript(succeeding, { alphabetize: true }));
  const table = `/** Method and path of every operation, by its operationId. */\nexport const OPERATIONS = {\n${operations.sort().join('')}} as const;\n`;
  return {
    'api.ts': HEAD + types,
    'operations.ts': HEAD + table,
    'shipment-filters.ts': FILTERS_HEAD + shipmentFilters(),
  };
}

/** The filters that users set, with the kind of their values and their English label. */
function shipmentFilters() {
  const rows = Object.entries(SHIPMENT_FILTERS)
    .filter(([, { label }]) => label !== null)
    .map(([name, { kind, label }]) => `  ${name}: { kind: '${kind}', label: '${label}' },\n`);
  return `/** Filters of the list of shipments, with the kind of their values and a label. */\nexport const SHIPMENT_FILTERS = {\n${rows.join('')}} as const;\n`;
}

if (process.argv[1] === import.meta.filename) {
  const description = JSON.parse(await readFile(process.argv[2] ?? join(root, 'docs/openapi.json'), 'utf8'));
  for (const [name, text] of Object.entries(await clientTypes(description))) {
    await writeFile(join(root, 'libs/client/src/generated', name), text);
  }
}
