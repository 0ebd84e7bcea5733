import { TokenSigner } from '@tracking/http';
import { type Position, UnavailableError } from '@tracking/ports';
import { type Api, startApi, overrideOperations } from './start-api.ts';

const SECRET = Buffer.alloc(32, 7);
const token = (position: Position): string =>
  new TokenSigner(SECRET).sealTextWithMac(position, { purpose: 'consistency-token', binding: '' });

describe('with projections that are down', () => {
  let api: Api;
  let writer: string;
  let other: string;
  let id: string;
  let written: string;

  beforeAll(async () => {
    api = await startApi({ project: false, settings: { readYourWritesWaitMs: 50 } });
    [writer, other] = [await api.key('operator'), await api.key('operator')];
    const answer = await api.call('POST', '/v1/shipments', { key: writer, json: { external_id: 'A' } });
    id = String(answer.body['id']);
    written = answer.headers.get('consistency-token') ?? '';
  });
  afterAll(() => api.stop());

  it('answers a resource by id from its stream, to its writer and to others', async () => {
    for (const key of [writer, other]) {
      const answer = await api.call('GET', `/v1/shipments/${id}`, { key });
      expect([answer.status, answer.body['external_id']]).toEqual([200, 'A']);
    }
  });

  it('answers a milestone by id from the stream, to its writer and to others', async () => {
    const json = { code: 'booking_confirmed', occurred_at: '2026-01-05T10:00:00Z' };
    const { body, headers } = await api.call('POST', `/v1/shipments/${id}/milestones`, { key: writer, json });
    for (const key of [writer, other]) {
      const answer = await api.call('GET', `/v1/shipments/${id}/milestones/${body['id']}`, { key });
      expect([answer.status, answer.body['code'], answer.headers.get('etag')]).toEqual([
        200,
        'booking_confirmed',
        headers.get('etag'),
      ]);
    }
  });

  it('answers each write from its stream at once', async () => {
    for (const booking_number of ['1', '2', '3']) {
      await api.call('POST', '/v1/shipments', { key: writer, json: { external_id: 'A', booking_number } });
      const answer = await api.call('GET', `/v1/shipments/${id}`, { key: writer });
      expect(answer.body['booking_number']).toBe(booking_number);
    }
  });

  it.each(['/v1/shipments', '/v1/shipments/ID/milestones', '/v1/exceptions', '/v1/shipments/ID/exceptions'])(
    'answers 503 to %s for whom it would lack a write, and for no other',
    async (path) => {
      const list = (key: string, headers = {}) => api.call('GET', path.replace('ID', id), { key, headers });
      for (const answer of [await list(writer), await list(other, { 'consistency-token': written })]) {
        expect(answer.status).toBe(503);
        expect(answer.body['error']).toMatchObject({ type: 'internal', code: 'read_model_behind' });
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      expect((await list(other)).status).toBe(200);
    },
  );

  it('takes the latest of several tokens, in whatever order, and refuses them all with one that is none', async () => {
    const earlier = token('-');
    for (const both of [`${earlier}, ${written}`, `${written},${earlier}`]) {
      const answer = await api.call('GET', '/v1/shipments', { key: other, headers: { 'consistency-token': both } });
      expect(answer.status).toBe(503);
    }
    const headers = { 'consistency-token': `${written}, nonsense` };
    expect((await api.call('GET', '/v1/shipments', { key: other, headers })).status).toBe(400);
    const alone = { 'consistency-token': earlier };
    expect((await api.call('GET', '/v1/shipments', { key: other, headers: alone })).status).toBe(200);
  });

  it('gives no write a token that tells less than what its client knew', async () => {
    const another = await api.key('developer');
    const json = { url: 'https://tms.example.com/', event_types: ['*'] };
    const list = (headers: Readonly<Record<string, string>>) =>
      api.call('GET', '/v1/shipments', { key: other, headers });
    const register = async (headers: Readonly<Record<string, string>>) => {
      const answer = await api.call('POST', '/v1/webhook_endpoints', { key: another, json, headers });
      return { 'consistency-token': answer.headers.get('consistency-token') ?? '' };
    };
    expect((await list(await register({ 'consistency-token': written }))).status).toBe(503);
    // Nothing in the event store is known of a client that wrote nothing to it.
    expect((await list(await register({}))).status).toBe(200);
    expect((await list(await register({ 'consistency-token': 'garbage' }))).status).toBe(200);

    const unchanged = await api.call('POST', '/v1/shipments', { key: other, json: { external_id: 'A' } });
    expect(unchanged.status).toBe(200);
    const later = await api.call('POST', '/v1/shipments', { key: other, json: { external_id: 'C' } });
    const again = await api.call('POST', '/v1/shipments', { key: other, json: { external_id: 'A' } });
    const tokens = [later, again].map(({ headers }) => headers.get('consistency-token'));
    expect(tokens[1]).toBe(tokens[0]);
  });

  it('does not let a possible duplicate hold up a write', async () => {
    const json = { external_id: 'B', house_bill: 'HB' };
    const answer = await api.call('POST', '/v1/shipments', { key: writer, json });
    expect([answer.status, answer.body['warnings']]).toEqual([201, []]);
  });
});

describe('while a process takes over projections from another', () => {
  /** Age of the read models in milliseconds; undefined without a takeover. */
  let age: number | undefined;
  let failure: Error | undefined;
  let waits: number[];
  let api: Api;
  let writer: string;
  let id: string;

  beforeAll(async () => {
    api = await startApi({
      project: false,
      settings: { readYourWritesWaitMs: 5_000 },
      override: ({ readModels }) => ({
        readModels: overrideOperations(readModels, {
          progress: {
            ...readModels.progress,
            reached: (_model, _position, timeoutMs) => {
              waits.push(timeoutMs);
              return Promise.resolve(false);
            },
            findTakeoverAge: () => (failure === undefined ? Promise.resolve(age) : Promise.reject(failure)),
          },
        }),
      }),
    });
    waits = [];
    writer = await api.key('operator');
    id = String((await api.call('POST', '/v1/shipments', { key: writer, json: { external_id: 'A' } })).body['id']);
  });
  beforeEach(() => {
    [age, failure, waits] = [3_001, undefined, []];
  });
  afterAll(() => api.stop());

  it.each([
    '/v1/shipments',
    '/v1/shipments/ID/milestones',
    '/v1/exceptions',
    '/v1/shipments/ID/exceptions',
    '/v1/shipments/ID/documents',
  ])('serves %s with its age, after a short wait', async (path) => {
    const list = () => api.call('GET', path.replace('ID', id), { key: writer });
    const served = await list();
    expect([served.status, served.headers.get('read-model-age')]).toEqual([200, '4']);
    expect(waits.reduce((sum, wait) => sum + wait)).toBe(1_000);
    age = undefined;
    const refused = await list();
    expect([refused.status, refused.headers.get('read-model-age')]).toEqual([503, null]);
  });

  it('serves a resource by id with all writes, without an age', async () => {
    await api.call('POST', '/v1/shipments', { key: writer, json: { external_id: 'A', booking_number: 'B-1' } });
    const answer = await api.call('GET', `/v1/shipments/${id}`, { key: writer });
    expect(answer.body['booking_number']).toBe('B-1');
    expect(answer.headers.get('read-model-age')).toBeNull();
  });

  it('serves lists to clients that wrote nothing, with the age if it is known', async () => {
    const key = await api.key('viewer');
    const readAge = async () => {
      const answer = await api.call('GET', '/v1/shipments', { key });
      return [answer.status, answer.headers.get('read-model-age')];
    };
    age = 0;
    expect(await readAge()).toEqual([200, '0']);
    failure = new UnavailableError('event store', 'does not answer');
    expect(await readAge()).toEqual([200, null]);
    const refused = await api.call('GET', '/v1/shipments', { key: writer });
    expect([refused.status, refused.body['error']]).toMatchObject([503, { code: 'unavailable' }]);
  });

  it('serves a list whose takeover was noticed during the wait', async () => {
    const ages = [undefined, 6_000];
    const late = await startApi({
      project: false,
      settings: { readYourWritesWaitMs: 5_000 },
      override: ({ readModels }) => ({
        readModels: overrideOperations(readModels, {
          progress: {
            ...readModels.progress,
            reached: () => Promise.resolve(false),
            findTakeoverAge: () => Promise.resolve(ages.shift()),
          },
        }),
      }),
    });
    try {
      const key = await late.key('operator');
      await late.call('POST', '/v1/shipments', { key, json: { external_id: 'A' } });
      const answer = await late.call('GET', '/v1/shipments', { key });
      expect([answer.status, answer.headers.get('read-model-age')]).toEqual([200, '6']);
    } finally {
      await late.stop();
    }
  });
});

describe('with projections that run', () => {
  let api: Api;
  let key: string;
  beforeAll(async () => {
    api = await startApi();
    key = await api.key('operator');
  });
  afterAll(() => api.stop());

  it('shows each write in lists at once, to whoever brings its token', async () => {
    const reader = await api.key('viewer');
    for (let i = 0; i < 20; i++) {
      const json = { external_id: `LIST-${i}` };
      const { headers } = await api.call('POST', '/v1/shipments', { key, json });
      const answer = await api.call('GET', `/v1/shipments?external_id=LIST-${i}`, {
        key: reader,
        headers: { 'consistency-token': headers.get('consistency-token') ?? '' },
      });
      expect(answer.body['data']).toMatchObject([json]);
    }
  });

  it('shows milestones and the status they make at once', async () => {
    const { body } = await api.call('POST', '/v1/shipments', { key, json: { external_id: 'MST' } });
    const path = `/v1/shipments/${String(body['id'])}`;
    for (const [i, code] of ['booking_confirmed', 'gated_in', 'vessel_departed', 'vessel_arrived'].entries()) {
      const json = { code, occurred_at: `2026-01-0${i + 1}T00:00:00Z` };
      await api.call('POST', `${path}/milestones`, { key, json });
      const milestones = await api.call('GET', `${path}/milestones`, { key });
      expect(milestones.body['data']).toHaveLength(i + 1);
      const shipment = await api.call('GET', path, { key });
      expect(shipment.body['last_milestone']).toMatchObject({ code });
    }
  });

  it('is never older by id than the token, whatever the read model shows', async () => {
    const stale = await startApi({
      override: ({ readModels }) => ({
        readModels: overrideOperations(readModels, {
          progress: { ...readModels.progress, reached: () => Promise.resolve(false) },
        }),
      }),
    });
    try {
      const writer = await stale.key('operator');
      const created = await stale.call('POST', '/v1/shipments', { key: writer, json: { external_id: 'A' } });
      const id = String(created.body['id']);
      for (let i = 0; i < 50; i++) {
        const booking_number = `B-${i}`;
        await stale.call('POST', '/v1/shipments', { key: writer, json: { external_id: 'A', booking_number } });
        const answer = await stale.call('GET', `/v1/shipments/${id}`, { key: writer });
        expect(answer.body['booking_number']).toBe(booking_number);
      }
    } finally {
      await stale.stop();
    }
  });

  it.each([
    ['garbage', 'garbage'],
    ['empty', ''],
    ['a bare position', 'ffffffffffffffff'],
    [
      'signed by another',
      new TokenSigner(Buffer.alloc(32, 8)).sealTextWithMac('0', { purpose: 'consistency-token', binding: '' }),
    ],
    ['a cursor', new TokenSigner(SECRET).sealTextWithMac('["a"]', { purpose: 'cursor', binding: '' })],
    ['endless', 'A'.repeat(8_000)],
  ])('refuses a token that is %s', async (_what, value) => {
    const { body } = await api.call('POST', '/v1/shipments', { key, json: { external_id: 'TOKEN' } });
    for (const path of ['/v1/shipments', `/v1/shipments/${String(body['id'])}`]) {
      const answer = await api.call('GET', path, { key, headers: { 'consistency-token': value } });
      expect(answer.status).toBe(400);
      expect(answer.body['error']).toMatchObject({ code: 'invalid_consistency_token' });
    }
  });
});
