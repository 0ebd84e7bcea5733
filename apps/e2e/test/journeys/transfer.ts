import { join } from 'node:path';
import type { EventEnvelope, Milestone, Shipment } from '@tracking/contracts';
import { eventually, tempFolder, scaleTimeout } from '@tracking/testing';
import { cli, cliJson, startStandalone, type Subject } from '../subject.ts';
import { all, newKey, newTenant, type Tenant } from '../tenant.ts';

const SHIPMENTS = 6;
const CODES = ['gated_in', 'loaded_on_vessel', 'vessel_departed', 'customs_hold'];

/** Everything that a key can see, sorted. */
async function seen({ api }: Pick<Tenant, 'api'>) {
  const byId = (one: { readonly id: string }, other: { readonly id: string }) => (one.id < other.id ? -1 : 1);
  const shipments = (await all<Shipment>(api, '/v1/shipments')).sort(byId);
  const milestones: Milestone[] = [];
  for (const { id } of shipments) milestones.push(...(await all<Milestone>(api, `/v1/shipments/${id}/milestones`)));
  return { shipments, milestones, events: (await all<EventEnvelope>(api, '/v1/events')).sort(byId) };
}

export function transferJourney(subject: () => Subject): void {
  test(
    'data imported from a standalone server is returned unchanged',
    async () => {
      const [here = ''] = subject().urls;
      const folder = await tempFolder();
      // Links contain the URL of the new system.
      const source = await startStandalone({ BASE_URL: here, APP_URL: here });
      try {
        const tenant = await newTenant(source);
        for (let n = 0; n < SHIPMENTS; n += 1) {
          const created = await tenant.api.post<Shipment>('/v1/shipments', { external_id: `MOVE-${n}`, mode: 'ocean' });
          expect(created.status).toBe(201);
          for (const [day, code] of CODES.entries()) {
            const milestone = { code, occurred_at: `2026-11-0${day + 1}T08:00:00Z`, location: 'CNSHA' };
            expect((await tenant.api.post(`/v1/shipments/${created.data.id}/milestones`, milestone)).status).toBe(201);
          }
        }
        const written = await seen(tenant);
        expect(written.shipments).toHaveLength(SHIPMENTS);
        const file = join(folder.path, 'events.jsonl');
        const exported = await cliJson<{ events: number }>(source, 'events', 'export', file);
        await cli(subject(), 'events', 'import', file);
        expect(await cliJson(subject(), 'events', 'import', file)).toEqual({ ...exported, conflicts: [] });
        const reader = await newKey(subject(), tenant.workspace, 'viewer');
        await eventually(async () => expect(await seen(reader)).toEqual(written), { deadlineMs: 60_000 });
        const where = ['--workspace', tenant.workspace, '--environment', 'live', '--limit', '500'];
        const { data } = await cliJson<{ data: EventEnvelope[] }>(subject(), 'events', 'list', ...where);
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
