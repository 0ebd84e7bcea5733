import { ERROR_CODES } from '@tracking/contracts';
import type { JsonObject, JsonValue } from '@tracking/contracts';
import fc from 'fast-check';
import { startApi } from './start-api.ts';
import type { Answer, Api, Call } from './start-api.ts';

let api: Api;
let key: string;
let milestones: string;

beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
  const { body } = await api.call('POST', '/v1/shipments', { key, json: { external_id: 'TARGET', mode: 'ocean' } });
  milestones = `/v1/shipments/${String(body['id'])}/milestones`;
});
afterAll(() => api.stop());

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

/** What no string field takes. */
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
/** What no object and no array of them takes. */
const NO_OBJECT: readonly (readonly [string, JsonValue])[] = [
  ['a string', 'x'],
  ['a number', 5],
  ['false', false],
];
/** What is a string, but of no format. */
const NO_FORMAT: readonly (readonly [string, JsonValue])[] = [
  ['of another alphabet', 'контейнер'],
  ['an injection', "'; DROP TABLE events; --"],
  ['a path', '../../etc/passwd'],
  ['a name of JavaScript', '__proto__'],
];
const FORMATTED =
  /^(mode|load_type|carrier_scac|origin_port|destination_port|etd|eta|container_numbers\[0\]|legs\[0\]\.(mode|carrier_scac|origin_port|destination_port|etd|eta)|code|occurred_at|source|reason_code|classifier|container_number|timezone)$/;

interface Mutation {
  readonly param: string;
  readonly what: string;
  readonly body: JsonObject;
}

