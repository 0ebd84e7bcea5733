import { type JsonObject, DomainError } from '@tracking/contracts';
import { BusyError } from '@tracking/ports';
import { RecordedMetrics, passOperationsThroughJson, waitForSimulatedDelay } from '@tracking/testing';
import { type CancelShipmentCommand, toPublicEventId, toShipmentStreamName } from '@tracking/shipments-domain';
import {
  createSampleCancelShipmentCommand,
  createMilestoneCommand,
  createMilestones,
  createPatchCommand,
  createPatchContainerCommand,
  createReopenShipmentCommand,
  SAMPLE_SCOPE,
  createUpsertCommand,
} from '../test/builders.ts';
import { InterceptedStore, TestEngine, createShipmentsReplica } from '../test/engine.ts';
import { SAMPLE_PUBLIC_URLS } from '../test/publishing-test-harness.ts';
import { type EventOperations, createEventOperations } from './operations.ts';
import type { ShipmentsService } from './shipments.ts';

let engine: TestEngine;
beforeEach(async () => {
  engine = await TestEngine.openTestEngine();
});
afterEach(() => engine.closeTestEngine());

describe('stored events', () => {
  it('contain actor, time, command and request', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const command = createUpsertCommand(
      { external_id: 'PO-1', container_numbers: ['MSCU6639871'] },
      { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', request_id: 'req_42' },
    );
    const { answer, position } = await shipments.upsertShipment(command);
    const events = await engine.store.read(toShipmentStreamName(answer.shipment.id));
    // The container's check digit is wrong, so an exception opens with the shipment.
    expect(events.map(({ type }) => type)).toEqual(['shipment.created.v1', 'exception.opened.v1']);
    for (const [index, event] of events.entries()) {
      expect(event.metadata).toEqual({
        command_id: command.id,
        command_index: index,
        recorded_at: command.at,
        actor: command.actor,
        request_id: 'req_42',
        traceparent: command.traceparent,
        // A week without news.
        next_check_at: '2026-03-08T12:00:00.000Z',
      });
    }
    expect(position).toBe(events.at(-1)?.position);
    const exception = (events[1]?.data as JsonObject)['exception'] as JsonObject;
    expect(exception['id']).toMatch(new RegExp(`^exc_${answer.shipment.id.slice(4)}[a-z2-7]{16}$`));
  });

  it('create a shipment for each command without an external_id', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const answers = await Promise.all(
      [1, 2, 3].map(() => shipments.upsertShipment(createUpsertCommand({ house_bill: 'HB-1' }))),
    );
    expect(new Set(answers.map(({ answer }) => answer.shipment.id)).size).toBe(3);
  });
});

describe('scopes', () => {
  it.each([
    ['another workspace', { workspace_id: 'wsp_2', environment: 'live' }],
    ['the other environment', { workspace_id: 'wsp_1', environment: 'test' }],
  ] as const)('%s neither reads nor changes a shipment', async (_, foreign) => {
    const shipments = createShipmentsReplica(engine.store);
    const mine = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    const { id } = mine.answer.shipment;
    const command = createMilestoneCommand(id, {}, foreign);
    for (const each of [shipments, createShipmentsReplica(engine.store)]) {
      expect(await each.getShipment({ ...foreign, shipment_id: id })).toBeUndefined();
      await expect(each.recordMilestone(command)).rejects.toMatchObject({ code: 'not_found' });
      await expect(each.cancelShipment({ ...createSampleCancelShipmentCommand(id), ...foreign })).rejects.toMatchObject(
        {
          code: 'not_found',
        },
      );
      await expect(each.reopenShipment({ ...createReopenShipmentCommand(id), ...foreign })).rejects.toMatchObject({
        code: 'not_found',
      });
      const changes = { ...createPatchCommand(id, { house_bill: 'HB-2' }), ...foreign };
      await expect(each.patchShipment(changes)).rejects.toMatchObject({ code: 'not_found' });
      const seal = { ...createPatchContainerCommand(id, 'MSCU6639870', { seal_number: 'S' }), ...foreign };
      await expect(each.patchContainer(seal)).rejects.toMatchObject({ code: 'not_found' });
      await expect(each.cancelShipment(createSampleCancelShipmentCommand('shp_none'))).rejects.toMatchObject({
        code: 'not_found',
      });
    }
    const theirs = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }, foreign));
    expect(theirs.answer).toMatchObject({ outcome: 'created', shipment: { house_bill: null } });
    expect(theirs.answer.shipment.id).not.toBe(id);
    expect((await shipments.getShipment({ ...SAMPLE_SCOPE, shipment_id: id }))?.record).toEqual(mine.answer.shipment);
  });

  it('refuse a foreign command also in a batch with others', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const own = createMilestones(answer.shipment.id, 4);
    const foreign = createMilestones(answer.shipment.id, 4, { workspace_id: 'wsp_2' });
    const results = await Promise.allSettled(
      own.flatMap((each, n) => [each, foreign[n]!]).map((command) => shipments.recordMilestone(command)),
    );
    expect(results.map(({ status }) => status)).toEqual(
      results.map((_, n) => (n % 2 === 0 ? 'fulfilled' : 'rejected')),
    );
  });

  it('find no shipment with hostile ids, and write nothing', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const unknown = 'shp_aaaaaaaaaaaaaaaaaaaaaaaaaa';
    const hostile = ['', 'shp_', 'shp_x', unknown.replace('shp', 'mst'), 'shp_../../etc/passwd', `${unknown}b`];
    for (const id of [...hostile, unknown]) {
      expect(await shipments.getShipment({ ...SAMPLE_SCOPE, shipment_id: id })).toBeUndefined();
      await expect(shipments.recordMilestone(createMilestoneCommand(id))).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await engine.store.head()).toBeUndefined();
  });
});

