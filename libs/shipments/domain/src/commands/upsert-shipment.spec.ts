import type { ClientShipmentFields } from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  findDataOfDecidedEvent,
  createLegWithOtherFieldsNull,
  createTimeInJanuary2026,
  captureRefusal,
  createShipmentScenario,
  ShipmentScenario,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { fold } from '../evolve.ts';

const changes = (scenario: ShipmentScenario, fields: Partial<ClientShipmentFields>) =>
  findDataOfDecidedEvent(scenario.upsertShipment(fields), 'shipment.changed.v1')?.changes;

describe('creating', () => {
  it('stores everything visible in the first event', () => {
    const scenario = new ShipmentScenario();
    const decision = scenario.upsertShipment({
      external_id: 'PO-1',
      container_numbers: [CONTAINER_A],
      origin_port: 'CNSHA',
      eta: createTimeInJanuary2026(20),
    });
    expect(decision.outcome).toBe('created');
    expect(getTypesOfDecidedEvents(decision)).toEqual(['shipment.created.v1']);
    expect(decision.events[0]?.data).toMatchObject({
      workspace_id: 'wsp_1',
      environment: 'test',
      shipment: scenario.record,
    });
  });

  it('returns a pending shipment with every field', () => {
    expect(createShipmentScenario().record).toEqual({
      id: 'shp_abcdefghijklmnopqrstuvwxya',
      external_id: 'PO-1',
      status: 'pending',
      status_milestone_id: null,
      mode: null,
      load_type: null,
      house_bill: null,
      master_bill: null,
      booking_number: null,
      container_numbers: [],
      carrier_scac: null,
      origin_port: null,
      destination_port: null,
      etd: null,
      eta: null,
      shipper: null,
      consignee: null,
      references: [],
      metadata: null,
      legs: [],
      incoterm: null,
      containers: [],
      atd: null,
      ata: null,
      etd_precision: 'time',
      eta_precision: 'time',
      original_eta: null,
      original_eta_precision: 'time',
      last_milestone: null,
      open_exceptions_count: 0,
      documents_count: 0,
      created_at: '2026-06-01T00:01:00.000Z',
      updated_at: '2026-06-01T00:01:00.000Z',
      version: 1,
    });
  });

  it('returns every container with all its fields', () => {
    expect(createShipmentScenario({ container_numbers: [CONTAINER_A] }).record.containers).toEqual([
      {
        number: CONTAINER_A,
        valid_check_digit: true,
        size_type: null,
        seal_number: null,
        status: 'pending',
        status_milestone_id: null,
        last_milestone: null,
        discharged_at: null,
        available_at: null,
        gated_out_at: null,
        delivered_at: null,
        empty_returned_at: null,
        last_free_day: null,
        empty_return_by: null,
      },
    ]);
  });

  it.each([{ external_id: 'PO-1' }, { house_bill: 'HB-1' }, { container_numbers: [CONTAINER_A] }])(
    'accepts a single reference: %j',
    (fields) => {
      const scenario = new ShipmentScenario();
      expect(scenario.upsertShipment(fields).outcome).toBe('created');
    },
  );

  it.each([{}, { mode: 'ocean' as const }, { master_bill: 'MB-1' }, { container_numbers: [] }])(
    'requires a reference: %j',
    (fields) => {
      const error = captureRefusal(() => new ShipmentScenario().upsertShipment(fields));
      expect(error.code).toBe('reference_required');
      expect(error.details).toMatchObject([{ code: 'reference_required' }]);
    },
  );

  it('reports every invalid field at once', () => {
    const error = captureRefusal(() => new ShipmentScenario().upsertShipment({ origin_port: '?', carrier_scac: '?' }));
    expect(error.code).toBe('validation_failed');
    expect(error.details.map(({ code }) => code)).toEqual(['invalid_scac', 'invalid_port', 'reference_required']);
  });

  it('adds one leg from origin to destination if there are no legs', () => {
    const scenario = createOceanShipmentScenario({
      carrier_scac: 'MAEU',
      etd: createTimeInJanuary2026(1),
      eta: createTimeInJanuary2026(20),
    });
    expect(scenario.record.legs).toEqual([
      {
        mode: 'ocean',
        carrier_scac: 'MAEU',
        vessel: null,
        voyage: null,
        origin_port: 'CNSHA',
        destination_port: 'USLAX',
        etd: createTimeInJanuary2026(1),
        etd_precision: 'time',
        eta: createTimeInJanuary2026(20),
        eta_precision: 'time',
        atd: null,
        ata: null,
      },
    ]);
  });

  it('sets original_eta to the first known one', () => {
    expect(createShipmentScenario({ eta: createTimeInJanuary2026(20) }).record.original_eta).toBe(
      createTimeInJanuary2026(20),
    );
    const scenario = createShipmentScenario();
    scenario.upsertShipment({ eta: createTimeInJanuary2026(21) });
    scenario.upsertShipment({ eta: createTimeInJanuary2026(25) });
    scenario.upsertShipment({ eta: null });
    expect(scenario.record.original_eta).toBe(createTimeInJanuary2026(21));
  });
});

