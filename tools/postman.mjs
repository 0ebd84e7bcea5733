// Generates docs/postman_collection.json (format 2.1) from docs/openapi.json. A converter of the registry would fill in all
// optional parameters, and would not know which response has the id that the next request needs.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const DESCRIPTION = join(root, 'docs/openapi.json');
export const POSTMAN_COLLECTION = join(root, 'docs/postman_collection.json');
const VERBS = ['get', 'post', 'put', 'patch', 'delete'];
const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Operations that need the session cookie of the web application or a one-time link, or never end. */
const EXCLUDED_TAGS = new Set(['Session', 'One-time links']);
const EXCLUDED_OPERATIONS = new Set(['streamEvents', 'putDocumentContent']);

/** Variable of the collection that has the id in a path, by the first part of the path. */
const ID_VARIABLES = {
  shipments: 'shipmentId',
  exceptions: 'exceptionId',
  documents: 'documentId',
  events: 'eventId',
  webhook_endpoints: 'endpointId',
  webhook_deliveries: 'deliveryId',
  webhook_replays: 'replayId',
  service_accounts: 'serviceAccountId',
  api_keys: 'keyId',
  users: 'userId',
};
/** Variables that have the other parameters of paths. */
const PATH_VARIABLES = { milestone_id: 'milestoneId', number: 'containerNumber' };
/** Variables of operations on a resource that another one of its folder must not replace. */
const OPERATION_VARIABLES = { completeUpload: 'uploadId' };
/** Value in each response that sets a variable, as a path of fields. */
const CHAINS = {
  upsertShipment: { shipmentId: 'id', containerNumber: 'container_numbers.0' },
  recordMilestone: { milestoneId: 'id' },
  openException: { exceptionId: 'id' },
  addDocument: { documentId: 'id' },
  requestUpload: { uploadId: 'id' },
  listEvents: { eventId: 'data.0.id' },
  createWebhookEndpoint: { endpointId: 'id' },
  testWebhookEndpoint: { deliveryId: 'id' },
  createWebhookReplay: { replayId: 'id' },
  createServiceAccount: { serviceAccountId: 'id' },
  createApiKey: { keyId: 'id' },
  inviteUser: { userId: 'id' },
};
/** Folder whose resources the requests of the folder `before` need. */
const MOVED_FOLDER = { name: 'Service accounts', before: 'API keys' };
/** Values of optional fields that make the example work for the keys of users and of service accounts. */
const BODY_VARIABLES = { createApiKey: { service_account_id: '{{serviceAccountId}}' } };
/** Operations that end a resource or restore it, in the order of the last folder. */
const CLEAN_UP = [
  'retractMilestone',
  'cancelShipment',
  'reopenShipment',
  'deleteDocument',
  'discardWebhookDelivery',
  'cancelWebhookReplay',
  'resumeWebhookReplay',
  'disableWebhookEndpoint',
  'enableWebhookEndpoint',
  'deleteWebhookEndpoint',
  'revokeApiKey',
  'deactivateServiceAccount',
  'reactivateServiceAccount',
  'deactivateUser',
  'reactivateUser',
];

/** @returns {object} the collection of the operations that an API key can use */
export function postmanCollection(description) {
  const resolve = (value) =>
    value?.$ref
      ? value.$ref
          .slice(2)
          .split('/')
          .reduce((at, part) => at[part], description)
      : value;
  const operations = Object.entries(description.paths).flatMap(([path, item]) =>
    VERBS.filter((verb) => item[verb]).map((verb) => ({ path, verb, ...item[verb] })),
  );
  const used = operations.filter(
    ({ tags: [tag], operationId }) => !EXCLUDED_TAGS.has(tag) && !EXCLUDED_OPERATIONS.has(operationId),
  );
  const folder = (name, text, own) => ({
    name,
    description: text,
    item: own.map((operation) => request(operation, resolve)),
  });
  const folders = sortTags(description.tags).flatMap(({ name, description: text }) => {
    const own = used.filter(({ tags: [tag], operationId }) => tag === name && !CLEAN_UP.includes(operationId));
    return own.length === 0
      ? []
      : [
          folder(
            name,
            text,
            own.toSorted((a, b) => rank(a) - rank(b)),
          ),
        ];
  });
  const ends = CLEAN_UP.map((id) => used.find(({ operationId }) => operationId === id));
  folders.push(folder('Clean up', 'Requests that end the resources of the other folders, or restore them.', ends));
  const ids = [ID_VARIABLES, PATH_VARIABLES, OPERATION_VARIABLES].flatMap((each) => Object.values(each));
  return {
    info: {
      name: description.info.title,
      description:
        'Set the variable `apiKey` to an API key, and `baseUrl` to the address of your server. Requests that create a resource store its id in a variable, which the following requests use. Optional parameters are disabled.',
      schema: SCHEMA,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: description.servers[0].url },
      { key: 'apiKey', value: '' },
      ...ids.map((key) => ({ key, value: '' })),
    ],
    item: folders,
  };
}

