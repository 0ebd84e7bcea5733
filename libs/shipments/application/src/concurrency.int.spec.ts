import { toShipmentStreamName } from '@tracking/shipments-domain';
import { RecordedMetrics } from '@tracking/testing';
import {
  createMilestoneCommand,
  createMilestones,
  SAMPLE_SCOPE,
  createPatchCommand,
  createUpsertCommand,
} from '../test/builders.ts';
import { InterceptedStore, TestEngine, createShipmentsReplica } from '../test/engine.ts';

describe('many concurrent commands', () => {
  let engine: TestEngine;
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
  });
  afterEach(() => engine.closeTestEngine());

  const stored = (shipmentId: string) => engine.store.read(toShipmentStreamName(shipmentId));

  it('a thousand upserts of one external_id create one shipment in one stream', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: `HB-${n}` })),
      ),
    );
    expect(new Set(answers.map(({ answer }) => answer.shipment.id)).size).toBe(1);
    expect(answers.filter(({ answer }) => answer.outcome === 'created')).toHaveLength(1);
    expect(answers.filter(({ answer }) => answer.outcome === 'updated')).toHaveLength(999);
    expect(new Set(answers.map(({ answer }) => answer.shipment.version)).size).toBe(1_000);
    const streams = new Set<string>();
    for await (const { events, caughtUp } of engine.store.catchUp({
      streamPrefixes: ['shipment-'],
      signal: AbortSignal.timeout(5_000),
    })) {
      for (const event of events) streams.add(event.stream);
      if (caughtUp) break;
    }
    expect(streams.size).toBe(1);
  });

  it('200 equal upserts by two replicas create one shipment and nothing else', async () => {
    const replicas = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        replicas.map((each) => each.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }))),
      ).flat(),
    );
    const outcomes = answers.map(({ answer }) => answer.outcome).sort();
    expect(outcomes).toEqual(['created', ...Array.from({ length: 199 }, () => 'unchanged')]);
    expect(await stored(answers[0]?.answer.shipment.id ?? '')).toHaveLength(1);
  });

  it('exactly one of 60 that expect the same version is executed, on any replica', async () => {
    const replicas = [
      createShipmentsReplica(engine.store),
      createShipmentsReplica(engine.store),
      createShipmentsReplica(engine.store),
    ];
    let { shipment } = (await replicas[0]!.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }))).answer;
    for (let round = 0; round < 5; round++) {
      const expected = { expected_versions: [shipment.version] };
      const writes = Array.from({ length: 60 }, (_, n) =>
        replicas[n % 3]!.upsertShipment(
          createUpsertCommand({ external_id: 'PO-1', house_bill: `HB-${round}-${n}` }, expected),
        ),
      );
      const outcomes = await Promise.allSettled(writes);
      const written = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.answer] : []));
      expect(written).toHaveLength(1);
      ({ shipment } = written[0]!);
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []));
      expect(refusals).toHaveLength(59);
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ code: 'precondition_failed', version: shipment.version });
      }
    }
    const events = await stored(shipment.id);
    expect(events.filter(({ type }) => type === 'shipment.changed.v1')).toHaveLength(5);
  });

  it('1,000 different milestones of one shipment are all recorded', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const answers = await Promise.all(
      createMilestones(answer.shipment.id, 1_000).map((command) => shipments.recordMilestone(command)),
    );
    expect(answers.filter(({ answer }) => answer.outcome === 'recorded')).toHaveLength(1_000);
    const events = await stored(answer.shipment.id);
    const recorded = events.filter(({ type }) => type === 'milestone.recorded.v1');
    expect(new Set(recorded.map(({ data }) => (data['milestone'] as { id: string }).id))).toEqual(
      new Set(answers.map(({ answer }) => answer.milestone.id)),
    );
    expect(recorded).toHaveLength(1_000);
  });

  it('of two replicas on one shipment lose nothing, and neither reads a state that never existed', async () => {
    const replicas = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    const { answer } = await replicas[0]!.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const { id } = answer.shipment;
    const work = replicas.map(async (each, n) => {
      for (let round = 0; round < 10; round++) {
        await Promise.all([
          ...createMilestones(id, 15, { request_id: `req_${n}_${round}` }).map((command, m) =>
            each.recordMilestone({
              ...command,
              milestone: { ...command.milestone, location: `replica ${n} round ${round} checkpoint ${m}` },
            }),
          ),
          each.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: `HB-${n}-${round}` })),
        ]);
      }
    });
    await Promise.all(work);
    const events = await stored(id);
    expect(events.map(({ revision }) => revision)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ type }) => type === 'milestone.recorded.v1')).toHaveLength(300);
    const fresh = await createShipmentsReplica(engine.store).getShipment({ ...SAMPLE_SCOPE, shipment_id: id });
    for (const each of replicas) expect(await each.getShipment({ ...SAMPLE_SCOPE, shipment_id: id })).toEqual(fresh);
    expect(fresh?.record.version).toBe(events.length);
  });

  it('that are refused do not affect those in the same batch', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const { id } = answer.shipment;
    const results = await Promise.allSettled(
      createMilestones(id, 50).map((command, n) =>
        shipments.recordMilestone(
          n % 2 === 0 ? command : { ...command, milestone: { ...command.milestone, container_number: 'MSCU6639870' } },
        ),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(
      results.map((_, n) => (n % 2 === 0 ? 'fulfilled' : 'rejected')),
    );
    expect((await stored(id)).filter(({ type }) => type === 'milestone.recorded.v1')).toHaveLength(25);
  });

  it('that exceed one append are split over several, in order', async () => {
    const store = new InterceptedStore(engine.store);
    const sizes: number[] = [];
    store.intercept = (append, _, events) => {
      sizes.push(Buffer.byteLength(JSON.stringify(events)));
      return append();
    };
    const shipments = createShipmentsReplica(store);
    const commands = Array.from({ length: 30 }, (_, n) =>
      createUpsertCommand({
        external_id: 'PO-1',
        references: Array.from({ length: 50 }, () => ({ type: 'po', value: 'ß'.repeat(900) + String(n) })),
      }),
    );
    const answers = await Promise.all(commands.map((command) => shipments.upsertShipment(command)));
    const events = await stored(answers[0]?.answer.shipment.id ?? '');
    expect(events.map(({ metadata }) => metadata['command_id'])).toEqual(commands.map((command) => command.id));
    expect(answers.map(({ answer }) => answer.shipment.references[0]?.value.slice(900))).toEqual(
      commands.map((_, n) => String(n)),
    );
    expect(Math.max(...sizes)).toBeLessThan(1024 * 1024);
    expect(sizes.length).toBeLessThan(30);
  });

  it('too large for an append do not affect others', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    // Counted in characters, the append would not be too large.
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, '港'.repeat(7_000)]));
    const changes = [{ vessel: 'Honam' }, { metadata }, { vessel: 'Ever Ace' }].map((fields) =>
      shipments.patchShipment(createPatchCommand(answer.shipment.id, fields)),
    );
    const results = await Promise.allSettled(changes);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'body_too_large' } });
  });

  it('for different shipments do not block each other', async () => {
    const shipments = createShipmentsReplica(engine.store);
    const created = await Promise.all(
      Array.from({ length: 100 }, (_, n) => shipments.upsertShipment(createUpsertCommand({ external_id: `PO-${n}` }))),
    );
    const answers = await Promise.all(
      created.map(({ answer }) => shipments.recordMilestone(createMilestoneCommand(answer.shipment.id))),
    );
    for (const [n, { answer }] of answers.entries()) {
      expect(answer.milestone.shipment_id).toBe(created[n]?.answer.shipment.id);
    }
  });
});

