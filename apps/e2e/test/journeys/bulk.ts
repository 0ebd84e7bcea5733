import type { BodyOf, TrackingClient } from '@tracking/client';
import { scaleTimeout } from '@tracking/testing';
import type { SystemUnderTest } from '../subject.ts';
import { createTestTenant } from '../tenant.ts';

type BulkShipment = BodyOf<'upsertShipments'>['shipments'][number];
type BulkMilestone = BodyOf<'recordMilestones'>['milestones'][number];

export function declareBulkRequestTests(subject: () => SystemUnderTest): void {
  describe('in bulk', () => {
    let clients: readonly TrackingClient[];
    beforeEach(async () => {
      ({ clients } = await createTestTenant(subject()));
    }, scaleTimeout(30_000));
    /** Returns the client of the next gateway. It sees all writes that went through the other gateways. */
    const gateway = (turn: number): TrackingClient => {
      const client = clients[turn % clients.length] as TrackingClient;
      for (const { consistencyToken } of clients) if (consistencyToken !== undefined) client.see(consistencyToken);
      return client;
    };

    test(
      'shipments and milestones are sent in two requests, and a repeat through another gateway changes nothing',
      async () => {
        const shipments = Array.from({ length: 500 }, (_, n) => ({
          ...(n % 100 === 99 ? { mode: 'teleport' } : { external_id: `PO-${n % 450}` }),
          booking_number: `BK-${n % 450}`,
          house_bill: `HB-${n}`,
        }));
        const send = (turn: number) =>
          gateway(turn)
            .shipments.upsertMany(shipments as BulkShipment[], { idempotencyKey: 'current shipments' })
            .withResponse();
        const made = await send(0);
        expect(made.data.data.map(({ index, status }) => [index, status])).toEqual(
          shipments.map((_, n) => [n, n % 100 === 99 ? 400 : n < 450 ? 201 : 200]),
        );
        const again = await send(1);
        expect([again.replayed, again.data]).toEqual([true, made.data]);

        const milestones = Array.from({ length: 300 }, (_, n) => ({
          ...(n % 3 === 0 ? { external_id: `PO-${n}` } : { booking_number: `BK-${n}` }),
          code: 'gated_in',
          occurred_at: '2026-01-05T10:00:00Z',
        }));
        const recorded = await gateway(1).milestones.recordMany(milestones as BulkMilestone[]);
        expect(recorded.data.map(({ status, error }) => [status, error?.code])).toEqual(
          milestones.map((_, n) => (n % 100 === 99 ? [404, 'not_found'] : [201, undefined])),
        );
        const found = await gateway(0)
          .shipments.list({ status: ['at_origin'], limit: 200 })
          .toArray();
        expect(found).toHaveLength(297);
      },
      scaleTimeout(120_000),
    );

    test(
      'single fields of a shipment and its container are changed through any gateway',
      async () => {
        const fields = { external_id: 'PO-1', container_numbers: ['CSQU3054383'], metadata: { a: '1', b: '2' } };
        const { id } = await gateway(0).shipments.upsert(fields);
        const patch = { eta: '2026-12-19T18:00:00Z', metadata: { b: null, c: '3' } };
        const changed = await gateway(1).shipments.patch(id, patch, { ifMatch: '"1"' });
        expect(changed.metadata).toEqual({ a: '1', c: '3' });
        await expect(gateway(0).shipments.patch(id, patch, { ifMatch: '"1"' })).rejects.toMatchObject({ status: 412 });
        const given = { size_type: '45g1', last_free_day: '2026-12-24' };
        const container = await gateway(0).shipments.patchContainer(id, 'csqu3054383', given);
        expect(container).toMatchObject({ size_type: '45G1', status: 'pending' });
        await gateway(1).shipments.upsert({ external_id: 'PO-1', container_numbers: [] });
        const back = await gateway(0).shipments.upsert(fields);
        expect(back).toMatchObject({
          eta: '2026-12-19T18:00:00.000Z',
          containers: [{ number: 'CSQU3054383', size_type: '45G1', last_free_day: '2026-12-24' }],
        });
        const events = await gateway(1).events.list({ shipment_id: id }).toArray();
        expect(events.map(({ type }) => type)).toEqual(['shipment.created', ...Array(4).fill('shipment.updated')]);
      },
      scaleTimeout(60_000),
    );
  });
}