describe('upsert of an existing shipment', () => {
  it('keeps omitted fields, clears with null, replaces arrays', () => {
    const scenario = createShipmentScenario({
      house_bill: 'HB',
      master_bill: 'MB',
      container_numbers: [CONTAINER_A, CONTAINER_B],
      mode: 'ocean',
    });
    const decision = scenario.upsertShipment({
      external_id: 'PO-1',
      master_bill: null,
      container_numbers: [CONTAINER_C],
    });
    expect(decision.outcome).toBe('updated');
    expect(scenario.record).toMatchObject({
      house_bill: 'HB',
      master_bill: null,
      mode: 'ocean',
      container_numbers: [CONTAINER_C],
    });
    expect(scenario.record.containers.map(({ number }) => number)).toEqual([CONTAINER_C]);
  });

  it('replaces objects, references and legs as a whole', () => {
    const scenario = createShipmentScenario({
      shipper: { name: 'Acme', external_id: 'S1' },
      metadata: { a: '1', b: '2' },
      references: [{ type: 'po', value: '1' }],
      legs: [createLegWithOtherFieldsNull({ vessel: 'ONE' }), createLegWithOtherFieldsNull({ vessel: 'TWO' })],
    });
    scenario.upsertShipment({
      shipper: { name: 'Bcme', external_id: null },
      metadata: { c: '3' },
      references: [{ type: 'so', value: '2' }],
      legs: [createLegWithOtherFieldsNull({ voyage: 'V3' })],
    });
    expect(scenario.record).toMatchObject({
      shipper: { name: 'Bcme', external_id: null },
      references: [{ type: 'so', value: '2' }],
    });
    expect(scenario.record.metadata).toEqual({ c: '3' });
    expect(scenario.record.legs).toEqual([
      {
        ...createLegWithOtherFieldsNull({ voyage: 'V3' }),
        etd_precision: 'time',
        eta_precision: 'time',
        atd: null,
        ata: null,
      },
    ]);
  });

  it('stores no event without changes', () => {
    const fields: Partial<ClientShipmentFields> = {
      external_id: 'PO-1',
      mode: 'ocean',
      container_numbers: [CONTAINER_A],
      eta: createTimeInJanuary2026(20),
      shipper: { name: 'Acme', external_id: null },
      metadata: { a: '1' },
      legs: [createLegWithOtherFieldsNull({ vessel: 'ONE', eta: createTimeInJanuary2026(19) })],
    };
    const scenario = createShipmentScenario(fields);
    const decision = scenario.upsertShipment(fields);
    expect(decision).toMatchObject({ outcome: 'unchanged', events: [] });
    expect(scenario.record.version).toBe(1);
  });

  it('ignores a different order of members or spelling', () => {
    const scenario = createShipmentScenario({ metadata: { a: '1', b: '2' }, container_numbers: [CONTAINER_A] });
    expect(scenario.upsertShipment({ metadata: { b: '2', a: '1' }, container_numbers: ['mscu 1234566'] }).outcome).toBe(
      'unchanged',
    );
  });

  it('announces client-visible fields, but not those that change with every event', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A], house_bill: 'HB' });
    expect(changes(scenario, { house_bill: 'HB2', mode: 'multimodal' })).toEqual({
      house_bill: { from: 'HB', to: 'HB2' },
      mode: { from: 'ocean', to: 'multimodal' },
      legs: {
        from: [expect.objectContaining({ mode: 'ocean' })],
        to: [expect.objectContaining({ mode: 'multimodal' })],
      },
    });
  });

  it('needs no further event for a plain field', () => {
    const scenario = createShipmentScenario();
    expect(getTypesOfDecidedEvents(scenario.upsertShipment({ house_bill: 'HB' }))).toEqual(['shipment.changed.v1']);
    expect(getTypesOfDecidedEvents(scenario.upsertShipment({ eta: createTimeInJanuary2026(9) }))).toEqual([
      'shipment.updated.v1',
      'shipment.changed.v1',
    ]);
  });

  it('sets version to the last revision plus one, and updated_at to the last command’s time', () => {
    const scenario = createShipmentScenario();
    scenario.upsertShipment({ eta: createTimeInJanuary2026(9) });
    expect(scenario.record).toMatchObject({ version: 3, updated_at: '2026-06-01T00:02:00.000Z' });
    scenario.upsertShipment({ house_bill: 'HB' });
    expect(scenario.record).toMatchObject({
      version: 4,
      updated_at: '2026-06-01T00:03:00.000Z',
      created_at: '2026-06-01T00:01:00.000Z',
    });
  });

  it('never changes external_id, nor sets it later', () => {
    const changed = captureRefusal(() => createShipmentScenario().upsertShipment({ external_id: 'PO-2' }));
    expect(changed).toMatchObject({ code: 'external_id_immutable', details: [{ param: 'external_id' }] });
    const scenario = new ShipmentScenario();
    scenario.upsertShipment({ house_bill: 'HB' });
    expect(captureRefusal(() => scenario.upsertShipment({ external_id: 'PO-1' })).code).toBe('external_id_immutable');
    expect(captureRefusal(() => createShipmentScenario().upsertShipment({ external_id: null })).code).toBe(
      'external_id_immutable',
    );
  });

  it('does not clear the last of the three references', () => {
    const scenario = new ShipmentScenario();
    scenario.upsertShipment({ house_bill: 'HB', container_numbers: [CONTAINER_A] });
    scenario.upsertShipment({ container_numbers: [] });
    expect(captureRefusal(() => scenario.upsertShipment({ house_bill: null })).code).toBe('reference_required');
    expect(scenario.upsertShipment({ house_bill: null, container_numbers: [CONTAINER_B] }).outcome).toBe('updated');
  });

  it('validates for the mode that it sets, otherwise for the present one', () => {
    const scenario = createShipmentScenario({ mode: 'ocean' });
    expect(captureRefusal(() => scenario.upsertShipment({ origin_port: 'FRA' })).details).toMatchObject([
      { code: 'invalid_port' },
    ]);
    expect(scenario.upsertShipment({ mode: 'air', origin_port: 'FRA' }).outcome).toBe('updated');
    expect(scenario.upsertShipment({ destination_port: 'LAX' }).outcome).toBe('updated');
  });

  it('refuses values beyond a limit with limit_exceeded', () => {
    const scenario = createShipmentScenario();
    const container_numbers = Array.from({ length: 201 }, (_, n) => `ABCU${1_000_000 + n}`);
    expect(captureRefusal(() => scenario.upsertShipment({ container_numbers })).code).toBe('limit_exceeded');
  });

  it('lists containers in the order of container_numbers, also when only that changes', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const moved = changes(scenario, { container_numbers: [CONTAINER_B, CONTAINER_A] });
    expect(moved).toEqual({ container_numbers: { from: [CONTAINER_A, CONTAINER_B], to: [CONTAINER_B, CONTAINER_A] } });
    expect(scenario.record.containers.map(({ number }) => number)).toEqual([CONTAINER_B, CONTAINER_A]);
  });

  it('announces changed containers: new ones only in `to`, removed ones only in `from`', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const moved = changes(scenario, { container_numbers: [CONTAINER_B, CONTAINER_C] });
    expect(moved?.containers?.from).toEqual([
      expect.objectContaining({ number: CONTAINER_A, status: 'pending', seal_number: null }),
    ]);
    expect(moved?.containers?.to).toEqual([
      expect.objectContaining({ number: CONTAINER_C, status: 'pending', seal_number: null }),
    ]);
  });
});

