import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

const NUMBER = 'CSQU3054383';
let api: Api;
let key: string;

beforeAll(async () => {
  api = await startApi();
});
// No shipment of another test is a duplicate.
beforeEach(async () => {
  key = await api.key('operator', 'live', `workspace-${made++}`);
});
afterAll(() => api.stop());

let made = 0;
const create = async (fields: JsonObject = {}): Promise<string> => {
  const json = { external_id: `CHANGE-${made++}`, ...fields };
  const { body } = await api.call('POST', '/v1/shipments', { key, json });
  return `/v1/shipments/${String(body['id'])}`;
};
const patch = (path: string, json: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  api.call('PATCH', path, { key, json, headers });
const get = async (path: string): Promise<JsonObject> => (await api.call('GET', path, { key })).body;
const errorOf = ({ body }: ApiResponse): JsonObject => body['error'] as JsonObject;
const faultsOf = (answer: ApiResponse): unknown =>
  (errorOf(answer)['details'] as JsonObject[]).map(({ param, code }) => [param, code]);

describe('PATCH /v1/shipments/{id}', () => {
  it.each(['application/json', 'application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=utf-8'])(
    'merges what is sent as %s',
    async (contentType) => {
      const path = await create({
        house_bill: 'HB',
        shipper: { name: 'Acme', external_id: 'C-1' },
        metadata: { a: '1', b: '2' },
        references: [{ type: 'po', value: '1' }],
      });
      const answer = await patch(
        path,
        {
          house_bill: null,
          mode: 'Sea',
          container_numbers: ['csqu 305438-3'],
          shipper: { external_id: null },
          metadata: { b: null, c: '3' },
          eta: '2026-12-19T18:00:00+02:00',
          original_eta: '2026-12-18T18:00:00Z',
        },
        { 'content-type': contentType },
      );
      expect(answer.status).toBe(200);
      const { warnings, ...shipment } = answer.body;
      expect(warnings).toEqual([]);
      expect(shipment).toMatchObject({
        house_bill: null,
        mode: 'ocean',
        container_numbers: [NUMBER],
        shipper: { name: 'Acme', external_id: null },
        metadata: { a: '1', c: '3' },
        references: [{ type: 'po', value: '1' }],
        eta: '2026-12-19T16:00:00.000Z',
        original_eta: '2026-12-18T18:00:00.000Z',
      });
      expect(answer.headers.get('etag')).toBe(`"${String(shipment['version'])}"`);
      expect(answer.headers.get('consistency-token')).toMatch(/^[\w-]{20,}$/);
      expect(await get(path)).toEqual(shipment);
    },
  );

  it('announces what moved, and an update that moves nothing not at all', async () => {
    const path = await create({ eta: '2026-12-19T18:00:00Z' });
    await patch(path, { eta: '2026-12-19T18:00:00Z' });
    await patch(path, { carrier_scac: 'maeu' });
    const { body } = await api.call('GET', `/v1/events?shipment_id=${path.split('/').at(-1) ?? ''}`, { key });
    const told = (body['data'] as { type: string; data: JsonObject }[]).map(({ type, data }) => [
      type,
      Object.keys((data['changes'] as JsonObject | undefined) ?? {}),
    ]);
    expect(told).toEqual([
      ['shipment.created', []],
      ['shipment.updated', ['carrier_scac']],
    ]);
  });

  it('names unknown and read-only fields, and refuses them where the client wants that', async () => {
    const path = await create();
    const json = { house_bill: 'HB', status: 'delivered', colour: 'red', legs: [{ atd: '2026-01-01T00:00:00Z' }] };
    const answer = await patch(path, json);
    expect([answer.status, answer.body['house_bill'], answer.body['status']]).toEqual([200, 'HB', 'pending']);
    const unknown = [
      ['status', 'read_only_field'],
      ['colour', 'unknown_field'],
      ['legs[0].atd', 'read_only_field'],
    ];
    expect((answer.body['warnings'] as JsonObject[]).map(({ param, code }) => [param, code])).toEqual(unknown);
    const strict = await patch(path, json, { prefer: 'handling=strict' });
    expect([strict.status, faultsOf(strict)]).toEqual([400, unknown]);
  });

  it('names every faulty field at once', async () => {
    const answer = await patch(await create(), {
      mode: 'teleport',
      carrier_scac: '?',
      eta: '2026-12-19T10:00',
      original_eta: 'soon',
      shipper: { name: 7 },
      metadata: { a: 1, '': 'x' },
      legs: [{ origin_port: '?' }],
    });
    expect(answer.status).toBe(400);
    expect(new Map(faultsOf(answer) as [string, string][])).toEqual(
      new Map([
        ['mode', 'invalid_value'],
        ['carrier_scac', 'invalid_scac'],
        ['eta', 'invalid_timestamp'],
        ['original_eta', 'invalid_timestamp'],
        ['shipper.name', 'invalid_type'],
        ['metadata.a', 'invalid_type'],
        ['metadata', 'invalid_value'],
        ['legs[0].origin_port', 'invalid_port'],
      ]),
    );
  });

  it.each<[JsonObject, string, string]>([
    [{ external_id: 'ANOTHER' }, 'external_id_immutable', 'external_id'],
    [{ external_id: null }, 'external_id_immutable', 'external_id'],
    [{ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, 'x'])) }, 'limit_exceeded', 'metadata'],
    [{ references: Array(51).fill({ type: 'po', value: '1' }) }, 'limit_exceeded', 'references'],
  ])('refuses %j', async (json, code, param) => {
    const answer = await patch(await create(), json);
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.objectContaining({ code, param })]);
  });

  it('keeps the last reference', async () => {
    const { body } = await api.call('POST', '/v1/shipments', { key, json: { house_bill: 'LAST' } });
    const answer = await patch(`/v1/shipments/${String(body['id'])}`, { house_bill: null });
    expect([answer.status, errorOf(answer)['code']]).toEqual([400, 'reference_required']);
  });

  it('warns of another shipment that it makes the same freight', async () => {
    await create({ house_bill: 'HB-TWICE' });
    const { body } = await patch(await create(), { house_bill: 'HB-TWICE' });
    expect(body['warnings']).toMatchObject([{ code: 'possible_duplicate', param: 'house_bill' }]);
  });

  it('is 404 of another scope’s, and of what is no id', async () => {
    const path = await create();
    const stranger = await api.key('operator', 'live', 'elsewhere');
    const foreign = await api.call('PATCH', path, { key: stranger, json: { house_bill: 'HB' } });
    expect([foreign.status, (await patch('/v1/shipments/none', {})).status]).toEqual([404, 404]);
  });

  it('takes an object alone, and no other kind of body', async () => {
    const path = await create();
    expect((await patch(path, {})).status).toBe(200);
    for (const json of [[], 'text', 7, null]) expect((await patch(path, json)).status).toBe(400);
    const other = await patch(path, {}, { 'content-type': 'application/json-patch+json' });
    expect([other.status, errorOf(other)['message']]).toEqual([
      415,
      'Send the body as application/json or application/merge-patch+json.',
    ]);
    const post = await api.call('POST', '/v1/shipments', {
      key,
      json: { external_id: 'MERGE' },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(post.status).toBe(415);
  });

  it('is described as both kinds', async () => {
    const { body } = await api.call('GET', '/openapi.json');
    const described = JSON.parse(JSON.stringify(body)) as {
      paths: Record<string, { patch?: { requestBody: { content: object } } }>;
    };
    for (const path of ['/v1/shipments/{id}', '/v1/shipments/{id}/containers/{number}', '/v1/settings']) {
      expect(Object.keys(described.paths[path]?.patch?.requestBody.content ?? {})).toEqual([
        'application/json',
        'application/merge-patch+json',
      ]);
    }
  });
});

