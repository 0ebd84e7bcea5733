import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { type Api, startApi } from './start-api.ts';

interface Field {
  readonly key: string;
  readonly value?: string;
  readonly type?: string;
  readonly disabled?: boolean;
}

interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly event?: readonly { readonly script: { readonly exec: readonly string[] } }[];
  readonly request?: {
    readonly auth?: { readonly type: string };
    readonly method: string;
    readonly header: readonly Field[];
    readonly url: { readonly raw: string };
    readonly body?: { readonly raw?: string; readonly formdata?: readonly Field[] };
  };
}

interface Collection extends Item {
  readonly variable: readonly Field[];
}

const FILE = join(import.meta.dirname, '../../../../docs/postman_collection.json');

/** Requests that need a verified receiver, an uploaded file or a document that is not approved. */
const EXPECTED_FAILURES = {
  'Cancel a replay; deliveries already taken continue': 404,
  'Complete an upload': 409,
  'Discard a delivery': 404,
  'Enable an endpoint: send live events and pending deliveries': 409,
  'Get a delivery with every attempt': 404,
  'Get a replay and its progress': 404,
  'Reject a document': 409,
  'Replay failed and missed events of an endpoint, oldest first': 409,
  'Request an extra attempt outside the schedule': 404,
  'Resume a canceled replay': 404,
  'Send a sandbox event to an endpoint, with one attempt': 409,
};

describe('the Postman collection', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());

  it('works in its order with only its address and key set', async () => {
    const collection = JSON.parse(await readFile(FILE, 'utf8')) as Collection;
    const variables = new Map(collection.variable.map(({ key, value = '' }) => [key, value]));
    variables.set('baseUrl', api.url);
    variables.set('apiKey', await api.key('admin', 'test'));
    const outcomes: Record<string, number> = {};
    for (const item of listRequests(collection)) outcomes[item.name] = await run(item, variables);
    expect(Object.keys(outcomes).length).toBeGreaterThan(70);
    const failed = Object.entries(outcomes).filter(([, status]) => status >= 300);
    expect(Object.fromEntries(failed)).toEqual(EXPECTED_FAILURES);
  });

  it('is served with the address of the server', async () => {
    const { status, body } = await api.call('GET', '/docs/postman_collection.json');
    expect(status).toBe(200);
    const [baseUrl] = (body as unknown as Collection).variable;
    expect(baseUrl).toEqual({ key: 'baseUrl', value: 'https://api.example' });
  });
});

function listRequests({ item: items = [], ...own }: Item): readonly Item[] {
  return [...(own.request ? [own] : []), ...items.flatMap(listRequests)];
}

/** Sends the request as Postman does, and runs its script. Returns the status. */
async function run({ request, event = [] }: Item, variables: Map<string, string>): Promise<number> {
  if (!request) throw new Error('not a request');
  const resolve = (text: string) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => variables.get(name) ?? '');
  const headers = new Headers(
    request.header.filter(({ disabled }) => !disabled).map(({ key, value = '' }) => [key, resolve(value)] as const),
  );
  if (request.auth?.type !== 'noauth') headers.set('authorization', resolve('Bearer {{apiKey}}'));
  const { raw, formdata } = request.body ?? {};
  if (raw !== undefined) headers.set('content-type', 'application/json');
  // The receiver of the example does not exist. The API itself takes its place.
  const json = raw === undefined ? null : resolve(raw).replace('https://tms.example.com', resolve('{{baseUrl}}'));
  const response = await fetch(resolve(request.url.raw), {
    method: request.method,
    headers,
    body: formdata ? createForm(formdata) : json,
    redirect: 'manual',
  });
  const text = await response.text();
  const pm = {
    response: { code: response.status, json: () => JSON.parse(text) as unknown },
    collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
  };
  for (const { script } of event) runInContext(script.exec.join('\n'), createContext({ pm }));
  return response.status;
}

function createForm(fields: readonly Field[]): FormData {
  const form = new FormData();
  for (const { key, value = '', type, disabled } of fields) {
    if (disabled) continue;
    if (type === 'file') form.append(key, new Blob(['%PDF-1.7\n'], { type: 'application/pdf' }), 'invoice.pdf');
    else form.append(key, value);
  }
  return form;
}
