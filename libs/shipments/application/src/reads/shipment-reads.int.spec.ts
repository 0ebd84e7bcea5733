import type { EtaChange, Milestone, WorkspaceScope } from '@tracking/contracts';
import type { EventStore } from '@tracking/ports';
import {
  type RecordMilestoneCommand,
  compareMilestones,
  evolveShipmentRecord,
  fold,
  toShipmentStreamName,
  upcastStoredShipmentEvent,
} from '@tracking/shipments-domain';
import {
  createAddDocumentCommand,
  createSampleCancelShipmentCommand,
  createCorrectMilestoneCommand,
  createDeleteDocumentCommand,
  createMilestoneCommand,
  createMilestones,
  createOpenExceptionCommand,
  createPatchCommand,
  createReceiveUploadCommand,
  createReopenShipmentCommand,
  createSampleRequestUploadCommand,
  createSampleResolveExceptionCommand,
  createRetractMilestoneCommand,
  SAMPLE_SCOPE,
  createUpsertCommand,
} from '../../test/builders.ts';
import { TestEngine, createShipmentsReplica } from '../../test/engine.ts';
import type { ShipmentsService } from '../shipments.ts';
import type { ReadShipmentHistoryRequest, ReadPage } from './shipment-reads.ts';

let engine: TestEngine;
let shipments: ShipmentsService;
beforeEach(async () => {
  engine = await TestEngine.openTestEngine();
  shipments = createShipmentsReplica(engine.store);
});
afterEach(() => engine.closeTestEngine());

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString();

/** Counts the events read. */
function countingReads(store: EventStore): { readonly store: EventStore; readonly read: () => number } {
  let count = 0;
  const counting = new Proxy(store, {
    get(of, name) {
      if (name === 'read') {
        return async (...range: Parameters<EventStore['read']>) => {
          const events = await of.read(...range);
          count += events.length;
          return events;
        };
      }
      const member = Reflect.get(of, name, of) as unknown;
      return typeof member === 'function' ? (member.bind(of) as unknown) : member;
    },
  });
  return { store: counting, read: () => count };
}

async function pagesOf<T>(
  list: (request: ReadShipmentHistoryRequest) => Promise<ReadPage<T> | undefined>,
  shipment_id: string,
  limit: number,
): Promise<ReadPage<T>[]> {
  const pages: ReadPage<T>[] = [];
  for (let after: ReadPage<T>['next'] | undefined; after !== null;) {
    const page = await list({ ...SAMPLE_SCOPE, shipment_id, limit, after });
    if (page === undefined) throw new Error('there is no such shipment');
    pages.push(page);
    after = page.next;
  }
  return pages;
}

/** A shipment with many events, one minute apart. */
async function eventful(): Promise<string> {
  const fields = { external_id: 'PO-1', mode: 'ocean' as const, eta: at(100), container_numbers: ['MSCU6639871'] };
  const { answer } = await shipments.upsertShipment(createUpsertCommand(fields, { at: at(0) }));
  const { id } = answer.shipment;
  const estimate = { code: 'vessel_arrived', classifier: 'estimated', source: 'carrier' } as const;
  const record = async (minute: number, what: Parameters<typeof createMilestoneCommand>[1]) =>
    (await shipments.recordMilestone(createMilestoneCommand(id, what, { at: at(minute) }))).answer.milestone.id;
  await record(1, { ...estimate, occurred_at: at(200) });
  const second = await record(2, { ...estimate, occurred_at: at(260), reason_code: 'weather' });
  const hold = await record(3, { code: 'customs_hold' });
  await shipments.correctMilestone({ ...createCorrectMilestoneCommand(id, hold, { note: 'x' }), at: at(4) });
  await shipments.retractMilestone({ ...createRetractMilestoneCommand(id, second), at: at(5) });
  await shipments.cancelShipment({ ...createSampleCancelShipmentCommand(id), at: at(6) });
  await shipments.reopenShipment({ ...createReopenShipmentCommand(id), at: at(7) });
  await shipments.patchShipment({ ...createPatchCommand(id, { eta: at(300) }), at: at(8) });
  return id;
}