describe('limits', () => {
  it('return busy if too many commands are queued, for one shipment and in total, and recover', async () => {
    const store = new InterceptedStore(engine.store);
    const metrics = new RecordedMetrics();
    const shipments = createShipmentsReplica(store, { commandsPerShipment: 10, commands: 20 }, metrics);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const gate = Promise.withResolvers<void>();
    store.intercept = async (append) => {
      await gate.promise;
      return append();
    };
    const results = Promise.allSettled([
      ...createMilestones(answer.shipment.id, 12).map((command) => shipments.recordMilestone(command)),
      ...Array.from({ length: 10 }, (_, n) =>
        shipments.upsertShipment(createUpsertCommand({ external_id: `other ${n}` })),
      ),
    ]);
    expect(metrics.getMetricValue('commands_pending')).toBe(20);
    gate.resolve();
    const refused = (await results).flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    // One of the shipment's twelve, and one of the rest: eleven and nine make twenty.
    expect(refused).toHaveLength(2);
    for (const error of refused) expect(error).toBeInstanceOf(BusyError);
    expect(metrics.getMetricValue('commands_total{type="RecordMilestone",outcome="busy"}')).toBe(1);
    expect(metrics.getMetricValue('commands_total{type="UpsertShipment",outcome="busy"}')).toBe(1);
    expect(metrics.getMetricValue('commands_pending')).toBe(0);
    await shipments.recordMilestone(createMilestoneCommand(answer.shipment.id));
  });

  it('expire a command in the queue without executing it', async () => {
    const store = new InterceptedStore(engine.store);
    const shipments = createShipmentsReplica(store, { deadlineMs: 50 });
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    store.intercept = async (append) => {
      await waitForSimulatedDelay(100);
      return append();
    };
    const [first, second] = await Promise.allSettled(
      createMilestones(answer.shipment.id, 2).map((command) => shipments.recordMilestone(command)),
    );
    expect(first?.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(BusyError) });
    const events = await engine.store.read(toShipmentStreamName(answer.shipment.id));
    expect(events.filter(({ type }) => type === 'milestone.recorded.v1')).toHaveLength(1);
  });

  it.each([
    ['one shipment', { shipments: 1, bytes: 1_000_000 }],
    ['next to nothing', { shipments: 100, bytes: 1 }],
    ['all', { shipments: 100, bytes: 1_000_000 }],
  ])('give the same answers if %s fits into the cache', async (_, cache) => {
    const metrics = new RecordedMetrics();
    const shipments = createShipmentsReplica(engine.store, { cache }, metrics);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.push((await shipments.upsertShipment(createUpsertCommand({ external_id: `PO-${n}` }))).answer.shipment.id);
    }
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        ids.flatMap((id) =>
          createMilestones(id, 3).map(({ milestone: { location, code }, ...command }) =>
            shipments.recordMilestone({
              ...command,
              milestone: { ...createMilestoneCommand(id).milestone, code, location: `${location} ${round}` },
            }),
          ),
        ),
      );
    }
    for (const id of ids) {
      const events = await engine.store.read(toShipmentStreamName(id));
      expect(events.filter(({ type }) => type === 'milestone.recorded.v1')).toHaveLength(9);
      expect(await shipments.getShipment({ ...SAMPLE_SCOPE, shipment_id: id })).toEqual(
        await createShipmentsReplica(engine.store).getShipment({ ...SAMPLE_SCOPE, shipment_id: id }),
      );
    }
    expect(metrics.getMetricValue('shipment_cache_size')).toBeLessThanOrEqual(cache.bytes === 1 ? 1 : cache.shipments);
  });
});

