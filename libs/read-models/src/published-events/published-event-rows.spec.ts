import { InProcessLeases } from '@tracking/embedded';
import type { Query } from '@tracking/ports';
import { storedEventTypes, upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import { noMetrics, silentLogger } from '@tracking/testing';
import {
  ACME_LIVE_SCOPE,
  createSampleDocumentRecord,
  createSampleMilestone,
  createShipmentEventForTest,
  createSampleShipmentRecord,
  createNthTestShipmentToken,
} from '../../test/shipment-events.ts';
import type { ProjectedEvent } from '../read-model.ts';
import { EventSweeper, publishedEventsReadModel } from './published-event-rows.ts';

const stream = `shipment-${createNthTestShipmentToken(1)}`;
const last = { containers: [] };
const exception = { id: 'exc_1' };
const estimate = createSampleMilestone(1, 'a', { classifier: 'estimated' });
const actual = createSampleMilestone(1, 'a');
const document = createSampleDocumentRecord(1, 'a');
const stored = { document, object_id: 'obj-a' };
const changed = { stored, previous: document };

/** Data of every stored event, with the type that it is announced as. */
const ANNOUNCED: readonly (readonly [type: string, data: object, announced: string | undefined])[] = [
  [
    'shipment.created.v1',
    { ...ACME_LIVE_SCOPE, shipment: createSampleShipmentRecord(1), sent: {} },
    'shipment.created',
  ],
  ['shipment.updated.v1', { fields: {}, sent: {}, last }, undefined],
  ['shipment.ports_given.v1', { origin_port: null, destination_port: null }, undefined],
  ['shipment.cancelled.v1', {}, undefined],
  ['shipment.reopened.v1', {}, undefined],
  ['shipment.changed.v1', { changes: {} }, 'shipment.updated'],
  ['milestone.recorded.v1', { milestone: actual, supersedes: [], last }, 'milestone.recorded'],
  ['milestone.recorded.v1', { milestone: estimate, supersedes: [], last }, undefined],
  ['milestone.corrected.v1', { milestone: actual, previous: estimate, last }, 'milestone.recorded'],
  ['milestone.corrected.v1', { milestone: actual, previous: actual, last }, undefined],
  ['milestone.retracted.v1', { milestone: actual, restores: [], last }, 'milestone.retracted'],
  ['milestone.retracted.v1', { milestone: estimate, restores: [], last }, undefined],
  ['milestone.superseded.v1', { supersedes: [], restores: [] }, undefined],
  ['exception.opened.v1', { exception, open_exceptions_count: 1 }, 'exception.opened'],
  ['exception.resolved.v1', { exception, open_exceptions_count: 0 }, 'exception.resolved'],
  ['exception.resolved.v2', { exception_id: exception.id, open_exceptions_count: 0 }, 'exception.resolved'],
  ['exception.updated.v1', { exception, previous: exception, note: null }, 'exception.updated'],
  ['exception.conditions_ended.v1', { exception_ids: ['exc_1'] }, undefined],
  ['document.requested.v1', { stored }, undefined],
  ['document.received.v1', { document_id: document.id, object: {} }, undefined],
  ['document.uploaded.v1', { stored, replaced: null, documents_count: 1 }, 'document.uploaded'],
  ['document.approved.v1', changed, 'document.approved'],
  ['document.rejected.v1', changed, 'document.rejected'],
  ['document.expired.v1', changed, undefined],
  ['document.deleted.v1', { ...changed, documents_count: 0 }, undefined],
  ['shipment.checked.v1', {}, undefined],
];

function event(type: string, data: object): ProjectedEvent {
  const written = { ...createShipmentEventForTest({ type, data }), stream, revision: 3, position: '0004' };
  return {
    id: written.id,
    stream,
    position: written.position,
    scope: ACME_LIVE_SCOPE,
    event: upcastStoredShipmentEvent(written),
  };
}
const rowsOf = (given: ProjectedEvent) => publishedEventsReadModel.applyEventToRows(given, () => undefined);

describe('rows of published events', () => {
  it.each(ANNOUNCED)('%s produces the row of its announced event', (type, data, announced) => {
    const given = event(type, data);
    expect(rowsOf(given)).toEqual(
      announced === undefined
        ? []
        : [
            {
              id: `evt_${given.id}`,
              ...ACME_LIVE_SCOPE,
              type: announced,
              created_at: given.event.metadata.recorded_at,
              stream,
              revision: 3,
              position: '0004',
            },
          ],
    );
  });

  it('the list of stored events is complete', () => {
    expect(new Set(ANNOUNCED.map(([type]) => type))).toEqual(new Set(storedEventTypes));
  });

  it('an event of a stream without a scope is refused', () => {
    expect(() => rowsOf({ ...event('shipment.changed.v1', { changes: {} }), scope: undefined })).toThrow(
      'does not begin with a shipment',
    );
  });
});

it('the sweep of expired events searches no further workspace once the process ends', async () => {
  const workspaces = Array.from({ length: 20 }, (_, n) => `wsp_${n + 10}`);
  const searches: unknown[] = [];
  const swept = Promise.withResolvers<void>();
  const find = async ({ filter }: Query) => {
    const { workspace_id } = filter as { readonly workspace_id: string | { readonly gt: string } };
    if (typeof workspace_id === 'string') {
      swept.resolve();
      // Lets the job stop before the sweep of the first workspace ends.
      await new Promise(setImmediate);
      return [];
    }
    searches.push(workspace_id.gt);
    return workspaces.filter((id) => id > workspace_id.gt).map((id) => ({ workspace_id: id }));
  };
  const { job } = new EventSweeper({
    active: {
      openActiveGenerationRows: async () => ({ find, writeMany: async () => undefined }) as never,
      getRetentionStart: () => '2026-01-01T00:00:00.000Z',
    },
    leases: new InProcessLeases(1),
    logger: silentLogger,
    metrics: noMetrics,
  });
  job.startJobRounds();
  await swept.promise;
  await job.stopJobRounds();
  expect(searches).toEqual(['']);
});