/** Every value of the body, one at a time, replaced with everything that it must not be. */
function mutations(body: JsonObject): Mutation[] {
  const found: Mutation[] = [];
  const visit = (value: JsonValue, param: string, put: (other: JsonValue) => JsonObject): void => {
    const wrong = (values: readonly (readonly [string, JsonValue])[]): void => {
      for (const [what, other] of values) found.push({ param, what, body: put(other) });
    };
    if (typeof value === 'string') {
      wrong(param.startsWith('metadata.') ? NO_TEXT.filter(([what]) => what !== 'blank' && what !== 'empty') : NO_TEXT);
      if (FORMATTED.test(param)) wrong(NO_FORMAT);
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

function expectError(answer: Answer, statuses: readonly number[] = [400]): { param: string | null; params: string[] } {
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

async function refused(call: Promise<Answer>, statuses?: readonly number[]): Promise<ReturnType<typeof expectError>> {
  const before = await api.head();
  const found = expectError(await call, statuses);
  expect(await api.head()).toBe(before);
  return found;
}

describe('a valid request', () => {
  it('is accepted, so that what follows tests something', async () => {
    const shipment = await api.call('POST', '/v1/shipments', { key, json: { ...SHIPMENT, external_id: 'VALID' } });
    expect([shipment.status, shipment.body['warnings']]).toEqual([201, []]);
    const json = { ...MILESTONE, container_number: null };
    const milestone = await api.call('POST', milestones, { key, json });
    expect(milestone.status).toBe(201);
  });
});

describe.each([
  ['POST /v1/shipments', () => '/v1/shipments', SHIPMENT],
  ['POST /v1/shipments/{id}/milestones', () => milestones, MILESTONE],
])('%s', (_route, path, valid) => {
  it.each([...Map.groupBy(mutations(valid), ({ param }) => param)])(
    'names %s when it is wrong',
    async (param, wrong) => {
      const before = await api.head();
      await Promise.all(
        wrong.map(async ({ what, body }) => {
          const { params } = expectError(await api.call('POST', path(), { key, json: body }));
          const named = params.map((name) =>
            /^[[.]/.test(name.slice(param.length)) ? name.slice(0, param.length) : name,
          );
          expect({ what, named: [...new Set(named)] }).toEqual({ what, named: [param] });
        }),
      );
      expect(await api.head()).toBe(before);
    },
  );

  it('names all of them at once', async () => {
    const broken = Object.fromEntries(Object.keys(valid).map((name) => [name, 5]));
    const { params } = await refused(api.call('POST', path(), { key, json: broken }));
    expect(params.sort()).toEqual(Object.keys(valid).sort());
  });

  const text = JSON.stringify(valid);
  const bodies: readonly (readonly [string, Call, number, string])[] = [
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
    ['a key __proto__', { raw: `{"__proto__": {"x": 1}, ${text.slice(1)}` }, 400, 'malformed_json'],
    ['an escaped key __proto__', { raw: `{"\\u005f_proto__": 1, ${text.slice(1)}` }, 400, 'malformed_json'],
    ['a deep key __proto__', { raw: `{"a": [{"__proto__": 1}], ${text.slice(1)}` }, 400, 'malformed_json'],
    ['constructor.prototype', { raw: `{"constructor": {"prototype": 1}, ${text.slice(1)}` }, 400, 'malformed_json'],
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
    ['compression', { raw: text, headers: { 'content-encoding': 'gzip' } }, 415, 'unsupported_media_type'],
  ];
  it.each(bodies)('answers a body that is %s', async (_what, call, status, code) => {
    const before = await api.head();
    const answer = await api.call('POST', path(), { key, ...call });
    expectError(answer, [status]);
    expect(answer.body['error']).toMatchObject({ code });
    expect(await api.head()).toBe(before);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('takes what is unusual but right', async () => {
    for (const call of [
      { raw: `\ufeff${text}` },
      { raw: text, headers: { 'content-type': 'application/json; charset=utf-8' } },
      { raw: text, headers: { 'content-type': 'Application/JSON' } },
      { raw: text, headers: { 'content-encoding': 'identity' } },
      { raw: `{"toString": 1, "hasOwnProperty": [], ${text.slice(1)}` },
      { raw: ' '.repeat(1_000_000) + text },
    ]) {
      const raw = call.raw.replace('"container_number":"CSQU3054383"', '"container_number":null');
      const answer = await api.call('POST', path(), { key, ...call, raw });
      expect([200, 201]).toContain(answer.status);
    }
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
    const call = api.call('POST', '/v1/shipments', {
      key,
      json: { external_id: 'LIMIT', [param]: value as JsonValue },
    });
    expect(await refused(call)).toEqual({ param, params: [param] });
    expect((await call).body['error']).toMatchObject({ code: 'limit_exceeded' });
  });
});

describe('queries', () => {
  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=10&limit=20', 'limit'],
    ['limit[]=10', null],
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
    if (param === null) expect(answer.status).toBe(200);
    else expect(expectError(answer).params).toContain(param);
  });

  it.each(['%', '%zz', '&&&==', '__proto__=1', 'constructor[prototype][x]=1', 'a'.repeat(5_000), '?', '=&=', '%F0%9F'])(
    'GET /v1/shipments?%s is answered',
    async (query) => {
      expect((await api.call('GET', `/v1/shipments?${query}`, { key })).status).toBe(200);
      expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    },
  );

  it('refuses a cursor with any character changed', async () => {
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
  ])('GET /v1/shipments/%s: 404', async (id) => {
    for (const path of [`/v1/shipments/${id}`, `/v1/shipments/${id}/milestones`]) {
      expectError(await api.call('GET', path, { key }), [404]);
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
      { numRuns: 300 },
    );
  });

  it('that is bytes is refused in the error form', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        expectError(await api.call('POST', milestones, { key, raw: new Uint8Array(bytes) }));
      }),
      { numRuns: 100 },
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
      { numRuns: 200 },
    );
  });
});

describe('afterwards', () => {
  it('no request was answered 500', () => {
    expect(api.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect([...api.counts.keys()].filter((series) => series.includes('status="5'))).toEqual([]);
  });
});
