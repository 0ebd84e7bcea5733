import { join } from 'node:path';
import type { EventEnvelope, Milestone, Shipment } from '@tracking/contracts';
import { eventually, createTempFolder, scaleTimeout } from '@tracking/testing';
import { runCli, runCliJson, startStandaloneSystem, type SystemUnderTest } from '../subject.ts';
import { listAllItems, createKey, createTestTenant, type TestTenant } from '../tenant.ts';

const SHIPMENT_COUNT = 6;
const MILESTONE_CODES = ['gated_in', 'loaded_on_vessel', 'vessel_departed', 'customs_hold'];

/** Returns all shipments, milestones and events that a key can read. Shipments and events are sorted by id. */
async function readShipmentsMilestonesAndEvents({ api }: Pick<TestTenant, 'api'>) {
  const byId = (one: { readonly id: string }, other: { readonly id: string }) => (one.id < other.id ? -1 : 1);
  const shipments = (await listAllItems<Shipment>(api, '/v1/shipments')).sort(byId);
  const milestones: Milestone[] = [];
  for (const { id } of shipments)
    milestones.push(...(await listAllItems<Milestone>(api, `/v1/shipments/${id}/milestones`)));
  return { shipments, milestones, events: (await listAllItems<EventEnvelope>(api, '/v1/events')).sort(byId) };
}

export function declareEventTransferTests(subject: () => SystemUnderTest): void {
  test(
    'data imported from a standalone server is returned unchanged',
    async () => {
      const [here = ''] = subject().urls;
      const folder = await createTempFolder();
      // Links in the imported data contain the URL of the new system.
      const source = await startStandaloneSystem({ BASE_URL: here, APP_URL: here });
      try {
        const tenant = await createTestTenant(source);
        for (let n = 0; n < SHIPMENT_COUNT; n += 1) {
          const created = await tenant.api.post<Shipment>('/v1/shipments', { external_id: `MOVE-${n}`, mode: 'ocean' });
          expect(created.status).toBe(201);
          for (const [day, code] of MILESTONE_CODES.entries()) {
            const milestone = { code, occurred_at: `2026-11-0${day + 1}T08:00:00Z`, location: 'CNSHA' };
            expect((await tenant.api.post(`/v1/shipments/${created.data.id}/milestones`, milestone)).status).toBe(201);
          }
        }
        const written = await readShipmentsMilestonesAndEvents(tenant);
        expect(written.shipments).toHaveLength(SHIPMENT_COUNT);
        const file = join(folder.path, 'events.jsonl');
        const exported = await runCliJson<{ events: number }>(source, 'events', 'export', file);
        await runCli(subject(), 'events', 'import', file);
        expect(await runCliJson(subject(), 'events', 'import', file)).toEqual({ ...exported, conflicts: [] });
        const reader = await createKey(subject(), tenant.workspace, 'viewer');
        await eventually(async () => expect(await readShipmentsMilestonesAndEvents(reader)).toEqual(written), {
          deadlineMs: 60_000,
        });
        const where = ['--workspace', tenant.workspace, '--environment', 'live', '--limit', '500'];
        const { data } = await runCliJson<{ data: EventEnvelope[] }>(subject(), 'events', 'list', ...where);
        expect(new Map(data.map((event) => [event.id, event]))).toEqual(
          new Map(written.events.map((event) => [event.id, event])),
        );
      } finally {
        await source.stop();
        await folder.remove();
      }
    },
    scaleTimeout(150_000),
  );
}