async function recorded(id: string, occurred_at: string, when: string) {
  const { answer } = await shipments.recordMilestone(createMilestoneCommand(id, { occurred_at }, { at: when }));
  return { milestone_id: answer.milestone.id };
}

describe('the past', () => {
  it('equals the former answer at each revision', async () => {
    const id = await eventful();
    const events = (await engine.store.read(toShipmentStreamName(id))).map(upcastStoredShipmentEvent);
    for (let minute = 0; minute <= 9; minute++) {
      const then = events.filter(({ metadata }) => metadata.recorded_at <= at(minute));
      const record = await shipments.getShipmentAt({ ...SAMPLE_SCOPE, shipment_id: id, as_of: at(minute) });
      expect(JSON.stringify(record)).toBe(JSON.stringify(then.reduce(evolveShipmentRecord, undefined as never)));
      const everything = { include_superseded: true, include_retracted: true, limit: 3 };
      const found: Milestone[] = [];
      for (let after: ReadPage<Milestone>['next'] | undefined; after !== null;) {
        const page = await shipments.listMilestonesAt({
          ...{ ...SAMPLE_SCOPE, shipment_id: id, as_of: at(minute), ...everything, after },
          classifiers: ['actual', 'estimated', 'planned'],
        });
        found.push(...(page?.items ?? []));
        after = page?.next ?? null;
      }
      expect(JSON.stringify(found)).toBe(JSON.stringify(fold(then)?.timeline.map((entry) => entry.milestone)));
      expect(found).toEqual(found.toSorted(compareMilestones));
    }
    const before = { ...SAMPLE_SCOPE, shipment_id: id, as_of: '2026-03-01T11:59:59.999Z' };
    expect(await shipments.getShipmentAt(before)).toBeUndefined();
  });

  it('is folded once for any number of pages', async () => {
    const id = await eventful();
    const { store, read } = countingReads(engine.store);
    const reader = createShipmentsReplica(store);
    const first = { ...SAMPLE_SCOPE, shipment_id: id, limit: 1, classifiers: ['actual'] } as const;
    const everything = { include_superseded: true, include_retracted: true };
    const pageAt = async (minute: number, of: Partial<WorkspaceScope> = {}) => {
      const before = read();
      const page = await reader.listMilestonesAt({ ...first, ...everything, as_of: at(minute), ...of });
      return { page, events: read() - before };
    };
    for (const minute of [5, 60]) {
      const once = await pageAt(minute);
      expect(once.events).toBeGreaterThan(0);
      expect(await pageAt(minute)).toEqual({ page: once.page, events: 0 });
      expect(await pageAt(minute, { workspace_id: 'wsp_2' })).toMatchObject({ page: undefined });
    }
    // The time is later, although nothing was recorded.
    const occurred_at = '2026-01-01T00:00:00.000Z';
    const { milestone_id } = await recorded(id, occurred_at, at(50));
    const { page, events } = await pageAt(60);
    expect(page?.items.map((each) => each.id)).toEqual([milestone_id]);
    expect(events).toBeLessThan(5);
    expect((await pageAt(5)).events).toBe(0);
  });

  it('contains no event after a later one, if clocks of replicas differ', async () => {
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }, { at: at(0) }));
    const { id } = answer.shipment;
    await shipments.recordMilestone(createMilestoneCommand(id, { code: 'gated_in' }, { at: at(5) }));
    await shipments.recordMilestone(createMilestoneCommand(id, { code: 'vessel_departed' }, { at: at(4) }));
    const versionAt = async (minute: number) =>
      (await shipments.getShipmentAt({ ...SAMPLE_SCOPE, shipment_id: id, as_of: at(minute) }))?.version;
    const last = (await shipments.getShipment({ ...SAMPLE_SCOPE, shipment_id: id }))?.record.version;
    expect([await versionAt(4), await versionAt(5)]).toEqual([1, last]);
  });
});

