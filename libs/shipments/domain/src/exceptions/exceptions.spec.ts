import type { ShipmentException } from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  ShipmentScenario,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  findDataOfDecidedEvent,
  createTimeInJanuary2026,
  SAMPLE_DECISION_INPUTS,
  createShipmentScenario,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { deriveShipment } from '../derive.ts';
import { movementAfterCancelRule } from './milestone-rules.ts';

const box = (container_number: string) => ({ container_number });
const loaded = () => createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });

describe('opening and resolving', () => {
  it('happens in the same append, with counts', () => {
    const scenario = createOceanShipmentScenario();
    const opened = scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), {
      reason_code: 'customs_exam',
    });
    expect(getTypesOfDecidedEvents(opened)).toEqual(['milestone.recorded.v1', 'exception.opened.v1']);
    const exception: ShipmentException = {
      id: 'exc_0000020',
      shipment_id: 'shp_abcdefghijklmnopqrstuvwxya',
      container_number: null,
      type: 'customs_hold',
      severity: 'high',
      status: 'open',
      title: 'Customs hold',
      detail: `Customs hold since ${createTimeInJanuary2026(20)}.`,
      detected_by: 'system',
      rule: 'customs_hold',
      milestone_id: opened.milestone.id,
      reason_code: 'customs_exam',
      assignee: null,
      metrics: {},
      resolution: null,
      opened_at: '2026-06-01T00:02:00.000Z',
      acknowledged_at: null,
      resolved_at: null,
    };
    expect(findDataOfDecidedEvent(opened, 'exception.opened.v1')).toEqual({ exception, open_exceptions_count: 1 });
    expect(scenario.record.open_exceptions_count).toBe(1);
    const resolved = scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21));
    expect(findDataOfDecidedEvent(resolved, 'exception.resolved.v2')).toEqual({
      exception_id: exception.id,
      resolution: { code: 'auto_cleared', note: null, by: { type: 'system', id: 'system' } },
      resolved_at: '2026-06-01T00:03:00.000Z',
      open_exceptions_count: 0,
    });
    expect(scenario.record.open_exceptions_count).toBe(0);
  });

  it('keeps at most one unresolved exception per shipment, container and type', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postMilestoneInScenario('customs_inspection', createTimeInJanuary2026(21), box(CONTAINER_A));
    expect(scenario.exceptions).toEqual([`customs_hold ${CONTAINER_A} open`]);
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), box(CONTAINER_B));
    expect(scenario.exceptions).toEqual([`customs_hold ${CONTAINER_A} open`, `customs_hold ${CONTAINER_B} open`]);
  });

  it('opens a new exception when the condition returns', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21));
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(22));
    expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared', 'customs_hold open']);
    expect(new Set(scenario.state?.exceptions.map(({ id }) => id)).size).toBe(2);
  });

  it.each([
    ['customs_hold', 'customs_hold'],
    ['delivery_attempted', 'delivery_failed'],
  ])('%s: opens for the container of the milestone, otherwise for the shipment', (code, type) => {
    for (const scenario of [createOceanShipmentScenario(), loaded()]) {
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20));
      expect(scenario.exceptions).toEqual([`${type} open`]);
    }
    const scenario = loaded();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20), box(CONTAINER_B));
    expect(scenario.exceptions).toEqual([`${type} ${CONTAINER_A} open`, `${type} open`, `${type} ${CONTAINER_B} open`]);
  });

  it('applies a milestone without a container to each container for container rules', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(23));
    expect(scenario.exceptions).toEqual([
      `milestone_conflict ${CONTAINER_A} open`,
      `milestone_conflict ${CONTAINER_B} open`,
    ]);
  });

  it('resolves when the milestone is corrected', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared']);
  });

  it('resolves when the container is removed', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), box(CONTAINER_A));
    const decision = scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    expect(getTypesOfDecidedEvents(decision)).toContain('exception.resolved.v2');
    expect(scenario.exceptions).toEqual([`customs_hold ${CONTAINER_A} resolved auto_cleared`]);
    scenario.upsertShipment({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    expect(scenario.open).toEqual(['customs_hold']);
  });

  it('opens at most 500 exceptions', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), box(CONTAINER_A));
    const { state } = scenario;
    const [one] = state?.exceptions ?? [];
    if (state === undefined || one === undefined) throw new Error('nothing opened');
    const resolved = { ...one, status: 'resolved' as const };
    scenario.state = { ...state, exceptions: [...Array.from({ length: 498 }, () => resolved), one] };
    expect(
      getTypesOfDecidedEvents(
        scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(21), box(CONTAINER_B)),
      ),
    ).toContain('exception.opened.v1');
    expect(
      getTypesOfDecidedEvents(scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(21))),
    ).not.toContain('exception.opened.v1');
  });
});

