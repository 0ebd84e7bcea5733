import { toShipmentStreamName } from '@tracking/shipments-domain';
import {
  createAcknowledgeExceptionCommand,
  createSampleCancelShipmentCommand,
  createCorrectMilestoneCommand,
  createMilestoneCommand,
  createMilestones,
  createOpenExceptionCommand,
  createPatchCommand,
  createPatchContainerCommand,
  EMPTY_PLACE_LOOKUP,
  createReopenShipmentCommand,
  createSampleResolveExceptionCommand,
  createRetractMilestoneCommand,
  SAMPLE_SCOPE,
  createUpsertCommand,
} from '../test/builders.ts';
import { InterceptedStore, TestEngine, createShipmentsReplica } from '../test/engine.ts';
import type { ShipmentsService } from './shipments.ts';

describe('a repeated command', () => {
  let engine: TestEngine;
  let shipments: ShipmentsService;
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
    shipments = createShipmentsReplica(engine.store);
  });
  afterEach(() => engine.closeTestEngine());

  const length = async (shipmentId: string) => (await engine.store.read(toShipmentStreamName(shipmentId))).length;

  it.each([
    ['at once, by the same replica', () => shipments],
    ['by another replica', () => createShipmentsReplica(engine.store)],
    [
      'after a restart',
      async () => {
        await engine.reopenEngine();
        return createShipmentsReplica(engine.store);
      },
    ],
  ])('changes nothing and gets the same answer: %s', async (_, again) => {
    const create = createUpsertCommand({ external_id: 'PO-1', container_numbers: ['MSCU6639870', 'MSCU6639871'] });
    const created = await shipments.upsertShipment(create);
    const { id } = created.answer.shipment;
    const record = createMilestoneCommand(id, { external_id: 'M-1', location: 'Hamburg' });
    const recorded = await shipments.recordMilestone(record);
    const corrects = createMilestoneCommand(id, {
      external_id: 'M-1',
      location: 'Bremerhaven',
      code: 'vessel_departed',
    });
    const corrected = await shipments.recordMilestone(corrects);
    const update = createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1', container_numbers: [] });
    const updated = await shipments.upsertShipment(update);
    await shipments.recordMilestone(createMilestoneCommand(id, { location: 'Hamburg' }));
    const known = createMilestoneCommand(id, { location: 'Hamburg', external_id: 'M-2' });
    const renamed = await shipments.recordMilestone(known);
    const [correction, retraction] = [
      createCorrectMilestoneCommand(id, recorded.answer.milestone.id, { note: 'by phone' }),
      createRetractMilestoneCommand(id, recorded.answer.milestone.id),
    ];
    const byHand = await shipments.correctMilestone(correction);
    const retracted = await shipments.retractMilestone(retraction);
    const [cancellation, reopening] = [createSampleCancelShipmentCommand(id), createReopenShipmentCommand(id)];
    const cancelled = await shipments.cancelShipment(cancellation);
    const reopened = await shipments.reopenShipment(reopening);
    const change = createPatchCommand(id, { container_numbers: ['MSCU6639870'], eta: '2026-04-01T00:00:00.000Z' });
    const changed = await shipments.patchShipment(change);
    const seal = createPatchContainerCommand(id, 'MSCU6639870', { seal_number: 'S-1' });
    const sealed = await shipments.patchContainer(seal);
    await shipments.patchContainer(createPatchContainerCommand(id, 'MSCU6639870', { seal_number: 'S-2' }));
    const opening = createOpenExceptionCommand(id, { type: 'seal_broken', container_number: 'MSCU6639870' });
    const opened = await shipments.openException(opening);
    const exceptionId = opened.answer.exception.id;
    const [taking, ending] = [
      createAcknowledgeExceptionCommand(id, exceptionId, 'Kim'),
      createSampleResolveExceptionCommand(id, exceptionId),
    ];
    const taken = await shipments.acknowledgeException(taking);
    await shipments.acknowledgeException(createAcknowledgeExceptionCommand(id, exceptionId, 'Sam'));
    const ended = await shipments.resolveException(ending);
    await shipments.openException(
      createOpenExceptionCommand(id, { type: 'seal_broken', container_number: 'MSCU6639870' }),
    );
    await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-2' }));
    const written = [created, recorded, corrected, updated, renamed, byHand, retracted];
    const first = [...written, cancelled, reopened, changed, sealed, opened, taken, ended];
    expect(first.map(({ answer }) => answer.outcome)).toEqual([
      'created',
      'recorded',
      'corrected',
      'updated',
      'existing',
      'corrected',
      'retracted',
      'cancelled',
      'reopened',
      'updated',
      'updated',
      'opened',
      'acknowledged',
      'resolved',
    ]);
    expect(created.answer.warnings).not.toEqual([]);
    const before = await length(id);

    const service = await again();
    expect(await service.upsertShipment(create)).toEqual(created);
    expect(await service.recordMilestone(record)).toEqual(recorded);
    expect(await service.recordMilestone(corrects)).toEqual(corrected);
    expect(await service.upsertShipment(update)).toEqual(updated);
    expect(await service.recordMilestone(known)).toEqual(renamed);
    expect(await service.correctMilestone(correction)).toEqual(byHand);
    expect(await service.retractMilestone(retraction)).toEqual(retracted);
    expect(await service.cancelShipment(cancellation)).toEqual(cancelled);
    expect(await service.reopenShipment(reopening)).toEqual(reopened);
    expect(await service.patchShipment(change)).toEqual(changed);
    expect(await service.patchContainer(seal)).toEqual(sealed);
    expect(await service.openException(opening)).toEqual(opened);
    expect(await service.acknowledgeException(taking)).toEqual(taken);
    expect(await service.resolveException(ending)).toEqual(ended);
    expect(await length(id)).toBe(before);
  });

  it('is one command if it arrives twice concurrently', async () => {
    const create = createUpsertCommand({ house_bill: 'HB-1' });
    const others = [createShipmentsReplica(engine.store), createShipmentsReplica(engine.store)];
    const created = await Promise.all([shipments, shipments, ...others].map((each) => each.upsertShipment(create)));
    for (const each of created) expect(each).toEqual(created[0]);
    const id = created[0]?.answer.shipment.id ?? '';

    const commands = createMilestones(id, 20);
    const answers = await Promise.all([
      ...commands.map((command) => shipments.recordMilestone(command)),
      ...commands.map((command) => shipments.recordMilestone(command)),
    ]);
    expect(answers.map(({ answer }) => answer)).toEqual(
      [...answers.slice(0, 20), ...answers.slice(0, 20)].map(({ answer }) => answer),
    );
    expect(answers.every(({ answer }) => answer.outcome === 'recorded')).toBe(true);
    const events = await engine.store.read(toShipmentStreamName(id));
    expect(events.filter(({ type }) => type === 'milestone.recorded.v1')).toHaveLength(20);
  });

  it('shares a read of its stream with repeated commands that arrive with it', async () => {
    const store = new InterceptedStore(engine.store);
    const { read } = store;
    let readsFromStart = 0;
    store.read = (stream, range) => {
      if (range?.from === 0) readsFromStart += 1;
      return read(stream, range);
    };
    const service = createShipmentsReplica(store);
    const { answer } = await service.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const commands = createMilestones(answer.shipment.id, 30);
    const recordAll = () =>
      Promise.all(commands.map(async (command) => (await service.recordMilestone(command)).answer));
    const first = await recordAll();
    expect(readsFromStart).toBe(0);
    expect(await recordAll()).toEqual(first);
    // The first command has arrived alone.
    expect(readsFromStart).toBe(2);
  });

  it('gets its answer if the process died between storing and answering', async () => {
    const create = createUpsertCommand({ external_id: 'PO-1', container_numbers: ['MSCU6639871'] });
    const store = new InterceptedStore(engine.store);
    store.intercept = async (append) => {
      await append();
      throw new Error('killed');
    };
    const dying = createShipmentsReplica(store);
    await expect(dying.upsertShipment(create)).rejects.toThrow('killed');
    await engine.reopenEngine();
    const { answer } = await createShipmentsReplica(engine.store).upsertShipment(create);

    const record = createMilestoneCommand(answer.shipment.id, { code: 'vessel_departed' });
    const stored = new InterceptedStore(engine.store);
    stored.intercept = store.intercept;
    await expect(createShipmentsReplica(stored).recordMilestone(record)).rejects.toThrow('killed');
    await engine.reopenEngine();
    await createShipmentsReplica(engine.store).recordMilestone(
      createMilestoneCommand(answer.shipment.id, { code: 'vessel_arrived' }),
    );
    const recorded = await createShipmentsReplica(engine.store).recordMilestone(record);

    // Other processes succeed with the same commands.
    const elsewhere = await TestEngine.openTestEngine();
    const healthy = createShipmentsReplica(elsewhere.store);
    expect((await healthy.upsertShipment(create)).answer).toEqual(answer);
    expect(await healthy.recordMilestone(record)).toEqual(recorded);
    await elsewhere.closeTestEngine();
  });

  it('that changed nothing gets the same answer again', async () => {
    const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
    const record = createMilestoneCommand(answer.shipment.id, {});
    const recorded = await shipments.recordMilestone(record);
    const duplicate = createMilestoneCommand(answer.shipment.id, {});
    const first = await shipments.recordMilestone(duplicate);
    expect(first.answer.outcome).toBe('existing');
    expect(first.answer.milestone).toEqual(recorded.answer.milestone);
    expect(first.position).toBe(recorded.position);
    expect(await shipments.recordMilestone(duplicate)).toEqual(first);
    expect(await createShipmentsReplica(engine.store).recordMilestone(duplicate)).toEqual(first);
  });

  it('gets the same answer regardless of its expected version and later changes', async () => {
    const create = createUpsertCommand({ external_id: 'PO-1' }, { expected_versions: 'none' });
    const created = await shipments.upsertShipment(create);
    const { id, version } = created.answer.shipment;
    const record = createMilestoneCommand(id, {}, { expected_versions: [version] });
    const recorded = await shipments.recordMilestone(record);
    const stale = createMilestoneCommand(id, { code: 'vessel_departed' }, { expected_versions: [version] });
    const other = createShipmentsReplica(engine.store);
    await other.upsertShipment(createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }));
    for (const service of [shipments, other, createShipmentsReplica(engine.store)]) {
      expect(await service.upsertShipment(create)).toEqual(created);
      expect(await service.recordMilestone(record)).toEqual(recorded);
      const { record: now } = (await service.getShipment({ ...SAMPLE_SCOPE, shipment_id: id }))!;
      await expect(service.recordMilestone(stale)).rejects.toMatchObject({
        code: 'precondition_failed',
        version: now.version,
      });
    }
  });

  it('keeps its first answer if rules have changed since', async () => {
    const create = createUpsertCommand({ external_id: 'PO-1', origin_port: 'CNSHA' });
    const created = await shipments.upsertShipment(create);
    expect(created.answer.warnings).toEqual([]);
    // A command that new rules would refuse is still the accepted one.
    const refusedNow = { ...create, fields: { ...create.fields, origin_port: 'nowhere at all' } };
    expect(EMPTY_PLACE_LOOKUP.isUnknownLocationCode('CNSHA')).toBe(false);
    expect(await shipments.upsertShipment(refusedNow)).toEqual(created);
  });

  it('keeps its first answer if another replica decides differently', async () => {
    const create = createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' });
    const created = await shipments.upsertShipment(create);
    const { id } = created.answer.shipment;
    const other = createShipmentsReplica(engine.store);
    const differing = { ...create, fields: { ...create.fields, house_bill: 'HB-2' } };
    expect(await other.upsertShipment(differing)).toEqual(created);
    expect(await other.getShipment({ ...SAMPLE_SCOPE, shipment_id: id })).toEqual({
      record: created.answer.shipment,
      position: created.position,
    });
  });
});
