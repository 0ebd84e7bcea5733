import type { EventEnvelope, Milestone, Shipment, Warning } from '@tracking/contracts';
import { patient } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import type { Subject } from '../subject.ts';
import { after, all, newTenant } from '../tenant.ts';

interface Answer<T> {
  readonly data: readonly (T & { readonly index: number; readonly status: number })[];
}
interface ShipmentItem {
  readonly shipment?: Shipment & { readonly warnings: readonly Warning[] };
  readonly error?: { readonly code: string };
}
interface MilestoneItem {
  readonly milestone?: Milestone;
  readonly error?: { readonly code: string };
}

export function bulkJourneys(subject: () => Subject): void {
  describe('in bulk', () => {
    let gateways: readonly AxiosInstance[];
    let api: AxiosInstance;
    beforeEach(async () => {
      ({ api, gateways } = await newTenant(subject()));
    }, patient(30_000));
    const gateway = (turn: number) => gateways[turn % gateways.length] as AxiosInstance;

    test(
      'shipments and what happens to them are sent in two requests, repeated through another gateway without a change',
      async () => {
        const shipments = Array.from({ length: 500 }, (_, n) => ({
          ...(n % 100 === 99 ? { mode: 'teleport' } : { external_id: `PO-${n % 450}` }),
          booking_number: `BK-${n % 450}`,
          house_bill: `HB-${n}`,
        }));
        const headers = { 'Idempotency-Key': 'shipments of today' };
        const send = (turn: number) =>
          gateway(turn).post<Answer<ShipmentItem>>('/v1/shipments/bulk', { shipments }, { headers });
        const made = await send(0);
        expect(made.status).toBe(200);
        expect(made.data.data.map(({ index, status }) => [index, status])).toEqual(
          shipments.map((_, n) => [n, n % 100 === 99 ? 400 : n < 450 ? 201 : 200]),
        );
        const again = await send(1);
        expect([again.headers['idempotency-replayed'], again.data]).toEqual(['true', made.data]);

        const milestones = Array.from({ length: 300 }, (_, n) => ({
          ...(n % 3 === 0 ? { external_id: `PO-${n}` } : { booking_number: `BK-${n}` }),
          code: 'gated_in',
          occurred_at: '2026-01-05T10:00:00Z',
        }));
        const recorded = await gateway(1).post<Answer<MilestoneItem>>(
          '/v1/milestones/bulk',
          { milestones },
          { headers: after(made) },
        );
        expect(recorded.data.data.map(({ status, error }) => [status, error?.code])).toEqual(
          milestones.map((_, n) => (n % 100 === 99 ? [404, 'not_found'] : [201, undefined])),
        );
        const found = await all<Shipment>(gateway(0), '/v1/shipments', { status: 'at_origin' }, after(recorded));
        expect(found).toHaveLength(297);
      },
      patient(120_000),
    );

    test(
      'a shipment and its container are changed field by field, through whichever gateway',
      async () => {
        const fields = { external_id: 'PO-1', container_numbers: ['CSQU3054383'], metadata: { a: '1', b: '2' } };
        const { data: made } = await gateway(0).post<Shipment>('/v1/shipments', fields);
        const path = `/v1/shipments/${made.id}`;
        const patch = { eta: '2026-12-19T18:00:00Z', metadata: { b: null, c: '3' } };
        const as = { headers: { 'Content-Type': 'application/merge-patch+json', 'If-Match': '"1"' } };
        const changed = await gateway(1).patch<Shipment>(path, patch, as);
        expect([changed.status, changed.data.metadata]).toEqual([200, { a: '1', c: '3' }]);
        expect((await gateway(0).patch<unknown>(path, patch, as)).status).toBe(412);
        const given = { size_type: '45g1', last_free_day: '2026-12-24' };
        const container = await gateway(0).patch<unknown>(`${path}/containers/csqu3054383`, given);
        expect([container.status, container.data]).toMatchObject([200, { size_type: '45G1', status: 'pending' }]);
        await gateway(1).post('/v1/shipments', { external_id: 'PO-1', container_numbers: [] });
        const back = await gateway(0).post<Shipment>('/v1/shipments', fields);
        expect(back.data).toMatchObject({
          eta: '2026-12-19T18:00:00.000Z',
          containers: [{ number: 'CSQU3054383', size_type: '45G1', last_free_day: '2026-12-24' }],
        });
        const events = await all<EventEnvelope>(api, '/v1/events', { shipment_id: made.id }, after(back));
        expect(events.map(({ type }) => type)).toEqual(['shipment.created', ...Array(4).fill('shipment.updated')]);
      },
      patient(60_000),
    );
  });
}
