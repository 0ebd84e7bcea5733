import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import { startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { resolveReferencesInPaths } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let key: string;

beforeAll(async () => {
  api = await startApi();
  receiver = await startClientReceiver();
  key = await api.key('admin');
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

const etag = ({ headers }: ApiResponse): string => headers.get('etag') ?? 'none';
const code = ({ body }: ApiResponse): unknown => (body['error'] as JsonObject | undefined)?.['code'];
const call = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  json?: unknown,
): Promise<ApiResponse> => api.call(method, path, { key, headers, ...(json !== undefined && { json }) });
const created = (external_id = randomUUID()): Promise<ApiResponse> =>
  call('POST', '/v1/shipments', {}, { external_id, container_numbers: ['CSQU3054383'] });
const pathOf = ({ body }: ApiResponse): string => `/v1/shipments/${String(body['id'])}`;
const milestone = (location = 'Shanghai') => ({ code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z', location });
const endpoint = (): Promise<ApiResponse> =>
  call('POST', '/v1/webhook_endpoints', {}, { url: receiver.url, event_types: ['*'] });

/** A way to write a shipment, by the `external_id` and the path that it has. */
const WRITES: readonly (readonly [
  name: string,
  (shipment: ApiResponse, headers: Record<string, string>) => Promise<ApiResponse>,
])[] = [
  [
    'an upsert',
    ({ body }, headers) =>
      call('POST', '/v1/shipments', headers, { external_id: body['external_id'], house_bill: randomUUID() }),
  ],
  ['a change', (shipment, headers) => call('PATCH', pathOf(shipment), headers, { house_bill: randomUUID() })],
  [
    'a change of a container',
    (shipment, headers) =>
      call('PATCH', `${pathOf(shipment)}/containers/CSQU3054383`, headers, { seal_number: randomUUID() }),
  ],
  ['a milestone', (shipment, headers) => call('POST', `${pathOf(shipment)}/milestones`, headers, milestone())],
  ['an exception', (shipment, headers) => call('POST', `${pathOf(shipment)}/exceptions`, headers, { type: 'other' })],
  ['a cancellation', (shipment, headers) => call('POST', `${pathOf(shipment)}/cancel`, headers)],
  ['a reopening', (shipment, headers) => call('POST', `${pathOf(shipment)}/reopen`, headers)],
];

describe.each(WRITES)('%s of a shipment with If-Match', (_, write) => {
  it('is carried out where the tag is among those named, and answers the next one', async () => {
    for (const named of [(tag: string) => tag, (tag: string) => `"x,y" ,${tag}`, () => '*']) {
      const shipment = await created();
      const answer = await write(shipment, { 'if-match': named(etag(shipment)) });
      expect([200, 201]).toContain(answer.status);
      const now = await call('GET', pathOf(shipment));
      expect([etag(answer), etag(now)]).toEqual([`"${String(now.body['version'])}"`, etag(answer)]);
    }
  });

  it('answers 412 with the present tag where it is not, and writes nothing', async () => {
    const shipment = await created();
    const { headers } = await call('POST', `${pathOf(shipment)}/milestones`, {}, milestone('Ningbo'));
    const present = headers.get('etag') ?? '';
    const head = await api.head();
    for (const tags of [etag(shipment), `W/${present}`, '"999", "x"', '""', `"0${present.slice(1)}`]) {
      const answer = await write(shipment, { 'if-match': tags });
      expect([tags, answer.status, code(answer), etag(answer)]).toEqual([tags, 412, 'precondition_failed', present]);
      expect(answer.body['error']).toMatchObject({ type: 'conflict' });
      expect(answer.headers.get('consistency-token')).toBeNull();
    }
    expect(await api.head()).toEqual(head);
    expect(etag(await call('GET', pathOf(shipment)))).toBe(present);
  });

  it('answers 400 to what is no list of tags', async () => {
    const shipment = await created();
    for (const tags of ['3', '"3', '*, "3"', ',']) {
      const answer = await write(shipment, { 'if-match': tags });
      expect([answer.status, answer.body['error']]).toEqual([400, expect.objectContaining({ param: 'If-Match' })]);
    }
  });
});

describe('If-Match of a shipment', () => {
  it('that is another’s or none is not found, and its tag is told to nobody', async () => {
    const shipment = await created();
    const strangers = [await api.key('admin', 'test'), await api.key('admin', 'live', 'other')];
    const missing = `/v1/shipments/shp_${'a'.repeat(26)}`;
    for (const by of [...strangers, key]) {
      const path = by === key ? missing : pathOf(shipment);
      for (const action of ['cancel', 'reopen', 'milestones']) {
        const json = action === 'milestones' ? milestone() : {};
        for (const tags of ['*', etag(shipment), '"999"']) {
          const answer = await api.call('POST', `${path}/${action}`, { key: by, json, headers: { 'if-match': tags } });
          expect([answer.status, code(answer), etag(answer)]).toEqual([404, 'not_found', 'none']);
        }
      }
    }
  });

  it('lets exactly one of 50 writes through, and tells the others the newest tag', async () => {
    const shipment = await created();
    for (const write of [WRITES[0]!, WRITES[1]!]) {
      const before = etag(await call('GET', pathOf(shipment)));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          write === WRITES[0]
            ? write[1](shipment, { 'if-match': before })
            : call('POST', `${pathOf(shipment)}/milestones`, { 'if-match': before }, milestone(`Berth ${n}`)),
        ),
      );
      const newest = etag(await call('GET', pathOf(shipment)));
      const [done, refused] = [
        answers.filter(({ status }) => status < 300),
        answers.filter(({ status }) => status === 412),
      ];
      expect([done.length, refused.length]).toEqual([1, 49]);
      expect(new Set(answers.map(etag))).toEqual(new Set([newest]));
    }
  });
});

describe('If-Match with an Idempotency-Key', () => {
  it('is looked at the first time alone: what was done, or refused, is answered again', async () => {
    const shipment = await created();
    const before = etag(shipment);
    const [once, late] = [randomUUID(), randomUUID()];
    const post = (name: string, json: object) =>
      call('POST', `${pathOf(shipment)}/milestones`, { 'if-match': before, 'idempotency-key': name }, json);
    const done = await post(once, milestone('Shanghai'));
    const refused = await post(late, milestone('Ningbo'));
    expect([done.status, refused.status, etag(refused)]).toEqual([201, 412, etag(done)]);
    await call('POST', `${pathOf(shipment)}/cancel`);
    for (const [name, location, first] of [
      [once, 'Shanghai', done],
      [late, 'Ningbo', refused],
    ] as const) {
      const again = await post(name, milestone(location));
      expect([again.status, again.text, etag(again)]).toEqual([first.status, first.text, etag(first)]);
    }
  });
});

describe('an upsert', () => {
  const upsert = (headers: Record<string, string>, external_id: string): Promise<ApiResponse> =>
    call('POST', '/v1/shipments', headers, { external_id });

  it('with If-Match makes no shipment where there is none', async () => {
    for (const tags of ['*', '"1"', 'W/"1"']) {
      const answer = await upsert({ 'if-match': tags }, randomUUID());
      expect([answer.status, code(answer), etag(answer)]).toEqual([412, 'precondition_failed', 'none']);
    }
    const unnamed = await call('POST', '/v1/shipments', { 'if-match': '*' }, { house_bill: 'HB-1' });
    expect(unnamed.status).toBe(412);
  });

  it('with If-None-Match: * makes one, and changes none: of 50 at once one makes it', async () => {
    const external_id = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => upsert({ 'if-none-match': '*' }, external_id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(49).fill(412)]);
    expect(new Set(answers.map(etag))).toEqual(new Set(['"1"']));
  });

  it.each([
    [{ 'if-none-match': '"1"' }, 'If-None-Match'],
    [{ 'if-none-match': '*', 'if-match': '"1"' }, 'If-None-Match'],
  ])('answers 400 to %j', async (headers, param) => {
    const answer = await upsert(headers, randomUUID());
    expect([answer.status, answer.body['error']]).toEqual([400, expect.objectContaining({ param })]);
  });
});

describe('webhook endpoints', () => {
  const at = ({ body }: ApiResponse, action = ''): string => `/v1/webhook_endpoints/${String(body['id'])}${action}`;

  it('are written at the version that If-Match names, else 412 with the present tag', async () => {
    const made = await endpoint();
    expect([etag(made), made.body['version']]).toEqual(['"1"', 1]);
    const stale = { 'if-match': etag(made) };
    let present = await call('PATCH', at(made), stale, { max_concurrency: 2 });
    expect([present.status, etag(present)]).toEqual([200, '"2"']);
    for (const [method, action, json] of [
      ['PATCH', '', { max_concurrency: 3 }],
      ['DELETE', '', undefined],
      ['POST', '/verify', undefined],
      ['POST', '/enable', undefined],
      ['POST', '/disable', undefined],
      ['POST', '/rotate_secret', {}],
    ] as const) {
      const answer = await call(method, at(made, action), stale, json);
      expect([action, answer.status, code(answer), etag(answer)]).toEqual([action, 412, 'precondition_failed', '"2"']);
    }
    for (const action of ['/verify', '/enable', '/disable', '/rotate_secret']) {
      present = await call('POST', at(made, action), { 'if-match': etag(present) });
      expect([action, present.status]).toEqual([action, 200]);
      expect(etag(await call('GET', at(made)))).toBe(etag(present));
    }
    const strange = await api.call('PATCH', at(made), {
      key: await api.key('admin', 'test'),
      json: {},
      headers: { 'if-match': etag(present) },
    });
    expect([strange.status, etag(strange)]).toEqual([404, 'none']);
    expect((await call('DELETE', at(made), { 'if-match': etag(present) })).status).toBe(200);
    expect((await call('DELETE', at(made), { 'if-match': '*' })).status).toBe(404);
  });

  it('are tested by sandbox events whose deliveries have versions of their own', async () => {
    const made = await endpoint();
    await call('POST', at(made, '/verify'));
    const sent = await call('POST', at(made, '/test'), {}, { type: 'shipment.created' });
    const path = `/v1/webhook_deliveries/${String(sent.body['id'])}`;
    const attempted = await eventually(async () => {
      const delivery = await call('GET', path);
      expect(delivery.body['status']).toBe('succeeded');
      return delivery;
    });
    for (const action of ['/retry', '/discard']) {
      const answer = await call('POST', `${path}${action}`, { 'if-match': etag(sent) });
      expect([answer.status, etag(answer)]).toEqual([412, etag(attempted)]);
    }
    expect((await call('POST', `${path}/retry`, { 'if-match': etag(attempted) })).status).toBe(202);
  });
});

describe('a condition that would be ignored', () => {
  it.each([
    ['POST', '/v1/webhook_endpoints', { 'if-match': '"1"' }, 'If-Match'],
    ['POST', `/v1/webhook_endpoints/whe_${'0'.repeat(32)}/test`, { 'if-match': '*' }, 'If-Match'],
    ['POST', `/v1/webhook_endpoints/whe_${'0'.repeat(32)}/reveal_secret`, { 'if-match': '*' }, 'If-Match'],
    ['PATCH', `/v1/webhook_endpoints/whe_${'0'.repeat(32)}`, { 'if-none-match': '*' }, 'If-None-Match'],
  ])('is refused: %s %s %j', async (method, path, headers, param) => {
    const answer = await call(method, path, headers, {});
    expect([answer.status, answer.body['error']]).toEqual([400, expect.objectContaining({ param })]);
  });
});

describe('If-None-Match of a read', () => {
  it('answers 304 without a body, of every single resource', async () => {
    const shipment = await created();
    const made = await endpoint();
    const { body } = await call('GET', `/v1/events?shipment_id=${String(shipment.body['id'])}`);
    const [event] = body['data'] as JsonObject[];
    await call('POST', `/v1/webhook_endpoints/${String(made.body['id'])}/verify`);
    const sent = await call(
      'POST',
      `/v1/webhook_endpoints/${String(made.body['id'])}/test`,
      {},
      { type: 'shipment.created' },
    );
    const delivery = `/v1/webhook_deliveries/${String(sent.body['id'])}`;
    await eventually(async () => expect((await call('GET', delivery)).body['status']).toBe('succeeded'));
    for (const path of [
      pathOf(shipment),
      `/v1/webhook_endpoints/${String(made.body['id'])}`,
      delivery,
      `/v1/events/${String(event?.['id'])}`,
    ]) {
      const read = await call('GET', path);
      expect([path, read.status, etag(read)]).toEqual([path, 200, expect.stringMatching(/^"\d+"$/)]);
      for (const tags of [etag(read), `W/${etag(read)}`, `"x", ${etag(read)}`, '*']) {
        const answer = await call('GET', path, { 'if-none-match': tags });
        expect([path, answer.status, answer.text, etag(answer)]).toEqual([path, 304, '', etag(read)]);
        expect(answer.headers.get('content-type')).toBeNull();
        const head = await call('HEAD', path, { 'if-none-match': tags });
        expect([path, head.status, head.text, etag(head)]).toEqual([path, 304, '', etag(read)]);
      }
      for (const tags of ['"999"', 'nonsense']) {
        const answer = await call('GET', path, { 'if-none-match': tags });
        expect([answer.status, answer.body]).toEqual([200, read.body]);
      }
    }
  });
});

describe('the description of the API', () => {
  /** Writes under an id that change nothing that has an ETag. */
  const WITHOUT_CONDITION = new Set([
    'testWebhookEndpoint',
    'createWebhookReplay',
    'replayWebhookDeadLetters',
    'discardWebhookDeadLetters',
    'revealWebhookSecret',
    'useInvitation',
    'endSession',
    'putDocumentContent',
  ]);
  /** Reads under an id of what has no version. */
  const WITHOUT_ETAG = new Set(['getInvitation']);

  interface Described {
    readonly operationId: string;
    readonly parameters?: readonly { readonly name: string }[];
    readonly responses: Readonly<Record<string, { readonly headers?: JsonObject }>>;
  }

  it('has a condition for every operation on a single resource, and the ETag of what was made', async () => {
    const paths = resolveReferencesInPaths<Described>((await call('GET', '/openapi.json')).body);
    const lacking: string[] = [];
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, parameters = [], responses }] of Object.entries(methods)) {
        const takes = (name: string) => parameters.some((parameter) => parameter.name === name);
        const shown = (status: string) => responses[status]?.headers?.['ETag'] !== undefined;
        const made = ['201', '202'].filter((status) => status in responses);
        if (!made.every(shown)) lacking.push(operationId);
        if (method === 'get') {
          if (!path.endsWith('}') || WITHOUT_ETAG.has(operationId)) continue;
          if (!takes('If-None-Match') || !shown('200') || !shown('304')) lacking.push(operationId);
        } else if (path.includes('{') && !WITHOUT_CONDITION.has(operationId)) {
          if (!takes('If-Match') || !shown('412')) lacking.push(operationId);
        }
      }
    }
    expect(lacking).toEqual([]);
  });
});