describe('PATCH /v1/shipments/{id}/containers/{number}', () => {
  const given = {
    size_type: '45G1',
    seal_number: 'ML-CN4831977',
    last_free_day: '2026-12-24',
    empty_return_by: '2028-02-29',
  };

  it('sets what no milestone tells, under the number however it is written', async () => {
    const path = await create({ container_numbers: [NUMBER] });
    const answer = await patch(`${path}/containers/csqu%20305438-3`, { ...given, size_type: '45 g1' });
    expect(answer.status).toBe(200);
    const { warnings, ...container } = answer.body;
    expect([warnings, container]).toEqual([
      [],
      expect.objectContaining({ number: NUMBER, ...given, status: 'pending' }),
    ]);
    const shipment = await get(path);
    expect(shipment['containers']).toEqual([container]);
    expect(answer.headers.get('etag')).toBe(`"${String(shipment['version'])}"`);
  });

  it('outlives an upsert of the same containers, and the container’s absence', async () => {
    const external_id = `KEPT-${made++}`;
    const path = await create({ external_id, container_numbers: [NUMBER, 'MSCU1234566'] });
    await patch(`${path}/containers/${NUMBER}`, given);
    for (const container_numbers of [[NUMBER, 'MSCU1234566'], ['MSCU1234566'], [NUMBER]]) {
      await api.call('POST', '/v1/shipments', { key, json: { external_id, container_numbers } });
    }
    expect((await get(path))['containers']).toMatchObject([{ number: NUMBER, ...given }]);
    await patch(`${path}/containers/${NUMBER}`, { last_free_day: null });
    expect((await get(path))['containers']).toMatchObject([{ ...given, last_free_day: null }]);
  });

  it.each<[JsonObject, string, string]>([
    [{ size_type: '45G' }, 'size_type', 'invalid_value'],
    [{ size_type: '45G1A' }, 'size_type', 'invalid_value'],
    [{ size_type: '4_G1' }, 'size_type', 'invalid_value'],
    [{ size_type: 45 }, 'size_type', 'invalid_type'],
    [{ seal_number: 'S'.repeat(101) }, 'seal_number', 'too_long'],
    [{ seal_number: '𝟘'.repeat(101) }, 'seal_number', 'too_long'],
    [{ seal_number: ' ' }, 'seal_number', 'invalid_value'],
    [{ last_free_day: '2026-02-29' }, 'last_free_day', 'invalid_date'],
    [{ last_free_day: '2026-13-01' }, 'last_free_day', 'invalid_date'],
    [{ last_free_day: '2026-12-24T00:00:00Z' }, 'last_free_day', 'invalid_date'],
    [{ last_free_day: '24.12.2026' }, 'last_free_day', 'invalid_date'],
    [{ empty_return_by: '1899-12-31' }, 'empty_return_by', 'invalid_date'],
    [{ empty_return_by: 20261224 }, 'empty_return_by', 'invalid_type'],
  ])('refuses %j', async (json, param, code) => {
    const path = await create({ container_numbers: [NUMBER] });
    const answer = await patch(`${path}/containers/${NUMBER}`, json);
    expect([answer.status, faultsOf(answer)]).toEqual([400, [[param, code]]]);
  });

  it('counts characters, of which some are two units of a string', async () => {
    const path = await create({ container_numbers: [NUMBER] });
    const seal_number = '𝟘'.repeat(100);
    const { status, body } = await patch(`${path}/containers/${NUMBER}`, { seal_number });
    expect([status, body['seal_number']]).toEqual([200, seal_number]);
  });

  it('names what it does not take', async () => {
    const path = await create({ container_numbers: [NUMBER] });
    const { body } = await patch(`${path}/containers/${NUMBER}`, { status: 'delivered', colour: 'red' });
    expect((body['warnings'] as JsonObject[]).map(({ param, code }) => [param, code])).toEqual([
      ['status', 'read_only_field'],
      ['colour', 'unknown_field'],
    ]);
  });

  it('is 404 of a container that the shipment has not, and of a shipment that is none', async () => {
    const path = await create({ container_numbers: [NUMBER] });
    for (const unknown of [
      `${path}/containers/MSCU1234566`,
      `${path}/containers/%20`,
      `/v1/shipments/x/containers/${NUMBER}`,
    ]) {
      // A condition is not looked at if there is no such container.
      for (const headers of [{}, { 'if-match': '"999"' }]) {
        const answer = await patch(unknown, given, headers);
        expect([answer.status, errorOf(answer)['code']]).toEqual([404, 'not_found']);
      }
    }
  });
});
