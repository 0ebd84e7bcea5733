import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FieldError, JsonObject } from '@tracking/contracts';
import { type Api, startApi } from './start-api.ts';

/** A write, with invalid values by field. All other fields have the values of `valid`. */
interface Write {
  readonly method?: 'PATCH';
  readonly path: () => Promise<string> | string;
  readonly valid?: JsonObject;
  readonly wrong: Readonly<Record<string, readonly unknown[]>>;
}

let api: Api;
let key: string;
let shipment: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
  shipment = `/v1/shipments/${await create('/v1/shipments', { house_bill: 'H-1', container_numbers: ['MSCU1234566'] })}`;
});
afterAll(() => api.stop());

async function create(path: string, json: object): Promise<string> {
  const { status, text, body } = await api.call('POST', path, { key, json });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return String(body['id']);
}

const FUTURE = '2999-01-01T00:00:00Z';
const TOO_LONG = 'x'.repeat(1_001);
const SHIPMENT_FIELDS = {
  mode: ['flying', 5],
  container_numbers: ['A', ['A']],
  carrier_scac: ['!', 5],
  origin_port: ['!', {}],
  eta: ['tomorrow', 5],
  shipper: [5],
  references: [5],
  metadata: [5],
  legs: [5],
};
const MILESTONE_FIELDS = {
  code: ['nothing', 5],
  occurred_at: ['yesterday', '2026-12-01', FUTURE, 5],
  reason_code: ['bored', 5],
  timezone: ['Mars', 5],
  external_id: [5, ' '],
  container_number: ['A', 5],
  note: [TOO_LONG],
};
const ENDPOINT_FIELDS = {
  url: ['nowhere', 'http://10.0.0.1/', 5, 'a\0b', { a: {} }],
  event_types: [[], ['nothing'], 5, [{}], ['a\0b']],
  description: [5, TOO_LONG, 'a\0b', [[]]],
  api_version: ['1999-01-01', 5, {}],
  headers: [5, { host: 'a' }, { a: { b: 1 } }, { a: 'é' }, { a: '\0' }],
  payload: ['slim', 5, { a: {} }],
  max_concurrency: [0, 101, 'many', { a: {} }],
};

let people = 0;
const invite = async () => {
  const json = { email: `p${(people += 1)}@example.com`, role: 'viewer' };
  const { body } = await api.call('POST', '/v1/users', { key, json });
  return String(body['invitation_url']).split('#')[1] ?? '';
};

const WRITES: Readonly<Record<string, Write>> = {
  'a shipment': { path: () => '/v1/shipments', valid: { house_bill: 'H-2' }, wrong: SHIPMENT_FIELDS },
  'changes of a shipment': { method: 'PATCH', path: () => shipment, wrong: SHIPMENT_FIELDS },
  'changes of a container': {
    ...{ method: 'PATCH', path: () => `${shipment}/containers/MSCU1234566` },
    wrong: { size_type: ['!', 5], seal_number: ['x'.repeat(101), 5], last_free_day: ['soon', '2026-02-30'] },
  },
  'a milestone': { path: () => `${shipment}/milestones`, wrong: { ...MILESTONE_FIELDS, source: ['me', 5] } },
  'changes of a milestone': {
    method: 'PATCH',
    path: async () =>
      `${shipment}/milestones/${await create(`${shipment}/milestones`, { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' })}`,
    valid: { classifier: 'actual' },
    wrong: MILESTONE_FIELDS,
  },
  'an exception': {
    path: () => `${shipment}/exceptions`,
    wrong: { type: ['fun', 5], severity: ['none'], title: [5, ' '], milestone_id: ['x'], reason_code: ['bored'] },
  },
  'a webhook endpoint': { path: () => '/v1/webhook_endpoints', wrong: ENDPOINT_FIELDS },
  'changes of a webhook endpoint': {
    method: 'PATCH',
    path: async () =>
      `/v1/webhook_endpoints/${await create('/v1/webhook_endpoints', { url: 'http://127.0.0.1:9999/', event_types: ['*'] })}`,
    wrong: ENDPOINT_FIELDS,
  },
  'an invitation': {
    path: () => '/v1/users',
    wrong: { email: ['nobody', 5, undefined], role: ['boss', 5, undefined] },
  },
  'the use of an invitation': {
    path: async () => `/v1/invitations/${await invite()}`,
    wrong: { name: [' ', 5, undefined, TOO_LONG, 'x'.repeat(201)], password: ['short', 5, undefined, 'x'.repeat(201)] },
  },
  'a service account': {
    path: () => '/v1/service_accounts',
    wrong: { name: [' ', 5, 'x'.repeat(201)], role: ['boss', 5] },
  },
  'an API key': {
    path: () => '/v1/api_keys',
    wrong: {
      name: [' ', 5, 'x'.repeat(201)],
      environment: ['moon'],
      expires_at: ['soon', '2020-01-01T00:00:00Z'],
      service_account_id: ['x'],
    },
  },
  'an upload': {
    path: () => `${shipment}/documents/uploads`,
    valid: {
      ...{ type: 'photo', file_name: 'a.png', content_type: 'image/png', size_bytes: 3 },
      checksum_sha256: createHash('sha256').update('abc').digest('hex'),
    },
    wrong: {
      type: ['song'],
      file_name: ['x'.repeat(300), 5],
      content_type: ['video/mp4', 5],
      size_bytes: [-1, 'x'],
      checksum_sha256: ['x'],
    },
  },
  'a replay': {
    path: async () =>
      `/v1/webhook_endpoints/${await create('/v1/webhook_endpoints', { url: 'http://127.0.0.1:9999/', event_types: ['*'] })}/replay`,
    wrong: { since: ['x', FUTURE], event_types: [['x'], []], statuses: [['x']], reasons: [5] },
  },
  'a selection of dead letters': {
    path: () => '/v1/webhook_dead_letters/discard',
    wrong: { endpoint_id: ['x'], event_types: [['x']], reasons: [['x']], since: ['x'], delivery_ids: [5] },
  },
  settings: {
    ...{ method: 'PATCH', path: () => '/v1/settings' },
    wrong: {
      exceptions: [{ eta_slip: { after_hours: -1 } }, 5, { fun: {} }],
      required_documents: [{ ocean: ['song'] }, 5],
    },
  },
};