describe('etd, eta and legs count as a change only when they differ from what the last upsert sent', () => {
  it('do not override a newer estimate in a nightly resend', () => {
    const nightly = {
      external_id: 'PO-1',
      eta: createTimeInJanuary2026(20),
      etd: createTimeInJanuary2026(1),
      legs: [createLegWithOtherFieldsNull({ destination_port: 'USLAX', eta: createTimeInJanuary2026(20) })],
    };
    const scenario = createOceanShipmentScenario(nightly);
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(2));
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(23),
      etd: createTimeInJanuary2026(2),
      legs: [{ eta: createTimeInJanuary2026(23) }],
    });
    expect(scenario.upsertShipment(nightly)).toMatchObject({ outcome: 'unchanged', events: [] });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(23),
      etd: createTimeInJanuary2026(2),
      legs: [{ eta: createTimeInJanuary2026(23) }],
    });
  });

  it('override a newer estimate if they differ', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    scenario.upsertShipment({ eta: createTimeInJanuary2026(21) });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(21));
  });

  it('are compared with the last sent values, across upserts without them', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.upsertShipment({ house_bill: 'HB' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    expect(scenario.upsertShipment({ eta: createTimeInJanuary2026(20) }).outcome).toBe('unchanged');
    scenario.upsertShipment({ eta: createTimeInJanuary2026(21) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24));
    expect(scenario.upsertShipment({ eta: createTimeInJanuary2026(21) }).outcome).toBe('unchanged');
    expect(scenario.upsertShipment({ eta: createTimeInJanuary2026(20) }).outcome).toBe('updated');
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
  });

  it('are not cleared by null if they were never sent', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    expect(scenario.upsertShipment({ eta: null, legs: [] }).outcome).toBe('unchanged');
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(23));
  });

  it('are cleared by null if they were sent, and earlier estimates no longer count', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    scenario.upsertShipment({ eta: null });
    expect(scenario.record.eta).toBeNull();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(24));
  });

  it('do not bring back earlier estimates with the next command', () => {
    const scenario = createOceanShipmentScenario({
      eta: createTimeInJanuary2026(20),
      legs: [createLegWithOtherFieldsNull({ destination_port: 'USLAX', eta: createTimeInJanuary2026(20) })],
    });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    scenario.upsertShipment({
      eta: createTimeInJanuary2026(21),
      legs: [createLegWithOtherFieldsNull({ destination_port: 'USLAX', eta: createTimeInJanuary2026(22) })],
    });
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1));
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(21),
      legs: [{ eta: createTimeInJanuary2026(22) }],
    });
  });

  it('are remembered without an announcement if an estimate already set the value', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    expect(getTypesOfDecidedEvents(scenario.upsertShipment({ eta: createTimeInJanuary2026(23) }))).toEqual([
      'shipment.updated.v1',
    ]);
    expect(scenario.upsertShipment({ eta: createTimeInJanuary2026(23) }).outcome).toBe('unchanged');
  });
});