describe('customs_hold', () => {
  it.each(['customs_hold', 'customs_inspection'])('opens by %s with severity high', (code) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20));
    expect(scenario.state?.exceptions).toMatchObject([{ type: 'customs_hold', severity: 'high' }]);
  });

  it.each(['export_customs_cleared', 'import_customs_cleared'])('is resolved by %s dated at or after it', (code) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(19));
    expect(scenario.open).toEqual(['customs_hold']);
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20));
    expect(scenario.open).toEqual([]);
  });

  it('does not open if a later-dated clearance came first', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21));
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    expect(scenario.exceptions).toEqual([]);
  });

  it('needs a later clearance for a later hold', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('customs_inspection', createTimeInJanuary2026(22));
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21));
    expect(scenario.open).toEqual(['customs_hold']);
  });

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery', 'delivered', 'returned_to_shipper'])(
    'is resolved by %s after it, because feeds skip steps',
    (code) => {
      const scenario = createOceanShipmentScenario();
      scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(21));
      expect(scenario.open).toEqual([]);
    },
  );

  it.each(['vessel_arrived', 'discharged', 'carrier_released', 'arrival_notice_issued', 'unavailable_for_pickup'])(
    'is not resolved by other milestones: %s',
    (code) => {
      const scenario = createOceanShipmentScenario();
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
      scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(21));
      expect(scenario.open).toEqual(['customs_hold']);
    },
  );

  it('ends with the departure if it is an export hold; an import hold does not end with an earlier one', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(1));
    expect(scenario.open).toEqual(['customs_hold']);
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    expect(scenario.open).toEqual([]);
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(5));
    scenario.postMilestoneInScenario('transshipment_departed', createTimeInJanuary2026(7));
    expect(scenario.open).toEqual(['customs_hold']);
  });

  it('is not resolved by the clearance of another container', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), box(CONTAINER_B));
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21), box(CONTAINER_A));
    expect(scenario.exceptions).toEqual([
      `customs_hold ${CONTAINER_A} resolved auto_cleared`,
      `customs_hold ${CONTAINER_B} open`,
    ]);
  });

  it('of the shipment resolves once every container is cleared', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21), box(CONTAINER_A));
    expect(scenario.exceptions).toEqual(['customs_hold open']);
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(22), box(CONTAINER_B));
    expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared']);
  });

  it('of a container is resolved by a clearance without a container', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(20));
    expect(scenario.open).toEqual([]);
  });

  describe('before the first departure', () => {
    const held = (fields: Parameters<typeof createOceanShipmentScenario>[0] = {}) => {
      const scenario = createOceanShipmentScenario(fields);
      scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(3));
      return scenario;
    };

    it.each(['booking_confirmed', 'gated_in', 'loaded_on_vessel', 'rail_loaded'])('is not resolved by %s', (code) => {
      const scenario = held();
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(4));
      expect(scenario.open).toEqual(['customs_hold']);
    });

    it.each([
      'export_customs_cleared',
      'vessel_departed',
      'rail_departed',
      'transshipment_departed',
      'transshipment_arrived',
      'vessel_arrived',
      'import_customs_cleared',
    ])('is resolved by %s', (code) => {
      const scenario = held();
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(4));
      expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared']);
    });

    it('is resolved by import_customs_cleared only from the ETD on', () => {
      const scenario = held({ etd: createTimeInJanuary2026(10) });
      const { milestone } = scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(9));
      expect(scenario.open).toEqual(['customs_hold']);
      scenario.correctMilestone(milestone, { occurred_at: createTimeInJanuary2026(10) });
      expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared']);
      const departed = held({ etd: createTimeInJanuary2026(10) });
      departed.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(9));
      departed.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(9));
      expect(departed.exceptions).toEqual(['customs_hold resolved auto_cleared']);
    });

    it('takes the day of an ETD from its first hour, also if the clocks change on that day', () => {
      // In Los Angeles, 2 November 2025 has 25 hours and begins at 07:00 UTC.
      const route = { origin_port: 'USLAX', destination_port: 'CNSHA', etd: '2025-11-02' };
      const onDay = createOceanShipmentScenario(route);
      onDay.postMilestoneInScenario('customs_hold', '2025-11-02T07:30:00.000Z');
      onDay.postMilestoneInScenario('import_customs_cleared', '2025-11-02T07:45:00.000Z');
      expect(onDay.exceptions).toContain('customs_hold resolved auto_cleared');
      const before = createOceanShipmentScenario(route);
      before.postMilestoneInScenario('customs_hold', '2025-11-02T06:30:00.000Z');
      before.postMilestoneInScenario('import_customs_cleared', '2025-11-02T06:45:00.000Z');
      expect(before.open).toContain('customs_hold');
    });

    it('uses the present ETD', () => {
      const scenario = held({ etd: createTimeInJanuary2026(10) });
      scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(9));
      scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(8));
      expect(scenario.open).toEqual([]);
      scenario.patchShipment({ etd: createTimeInJanuary2026(12) });
      expect(scenario.open).toEqual(['customs_hold']);
    });

    it.each(['export_customs_cleared', 'vessel_departed', 'available_for_pickup', 'delivery_attempted'])(
      'is resolved by %s also before the ETD',
      (code) => {
        const scenario = held({ etd: createTimeInJanuary2026(10) });
        scenario.postMilestoneInScenario(code, createTimeInJanuary2026(4));
        expect(scenario.open).not.toContain('customs_hold');
      },
    );

    it('is resolved by a delivery attempt, which requires a clearance', () => {
      const scenario = held();
      scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(4));
      expect(scenario.open).toEqual(['delivery_failed']);
    });

    it.each([
      ['road', []],
      ['courier', []],
      ['ocean', ['customs_hold']],
    ] as const)('a pick-up by %s leaves %j open', (mode, open) => {
      const scenario = held({ mode });
      scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(4));
      expect(scenario.open).toEqual(open);
    });

    it('is not resolved by the ship sailing on', () => {
      const scenario = held();
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4), { location: 'USLAX' });
      expect(scenario.open).toEqual(['customs_hold']);
    });

    it('uses only departures of the same container', () => {
      const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
      scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(3), box(CONTAINER_A));
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4), box(CONTAINER_B));
      expect(scenario.open).toEqual(['customs_hold']);
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(5), box(CONTAINER_A));
      expect(scenario.open).toEqual([]);
    });
  });

  describe('after the first departure', () => {
    const held = (fields: Parameters<typeof createOceanShipmentScenario>[0] = {}) => {
      const scenario = createOceanShipmentScenario(fields);
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
      scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
      return scenario;
    };

    it.each(['export_customs_cleared', 'rail_departed', 'transshipment_departed', 'rail_unloaded', 'gated_in'])(
      'is not resolved by %s',
      (code) => {
        const scenario = held();
        scenario.postMilestoneInScenario(code, createTimeInJanuary2026(21));
        expect(scenario.open).toEqual(['customs_hold']);
      },
    );

    it.each(['import_customs_cleared', 'available_for_pickup', 'gated_out', 'out_for_delivery', 'delivered'])(
      'is resolved by %s',
      (code) => {
        const scenario = held();
        scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20));
        expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared']);
      },
    );

    it('in any order of arrival', () => {
      const scenario = createOceanShipmentScenario();
      scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
      scenario.postMilestoneInScenario('export_customs_cleared', createTimeInJanuary2026(21));
      expect(scenario.open).toEqual([]);
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
      expect(scenario.open).toEqual(['customs_hold']);
    });

    it('an arrival proves an unreported departure', () => {
      const scenario = createOceanShipmentScenario();
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(19));
      scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
      scenario.postMilestoneInScenario('export_customs_cleared', createTimeInJanuary2026(21));
      expect(scenario.open).toEqual(['customs_hold']);
    });

    it('is not resolved by the gate-out of a consolidated container', () => {
      const scenario = held({ load_type: 'lcl' });
      scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(21));
      expect(scenario.open).toEqual(['customs_hold']);
    });
  });

  it.each(['estimated', 'planned'] as const)('does not open by a milestone that is %s', (classifier) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), { classifier });
    expect(scenario.exceptions).toEqual([]);
  });
});

