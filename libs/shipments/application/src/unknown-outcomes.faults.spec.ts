import { BusyError, UnavailableError, WritesRefusedError } from '@tracking/ports';
import { type LogLine, eventually, createRecordingLogger } from '@tracking/testing';
import { toShipmentStreamName } from '@tracking/shipments-domain';
import { createMilestoneCommand, createMilestones, SAMPLE_SCOPE, createUpsertCommand } from '../test/builders.ts';
import { InterceptedStore, TestEngine, createShipmentsReplica } from '../test/engine.ts';

describe('an engine that does not respond', () => {
  let engine: TestEngine;
  let store: InterceptedStore;
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
    store = new InterceptedStore(engine.store);
  });
  afterEach(() => engine.closeTestEngine());

  const types = async (shipmentId: string) =>
    (await engine.store.read(toShipmentStreamName(shipmentId))).map(({ type }) => type);

  it.each([
    ['had stored the events', true],
    ['had stored nothing', false],
  ])('but %s: the command is executed once', async (_, stores) => {
    const shipments = createShipmentsReplica(store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    let failures = 0;
    store.intercept = async (append) => {
      if (failures++ >= 2) return append();
      if (stores) await append();
      throw new UnavailableError('event store', 'no answer');
    };
    const answers = await Promise.all(
      createMilestones(answer.shipment.id, 30).map((command) => shipments.recordMilestone(command)),
    );
    expect(failures).toBeGreaterThan(2);
    expect(answers.every(({ answer }) => answer.outcome === 'recorded')).toBe(true);
    const stored = await types(answer.shipment.id);
    expect(stored.filter((type) => type === 'milestone.recorded.v1')).toHaveLength(30);
    const fresh = await createShipmentsReplica(engine.store).getShipment({
      ...SAMPLE_SCOPE,
      shipment_id: answer.shipment.id,
    });
    expect(await shipments.getShipment({ ...SAMPLE_SCOPE, shipment_id: answer.shipment.id })).toEqual(fresh);
  });

  it('but refuses writes: the caller gets that immediately, without retries', async () => {
    const shipments = createShipmentsReplica(store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    let appends = 0;
    store.intercept = () => {
      appends += 1;
      return Promise.reject(new WritesRefusedError('storage', 'no room on the disk'));
    };
    await expect(shipments.recordMilestone(createMilestoneCommand(answer.shipment.id))).rejects.toThrow(
      WritesRefusedError,
    );
    expect(appends).toBe(1);
  });

  it('at all times out; the command is executed once when the engine responds', async () => {
    const shipments = createShipmentsReplica(store, { silenceMs: 20 });
    const { answer } = await createShipmentsReplica(engine.store).upsertShipment(
      createUpsertCommand({ external_id: 'PO-1' }),
    );
    const hanging = Promise.withResolvers<void>();
    store.intercept = async (append) => {
      await hanging.promise;
      return append();
    };
    const command = createMilestoneCommand(answer.shipment.id);
    await expect(shipments.recordMilestone(command)).rejects.toThrow(UnavailableError);
    hanging.resolve();
    store.intercept = (append) => append();
    await eventually(() => shipments.recordMilestone(command));
    expect((await types(answer.shipment.id)).filter((type) => type === 'milestone.recorded.v1')).toHaveLength(1);
  });

  it('is logged in a line for each command, with its request, trace and shipment', async () => {
    const lines: LogLine[] = [];
    const shipments = createShipmentsReplica(store, {}, undefined, createRecordingLogger(lines));
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const shipment_id = answer.shipment.id;
    let isFirst = true;
    store.intercept = (append) => {
      if (!isFirst) return append();
      isFirst = false;
      return Promise.reject(new UnavailableError('event store', 'no answer'));
    };
    const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${trace_id}-00f067aa0ba902b7-01`;
    await shipments.recordMilestone(createMilestoneCommand(shipment_id, {}, { request_id: 'req_2', traceparent }));
    expect(lines.map(({ fields }) => fields)).toEqual([
      { request_id: 'req_2', trace_id, shipment_id, reason: 'event store: no answer' },
    ]);
  });

  it('and stored the events just before another replica wrote: both are stored once', async () => {
    const shipments = createShipmentsReplica(store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const { id } = answer.shipment;
    let isFirst = true;
    store.intercept = async (append) => {
      const appended = await append();
      if (!isFirst) return appended;
      isFirst = false;
      await createShipmentsReplica(engine.store).recordMilestone(
        createMilestoneCommand(id, { code: 'vessel_arrived' }),
      );
      throw new UnavailableError('event store', 'no answer');
    };
    const recorded = await shipments.recordMilestone(createMilestoneCommand(id, { code: 'vessel_departed' }));
    expect(recorded.answer.outcome).toBe('recorded');
    expect((await types(id)).filter((type) => type === 'milestone.recorded.v1')).toHaveLength(2);
    const later = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    expect(later.answer.shipment.status).toBe('arrived');
    expect(later.answer.shipment.version).toBe((await types(id)).length);
  });

  it('and lets another replica write first: the command is decided on its result', async () => {
    const shipments = createShipmentsReplica(store);
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const { id } = answer.shipment;
    let isFirst = true;
    store.intercept = async (append) => {
      if (!isFirst) return append();
      isFirst = false;
      await createShipmentsReplica(engine.store).upsertShipment(
        createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-other' }),
      );
      throw new UnavailableError('event store', 'no answer');
    };
    const { answer: updated } = await shipments.upsertShipment(
      createUpsertCommand({ external_id: 'PO-1', booking_number: 'B-1' }),
    );
    expect(updated.shipment).toMatchObject({ house_bill: 'HB-other', booking_number: 'B-1' });
    expect(await types(id)).toHaveLength(updated.shipment.version);
  });

  it('until the deadline: the outcome is unknown, and repeating the command later returns it', async () => {
    const shipments = createShipmentsReplica(store, { deadlineMs: 60 });
    const create = createUpsertCommand({ external_id: 'PO-1' });
    store.intercept = async (append) => {
      await append();
      throw new UnavailableError('event store', 'no answer');
    };
    const failure = await shipments.upsertShipment(create).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(failure).not.toBeInstanceOf(BusyError);
    store.intercept = (append) => append();
    const { answer } = await shipments.upsertShipment(create);
    expect(answer.outcome).toBe('created');
    expect(await types(answer.shipment.id)).toEqual(['shipment.created.v1']);
  });

  it('and is busy on the retry: the outcome stays unknown', async () => {
    const shipments = createShipmentsReplica(store, { deadlineMs: 60 });
    let isFirst = true;
    store.intercept = async () => {
      if (!isFirst) throw new BusyError('event store', 'full');
      isFirst = false;
      throw new UnavailableError('event store', 'no answer');
    };
    const failure = await shipments
      .upsertShipment(createUpsertCommand({ external_id: 'PO-1' }))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(failure).not.toBeInstanceOf(BusyError);
  });

  it('because it is busy: nothing was done, and the caller gets that immediately', async () => {
    const shipments = createShipmentsReplica(store);
    store.intercept = () => Promise.reject(new BusyError('event store', 'full'));
    const create = createUpsertCommand({ external_id: 'PO-1' });
    await expect(shipments.upsertShipment(create)).rejects.toThrow(BusyError);
    store.intercept = (append) => append();
    expect((await shipments.upsertShipment(create)).answer.outcome).toBe('created');
  });
});

describe('a cached shipment while another replica writes to it', () => {
  let engine: TestEngine;
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
  });
  afterEach(() => engine.closeTestEngine());

  it('does not make an upsert ineffective with a stale state', async () => {
    const [one, other] = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    await one.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    await other.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-2' }));
    const { answer } = await one.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    expect(answer.outcome).toBe('updated');
    expect(answer.shipment).toMatchObject({ house_bill: 'HB-1', version: 3 });
  });

  it('does not refuse a command with a stale state', async () => {
    const [one, other] = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    const { answer } = await one.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    await other.upsertShipment(createUpsertCommand({ external_id: 'PO-1', container_numbers: ['MSCU6639871'] }));
    const recorded = await one.recordMilestone(
      createMilestoneCommand(answer.shipment.id, { container_number: 'MSCU6639871' }),
    );
    expect(recorded.answer.outcome).toBe('recorded');
  });

  it('answers a command without events with the position of the last event of any replica', async () => {
    const [one, other] = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    await one.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const written = await other.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    const unchanged = await one.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    expect(unchanged.answer.outcome).toBe('unchanged');
    expect(unchanged.position).toBe(written.position);
  });

  it('shows at least everything acknowledged before by any replica', async () => {
    const [one, other] = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    const { answer } = await one.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const written = await other.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    expect(await one.getShipment({ ...SAMPLE_SCOPE, shipment_id: answer.shipment.id })).toEqual({
      record: written.answer.shipment,
      position: written.position,
    });
  });
});