describe('an upsert of a shipment that is not in memory', () => {
  let engine: TestEngine;
  let store: InterceptedStore;
  let calls: string[];
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
    store = new InterceptedStore(engine.store);
    calls = [];
    const { read } = store;
    store.read = (stream, range) => {
      calls.push('read');
      return read(stream, range);
    };
    store.intercept = (append) => {
      calls.push('append');
      return append();
    };
  });
  afterEach(() => engine.closeTestEngine());

  it('creates the shipment without a read', async () => {
    const { answer } = await createShipmentsReplica(store).upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    expect(answer.outcome).toBe('created');
    expect(calls).toEqual(['append']);
  });

  it('changes a shipment that exists, which counts as no conflict with another replica', async () => {
    await createShipmentsReplica(engine.store).upsertShipment(
      createUpsertCommand({ external_id: 'PO-1', booking_number: 'B-1' }),
    );
    const metrics = new RecordedMetrics();
    const shipments = createShipmentsReplica(store, {}, metrics);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    expect(answer).toMatchObject({
      outcome: 'updated',
      shipment: { booking_number: 'B-1', house_bill: 'HB-1', version: 2 },
    });
    expect(calls).toEqual(['append', 'read', 'append']);
    expect(metrics.getMetricValue('command_conflicts_total')).toBe(0);
  });

  it('is decided on the stream if it could not create the shipment', async () => {
    await createShipmentsReplica(engine.store).upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const update = createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }, { expected_versions: [1] });
    const { answer } = await createShipmentsReplica(store).upsertShipment(update);
    expect(answer).toMatchObject({ outcome: 'updated', shipment: { house_bill: 'HB-1', version: 2 } });
    expect(calls).toEqual(['read', 'append']);
  });
});
