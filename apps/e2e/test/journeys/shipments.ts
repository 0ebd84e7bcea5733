import { scaleTimeout, startStopwatch } from '@tracking/testing';
import type { EventEnvelope, Milestone, Shipment } from '@tracking/contracts';
import type { SystemUnderTest } from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createKey, createTestTenant, type TestTenant } from '../tenant.ts';

/** Milliseconds after which a write is acknowledged even if the read models lag behind. */
const MAX_WRITE_ACKNOWLEDGMENT_DELAY_MS = 500;

export function declareShipmentTests(subject: () => SystemUnderTest): void {
  describe('shipments', () => {
    let tenant: TestTenant;
    beforeEach(async () => {
      tenant = await createTestTenant(subject(), 'operator');
    }, scaleTimeout(30_000));
    const other = <T>(of: readonly T[], turn: number): T => of[(turn + 1) % of.length] as T;

    test('an upsert creates one shipment, changes it, and publishes no event if nothing changed', async () => {
      const { api } = tenant;
      const upsert = (fields: object) => api.post<Shipment>('/v1/shipments', { external_id: 'TMS-1', ...fields });
      const made = await Promise.all(Array.from({ length: 40 }, () => upsert({ house_bill: 'HB-1' })));
      expect(made.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 39 }, () => 200), 201]);
      expect(new Set(made.map(({ data }) => data.id)).size).toBe(1);
      const changed = await upsert({ house_bill: 'HB-2', mode: 'sea', origin_port: 'cn sha' });
      const again = await upsert({ house_bill: 'HB-2', mode: 'sea', origin_port: 'cn sha' });
      expect([changed.status, again.status]).toEqual([200, 200]);
      expect(changed.data).toMatchObject({ version: 2, house_bill: 'HB-2', mode: 'ocean', origin_port: 'CNSHA' });
      expect(again.data).toEqual(changed.data);
      const events = await listAllItems<EventEnvelope>(
        api,
        '/v1/events',
        { limit: 1 },
        createReadAfterWriteHeaders(again),
      );
      expect(events.map(({ type }) => type)).toEqual(['shipment.created', 'shipment.updated']);
      expect(events[1]?.data).toMatchObject({ changes: { house_bill: { from: 'HB-1', to: 'HB-2' } } });
    });

    test('a POST with an Idempotency-Key is executed once, whichever gateway receives it', async () => {
      const { gateways, api } = tenant;
      const headers = { 'Idempotency-Key': 'order 4711' };
      const send = (turn: number, fields: object = { house_bill: 'HB-1' }) =>
        other(gateways, turn).post<Shipment>('/v1/shipments', fields, { headers });
      const first = await send(0);
      expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
      for (const turn of [1, 2]) {
        const again = await send(turn);
        expect([again.status, again.data, again.headers['idempotency-replayed']]).toEqual([201, first.data, 'true']);
        expect(again.headers['etag']).toBe(first.headers['etag']);
      }
      const reused = await send(1, { house_bill: 'HB-2' });
      expect([reused.status, reused.data]).toMatchObject([409, { error: { code: 'idempotency_key_reused' } }]);
      const found = await listAllItems<Shipment>(api, '/v1/shipments', {}, createReadAfterWriteHeaders(first));
      expect(found.map(({ id }) => id)).toEqual([first.data.id]);
    });

    test('each page of a list comes from another gateway', async () => {
      const { api } = tenant;
      const references = Array.from({ length: 25 }, (_, n) => `PAGE-${n}`);
      await Promise.all(references.map((external_id) => api.post('/v1/shipments', { external_id })));
      const last = await api.post('/v1/shipments', { external_id: 'PAGE-last' });
      const found = await listAllItems<Shipment>(api, '/v1/shipments', { limit: 4 }, createReadAfterWriteHeaders(last));
      expect(found.map(({ external_id }) => external_id).sort()).toEqual([...references, 'PAGE-last'].sort());
      expect(found[0]?.external_id).toBe('PAGE-last');
    });

    test('a client sees its own writes at any gateway', async () => {
      const { gateways } = tenant;
      const shown = async (turn: number, headers: Record<string, string> = {}) => {
        const params = { external_id: 'OWN' };
        const list = await other(gateways, turn).get<{ data: Shipment[] }>('/v1/shipments', { params, headers });
        return [list.status, list.data.data?.[0]?.house_bill];
      };
      let [prompt, turn] = [0, 0];
      for (const deadline = Date.now() + 30_000; prompt < 10; turn += 1) {
        const house_bill = `OWN-${turn}`;
        const since = startStopwatch();
        const write = await other(gateways, turn + 1).post('/v1/shipments', { external_id: 'OWN', house_bill });
        // A response within this time means that the read models of every gateway show the write.
        const isPrompt = since() < MAX_WRITE_ACKNOWLEDGMENT_DELAY_MS;
        if (isPrompt) expect(await shown(turn)).toEqual([200, house_bill]);
        prompt += isPrompt ? 1 : 0;
        const [byId, listed] = [
          await other(gateways, turn).get<Shipment>(`/v1/shipments/${write.data.id}`, {
            headers: createReadAfterWriteHeaders(write),
          }),
          await shown(turn, createReadAfterWriteHeaders(write)),
        ];
        expect([byId.status, byId.data.house_bill]).toEqual([200, house_bill]);
        expect(listed).toEqual([200, house_bill]);
        if (Date.now() > deadline) throw new Error(`only ${prompt} of 10 responses contained the write promptly`);
      }
    });

    test('milestones in any order update the status, and duplicates are stored once', async () => {
      const { api } = tenant;
      const created = await api.post<Shipment>('/v1/shipments', {
        external_id: 'MS-1',
        mode: 'ocean',
        destination_port: 'NLRTM',
      });
      const path = `/v1/shipments/${created.data.id}`;
      const arrived = { code: 'vessel_arrived', occurred_at: '2026-03-20T10:00:00Z', location: 'NLRTM' };
      const departed = { code: 'vessel_departed', occurred_at: '2026-03-01T10:00:00+08:00', location: 'CNSHA' };
      const first = await api.post<Milestone>(`${path}/milestones`, arrived);
      const second = await api.post<Milestone>(`${path}/milestones`, departed);
      const repeated = await api.post<Milestone>(`${path}/milestones`, departed);
      expect([first.status, second.status, repeated.status]).toEqual([201, 201, 200]);
      expect(repeated.data.id).toBe(second.data.id);
      const listed = await listAllItems<Milestone>(
        api,
        `${path}/milestones`,
        {},
        createReadAfterWriteHeaders(repeated),
      );
      expect(listed.map(({ id }) => id)).toEqual([second.data.id, first.data.id]);
      const { data } = await api.get<Shipment>(path, { headers: createReadAfterWriteHeaders(repeated) });
      expect(data).toMatchObject({
        status: 'arrived',
        atd: '2026-03-01T02:00:00.000Z',
        ata: '2026-03-20T10:00:00.000Z',
        last_milestone: { id: first.data.id },
      });
      const events = await listAllItems<EventEnvelope>(
        api,
        '/v1/events',
        { type: 'milestone.recorded' },
        createReadAfterWriteHeaders(repeated),
      );
      expect(events.map((event) => (event.data['milestone'] as { code: string }).code)).toEqual([
        'vessel_arrived',
        'vessel_departed',
      ]);
      const [one] = events;
      expect((await api.get(`/v1/events/${one?.id}`)).data).toEqual(one);
      expect(await listAllItems(api, '/v1/events', { after: one?.id, type: 'milestone.recorded' })).toEqual(
        events.slice(1),
      );
    });

    test('a shipment is cancelled and reopened, regardless of repeats and gateways', async () => {
      const { api } = tenant;
      const created = await api.post<Shipment>('/v1/shipments', {
        external_id: 'CANCEL-1',
        legs: [
          { origin_port: 'CNSHA', destination_port: 'SGSIN', etd: '2026-03-01T00:00:00Z' },
          { origin_port: 'SGSIN', destination_port: 'NLRTM', eta: '2026-03-20T00:00:00Z' },
        ],
      });
      expect(created.data).toMatchObject({
        origin_port: 'CNSHA',
        destination_port: 'NLRTM',
        eta: '2026-03-20T00:00:00.000Z',
      });
      const path = `/v1/shipments/${created.data.id}`;
      const send = (act: string) => Promise.all(Array.from({ length: 10 }, () => api.post<Shipment>(`${path}/${act}`)));
      const cancelled = await send('cancel');
      expect(cancelled.map(({ status, data }) => [status, data.status])).toEqual(
        cancelled.map(() => [200, 'cancelled']),
      );
      const moved = await api.post(`${path}/milestones`, {
        code: 'vessel_departed',
        occurred_at: '2026-03-02T00:00:00Z',
      });
      expect(moved.data.warnings).toMatchObject([{ code: 'shipment_cancelled' }]);
      const reopened = await send('reopen');
      expect(reopened.map(({ status, data }) => [status, data.status])).toEqual(
        reopened.map(() => [200, 'in_transit']),
      );
      const [last] = reopened;
      if (last === undefined) throw new Error('no answer');
      const events = await listAllItems<EventEnvelope>(
        api,
        '/v1/events',
        { shipment_id: created.data.id },
        createReadAfterWriteHeaders(last),
      );
      const statuses = events.map(
        ({ data }) => (data['changes'] as { status?: { to: string } } | undefined)?.status?.to,
      );
      expect(statuses.filter((status) => status !== undefined)).toEqual(['cancelled', 'in_transit']);
      const exceptions = events.filter(({ type }) => type.startsWith('exception.'));
      expect(exceptions.map(({ type }) => type)).toEqual(['exception.opened', 'exception.resolved']);
      await api.post(`${path}/milestones`, { code: 'delivered', occurred_at: '2026-03-25T00:00:00Z' });
      const late = await api.post(`${path}/cancel`);
      expect([late.status, late.data.error.code]).toEqual([409, 'already_delivered']);
    });

    test('other workspaces and the other environment cannot read a shipment', async () => {
      const { api, workspace } = tenant;
      const created = await api.post<Shipment>('/v1/shipments', { external_id: 'MINE', house_bill: 'HB-1' });
      const [event] = await listAllItems<EventEnvelope>(api, '/v1/events', {}, createReadAfterWriteHeaders(created));
      const strangers = [await createTestTenant(subject()), await createKey(subject(), workspace, 'operator', 'test')];
      for (const { api: stranger } of strangers) {
        const path = `/v1/shipments/${created.data.id}`;
        const milestone = { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' };
        const refused = [
          await stranger.get(path),
          await stranger.get(`${path}/milestones`),
          await stranger.post(`${path}/milestones`, milestone),
          await stranger.get(`/v1/events/${event?.id}`),
        ];
        expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
        const params = { external_id: 'MINE' };
        expect(await listAllItems(stranger, '/v1/shipments', params, createReadAfterWriteHeaders(created))).toEqual([]);
        expect(await listAllItems(stranger, '/v1/events')).toEqual([]);
        const own = await stranger.post('/v1/shipments', { external_id: 'MINE', house_bill: 'HB-1' });
        expect([own.status, own.data.warnings]).toEqual([201, []]);
        expect(own.data.id).not.toBe(created.data.id);
      }
    });

    test(
      'the rate limit of a key applies across all gateways',
      async () => {
        const { api } = tenant;
        const LIMIT = 1_000;
        const since = startStopwatch();
        let [admitted, refused] = [0, 0];
        const one = async () => {
          while (refused < 100) {
            const { status, headers, data } = await api.get('/v1/shipments/shp_none');
            if (status === 404) admitted += 1;
            else {
              expect([status, data.error.code]).toEqual([429, 'rate_limited']);
              expect(Number(headers['retry-after'])).toBeGreaterThan(0);
              refused += 1;
            }
          }
        };
        await Promise.all(Array.from({ length: 20 }, one));
        // A slower run extends over more than one minute of the limit.
        const minutes = Math.ceil(since() / 60_000);
        expect(admitted).toBeLessThanOrEqual(LIMIT * minutes);
        expect(admitted).toBeGreaterThanOrEqual(LIMIT * 0.95);
      },
      scaleTimeout(120_000),
    );
  });
}
