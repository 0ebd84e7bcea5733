import { createSampleOceanShipment } from '@tracking/demo/journey';
import { eventually, scaleTimeout } from '@tracking/testing';
import { EndpointServer } from '../receiver.ts';
import type { SystemUnderTest } from '../subject.ts';
import { createTestTenant } from '../tenant.ts';

export function declareDemoTests(subject: () => SystemUnderTest): void {
  test(
    "the demo's journey from booking to delivery, with every event delivered",
    async () => {
      const { api, client } = await createTestTenant(subject());
      const receiver = await EndpointServer.startEndpointServer();
      try {
        const hook = await receiver.createEnabledEndpoint(api, '/demo', { event_types: ['*', 'exception.updated'] });
        const { shipment, steps } = createSampleOceanShipment(new Date());
        const created = await client.shipments.upsert(shipment);
        for (const { milestone } of steps) await client.milestones.record(created.id, milestone);
        const final = await client.shipments.get(created.id);
        expect(final).toMatchObject({
          status: 'delivered',
          open_exceptions_count: 0,
          original_eta: created.eta,
          last_milestone: { code: 'delivered', location: 'Utrecht' },
        });
        const occurred = (code: string) =>
          new Date(
            steps.find(({ milestone }) => milestone.code === code && !milestone.classifier)?.milestone['occurred_at'] ??
              '',
          );
        expect([final.atd, final.ata]).toEqual([
          occurred('vessel_departed').toISOString(),
          occurred('vessel_arrived').toISOString(),
        ]);
        const actual = steps.filter(({ milestone }) => !milestone.classifier);
        const listed = await client.milestones.list(created.id).toArray();
        expect(listed.map(({ code }) => code)).toEqual(actual.map(({ milestone }) => milestone.code));

        const events = await client.events.list().toArray();
        await eventually(() => expect([...hook.came.keys()].sort()).toEqual(events.map(({ id }) => id).sort()), {
          deadlineMs: 60_000,
        });
        expect(receiver.faults).toEqual([]);
        for (const event of events) expect(receiver.findEvent(event.id)).toEqual(event);
        expect(events[0]?.data).toMatchObject({ shipment: { id: created.id, url: created.url } });
        const types = new Set(events.map(({ type }) => type));
        expect([...types].sort()).toEqual([
          'exception.opened',
          'exception.resolved',
          'exception.updated',
          'milestone.recorded',
          'shipment.created',
          'shipment.updated',
        ]);
        expect(events.filter(({ type }) => type === 'milestone.recorded')).toHaveLength(actual.length);

        const exceptions = await client.exceptions.listOf(created.id).toArray();
        const told = (['exception.opened', 'exception.resolved'] as const).map((type) =>
          events.flatMap((event) => (event.type === type ? [event.data.exception.type] : [])).sort(),
        );
        const shown = ['arrival_overdue', 'customs_hold', 'demurrage_risk', 'eta_slip', 'missed_connection'];
        expect(exceptions.map(({ type }) => type).sort()).toEqual(shown);
        expect(new Set(exceptions.map(({ resolution }) => resolution?.code))).toEqual(new Set(['auto_cleared']));
        expect(told).toEqual([shown, shown]);
      } finally {
        await receiver.closeEndpointServer();
      }
    },
    scaleTimeout(120_000),
  );
}
