import type { EventEnvelope, Milestone, Shipment, ShipmentException } from '@tracking/contracts';
import { oceanJourney } from '@tracking/demo/journey';
import { eventually, patient } from '@tracking/testing';
import { HookServer } from '../receiver.ts';
import type { Subject } from '../subject.ts';
import { after, all, newTenant } from '../tenant.ts';

export function demoJourney(subject: () => Subject): void {
  test(
    "the demo's journey: from booking to delivery, each event told",
    async () => {
      const { api } = await newTenant(subject());
      const receiver = await HookServer.start();
      try {
        const hook = await receiver.enabled(api, '/demo', { event_types: ['*', 'exception.updated'] });
        const { shipment, steps } = oceanJourney(new Date());
        const created = await api.post<Shipment>('/v1/shipments', shipment);
        expect(created.status).toBe(201);
        const path = `/v1/shipments/${created.data.id}`;
        let last = created as Parameters<typeof after>[0];
        for (const { milestone } of steps) {
          last = await api.post(`${path}/milestones`, milestone);
          expect(last.status).toBe(201);
        }
        const final = (await api.get<Shipment>(path, { headers: after(last) })).data;
        expect(final).toMatchObject({
          status: 'delivered',
          open_exceptions_count: 0,
          original_eta: created.data.eta,
          last_milestone: { code: 'delivered', location: 'Utrecht' },
        });
        const occurred = (code: string) =>
          new Date(
            steps.find(({ milestone }) => milestone['code'] === code && !milestone['classifier'])?.milestone[
              'occurred_at'
            ] ?? '',
          );
        expect([final.atd, final.ata]).toEqual([
          occurred('vessel_departed').toISOString(),
          occurred('vessel_arrived').toISOString(),
        ]);
        const actual = steps.filter(({ milestone }) => !milestone['classifier']);
        const listed = await all<Milestone>(api, `${path}/milestones`, {}, after(last));
        expect(listed.map(({ code }) => code)).toEqual(actual.map(({ milestone }) => milestone['code']));

        const events = await all<EventEnvelope>(api, '/v1/events', {}, after(last));
        await eventually(() => expect([...hook.came.keys()].sort()).toEqual(events.map(({ id }) => id).sort()), {
          deadlineMs: 60_000,
        });
        expect(receiver.faults).toEqual([]);
        for (const event of events) expect(receiver.event(event.id)).toEqual(event);
        expect(events[0]?.data).toMatchObject({ shipment: { id: created.data.id, url: created.data.url } });
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

        const exceptions = await all<ShipmentException>(api, `${path}/exceptions`, {}, after(last));
        const told = ['exception.opened', 'exception.resolved'].map((type) =>
          events
            .filter((event) => event.type === type)
            .map(({ data }) => (data as unknown as { exception: ShipmentException }).exception.type)
            .sort(),
        );
        const shown = ['arrival_overdue', 'customs_hold', 'demurrage_risk', 'eta_slip', 'missed_connection'];
        expect(exceptions.map(({ type }) => type).sort()).toEqual(shown);
        expect(new Set(exceptions.map(({ resolution }) => resolution?.code))).toEqual(new Set(['auto_cleared']));
        expect(told).toEqual([shown, shown]);
      } finally {
        await receiver.close();
      }
    },
    patient(120_000),
  );
}