describe('a time of a leg counts as a change only when it differs from what the last upsert sent', () => {
  const first = createLegWithOtherFieldsNull({
    origin_port: 'CNSHA',
    destination_port: 'SGSIN',
    etd: createTimeInJanuary2026(1),
    eta: createTimeInJanuary2026(5),
  });
  const second = createLegWithOtherFieldsNull({
    origin_port: 'SGSIN',
    destination_port: 'USLAX',
    etd: createTimeInJanuary2026(7),
    eta: createTimeInJanuary2026(20),
  });
  /** Estimates have changed three of its four times. */
  const estimated = (legs = [first, second]) => {
    const scenario = createShipmentScenario({ legs });
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(2), { location: 'CNSHA' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(6), { location: 'SGSIN' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23), { location: 'USLAX' });
    return scenario;
  };
  const timesOf = ({ record }: ShipmentScenario) => record.legs.map(({ etd, eta }) => [etd, eta]);
  const MOVED = [
    [createTimeInJanuary2026(2), createTimeInJanuary2026(6)],
    [createTimeInJanuary2026(7), createTimeInJanuary2026(23)],
  ];

  it.each([
    ['vessel', { vessel: 'OTHER' }],
    ['voyage', { voyage: 'V2' }],
    ['carrier', { carrier_scac: 'MAEU' }],
    ['mode', { mode: 'ocean' as const }],
  ])('resets no time with another %s', (_, other) => {
    for (const legs of [
      [{ ...first, ...other }, second],
      [first, { ...second, ...other }],
    ]) {
      const scenario = estimated();
      expect(scenario.upsertShipment({ legs }).outcome).toBe('updated');
      expect(timesOf(scenario)).toEqual(MOVED);
      const others = legs.map(({ etd: _etd, eta: _eta, ...rest }) => rest);
      expect(scenario.record).toMatchObject({
        etd: createTimeInJanuary2026(2),
        eta: createTimeInJanuary2026(23),
        legs: others,
      });
      expect(scenario.upsertShipment({ legs })).toMatchObject({ outcome: 'unchanged', events: [] });
      scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1));
      expect(timesOf(scenario)).toEqual(MOVED);
      scenario.state = fold(scenario.events);
      scenario.upsertShipment({ house_bill: 'HB' });
      expect(timesOf(scenario)).toEqual(MOVED);
    }
  });

  it('another time sets that one alone', () => {
    const scenario = estimated();
    scenario.upsertShipment({ legs: [{ ...first, eta: createTimeInJanuary2026(4) }, second] });
    expect(timesOf(scenario)).toEqual([[createTimeInJanuary2026(2), createTimeInJanuary2026(4)], MOVED[1]]);
    scenario.upsertShipment({
      legs: [
        { ...first, eta: createTimeInJanuary2026(4) },
        { ...second, eta: null },
      ],
    });
    expect(timesOf(scenario)).toEqual([
      [createTimeInJanuary2026(2), createTimeInJanuary2026(4)],
      [createTimeInJanuary2026(7), null],
    ]);
  });

  it('matches legs by their ports, otherwise by their index', () => {
    const feeder = createLegWithOtherFieldsNull({
      origin_port: 'CNNGB',
      destination_port: 'CNSHA',
      etd: createTimeInJanuary2026(0),
      eta: createTimeInJanuary2026(1),
    });
    const scenario = estimated();
    scenario.upsertShipment({ legs: [feeder, first, second] });
    expect(timesOf(scenario)).toEqual([[createTimeInJanuary2026(0), createTimeInJanuary2026(1)], ...MOVED]);
    scenario.upsertShipment({ legs: [feeder, first, { ...second, destination_port: null }] });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24));
    scenario.upsertShipment({ legs: [feeder, first, { ...second, destination_port: 'USNYC' }] });
    expect(timesOf(scenario)).toEqual([
      [createTimeInJanuary2026(0), createTimeInJanuary2026(1)],
      MOVED[0],
      [createTimeInJanuary2026(7), createTimeInJanuary2026(24)],
    ]);
  });

  it('keeps later changes by a person', () => {
    const scenario = estimated();
    scenario.patchShipment({ legs: [first, { ...second, eta: createTimeInJanuary2026(30) }] });
    scenario.upsertShipment({ legs: [first, { ...second, vessel: 'OTHER' }] });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(30),
      legs: [{}, { vessel: 'OTHER', eta: createTimeInJanuary2026(30) }],
    });
    scenario.patchShipment({ legs: [] });
    scenario.upsertShipment({ legs: [first, second] });
    expect(timesOf(scenario)).toEqual([
      [createTimeInJanuary2026(1), createTimeInJanuary2026(5)],
      [createTimeInJanuary2026(7), createTimeInJanuary2026(20)],
    ]);
  });

  it('keeps expected times of legs that have departed or arrived, at any index', () => {
    const scenario = createShipmentScenario({ legs: [first, second] });
    const reported = { reported_at: createTimeInJanuary2026(1, 6) };
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(2), { ...reported, location: 'CNSHA' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(6), { ...reported, location: 'SGSIN' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23), { ...reported, location: 'USLAX' });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), { location: 'CNSHA' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(6), { location: 'SGSIN' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(9), { location: 'SGSIN' });
    scenario.upsertShipment({
      legs: [
        createLegWithOtherFieldsNull({ destination_port: 'CNSHA', eta: createTimeInJanuary2026(1) }),
        { ...first, vessel: 'OTHER' },
        second,
      ],
    });
    expect(timesOf(scenario)).toEqual([[null, createTimeInJanuary2026(1)], ...MOVED]);
  });
});