describe('delivery_failed', () => {
  it('opens by delivery_attempted with severity medium, and resolves by delivered', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(20));
    expect(scenario.state?.exceptions).toMatchObject([
      { type: 'delivery_failed', severity: 'medium', container_number: null },
    ]);
    scenario.postMilestoneInScenario('out_for_delivery', createTimeInJanuary2026(21));
    expect(scenario.open).toEqual(['delivery_failed']);
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(21));
    expect(scenario.exceptions).toEqual(['delivery_failed resolved auto_cleared']);
  });

  it.each(['cargo_stripped', 'empty_returned', 'returned_to_shipper'])(
    'is resolved by %s, because feeds skip steps',
    (code) => {
      const scenario = createOceanShipmentScenario();
      scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(20));
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(22));
      expect(scenario.open).toEqual([]);
    },
  );

  it('does not open for a delivered container; the shipment’s resolves with the last one', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(19));
    expect(scenario.exceptions).toEqual(['delivery_failed open']);
    scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(19), box(CONTAINER_A));
    expect(scenario.exceptions).toEqual(['delivery_failed open']);
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(21), box(CONTAINER_B));
    expect(scenario.exceptions).toEqual(['delivery_failed resolved auto_cleared']);
  });
});

describe('milestone_conflict', () => {
  it.each(['delivered', 'empty_returned', 'returned_to_shipper'])(
    'opens by %s dated more than 24 h before a movement',
    (code) => {
      const scenario = createOceanShipmentScenario();
      const end = scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20)).milestone;
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21));
      expect(scenario.exceptions).toEqual([]);
      scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(21, 13));
      expect(scenario.state?.exceptions).toMatchObject([
        { type: 'milestone_conflict', severity: 'low', container_number: null, milestone_id: end.id },
      ]);
    },
  );

  it.each([
    'empty_picked_up',
    'gated_in',
    'loaded_on_vessel',
    'rail_loaded',
    'border_crossed',
    'arrived_at_destination',
    'available_for_pickup',
    'out_for_delivery',
  ])('%s is a movement', (code) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(23));
    expect(scenario.open).toEqual(['milestone_conflict']);
  });

  it.each([
    'booking_confirmed',
    'export_customs_cleared',
    'import_customs_cleared',
    'arrival_notice_issued',
    'delivery_attempted',
    'cargo_stripped',
    'empty_returned',
  ])('%s is not a movement', (code) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(23));
    expect(scenario.exceptions).toEqual([]);
  });

  it('in any order of arrival', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(23));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    expect(scenario.open).toEqual(['milestone_conflict']);
  });

  it('compares only milestones of the same container', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(23), box(CONTAINER_B));
    expect(scenario.exceptions).toEqual([]);
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(23));
    expect(scenario.exceptions).toEqual([`milestone_conflict ${CONTAINER_A} open`]);
  });

  it('opens for part loads, whose container is stripped before the delivery', () => {
    const scenario = createOceanShipmentScenario({ load_type: 'lcl' });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(19));
    scenario.postMilestoneInScenario('cargo_stripped', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(21));
    expect(scenario.exceptions).toEqual([]);
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(23));
    expect(scenario.open).toEqual(['milestone_conflict']);
  });

  it('ignores the ship sailing on', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(23), { location: 'USLAX' });
    expect(scenario.exceptions).toEqual([]);
  });

  it('is resolved by a correction, not by delivery', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(23), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(24));
    expect(scenario.open).toEqual(['milestone_conflict']);
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(19), { external_id: 'EV-1' });
    expect(scenario.exceptions).toEqual(['milestone_conflict resolved auto_cleared']);
  });

  it('opens for the shipment by booking_cancelled after delivery', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    const { milestone } = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
    });
    expect(scenario.state?.exceptions).toMatchObject([
      { type: 'milestone_conflict', container_number: null, milestone_id: milestone.id, status: 'open' },
    ]);
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(22));
    expect(scenario.exceptions).toEqual(['milestone_conflict resolved auto_cleared']);
  });
});