it.each(Object.entries(WRITES))(
  'two faults of %s are reported at once',
  async (_, { method = 'POST', path, valid, wrong }) => {
    const url = await path();
    const missed: unknown[] = [];
    const fields = Object.keys(wrong);
    const pairs = fields.flatMap((one, at) => fields.slice(at + 1).map((other) => [one, other] as const));
    for (const [one, other] of pairs) {
      for (const first of wrong[one] ?? []) {
        for (const second of wrong[other] ?? []) {
          const json = { ...valid, [one]: first, [other]: second };
          const { status, body } = await api.call(method, url, { key, json });
          const { details = [] } = (body['error'] ?? {}) as { readonly details?: readonly FieldError[] };
          const named = new Set(details.map(({ param }) => param.split(/[.[]/, 1)[0]));
          if (status !== 400 || !named.has(one) || !named.has(other))
            missed.push({ [one]: first, [other]: second, status, named: [...named] });
        }
      }
    }
    expect(missed).toEqual([]);
  },
);

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Optional fields that always have a value, so that null is refused. */
const NEVER_NULL = [
  ...['correctMilestone code', 'correctMilestone occurred_at', 'changeWebhookEndpoint url'],
  ...['changeWebhookEndpoint event_types', 'changeServiceAccount name', 'changeServiceAccount role'],
  ...['changeUser role', 'changeUser name'],
];

it('every other optional field of a body accepts null', async () => {
  const file = join(import.meta.dirname, '../../../../docs/openapi.json');
  const { paths, components } = JSON.parse(await readFile(file, 'utf8')) as {
    readonly paths: Readonly<
      Record<
        string,
        Readonly<Record<string, { operationId: string; requestBody?: { content: Record<string, { schema: Schema }> } }>>
      >
    >;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  const listNonNull = (given: Schema, seen: ReadonlySet<string>): string[] => {
    const name = given.$ref?.split('/').at(-1) ?? '';
    if (seen.has(name)) return [];
    const known = name === '' ? seen : new Set([...seen, name]);
    const { items, properties = {}, required = [], ...schema } = components.schemas[name] ?? given;
    const parts = [
      ...(schema.allOf ?? []),
      ...(schema.anyOf ?? []),
      ...(schema.oneOf ?? []),
      ...(items ? [items] : []),
    ];
    const isNullable = ({ type = [], anyOf = [], oneOf = [] }: Schema): boolean =>
      [type].flat().includes('null') || [...anyOf, ...oneOf].some(isNullable);
    return [
      ...parts.flatMap((part) => listNonNull(part, known)),
      ...Object.entries(properties).flatMap(([field, value]) => [
        ...(isNullable(value) || required.includes(field) ? [] : [field]),
        ...listNonNull(value, known),
      ]),
    ];
  };
  const found = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, requestBody }) => {
      const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
      return schema === undefined ? [] : listNonNull(schema, new Set()).map((field) => `${operationId} ${field}`);
    }),
  );
  expect(found.sort()).toEqual(NEVER_NULL.sort());
});

it('null selects the defaults of a webhook endpoint', async () => {
  const defaults = { description: null, api_version: null, payload: null, headers: null, max_concurrency: null };
  const json = { url: 'http://127.0.0.1:9999/', event_types: ['*'], ...defaults };
  const { body: created } = await api.call('POST', '/v1/webhook_endpoints', { key, json });
  const expected = { description: null, payload: 'full', headers: {}, max_concurrency: 16, api_version: '2026-11-01' };
  expect(created).toMatchObject(expected);
  const path = `/v1/webhook_endpoints/${String(created['id'])}`;
  await api.call('PATCH', path, {
    key,
    json: { max_concurrency: 3, payload: 'thin', description: 'x', headers: { a: 'b' } },
  });
  expect((await api.call('PATCH', path, { key, json: defaults })).body).toMatchObject(expected);
  const rotated = await api.call('POST', `${path}/rotate_secret`, { key, json: { expires_in_seconds: null } });
  expect(rotated.status).toBe(200);
});