describe('warnings', () => {
  it('report a wrong check digit, and an exception opens', () => {
    const scenario = new ShipmentScenario();
    const decision = scenario.upsertShipment({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
    expect(decision.warnings).toMatchObject([{ code: 'invalid_container_number', param: 'container_numbers[0]' }]);
    expect(getTypesOfDecidedEvents(decision)).toEqual(['shipment.created.v1', 'exception.opened.v1']);
    expect(scenario.getContainer(CONTAINER_WITH_WRONG_CHECK_DIGIT).valid_check_digit).toBe(false);
    expect(scenario.record).toMatchObject({ open_exceptions_count: 1, version: 2 });
  });

  it('become errors under strict handling', () => {
    const error = captureRefusal(() =>
      new ShipmentScenario().upsertShipment(
        { container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] },
        { strict: true },
      ),
    );
    expect(error).toMatchObject({ code: 'validation_failed', details: [{ code: 'invalid_container_number' }] });
    const scenario = createShipmentScenario();
    captureRefusal(() =>
      scenario.upsertShipment({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] }, { strict: true }),
    );
    expect(scenario.events).toHaveLength(1);
  });

  it('report an eta before the etd after the write', () => {
    const scenario = createShipmentScenario({ etd: createTimeInJanuary2026(10) });
    expect(scenario.upsertShipment({ eta: createTimeInJanuary2026(9) }).warnings).toMatchObject([
      { code: 'eta_before_etd', param: 'eta' },
    ]);
    expect(scenario.upsertShipment({ house_bill: 'HB' }).warnings).toEqual([]);
    expect(scenario.upsertShipment({ etd: createTimeInJanuary2026(8) }).warnings).toEqual([]);
  });

  it('report unknown ports, whether or not anything changes', () => {
    const scenario = createShipmentScenario({ origin_port: 'XXABC' });
    expect(scenario.upsertShipment({ origin_port: 'XXABC' })).toMatchObject({
      outcome: 'unchanged',
      warnings: [{ code: 'unknown_port', param: 'origin_port' }],
    });
  });
});
