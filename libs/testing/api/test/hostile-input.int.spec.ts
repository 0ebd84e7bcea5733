import { ERROR_CODES } from '@tracking/contracts';
import type { JsonObject, JsonValue } from '@tracking/contracts';
import { choosePropertyTestRounds } from '@tracking/testing';
import fc from 'fast-check';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { startApi } from './start-api.ts';
import type { Api, ApiTestRequest } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let key: string;
let milestones: string;
let exceptions: string;
/** One exception to acknowledge, and one to resolve. */
let [taken, ended] = ['', ''];
let receiver: ClientWebhookTestReceiver;
let endpoint: string;
let tested: string;

beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
  const { body } = await api.call('POST', '/v1/shipments', { key, json: { external_id: 'TARGET', mode: 'ocean' } });
  milestones = `/v1/shipments/${String(body['id'])}/milestones`;
  exceptions = `/v1/shipments/${String(body['id'])}/exceptions`;
  const opened = async (type: string) => (await api.call('POST', exceptions, { key, json: { type } })).body['id'];
  [taken, ended] = [
    `/v1/exceptions/${String(await opened('lost'))}`,
    `/v1/exceptions/${String(await opened('other'))}`,
  ];
  receiver = await startClientReceiver();
  endpoint = `/v1/webhook_endpoints/${String((await createEnabledEndpoint(api, key, receiver.url))['id'])}`;
  tested = `/v1/webhook_endpoints/${String((await createEnabledEndpoint(api, key, receiver.url))['id'])}`;
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

const SHIPMENT = {
  external_id: 'H-1',
  mode: 'ocean',
  load_type: 'fcl',
  house_bill: 'HB-1',
  master_bill: 'MB-1',
  booking_number: 'BN-1',
  container_numbers: ['CSQU3054383'],
  carrier_scac: 'MAEU',
  origin_port: 'CNSHA',
  destination_port: 'NLRTM',
  etd: '2026-11-21T09:30:00Z',
  eta: '2026-12-19T18:00:00Z',
  shipper: { name: 'Acme', external_id: 'C-1' },
  consignee: { name: 'Beta', external_id: 'C-2' },
  references: [{ type: 'po', value: '1' }],
  metadata: { cost_centre: '4711' },
  legs: [
    {
      mode: 'ocean',
      carrier_scac: 'MAEU',
      vessel: 'Honam',
      voyage: '412W',
      origin_port: 'CNSHA',
      destination_port: 'NLRTM',
      etd: '2026-11-21T09:30:00Z',
      eta: '2026-12-19T18:00:00Z',
    },
  ],
};
const MILESTONE = {
  code: 'vessel_departed',
  occurred_at: '2026-01-05T02:00:00Z',
  source: 'manual',
  reason_code: 'carrier_feed_unavailable',
  location: 'CNSHA',
  classifier: 'actual',
  external_id: 'E-1',
  container_number: 'CSQU3054383',
  vessel: 'Honam',
  voyage: '412W',
  note: 'A remark',
  timezone: 'Asia/Shanghai',
};
const EXCEPTION = {
  type: 'container_damage',
  severity: 'high',
  title: 'Door bent',
  detail: 'The left door does not close.',
  container_number: 'CSQU3054383',
  reason_code: 'equipment_shortage',
  assignee: 'Kim',
};

const ENDPOINT = {
  url: 'https://tms.example.com/webhooks',
  event_types: ['*', 'document.uploaded'],
  description: 'TMS',
  api_version: '2026-11-01',
  headers: { 'x-token': 'secret' },
  max_concurrency: 4,
};