function sortTags(tags) {
  const moved = tags.find(({ name }) => name === MOVED_FOLDER.name);
  return tags.flatMap((tag) => (tag === moved ? [] : tag.name === MOVED_FOLDER.before ? [moved, tag] : [tag]));
}

/** Sorts requests that set variables first, then lists, then all others. */
function rank({ operationId, verb, path }) {
  if (operationId in CHAINS) return 0;
  return verb === 'get' && !path.includes('{') ? 1 : 2;
}

function request(operation, resolve) {
  const { operationId, summary, description, verb, path, security } = operation;
  const parameters = (operation.parameters ?? []).map(resolve);
  const variables = CHAINS[operationId];
  return {
    name: summary ?? operationId,
    ...(variables && { event: [{ listen: 'test', script: { type: 'text/javascript', exec: chain(variables) } }] }),
    request: {
      ...(security?.length === 0 && { auth: { type: 'noauth' } }),
      method: verb.toUpperCase(),
      description,
      header: parameters.filter((each) => each.in === 'header').map(field),
      url: url(operation, parameters.filter((each) => each.in === 'query').map(field)),
      ...body(operation, resolve),
    },
    response: [],
  };
}

/** Prints a script that stores values of a successful response in variables. */
function chain(variables) {
  const lines = Object.entries(variables).map(([name, path]) => {
    const access = path.replaceAll(/\.(\w+)/g, (_, part) => (/^\d+$/.test(part) ? `?.[${part}]` : `?.${part}`));
    return `pm.collectionVariables.set('${name}', pm.response.json().${access} ?? '');`;
  });
  return ['if (pm.response.code < 300) {', ...lines.map((line) => `  ${line}`), '}'];
}

function field({ name, description, required, schema, example }) {
  const value = String(example ?? schema.default ?? '');
  return { key: name, value, description, ...(!required && { disabled: true }) };
}

function url({ operationId, path }, query) {
  const first = path.split('/')[2];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const variable = OPERATION_VARIABLES[operationId] ?? (name === 'id' ? ID_VARIABLES[first] : PATH_VARIABLES[name]);
    if (variable === undefined) throw new Error(`tools/postman.mjs has no variable for {${name}} of ${path}`);
    return `{{${variable}}}`;
  });
  const enabled = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  return {
    raw: `{{baseUrl}}${filled}${enabled.length > 0 ? `?${enabled.join('&')}` : ''}`,
    host: ['{{baseUrl}}'],
    path: filled.slice(1).split('/'),
    ...(query.length > 0 && { query }),
  };
}

function body({ requestBody, operationId }, resolve) {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined) return {};
  const schema = resolve(media.schema);
  const example = media.example ?? schema.example;
  if (type === 'multipart/form-data') return { body: { mode: 'formdata', formdata: form(schema, example) } };
  if (example === undefined) throw new Error(`The body of ${operationId} has no example.`);
  const raw = JSON.stringify({ ...example, ...BODY_VARIABLES[operationId] }, null, 2);
  return { body: { mode: 'raw', raw, options: { raw: { language: 'json' } } } };
}

function form({ properties, required }, example) {
  return Object.entries(properties).map(([key, { format, description }]) => ({
    key,
    ...(format === 'binary' ? { type: 'file', src: [] } : { type: 'text', value: String(example[key] ?? '') }),
    description,
    ...(!required.includes(key) && { disabled: true }),
  }));
}

if (import.meta.filename === process.argv[1]) {
  const collection = postmanCollection(JSON.parse(await readFile(DESCRIPTION, 'utf8')));
  await writeFile(POSTMAN_COLLECTION, `${JSON.stringify(collection, null, 1)}\n`);
}