describe('a milestone', () => {
  it('is returned in any state, as new as its last write on any replica', async () => {
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const shipment_id = answer.shipment.id;
    const recorded = (await shipments.recordMilestone(createMilestoneCommand(shipment_id))).answer;
    const other = createShipmentsReplica(engine.store);
    const request = { ...SAMPLE_SCOPE, shipment_id, milestone_id: recorded.milestone.id };
    const found = { milestone: recorded.milestone, shipment_version: recorded.shipment_version };
    for (const each of [shipments, other]) expect(await each.getMilestone(request)).toEqual(found);
    const retracted = await shipments.retractMilestone(
      createRetractMilestoneCommand(shipment_id, recorded.milestone.id),
    );
    for (const each of [shipments, other, createShipmentsReplica(engine.store)]) {
      expect((await each.getMilestone(request))?.milestone).toEqual(retracted.answer.milestone);
    }
  });

  it('is not found in another scope or shipment', async () => {
    const [one, two] = [createUpsertCommand({ external_id: 'PO-1' }), createUpsertCommand({ external_id: 'PO-2' })];
    const [shipment_id, another] = [
      (await shipments.upsertShipment(one)).answer.shipment.id,
      (await shipments.upsertShipment(two)).answer.shipment.id,
    ];
    const milestone_id = (await shipments.recordMilestone(createMilestoneCommand(shipment_id))).answer.milestone.id;
    const request = { ...SAMPLE_SCOPE, shipment_id, milestone_id };
    for (const stranger of [{ workspace_id: 'wsp_2' }, { environment: 'test' as const }, { shipment_id: another }]) {
      expect(await shipments.getMilestone({ ...request, ...stranger })).toBeUndefined();
    }
    expect(await shipments.getMilestone({ ...request, milestone_id: `${milestone_id}a` })).toBeUndefined();
  });
});

describe('an exception', () => {
  it('is found by its id alone, as new as its last write on any replica', async () => {
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const { id } = answer.shipment;
    const opened = await shipments.openException(createOpenExceptionCommand(id));
    const exception_id = opened.answer.exception.id;
    const [other, restarted] = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    const found = { exception: opened.answer.exception, shipment_version: opened.answer.shipment_version };
    for (const each of [shipments, other])
      expect(await each.getException({ ...SAMPLE_SCOPE, exception_id })).toEqual(found);
    const resolved = await shipments.resolveException(createSampleResolveExceptionCommand(id, exception_id));
    for (const each of [shipments, other, restarted]) {
      expect((await each.getException({ ...SAMPLE_SCOPE, exception_id }))?.exception).toEqual(
        resolved.answer.exception,
      );
    }
  });

  it('is not found in another scope, or with a malformed id', async () => {
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const exception_id = (await shipments.openException(createOpenExceptionCommand(answer.shipment.id))).answer
      .exception.id;
    for (const stranger of [{ workspace_id: 'wsp_2' }, { environment: 'test' as const }]) {
      expect(await shipments.getException({ ...SAMPLE_SCOPE, ...stranger, exception_id })).toBeUndefined();
    }
    const unknown = `${exception_id.slice(0, -1)}${exception_id.endsWith('a') ? 'b' : 'a'}`;
    for (const id of [
      unknown,
      exception_id.slice(0, -1),
      exception_id.replace('exc_', 'mst_'),
      answer.shipment.id,
      '',
    ]) {
      expect(await shipments.getException({ ...SAMPLE_SCOPE, exception_id: id })).toBeUndefined();
    }
  });
});