describe('cancelling', () => {
  it('resolves open exceptions as shipment_cancelled', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21));
    expect(scenario.exceptions).toEqual([
      `invalid_container_number ${CONTAINER_WITH_WRONG_CHECK_DIGIT} resolved shipment_cancelled`,
      'customs_hold resolved shipment_cancelled',
    ]);
    expect(scenario.record.open_exceptions_count).toBe(0);
  });

  it('opens only exceptions about movements afterwards', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(4));
    scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(4));
    scenario.upsertShipment({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
    expect(scenario.exceptions).toEqual(['movement_after_cancel open']);
  });

  it('by the client does the same, and reopening opens existing problems again', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(4));
    scenario.postMilestoneInScenario('delivery_attempted', createTimeInJanuary2026(3));
    expect(getTypesOfDecidedEvents(scenario.cancelShipment())).toEqual([
      'shipment.cancelled.v1',
      'shipment.changed.v1',
      'exception.resolved.v2',
      'exception.resolved.v2',
    ]);
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(5));
    scenario.reopenShipment();
    expect(scenario.exceptions).toEqual([
      'customs_hold resolved shipment_cancelled',
      'delivery_failed resolved shipment_cancelled',
      'delivery_failed open',
    ]);
    expect(scenario.record.open_exceptions_count).toBe(1);
  });

  it('opens existing problems again when revoked', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(4));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(5));
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(6));
    expect(scenario.exceptions).toEqual(['customs_hold resolved shipment_cancelled', 'customs_hold open']);
  });
});