describe('the service of another process', () => {
  let service: ShipmentsService;
  let client: ShipmentsService;
  let events: EventOperations;
  beforeEach(() => {
    service = createShipmentsReplica(engine.store);
    client = passOperationsThroughJson(service);
    events = passOperationsThroughJson(createEventOperations(engine.store, SAMPLE_PUBLIC_URLS));
  });

  it('behaves the same', async () => {
    const elsewhere = await TestEngine.openTestEngine();
    const direct = createShipmentsReplica(elsewhere.store);

    const create = createUpsertCommand({ external_id: 'PO-1', container_numbers: ['MSCU6639870'] });
    const created = await client.upsertShipment(create);
    expect(created).toEqual(await direct.upsertShipment(create));
    const { id } = created.answer.shipment;
    const record = createMilestoneCommand(id);
    expect(await client.recordMilestone(record)).toEqual(await direct.recordMilestone(record));
    const [cancellation, reopening] = [createSampleCancelShipmentCommand(id), createReopenShipmentCommand(id)];
    expect(await client.cancelShipment(cancellation)).toEqual(await direct.cancelShipment(cancellation));
    expect(await client.reopenShipment(reopening)).toEqual(await direct.reopenShipment(reopening));
    const change = createPatchCommand(id, { house_bill: null, metadata: { a: '1', b: null } });
    expect(await client.patchShipment(change)).toEqual(await direct.patchShipment(change));
    const seal = createPatchContainerCommand(id, 'MSCU6639870', { seal_number: 'S-1', last_free_day: null });
    expect(await client.patchContainer(seal)).toEqual(await direct.patchContainer(seal));
    const request = { ...SAMPLE_SCOPE, shipment_id: id };
    expect(await client.getShipment(request)).toEqual(await direct.getShipment(request));
    expect(await client.getShipment({ ...request, environment: 'test' })).toBeUndefined();
    const wrong = createMilestoneCommand(id, { container_number: 'MSCU6639871', reason_code: 'none such' });
    const refusals = await Promise.all(
      [client, direct].map((each) => each.recordMilestone(wrong).catch((error: unknown) => error)),
    );
    expect(refusals[0]).toBeInstanceOf(DomainError);
    expect(refusals[0]).toEqual(refusals[1]);
    expect((refusals[0] as DomainError).details.map(({ param }) => param).sort()).toEqual([
      'container_number',
      'reason_code',
    ]);
    await elsewhere.closeTestEngine();
  });

  it('executes the called operation, regardless of a sent type', async () => {
    const { answer } = await client.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const command = createSampleCancelShipmentCommand(answer.shipment.id);
    for (const type of ['ReopenShipment', 'UpsertShipment', 'constructor', undefined]) {
      const cancelled = await client.cancelShipment({ ...command, type } as CancelShipmentCommand);
      expect(cancelled.answer).toMatchObject({ outcome: 'cancelled', shipment: { status: 'cancelled' } });
    }
  });

  it('passes nothing that JSON would change', async () => {
    const created = await client.upsertShipment(createUpsertCommand({ external_id: 'PO-1', legs: [] }));
    const { id } = created.answer.shipment;
    expect(await service.getShipment({ ...SAMPLE_SCOPE, shipment_id: id })).toStrictEqual({
      record: created.answer.shipment,
      position: created.position,
    });
    const record = createMilestoneCommand(id);
    const recorded = await client.recordMilestone(record);
    expect(await service.recordMilestone(record)).toStrictEqual(recorded);
  });

  it('reads the log, and accepts events from it', async () => {
    expect(await events.head()).toBeUndefined();
    await client.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    expect(await events.head()).toBe(await engine.store.head());
    const here = createEventOperations(engine.store, SAMPLE_PUBLIC_URLS);
    const page = await here.exportEvents({ after: null, limit: 10 });
    expect(await events.exportEvents({ after: null, limit: 10 })).toStrictEqual(page);
    expect(await events.importEvents({ events: page.events })).toEqual({ stored: page.events.length });
    const references = page.events.map(({ id, stream, revision }) => ({ id: toPublicEventId(id), stream, revision }));
    const made = await here.makeEvents({ references, max_bytes: 1_000_000 });
    expect(made.covered).toBe(references.length);
    expect(await events.makeEvents({ references, max_bytes: 1_000_000 })).toStrictEqual(made);
  });
});