/** Values that every field for a whole number refuses. */
const NO_COUNT: readonly (readonly [string, JsonValue])[] = [
  ['a string', '4'],
  ['a fraction', 1.5],
  ['negative', -1],
  ['zero', 0],
  ['too much', 101],
  ['huge', 1e308],
  ['a boolean', true],
  ['an array', [4]],
  ['an object', { a: 4 }],
];
/** Values that every string field refuses. */
const NO_TEXT: readonly (readonly [string, JsonValue])[] = [
  ['a number', 5],
  ['a huge number', 1e308],
  ['a boolean', true],
  ['an array', ['x']],
  ['an empty array', []],
  ['an object', { a: 'x' }],
  ['an empty object', {}],
  ['blank', ' \t\n'],
  ['empty', ''],
  ['too long', 'x'.repeat(1_001)],
  ['holding NUL', 'A\0B'],
  ['holding half a surrogate pair', 'A\ud83dB'],
];
/** Values that every field for an object, or for an array of objects, refuses. */
const NO_OBJECT: readonly (readonly [string, JsonValue])[] = [
  ['a string', 'x'],
  ['a number', 5],
  ['false', false],
];
/** Strings that match no format. */
const NO_FORMAT: readonly (readonly [string, JsonValue])[] = [
  ['of another alphabet', 'контейнер'],
  ['an injection', "'; DROP TABLE events; --"],
  ['a path', '../../etc/passwd'],
  ['a name of JavaScript', '__proto__'],
];
const FORMATTED =
  /^(mode|load_type|carrier_scac|origin_port|destination_port|etd|eta|container_numbers\[0\]|legs\[0\]\.(mode|carrier_scac|origin_port|destination_port|etd|eta)|code|occurred_at|source|reason_code|classifier|container_number|timezone|url|event_types\[\d\]|api_version|type|severity)$/;
/** Names of text fields that may be blank. */
const FREE = /^(metadata\..*|description)$/;

interface Mutation {
  readonly param: string;
  readonly what: string;
  readonly body: JsonObject;
}

/** Replaces every value of the body, one at a time, with every value that the field must refuse. */
function mutations(body: JsonObject): Mutation[] {
  const found: Mutation[] = [];
  const visit = (value: JsonValue, param: string, put: (other: JsonValue) => JsonObject): void => {
    const wrong = (values: readonly (readonly [string, JsonValue])[]): void => {
      for (const [what, other] of values) found.push({ param, what, body: put(other) });
    };
    if (typeof value === 'string') {
      wrong(FREE.test(param) ? NO_TEXT.filter(([what]) => what !== 'blank' && what !== 'empty') : NO_TEXT);
      if (FORMATTED.test(param)) wrong(NO_FORMAT);
    } else if (typeof value === 'number') {
      wrong(NO_COUNT);
    } else if (Array.isArray(value)) {
      wrong([...NO_OBJECT, ['an object', { 0: value[0] as JsonValue }]]);
      value.forEach((item: JsonValue, index) =>
        visit(item, `${param}[${index}]`, (other) =>
          put(value.map((old: JsonValue, i) => (i === index ? other : old))),
        ),
      );
    } else if (typeof value === 'object' && value !== null) {
      if (param !== '') wrong([...NO_OBJECT, ['an array', ['x']], ['an empty array', []]]);
      for (const [name, item] of Object.entries(value)) {
        const inner = param === '' ? name : `${param}.${name}`;
        visit(item, inner, (other) => put({ ...value, [name]: other }));
      }
    }
  };
  visit(body, '', (other) => other as JsonObject);
  return found;
}

function expectError(
  answer: ApiResponse,
  statuses: readonly number[] = [400],
): { param: string | null; params: string[] } {
  expect(statuses).toContain(answer.status);
  const error = answer.body['error'] as { type: string; code: string; param: string | null; details: JsonObject[] };
  expect(error).toEqual({
    type: ERROR_CODES[error.code as keyof typeof ERROR_CODES],
    code: expect.any(String),
    message: expect.any(String),
    param: error.details[0]?.['param'] ?? null,
    details: expect.any(Array),
    request_id: answer.headers.get('request-id'),
  });
  return { param: error.param, params: error.details.map(({ param }) => String(param)) };
}

/** Returns everything that these requests could have written. */
async function written(): Promise<unknown> {
  const [endpoints, deliveries] = await Promise.all([
    api.call('GET', '/v1/webhook_endpoints', { key }),
    api.call('GET', '/v1/webhook_deliveries?event_type=milestone.recorded', { key }),
  ]);
  // The result omits the status of deliveries, because earlier deliveries are attempted meanwhile.
  const recorded = (deliveries.body['data'] as JsonObject[]).map(({ id }) => id);
  return [await api.head(), endpoints.body, recorded];
}