describe('movement_after_cancel', () => {
  const cancelled = () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    return scenario;
  };

  it('opens by an actual movement that arrives after the cancellation, with severity high', () => {
    const scenario = cancelled();
    const { milestone } = scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(1));
    expect(scenario.state?.exceptions).toMatchObject([
      { type: 'movement_after_cancel', severity: 'high', container_number: null, milestone_id: milestone.id },
    ]);
  });

  it('opens for the container of the movement', () => {
    const scenario = cancelled();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(21), box(CONTAINER_A));
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(21), box(CONTAINER_B));
    expect(scenario.exceptions).toEqual([
      `movement_after_cancel ${CONTAINER_A} open`,
      `movement_after_cancel ${CONTAINER_B} open`,
    ]);
  });

  it('ignores movements recorded before', () => {
    const scenario = cancelled();
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(4));
    scenario.upsertShipment({ house_bill: 'HB' });
    expect(scenario.exceptions).toEqual([]);
  });

  it.each([
    'booking_confirmed',
    'export_customs_cleared',
    'customs_hold',
    'import_customs_cleared',
    'carrier_released',
    'arrival_notice_issued',
  ])('ignores %s', (code) => {
    const scenario = cancelled();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(1));
    expect(scenario.exceptions).toEqual([]);
  });

  it('ignores estimates and the ship sailing on', () => {
    const scenario = cancelled();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(scenario.exceptions).toEqual([]);
  });

  it('stays open while cancelled, and resolves when the cancellation is revoked', () => {
    const scenario = cancelled();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20));
    scenario.upsertShipment({ house_bill: 'HB' });
    expect(scenario.open).toEqual(['movement_after_cancel']);
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(5));
    expect(scenario.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
  });

  it('resolves when the movement is corrected to another code', () => {
    const scenario = cancelled();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    expect(scenario.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
  });

  it('ignores movements of a removed container', () => {
    const scenario = cancelled();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    scenario.upsertShipment({ house_bill: 'HB' });
    expect(scenario.exceptions).toEqual([`movement_after_cancel ${CONTAINER_A} resolved auto_cleared`]);
  });

  it('opens after a cancellation by the client, and resolves by reopening', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.cancelShipment();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(4));
    expect(scenario.exceptions).toEqual(['movement_after_cancel open']);
    const decision = scenario.reopenShipment();
    expect(getTypesOfDecidedEvents(decision)).toContain('exception.resolved.v2');
    expect(scenario.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
  });

  it('opens by an earlier estimate that becomes actual', () => {
    const scenario = cancelled();
    scenario.postEstimateInScenario('discharged', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    const alike = loaded();
    alike.postEstimateInScenario('discharged', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    alike.cancelShipment();
    for (const each of [scenario, alike]) {
      each.postMilestoneInScenario('discharged', createTimeInJanuary2026(21), {
        external_id: 'EV-1',
        source: 'carrier',
      });
      expect(each.exceptions).toEqual(['movement_after_cancel open']);
    }
  });

  it('ignores a changed note of an earlier movement', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), { external_id: 'EV-1' });
    scenario.cancelShipment();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), {
      external_id: 'EV-1',
      note: 'late',
    });
    expect(scenario.exceptions).toEqual([]);
  });

  it('counts movements from the revision of the cancellation on', () => {
    const scenario = cancelled();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20));
    const { state } = scenario;
    if (state === undefined) throw new Error('there is no shipment');
    const { timeline } = state;
    const derived = deriveShipment(state, SAMPLE_DECISION_INPUTS.places);
    const recorded = timeline.at(-1)?.recorded ?? 0;
    const found = [recorded - 1, recorded, recorded + 1].map((since) => {
      const cancellation = { since, milestone: null };
      const facts = {
        lastNewsAt: null,
        documents: [],
        requiredDocuments: SAMPLE_DECISION_INPUTS.settings.required_documents,
      };
      const all = { ...facts, timeline, derived: { ...derived, cancellation }, places: SAMPLE_DECISION_INPUTS.places };
      return movementAfterCancelRule(all, SAMPLE_DECISION_INPUTS.settings.exceptions.movement_after_cancel).length;
    });
    expect(found).toEqual([1, 1, 0]);
  });

  it('counts from the first unrevoked cancellation', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20));
    scenario.cancelShipment();
    expect(scenario.open).toEqual(['movement_after_cancel']);
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(4));
    expect(scenario.record.status).toBe('cancelled');
    expect(scenario.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(21));
    expect(scenario.open).toEqual(['movement_after_cancel']);
  });

  it('stays open when the cancellation itself is corrected', () => {
    const scenario = loaded();
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(4), { external_id: 'EV-1' });
    expect(scenario.open).toEqual(['movement_after_cancel']);
  });
});

