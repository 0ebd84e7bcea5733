import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Api, startApi } from './start-api.ts';

interface Schema {
  readonly $ref?: string;
  readonly required?: readonly string[];
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { schema: Schema }>>;
  };
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Operations that need a body although all of its fields are optional, with the reason. */
const NEEDS_BODY: Readonly<Record<string, string>> = {
  upsertShipment: 'needs one of three references',
  replayWebhookDeadLetters: 'would act on everything',
  discardWebhookDeadLetters: 'would act on everything',
};

const DESCRIPTION = JSON.parse(
  await readFile(join(import.meta.dirname, '../../../../docs/openapi.json'), 'utf8'),
) as Description;

const OPERATIONS = Object.entries(DESCRIPTION.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => {
    const { operationId, requestBody } = operation;
    if (requestBody === undefined || method === 'put') return [];
    const { schema = {} } = Object.values(requestBody.content)[0] ?? {};
    const resolved = DESCRIPTION.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
    const hasRequiredField = (resolved.required ?? []).length > 0;
    return [
      { operationId, method: method.toUpperCase(), path, isRequired: requestBody.required === true, hasRequiredField },
    ];
  }),
);

let api: Api;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
});
afterAll(() => api.stop());

it('describes a body as required if a field is required, if a PATCH has one, or if the operation needs one', () => {
  const expected = ({ operationId, method, hasRequiredField }: (typeof OPERATIONS)[number]) =>
    hasRequiredField || method === 'PATCH' || operationId in NEEDS_BODY;
  expect(OPERATIONS.length).toBeGreaterThan(25);
  expect(OPERATIONS.filter((operation) => operation.isRequired !== expected(operation))).toEqual([]);
});

it.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
  '%s takes no body as its description says',
  async (_, { method, path, isRequired }) => {
    const { body: shipment } = await api.call('POST', '/v1/shipments', { key, json: { house_bill: 'H-1' } });
    const { body: exception } = await api.call('POST', `/v1/shipments/${shipment.id}/exceptions`, {
      key,
      json: { type: 'other' },
    });
    const id = path.startsWith('/v1/shipments')
      ? shipment.id
      : path.startsWith('/v1/exceptions')
        ? exception.id
        : 'whe_1';
    const url = path.replace('{id}', String(id)).replaceAll(/\{\w+\}/g, 'x');
    const [without, empty] = [await api.call(method, url, { key }), await api.call(method, url, { key, json: {} })];
    const chunked = await fetch(`${api.url}${url}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: new ReadableStream({ start: (controller) => controller.close() }),
      duplex: 'half',
    } as RequestInit);
    if (isRequired) for (const { status } of [without, chunked]) expect([400, 403, 404, 415]).toContain(status);
    else expect([without.status, chunked.status]).toEqual([empty.status, empty.status]);
  },
);