async function refused(call: () => Promise<ApiResponse>): Promise<ReturnType<typeof expectError>> {
  const before = await written();
  const found = expectError(await call());
  expect(await written()).toEqual(before);
  return found;
}

describe('a valid request', () => {
  it('is accepted, so that what follows tests something', async () => {
    const shipment = await api.call('POST', '/v1/shipments', { key, json: { ...SHIPMENT, external_id: 'VALID' } });
    expect([shipment.status, shipment.body['warnings']]).toEqual([201, []]);
    const json = { ...MILESTONE, container_number: null };
    const milestone = await api.call('POST', milestones, { key, json });
    expect(milestone.status).toBe(201);
    const exception = await api.call('POST', exceptions, { key, json: { ...EXCEPTION, container_number: null } });
    expect(exception.status).toBe(201);
  });
});

describe.each([
  ['POST', '/v1/shipments', () => '/v1/shipments', SHIPMENT],
  ['POST', '/v1/shipments/{id}/milestones', () => milestones, MILESTONE],
  ['POST', '/v1/shipments/{id}/exceptions', () => exceptions, EXCEPTION],
  ['POST', '/v1/exceptions/{id}/acknowledge', () => `${taken}/acknowledge`, { assignee: 'Kim', note: 'Seen.' }],
  ['POST', '/v1/exceptions/{id}/resolve', () => `${ended}/resolve`, { code: 'waived', note: 'Seen.' }],
  ['POST', '/v1/webhook_endpoints', () => '/v1/webhook_endpoints', ENDPOINT],
  ['PATCH', '/v1/webhook_endpoints/{id}', () => endpoint, ENDPOINT],
  ['POST', '/v1/webhook_endpoints/{id}/test', () => `${tested}/test`, { type: 'milestone.recorded' }],
])('%s %s', (method, route, path, valid) => {
  it.each([...Map.groupBy(mutations(valid), ({ param }) => param)])('reports an invalid %s', async (param, wrong) => {
    const before = await written();
    await Promise.all(
      wrong.map(async ({ what, body }) => {
        const { params } = expectError(await api.call(method, path(), { key, json: body }));
        const named = params.map((name) =>
          /^[[.]/.test(name.slice(param.length)) ? name.slice(0, param.length) : name,
        );
        expect({ what, named: [...new Set(named)] }).toEqual({ what, named: [param] });
      }),
    );
    expect(await written()).toEqual(before);
  });

  it('reports all invalid fields at once', async () => {
    const broken = Object.fromEntries(Object.keys(valid).map((name) => [name, 0.5]));
    const { params } = await refused(() => api.call(method, path(), { key, json: broken }));
    expect(params.sort()).toEqual(Object.keys(valid).sort());
  });

  const text = JSON.stringify(valid);
  const bodies: readonly (readonly [string, ApiTestRequest, number, string])[] = [
    ['not there', {}, 400, 'validation_failed'],
    ['empty', { raw: '' }, 400, 'validation_failed'],
    ['cut off', { raw: text.slice(0, -1) }, 400, 'malformed_json'],
    ['two documents', { raw: text + text }, 400, 'malformed_json'],
    ['single quotes', { raw: text.replaceAll('"', "'") }, 400, 'malformed_json'],
    ['a trailing comma', { raw: `${text.slice(0, -1)},}` }, 400, 'malformed_json'],
    ['NaN', { raw: '{"external_id": NaN}' }, 400, 'malformed_json'],
    ['a raw control character', { raw: '{"external_id": "a\u0001b"}' }, 400, 'malformed_json'],
    [
      'bytes that are not UTF-8',
      { raw: new Uint8Array([123, 34, 97, 34, 58, 34, 0xff, 34, 125]) },
      400,
      'malformed_json',
    ],
    ['UTF-16', { raw: new Uint8Array(Buffer.from(text, 'utf16le')) }, 400, 'malformed_json'],
    ['null', { raw: 'null' }, 400, 'validation_failed'],
    ['an array', { raw: `[${text}]` }, 400, 'validation_failed'],
    ['a string', { raw: '"text"' }, 400, 'validation_failed'],
    ['a number', { raw: '1e999' }, 400, 'validation_failed'],
    ['nesting without end', { raw: '['.repeat(500_000) }, 400, 'malformed_json'],
    ['nesting deeper than any stack', { raw: '['.repeat(400_000) + ']'.repeat(400_000) }, 400, 'validation_failed'],
    ['more than 1 MiB', { raw: ' '.repeat(1_048_576) + text }, 413, 'body_too_large'],
    ['text', { raw: text, headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
    [
      'a form',
      { raw: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
    ],
    ['XML', { raw: '<a/>', headers: { 'content-type': 'application/xml' } }, 415, 'unsupported_media_type'],
    [
      'multipart',
      { raw: '--x--', headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      415,
      'unsupported_media_type',
    ],
    ['a media type that is none', { raw: text, headers: { 'content-type': ';;;' } }, 415, 'unsupported_media_type'],
    [
      'a media type much like ours',
      { raw: text, headers: { 'content-type': 'application/jsonp' } },
      415,
      'unsupported_media_type',
    ],
    ...[
      'charset',
      '=utf-8',
      'charset=',
      'charset="utf-8',
      'charset=utf-8 x',
      'charset = utf-8',
      'a=b=c',
      'version=1;;x',
    ].map((parameter): (typeof bodies)[number] => [
      `JSON with the parameter ${parameter}`,
      { raw: text, headers: { 'content-type': `application/json; ${parameter}` } },
      ...([415, 'unsupported_media_type'] as const),
    ]),
    ['compression', { raw: text, headers: { 'content-encoding': 'gzip' } }, 415, 'unsupported_media_type'],
  ];
  // These operations take a missing body, tested in omitted-bodies.int.spec.ts.
  const maybeOmitted = /acknowledge|resolve/.test(route) ? ['not there', 'empty', 'null'] : [];
  it.each(bodies.filter(([what]) => !maybeOmitted.includes(what)))(
    'answers a body that is %s',
    async (_what, call, status, code) => {
      const before = await written();
      const answer = await api.call(method, path(), { key, ...call });
      expectError(answer, [status]);
      expect(answer.body['error']).toMatchObject({ code });
      expect(await written()).toEqual(before);
    },
  );

  it.each([
    ['__proto__', '"__proto__": {"x": 1}'],
    ['__proto__', '"\\u005f_proto__": 1'],
    ['constructor', '"constructor": {"prototype": {"x": 1}}'],
  ])('takes %s for a name like any other (%s)', async (name, member) => {
    const raw = `{${member}, ${text.slice(1)}`.replace('"container_number":"CSQU3054383"', '"container_number":null');
    expect([200, 201, 202]).toContain((await api.call(method, path(), { key, raw })).status);
    const strict = { key, raw, headers: { prefer: 'handling=strict' } };
    expect((await refused(() => api.call(method, path(), strict))).params).toContain(name);
    const { body } = await api.call(method, path(), { key, raw });
    expect(body['warnings']).toContainEqual({ code: 'unknown_field', param: name, message: expect.any(String) });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('accepts unusual but valid input', async () => {
    for (const call of [
      { raw: `\ufeff${text}` },
      { raw: text, headers: { 'content-type': 'application/json; charset=utf-8' } },
      { raw: text, headers: { 'content-type': 'Application/JSON' } },
      { raw: text, headers: { 'content-encoding': 'identity' } },
      { raw: `{"toString": 1, "hasOwnProperty": [], ${text.slice(1)}` },
      { raw: ' '.repeat(1_000_000) + text },
    ]) {
      const raw = call.raw.replace('"container_number":"CSQU3054383"', '"container_number":null');
      const answer = await api.call(method, path(), { key, ...call, raw });
      expect([200, 201, 202]).toContain(answer.status);
    }
  });
});

describe('a body that is not JSON', () => {
  it.each([
    ['{"external_id": "A",}', 'line 1, column 21: property name expected'],
    ['{\n  "external_id": "A"\n  "mode": "air"\n}', 'line 3, column 3: comma expected'],
    ['{"external_id": NaN}', 'line 1, column 17: invalid symbol'],
    ["{'external_id': 1}", 'line 1, column 2: invalid symbol'],
    ['{"container_numbers": ["A",]}', 'line 1, column 28: value expected'],
    ['{"external_id": "A', 'line 1, column 17: unexpected end of string'],
    ['{"external_id": "A"', 'line 1, column 20: close brace expected'],
    ['{\r\n"external_id": "\\x"}', 'line 2, column 16: invalid escape character'],
    ['{"a": 1} {"b": 2}', 'line 1, column 10: end of file expected'],
    ['{"a": 1} // that is all', 'line 1, column 10: invalid comment token'],
    ['\ufeff{"a": 1,}', 'line 1, column 9: property name expected'],
    ['[[1, 2], [3 4]]', 'line 1, column 13: comma expected'],
  ])('%j is refused with the place', async (text, place) => {
    const answer = await api.call('POST', '/v1/shipments', { key, raw: text });
    expect(answer.body['error']).toMatchObject({
      code: 'malformed_json',
      message: `The body is not a JSON document: ${place}.`,
    });
  });

  it('is told how large it may be', async () => {
    const answer = await api.call('POST', '/v1/shipments', { key, raw: ' '.repeat(2_000_000) });
    expect(answer.body['error']).toMatchObject({ code: 'body_too_large', message: 'The body is larger than 1 MiB.' });
  });
});

describe('one faulty field', () => {
  it.each([
    ['/v1/shipments', { etd: '2026-02-30T00:00:00Z' }, 'etd: The date 2026-02-30 does not exist.'],
    ['/v1/shipments', { eta: '2026-11-21T09:30:00' }, /^eta: Must have a time zone offset/],
    ['/v1/shipments', { external_id: 'A', mode: 'rocket' }, /^mode: Must be one of ocean, air/],
    ['/v1/webhook_endpoints', { ...ENDPOINT, url: 5 }, 'url must be a string.'],
    ['/v1/webhook_endpoints', { ...ENDPOINT, event_types: ['x'] }, /^event_types\[0\]: Unknown event type/],
    ['/v1/webhook_endpoints', { ...ENDPOINT, url: ' https://tms.example.com/' }, /^url must not contain white space/],
    ['/v1/webhook_endpoints', { ...ENDPOINT, url: 'https://tms.example.com/\n' }, /^url must not contain white space/],
  ])('of POST %s %j is the message', async (path, json, message) => {
    const answer = await api.call('POST', path, { key, json });
    expectError(answer);
    const error = answer.body['error'] as JsonObject;
    expect(error['message']).toEqual(expect.stringMatching(message));
    expect(error['details']).toHaveLength(1);
  });
});

describe('limits', () => {
  it.each([
    ['container_numbers', Array.from({ length: 201 }, (_, i) => `CSQU${String(i).padStart(7, '0')}`)],
    ['container_numbers', Array.from({ length: 50_000 }, () => 'CSQU3054383')],
    ['legs', Array.from({ length: 51 }, () => ({}))],
    ['references', Array.from({ length: 51 }, () => ({ type: 'a', value: 'b' }))],
    ['metadata', Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`n${i}`, 'x']))],
  ])('refuses too many %s', async (param, value) => {
    const call = () =>
      api.call('POST', '/v1/shipments', { key, json: { external_id: 'LIMIT', [param]: value as JsonValue } });
    expect(await refused(call)).toEqual({ param, params: [param] });
    expect((await call()).body['error']).toMatchObject({ code: 'limit_exceeded' });
  });
});

describe('limits of webhook endpoints', () => {
  it.each([
    ['event_types', Array.from({ length: 50_000 }, () => 'shipment.created')],
    ['headers', Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`x-${i}`, 'x']))],
    ['url', `https://tms.example.com/${'x'.repeat(100_000)}`],
    ['description', 'x'.repeat(100_000)],
  ])('refuse too many or too long values in %s', async (param, value) => {
    for (const [method, path] of [
      ['POST', '/v1/webhook_endpoints'],
      ['PATCH', endpoint],
    ] as const) {
      const call = () => api.call(method, path, { key, json: { ...ENDPOINT, [param]: value as JsonValue } });
      expect(await refused(call)).toEqual({ param, params: [param] });
    }
  });

  it('answer little to much', async () => {
    const names = { ['n'.repeat(50_000)]: 'x', ['x\0'.repeat(20_000)]: 'x' };
    const answer = await api.call('POST', '/v1/webhook_endpoints', { key, json: { ...ENDPOINT, headers: names } });
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(5_000);
  });
});

describe('queries', () => {
  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=10&limit=20', 'limit'],
    ['limit[]=10', 'limit[]'],
    ['limit=', 'limit'],
    ['limit=%00', 'limit'],
    ['limit=9999999999999999999999', 'limit'],
    ['status=flying', 'status'],
    ['status=pending&status=booked', 'status'],
    ['status=,', 'status'],
    ['status=%ff%fe', 'status'],
    ['status=__proto__', 'status'],
    ['external_id=', 'external_id'],
    ['external_id=a%00b', 'external_id'],
    ['external_id=a&external_id=b', 'external_id'],
    [`external_id=${'x'.repeat(1_001)}`, 'external_id'],
    ['cursor=x', 'cursor'],
    ['cursor=', 'cursor'],
    ['cursor=a&cursor=b', 'cursor'],
    [`cursor=${'A'.repeat(5_000)}`, 'cursor'],
    ['cursor=%2e%2e%2f', 'cursor'],
    ['cursor=eyJhIjoxfQ', 'cursor'],
  ])('GET /v1/shipments?%s names %s', async (query, param) => {
    const answer = await api.call('GET', `/v1/shipments?${query}`, { key });
    expect(expectError(answer).params).toContain(param);
  });

  it.each([
    ['/v1/webhook_endpoints', 'limit=0', 'limit'],
    ['/v1/webhook_endpoints', 'cursor=x', 'cursor'],
    ['/v1/webhook_deliveries', 'limit=201', 'limit'],
    ['/v1/webhook_deliveries', 'status=flying', 'status'],
    ['/v1/webhook_deliveries', 'status=pending&status=retrying', 'status'],
    ['/v1/webhook_deliveries', 'status=__proto__', 'status'],
    ['/v1/webhook_deliveries', 'event_type=*', 'event_type'],
    ['/v1/webhook_deliveries', 'event_type=shipment.created,shipment.flown', 'event_type'],
    ['/v1/webhook_deliveries', 'endpoint_id=', 'endpoint_id'],
    ['/v1/webhook_deliveries', 'endpoint_id=evt_1', 'endpoint_id'],
    ['/v1/webhook_deliveries', 'endpoint_id=whe_%00', 'endpoint_id'],
    ['/v1/webhook_deliveries', `endpoint_id=whe_${'a'.repeat(5_000)}`, 'endpoint_id'],
    ['/v1/webhook_deliveries', 'event_id=%27%3B--', 'event_id'],
    ['/v1/webhook_deliveries', 'event_id=evt_a&event_id=evt_b', 'event_id'],
    ['/v1/webhook_deliveries', 'cursor=eyJhIjoxfQ', 'cursor'],
    ['/v1/events', 'limit=1e2', 'limit'],
    ['/v1/events', 'type=shipment.exploded', 'type'],
    ['/v1/events', 'type=', 'type'],
    ['/v1/events', 'shipment_id=x', 'shipment_id'],
    ['/v1/events', 'since=yesterday', 'since'],
    ['/v1/events', 'since=2026-11-21T09:30:00', 'since'],
    ['/v1/events', 'until=2026-02-30T00:00:00Z', 'until'],
    ['/v1/events', 'until=2026-11-21T09:30:00Z&until=2026-11-22T09:30:00Z', 'until'],
    ['/v1/events', 'after=shp_a', 'after'],
    ['/v1/events', 'after=evt_%00', 'after'],
    ['/v1/events', 'cursor=AAAA', 'cursor'],
  ])('GET %s?%s names %s', async (path, query, param) => {
    expect(expectError(await api.call('GET', `${path}?${query}`, { key })).params).toEqual([param]);
  });

  it('names every faulty parameter at once', async () => {
    const query = 'type=x&shipment_id=x&since=x&until=x&after=x&limit=x';
    const { params } = expectError(await api.call('GET', `/v1/events?${query}`, { key }));
    expect(params.sort()).toEqual(['after', 'limit', 'shipment_id', 'since', 'type', 'until']);
  });

  it.each([
    ['%', '%'],
    ['%zz', '%zz'],
    ['&&&==', ''],
    ['__proto__=1', '__proto__'],
    ['constructor[prototype][x]=1', 'constructor[prototype][x]'],
    ['a'.repeat(5_000), 'a'.repeat(200)],
    ['?', '?'],
    ['=&=', ''],
    ['%F0%9F', '%F0%9F'],
    ['status=%', 'status'],
    ['status=pending%zz', 'status'],
    ['external%5Fid=%C3%28', 'external_id'],
    ['cursor=%ED%A0%80', 'cursor'],
  ])('GET /v1/shipments?%.40s is refused and names it', async (query, param) => {
    expect(expectError(await api.call('GET', `/v1/shipments?${query}`, { key })).params).toEqual([param]);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('are reported with all errors, including invalid percent-encoding', async () => {
    const message = async (path: string) =>
      ((await api.call('GET', path, { key })).body['error'] as JsonObject)['message'];
    expect(await message('/v1/shipments?external_id=50%')).toBe('external_id: Must be percent-encoded UTF-8.');
    expect(await message('/v1/shipments?status=flying')).toMatch(
      /^status: Must be one of pending, booked, .*cancelled\.$/,
    );
    expect(await message('/v1/events?since=2026-11-21T09:30:00%2B08')).toMatch(/^since: Must be an RFC 3339 time/);
  });

  it('may be empty', async () => {
    for (const query of ['', '&', '&&&']) {
      expect((await api.call('GET', `/v1/shipments?${query}`, { key })).status).toBe(200);
    }
  });

  it('are taken in any case, where they are of an enumeration', async () => {
    for (const [path, query] of [
      ['/v1/shipments', 'status=In_Transit,PENDING'],
      [milestones, 'classifier=ALL&include_retracted=True'],
      ['/v1/events', 'type=Milestone.Recorded'],
      ['/v1/webhook_deliveries', 'status=SUCCEEDED&event_type=SHIPMENT.CREATED'],
    ]) {
      expect((await api.call('GET', `${path}?${query}`, { key })).status).toBe(200);
    }
  });

  it('of a cursor may change their limit, and nothing else', async () => {
    for (const external_id of ['P-1', 'P-2', 'P-3'])
      await api.call('POST', '/v1/shipments', { key, json: { external_id } });
    const list = (query: string) => api.call('GET', `/v1/shipments?${query}`, { key });
    const first = await list('limit=1&status=pending');
    const cursor = String(first.body['next_cursor']);
    const next = await list(`limit=2&status=PENDING&cursor=${cursor}`);
    expect([next.status, (next.body['data'] as JsonObject[]).length]).toEqual([200, 2]);
    for (const other of ['', '&status=booked', '&status=pending,booked', '&status=pending&external_id=P-1']) {
      expect(expectError(await list(`limit=1${other}&cursor=${cursor}`)).params).toEqual(['cursor']);
    }
  });

  it('refuses a cursor with any changed character', async () => {
    for (const external_id of ['C-1', 'C-2']) await api.call('POST', '/v1/shipments', { key, json: { external_id } });
    const first = await api.call('GET', '/v1/shipments?limit=1', { key });
    const cursor = String(first.body['next_cursor']);
    for (let place = 0; place < cursor.length; place++) {
      const other = cursor[place] === 'A' ? 'B' : 'A';
      const changed = cursor.slice(0, place) + other + cursor.slice(place + 1);
      const answer = await api.call('GET', `/v1/shipments?limit=1&cursor=${changed}`, { key });
      expect(expectError(answer).param).toBe('cursor');
    }
  });
});

describe('ids', () => {
  it.each([
    'shp_',
    'shp_x',
    'SHP_aaaaaaaaaaaaaaaaaaaaaaaaaa',
    'shp_AAAAAAAAAAAAAAAAAAAAAAAAAA',
    'shp_aaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'shp_aaaaaaaaaaaaaaaaaaaaaaaaa',
    'shp_aaaaaaaaaaaaaaaaaaaaaaaaab',
    'mst_aaaaaaaaaaaaaaaaaaaaaaaaaa',
    'aaaaaaaaaaaaaaaaaaaaaaaaaa',
    '__proto__',
    'constructor',
    '%2e%2e%2f%2e%2e',
    '%00',
    'shp_%0a',
    '%22%27%3b--',
    '%ED%A0%80',
    '*',
    '$all',
    '%24all',
    '%F0%9F%9A%A2',
    'x'.repeat(99),
    'x'.repeat(4_000),
  ])('%s: 404', async (id) => {
    const { body } = await api.call('POST', '/v1/shipments', { key, json: { external_id: 'IDS' } });
    const path = `/v1/shipments/${String(body['id'])}`;
    expectError(await api.call('GET', `${path}/milestones/${id}`, { key }), [404]);
    for (const path of [`/v1/shipments/${id}`, `/v1/shipments/${id}/milestones`]) {
      expectError(await api.call('GET', path, { key }), [404]);
    }
    expectError(await api.call('POST', `/v1/shipments/${id}/exceptions`, { key, json: { type: 'other' } }), [404]);
    for (const action of ['acknowledge', 'resolve']) {
      expectError(await api.call('POST', `/v1/exceptions/${id}/${action}`, { key, json: {} }), [404]);
    }
    for (const list of ['/v1/webhook_endpoints', '/v1/webhook_deliveries', '/v1/events', '/v1/exceptions']) {
      expectError(await api.call('GET', `${list}/${id}`, { key }), [404]);
    }
    for (const action of [
      'webhook_endpoints/ID/verify',
      'webhook_deliveries/ID/retry',
      'webhook_deliveries/ID/discard',
    ]) {
      expectError(await api.call('POST', `/v1/${action.replace('ID', () => id)}`, { key }), [404]);
    }
    for (const method of ['DELETE', 'PATCH']) {
      const json = method === 'PATCH' ? { json: {} } : {};
      expectError(await api.call(method, `/v1/webhook_endpoints/${id}`, { key, ...json }), [404]);
      expectError(await api.call(method, `/v1/shipments/${id}/milestones/mst_a`, { key, ...json }), [404]);
      expectError(await api.call(method, `${path}/milestones/${id}`, { key, ...json }), [404]);
    }
  });
});

describe('anything', () => {
  const names = [...Object.keys(SHIPMENT), 'name', 'type', 'value', 'constructor', 'toString', 'valueOf', ''];
  const document = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(null, true, 0, -0, 1e308, '', ' ', 'ocean', '2026-02-30T00:00:00Z', 'CSQU3054383'),
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('value'), { maxKeys: 5 }),
    ),
  })).value;

  it('that is JSON is accepted or refused in the error form', async () => {
    const body = fc.dictionary(fc.constantFrom(...names), document, { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(body, fc.boolean(), async (json, strict) => {
        const headers = strict ? { prefer: 'handling=strict' } : {};
        const before = await api.head();
        const answer = await api.call('POST', '/v1/shipments', { key, raw: JSON.stringify(json), headers });
        if (answer.status === 200 || answer.status === 201) return;
        expectError(answer);
        expect(await api.head()).toBe(before);
      }),
      { numRuns: choosePropertyTestRounds(300) },
    );
  });

  it('that is JSON makes a webhook endpoint or is refused in the error form', async () => {
    const fields = fc.record(
      Object.fromEntries(
        Object.entries(ENDPOINT).map(([name, value]) => [name, fc.oneof(fc.constant(value), document)]),
      ),
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fields, async (json) => {
        const answer = await api.call('POST', '/v1/webhook_endpoints', { key, raw: JSON.stringify(json) });
        if (answer.status !== 201) expectError(answer);
      }),
      { numRuns: choosePropertyTestRounds(200) },
    );
  });

  it('that is bytes is refused in the error form', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        expectError(await api.call('POST', milestones, { key, raw: new Uint8Array(bytes) }));
      }),
      { numRuns: choosePropertyTestRounds(100) },
    );
  });

  it('that is a path or a query is answered, never with 500', async () => {
    const part = fc.oneof(
      fc.webQueryParameters(),
      fc.string().map(encodeURIComponent),
      fc.constantFrom('%', '%c0%ae', ';'),
    );
    await fc.assert(
      fc.asyncProperty(part, part, async (path, query) => {
        const answer = await api.call('GET', `/v1/shipments/${path}?${query}`, { key });
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: choosePropertyTestRounds(200) },
    );
  });
});

describe('afterwards', () => {
  it('no request got an internal error', () => {
    expect(api.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect([...api.counts.keys()].filter((series) => series.includes('status="5'))).toEqual([]);
  });
});