describe('invalid_container_number', () => {
  it('opens with the shipment or container, with severity low', () => {
    const scenario = new ShipmentScenario();
    scenario.upsertShipment({ container_numbers: [CONTAINER_A, CONTAINER_WITH_WRONG_CHECK_DIGIT] });
    expect(scenario.state?.exceptions).toMatchObject([
      {
        type: 'invalid_container_number',
        severity: 'low',
        container_number: CONTAINER_WITH_WRONG_CHECK_DIGIT,
        milestone_id: null,
      },
    ]);
    const later = createShipmentScenario();
    later.upsertShipment({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
    expect(later.open).toEqual(['invalid_container_number']);
  });

  it('does not open again when the data is sent again', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
    expect(scenario.upsertShipment({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] })).toMatchObject({
      outcome: 'unchanged',
      events: [],
    });
  });

  it('resolves when corrected, not when delivered', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    expect(scenario.open).toEqual(['invalid_container_number']);
    scenario.upsertShipment({ container_numbers: [CONTAINER_A] });
    expect(scenario.exceptions).toEqual([
      `invalid_container_number ${CONTAINER_WITH_WRONG_CHECK_DIGIT} resolved auto_cleared`,
    ]);
  });

  it('ignores ULDs, which have no check digit', () => {
    const scenario = createShipmentScenario({ mode: 'air', container_numbers: ['AKE12345LH'] });
    expect(scenario.exceptions).toEqual([]);
    expect(scenario.getContainer('AKE12345LH').valid_check_digit).toBeNull();
  });

  it('opens for each container', () => {
    const scenario = createShipmentScenario({
      container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT, CONTAINER_A, 'MSCU1234568', CONTAINER_C],
    });
    expect(scenario.exceptions).toEqual([
      `invalid_container_number ${CONTAINER_WITH_WRONG_CHECK_DIGIT} open`,
      'invalid_container_number MSCU1234568 open',
    ]);
    expect(scenario.record.open_exceptions_count).toBe(2);
  });
});