describe('the objects that documents need', () => {
  const now = at(0);
  const expiry = '2026-03-02T12:00:00.000Z';

  it('are those of complete documents, and of uploads until they expire', async () => {
    const id = (await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }))).answer.shipment.id;
    await shipments.addDocument(createAddDocumentCommand(id, 'object-added'));
    const deleted = (await shipments.addDocument(createAddDocumentCommand(id, 'object-deleted'))).answer.document.id;
    await shipments.deleteDocument(createDeleteDocumentCommand(id, deleted));
    const pending = (await shipments.requestUpload(createSampleRequestUploadCommand(id))).answer.document.id;
    await shipments.requestUpload(createSampleRequestUploadCommand(id));
    await shipments.receiveUpload(createReceiveUploadCommand(id, pending, 'object-received'));

    const justBefore = '2026-03-02T11:59:59.999Z';
    for (const each of [now, justBefore]) {
      const needed = await shipments.documentObjects({ shipment_id: id, now: each });
      expect([...needed].sort()).toEqual(['object-added', 'object-received']);
    }
    expect(await shipments.documentObjects({ shipment_id: id, now: expiry })).toEqual(['object-added']);
  });

  it('are none without a shipment', async () => {
    for (const shipment_id of [`shp_${'a'.repeat(26)}`, 'shp_', '']) {
      expect(await shipments.documentObjects({ shipment_id, now })).toEqual([]);
    }
  });
});

describe('the history', () => {
  /** Few at a time, so that none times out on a slow machine. */
  async function record(commands: readonly RecordMilestoneCommand[]): Promise<void> {
    for (let from = 0; from < commands.length; from += 200) {
      const some = commands.slice(from, from + 200);
      await Promise.all(some.map((command) => shipments.recordMilestone(command)));
    }
  }

  it('is the same with any page size', async () => {
    const id = await eventful();
    const listHistory = (request: ReadShipmentHistoryRequest) => shipments.listHistory(request);
    const listEtaHistory = (request: ReadShipmentHistoryRequest) => shipments.listEtaHistory(request);
    for (const list of [listHistory, listEtaHistory]) {
      const [whole] = await pagesOf<unknown>(list, id, 200);
      expect(whole?.next).toBeNull();
      for (const limit of [1, 2, 5]) {
        const items = (await pagesOf<unknown>(list, id, limit)).flatMap((page) => page.items);
        expect(items).toEqual(whole?.items);
      }
    }
  });

  it('reads only the part of a long stream that its page needs', async () => {
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const { id } = answer.shipment;
    await record(createMilestones(id, 300));
    const counting = countingReads(engine.store);
    const other = createShipmentsReplica(counting.store);
    const page = await other.listHistory({ ...SAMPLE_SCOPE, shipment_id: id, limit: 50 });
    expect(page?.items).toHaveLength(50);
    expect(counting.read()).toBeLessThan(150);
  });

  it('reads a limited number of events per page, and continues with the next', async () => {
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1', eta: at(0) }));
    const { id } = answer.shipment;
    await shipments.recordMilestone(createMilestoneCommand(id, {}, { at: at(1) }));
    const [created, ...events] = await engine.store.read(`shipment-${id.slice(4)}`);
    const recorded = events.find(({ type }) => type === 'milestone.recorded.v1');
    if (created === undefined || recorded === undefined) throw new Error('nothing was recorded');
    // A stream with many equal events.
    const last = 2_500;
    const long: Pick<EventStore, 'read' | 'readLastRevision'> = {
      readLastRevision: async () => last,
      read: async (_stream, { from = 0, to = last } = {}) =>
        Array.from({ length: Math.min(to, last) - from + 1 }, (_, n) => ({
          ...(from + n === 0 ? created : recorded),
          revision: from + n,
        })),
    };
    const counting = countingReads(Object.assign(Object.create(engine.store) as EventStore, long));
    const other = createShipmentsReplica(counting.store);
    const [first, ...others] = await pagesOf<EtaChange>((request) => other.listEtaHistory(request), id, 10);
    expect(first?.items).toEqual([]);
    expect(others.flatMap(({ items }) => items)).toMatchObject([{ eta: at(0), source: 'client' }]);
    expect(counting.read()).toBeLessThan(2 * last);
  });
});
