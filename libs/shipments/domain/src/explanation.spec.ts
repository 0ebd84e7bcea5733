import {
  DomainError,
  type MilestoneWithExplainedEffect,
  MILESTONE_CATALOG,
  MILESTONE_RESULTS_BY_RULE,
  type MilestoneRule,
  SHIPMENT_STATUSES,
  type ShipmentExplanation,
  type ShipmentRecord,
  type ShipmentStatus,
} from '@tracking/contracts';
import * as fc from 'fast-check';
import { expectRemediesResolveException } from '../test/remedies.ts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  createLegWithOtherFieldsNull,
  createTimeInJanuary2026,
  SAMPLE_DECISION_INPUTS,
  type ShipmentScenario,
  createShipmentScenario,
  createOceanShipmentScenario,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
} from '../test/scenario.ts';
import { explainShipment } from './explanation.ts';
import type { ShipmentState } from './state.ts';

const RANK = (status: ShipmentStatus) => SHIPMENT_STATUSES.indexOf(status);

function explained(scenario: ShipmentScenario): ShipmentExplanation {
  if (scenario.state === undefined) throw new Error('there is no shipment');
  return explainShipment(scenario.state, SAMPLE_DECISION_INPUTS);
}

const ruleOf = (scenario: ShipmentScenario, { id }: { readonly id: string }) =>
  explained(scenario).milestones.find(({ milestone_id }) => milestone_id === id);

describe('explains the effect and rule of each milestone', () => {
  const location = 'USLAX';
  const LEGS = [
    ['CNSHA', 'SGSIN'],
    ['SGSIN', 'USLAX'],
  ].map(([origin_port = '', destination_port = '']) => createLegWithOtherFieldsNull({ origin_port, destination_port }));
  type Case = readonly [
    rule: MilestoneRule,
    counts_as: ShipmentStatus | null,
    act: (scenario: ShipmentScenario) => string,
  ];
  it.each<Case>([
    [
      'status_of_code',
      'arrived',
      (s) => s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(9), { location }).milestone.id,
    ],
    ['leaves_status', null, (s) => s.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(9)).milestone.id],
    [
      'arrival_on_the_way',
      'in_transit',
      (s) =>
        s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(5), { location: 'SGSIN' }).milestone.id,
    ],
    [
      'departed_again',
      'in_transit',
      (s) => {
        s.upsertShipment({ destination_port: null });
        s.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(8));
        return s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(7)).milestone.id;
      },
    ],
    [
      'not_at_destination',
      'in_transit',
      (s) => s.postMilestoneInScenario('rail_unloaded', createTimeInJanuary2026(9), { location: 'USCHI' }).milestone.id,
    ],
    [
      'not_at_destination',
      'at_origin',
      (s) => s.postMilestoneInScenario('gated_out', createTimeInJanuary2026(9), { location: 'CNSHA' }).milestone.id,
    ],
    [
      'departed_again',
      'in_transit',
      (s) => {
        s.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(8));
        return s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(7)).milestone.id;
      },
    ],
    [
      'available_again',
      null,
      (s) => {
        s.upsertShipment({ mode: 'courier' });
        s.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(8));
        return s.postMilestoneInScenario('out_for_delivery', createTimeInJanuary2026(7)).milestone.id;
      },
    ],
    [
      'already_discharged',
      null,
      (s) => {
        s.postMilestoneInScenario('discharged', createTimeInJanuary2026(8), { location });
        return s.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(9)).milestone.id;
      },
    ],
    [
      'late_repeat',
      null,
      (s) => {
        s.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(1), { location: 'CNSHA' });
        s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(8), { location: 'SGSIN' });
        return s.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(9), { location: 'CNSHA' }).milestone
          .id;
      },
    ],
    [
      'previous_trip',
      null,
      (s) => {
        const { id } = s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(1), {
          container_number: CONTAINER_A,
        }).milestone;
        s.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(2), { container_number: CONTAINER_A });
        s.postMilestoneInScenario('gated_in', createTimeInJanuary2026(8), { container_number: CONTAINER_A });
        return id;
      },
    ],
    [
      'next_trip',
      null,
      (s) => {
        s.upsertShipment({ etd: createTimeInJanuary2026(1) });
        s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(1), { container_number: CONTAINER_A });
        s.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(2), { container_number: CONTAINER_A });
        return s.postMilestoneInScenario('gated_in', createTimeInJanuary2026(8), { container_number: CONTAINER_A })
          .milestone.id;
      },
    ],
    [
      'container_not_used',
      null,
      (s) => {
        const { id } = s.postMilestoneInScenario('empty_picked_up', createTimeInJanuary2026(1), {
          container_number: CONTAINER_A,
        }).milestone;
        s.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(2), { container_number: CONTAINER_A });
        return id;
      },
    ],
    [
      'rail_departed_again',
      'in_transit',
      (s) => {
        s.upsertShipment({ destination_port: null });
        s.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(8));
        return s.postMilestoneInScenario('gated_out', createTimeInJanuary2026(7)).milestone.id;
      },
    ],
    [
      'unavailable_again',
      null,
      (s) => {
        s.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(8));
        return s.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(7)).milestone.id;
      },
    ],
    [
      'cancellation_taken_back',
      null,
      (s) => {
        s.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(8));
        return s.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(7)).milestone.id;
      },
    ],
    [
      'status_of_code',
      'cancelled',
      (s) => s.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(7)).milestone.id,
    ],
    [
      'delivered_before',
      null,
      (s) => {
        s.postMilestoneInScenario('delivered', createTimeInJanuary2026(8));
        return s.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(7)).milestone.id;
      },
    ],
    [
      'sailing_on',
      null,
      (s) => s.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(9), { location }).milestone.id,
    ],
    [
      'newest_estimate',
      null,
      (s) => s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone.id,
    ],
    [
      'newer_estimate',
      null,
      (s) => {
        const { id } = s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
        s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21));
        return id;
      },
    ],
    [
      'newer_estimate',
      null,
      (s) => {
        const { id } = s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
          source: 'carrier',
        }).milestone;
        s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { source: 'ais' });
        return id;
      },
    ],
    [
      'later_estimate',
      null,
      (s) => {
        s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { container_number: CONTAINER_A });
        return s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
          container_number: CONTAINER_B,
        }).milestone.id;
      },
    ],
    [
      'destination_estimated',
      null,
      (s) => {
        s.postEstimateInScenario('arrived_at_destination', createTimeInJanuary2026(22));
        return s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone.id;
      },
    ],
    [
      'set_by_client',
      null,
      (s) => {
        const { id } = s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
        s.upsertShipment({ eta: createTimeInJanuary2026(21) });
        return id;
      },
    ],
    [
      'actual_time_known',
      null,
      (s) => {
        const { id } = s.postEstimateInScenario('arrived_at_destination', createTimeInJanuary2026(20)).milestone;
        s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(19));
        return id;
      },
    ],
    [
      'newer_report',
      null,
      (s) => {
        const report = { location, source: 'carrier' as const };
        const { id } = s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(8), {
          ...report,
          reported_at: createTimeInJanuary2026(8),
        }).milestone;
        s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(9), {
          ...report,
          reported_at: createTimeInJanuary2026(9),
        });
        return id;
      },
    ],
    [
      'return_started',
      'in_transit',
      (s) => {
        const { id } = s.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(9), {
          location,
        }).milestone;
        s.postMilestoneInScenario('return_started', createTimeInJanuary2026(10), { location });
        return id;
      },
    ],
    ['estimates_nothing', null, (s) => s.postEstimateInScenario('gated_out', createTimeInJanuary2026(20)).milestone.id],
    [
      'estimated_elsewhere',
      null,
      (s) => {
        s.upsertShipment({ legs: LEGS });
        return s.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), { location: 'DEHAM' }).milestone
          .id;
      },
    ],
    [
      'planned',
      null,
      (s) =>
        s.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { classifier: 'planned' }).milestone
          .id,
    ],
    [
      'container_not_on_shipment',
      null,
      (s) => {
        const { id } = s.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1), {
          container_number: CONTAINER_A,
        }).milestone;
        s.upsertShipment({ container_numbers: [CONTAINER_B] });
        return id;
      },
    ],
    [
      'retracted',
      null,
      (s) => {
        const { milestone } = s.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1));
        s.retractMilestone(milestone);
        return milestone.id;
      },
    ],
  ])('%s: %s', (rule, counts_as, act) => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const id = act(scenario);
    expect(ruleOf(scenario, { id })).toMatchObject({
      rule,
      counts_as,
      result: MILESTONE_RESULTS_BY_RULE[rule],
      containers: [],
    });
  });

  it('by the mode, and for part loads', () => {
    const truck = createShipmentScenario({ mode: 'road' });
    const pickUp = truck.postMilestoneInScenario('picked_up', createTimeInJanuary2026(1)).milestone;
    expect(ruleOf(truck, pickUp)).toMatchObject({
      rule: 'status_of_mode',
      counts_as: 'in_transit',
      sets: ['status', 'atd'],
    });
    const part = createOceanShipmentScenario({ load_type: 'lcl' });
    const out = part.postMilestoneInScenario('gated_out', createTimeInJanuary2026(9)).milestone;
    const returned = part.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(12)).milestone;
    expect(ruleOf(part, out)).toMatchObject({ rule: 'part_load', result: 'demoted', counts_as: 'in_transit' });
    expect(ruleOf(part, returned)).toMatchObject({ rule: 'part_load', result: 'demoted', counts_as: null });
  });

  it('with the containers that have a different effect', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B, CONTAINER_C] });
    const arrival = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(7)).milestone;
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(8), { container_number: CONTAINER_B });
    expect(ruleOf(scenario, arrival)).toMatchObject({
      rule: 'status_of_code',
      counts_as: 'arrived',
      sets: ['status'],
      containers: [
        { container_number: CONTAINER_B, result: 'demoted', rule: 'departed_again', counts_as: 'in_transit' },
      ],
    });
    expect(explained(scenario).containers.map(({ status }) => status.value)).toEqual([
      'arrived',
      'in_transit',
      'arrived',
    ]);
  });

  it('with the times that an estimate sets', () => {
    const scenario = createOceanShipmentScenario({ legs: LEGS, eta: createTimeInJanuary2026(19) });
    const first = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      location: 'USLAX',
    }).milestone;
    expect(ruleOf(scenario, first)?.sets.toSorted()).toEqual(['eta', 'legs[1].eta']);
    scenario.upsertShipment({ eta: createTimeInJanuary2026(18) });
    expect(ruleOf(scenario, first)).toMatchObject({ result: 'counted', sets: ['legs[1].eta'] });
    expect(explained(scenario).eta).toEqual({
      value: createTimeInJanuary2026(18),
      rule: 'set_by_client',
      milestone_id: null,
    });
  });

  it('with a rule for one time although another estimate sets another time', () => {
    const scenario = createOceanShipmentScenario({ legs: LEGS, container_numbers: [CONTAINER_A, CONTAINER_B] });
    const there = { location: 'USLAX' };
    scenario.patchShipment({ eta: createTimeInJanuary2026(19) });
    const later = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), {
      ...there,
      container_number: CONTAINER_B,
    }).milestone;
    scenario.patchShipment({ legs: LEGS.map((leg) => ({ ...leg, vessel: 'EVER GIVEN' })) });
    const newer = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      ...there,
      container_number: CONTAINER_A,
    }).milestone;
    expect(ruleOf(scenario, later)).toMatchObject({ rule: 'newest_estimate', sets: ['eta'] });
    expect(ruleOf(scenario, newer)).toMatchObject({ rule: 'newest_estimate', sets: ['legs[1].eta'] });
  });
});

describe('explains the shipment', () => {
  it('its status', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    expect(explained(scenario).status).toEqual({ value: 'pending', rule: 'no_milestone', milestone_id: null });
    const first = scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(9), {
      container_number: CONTAINER_A,
    }).milestone;
    const held = { value: 'out_for_delivery', rule: 'not_all_delivered', milestone_id: first.id };
    expect(explained(scenario).status).toEqual(held);
    const last = scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(10), {
      container_number: CONTAINER_B,
    }).milestone;
    const lowest = { value: 'delivered', rule: 'lowest_of_delivered', milestone_id: last.id };
    expect(explained(scenario).status).toEqual(lowest);
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(1));
    expect(explained(scenario).status).toEqual(lowest);
  });

  it('its cancellation', () => {
    const scenario = createOceanShipmentScenario();
    scenario.cancelShipment();
    expect(explained(scenario).status).toEqual({ value: 'cancelled', rule: 'cancelled_by_client', milestone_id: null });
    const { id } = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(1)).milestone;
    expect(explained(scenario).status).toEqual({
      value: 'cancelled',
      rule: 'cancelled_by_milestone',
      milestone_id: id,
    });
  });

  it('its times', () => {
    const scenario = createOceanShipmentScenario();
    const nothing = { value: null, rule: 'unknown', milestone_id: null };
    expect(explained(scenario)).toMatchObject({ etd: nothing, eta: nothing, atd: nothing, ata: nothing });
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(10)).upsertShipment({ eta: createTimeInJanuary2026(20) });
    expect(explained(scenario).eta).toEqual({
      value: createTimeInJanuary2026(20),
      rule: 'set_by_client',
      milestone_id: null,
    });
    const estimate = scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(11))
      .postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22)).milestone;
    expect(explained(scenario).eta).toEqual({
      value: createTimeInJanuary2026(22),
      rule: 'newest_estimate',
      milestone_id: estimate.id,
    });
    const there = scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(21))
      .postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' }).milestone;
    expect(explained(scenario).eta).toEqual({
      value: createTimeInJanuary2026(22),
      rule: 'actual_time_known',
      milestone_id: there.id,
    });
    expect(explained(scenario).ata).toEqual({
      value: createTimeInJanuary2026(21),
      rule: 'at_port',
      milestone_id: there.id,
    });
    const left = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2)).milestone;
    expect(explained(scenario).atd).toEqual({
      value: createTimeInJanuary2026(2),
      rule: 'earliest',
      milestone_id: left.id,
    });
  });

  it('values decided by earlier rules', () => {
    const scenario = createOceanShipmentScenario({
      eta: createTimeInJanuary2026(20),
      container_numbers: [CONTAINER_A],
    });
    const { state } = scenario;
    if (state === undefined) throw new Error('there is no shipment');
    const containers = state.record.containers.map((container) => ({ ...container, status: 'booked' as const }));
    const record: ShipmentRecord = { ...state.record, status: 'booked', eta: createTimeInJanuary2026(21), containers };
    const { status, eta, etd, containers: told } = explainShipment({ ...state, record }, SAMPLE_DECISION_INPUTS);
    expect(status).toEqual({ value: 'booked', rule: 'earlier_rules', milestone_id: null });
    expect(eta).toEqual({ value: createTimeInJanuary2026(21), rule: 'earlier_rules', milestone_id: null });
    expect(etd.rule).toBe('unknown');
    expect(told).toEqual([
      { number: CONTAINER_A, status: { value: 'booked', rule: 'earlier_rules', milestone_id: null } },
    ]);
  });
});

const openIn = (scenario: ShipmentScenario) => explained(scenario).exceptions.filter(({ status }) => status === 'open');

describe('explains each open exception', () => {
  it('with the reason and the ways to resolve it', () => {
    const scenario = createOceanShipmentScenario({
      container_numbers: [CONTAINER_A, CONTAINER_WITH_WRONG_CHECK_DIGIT],
    });
    const hold = scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(3), {
      container_number: CONTAINER_A,
    }).milestone;
    const exceptions = openIn(scenario);
    expect(exceptions).toHaveLength(2);
    expect(exceptions).toContainEqual({
      exception_id: scenario.state?.exceptions.find(({ type }) => type === 'customs_hold')?.id,
      type: 'customs_hold',
      container_number: CONTAINER_A,
      status: 'open',
      rule: 'customs_hold',
      because: `Customs hold since ${createTimeInJanuary2026(3)}.`,
      milestone_id: hold.id,
      opens_at: null,
      resolved_by: [
        {
          by: 'milestone',
          codes: expect.arrayContaining(['export_customs_cleared', 'vessel_departed', 'available_for_pickup']),
          occurred_from: createTimeInJanuary2026(3),
          milestone_ids: [],
          fields: [],
          document_types: [],
        },
        { by: 'correction', codes: [], occurred_from: null, milestone_ids: [hold.id], fields: [], document_types: [] },
        {
          by: 'container_taken_off',
          codes: [],
          occurred_from: null,
          milestone_ids: [],
          fields: [],
          document_types: [],
        },
      ],
    });
    expect(exceptions).toContainEqual(
      expect.objectContaining({
        type: 'invalid_container_number',
        because: `${CONTAINER_WITH_WRONG_CHECK_DIGIT} has a wrong check digit.`,
        resolved_by: [expect.objectContaining({ by: 'container_taken_off' })],
      }),
    );
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(4));
    expect(openIn(scenario).map(({ type }) => type)).toEqual(['invalid_container_number']);
  });

  it('with exceptions that will open, when, and how to prevent them', () => {
    const scenario = createOceanShipmentScenario({ etd: '2026-06-04T00:00:00.000Z' });
    expect(explained(scenario).exceptions).toEqual([
      {
        exception_id: null,
        type: 'departure_overdue',
        container_number: null,
        status: 'expected',
        rule: 'departure_overdue',
        because: 'Expected to depart at 2026-06-04T00:00:00.000Z, and no departure is known.',
        milestone_id: null,
        opens_at: '2026-06-04T12:00:00.000Z',
        resolved_by: [
          {
            by: 'milestone',
            codes: expect.arrayContaining(['vessel_departed', 'vessel_arrived', 'delivery_attempted', 'delivered']),
            occurred_from: null,
            milestone_ids: [],
            fields: [],
            document_types: [],
          },
          {
            by: 'field_changed',
            codes: [],
            occurred_from: null,
            milestone_ids: [],
            fields: ['etd'],
            document_types: [],
          },
        ],
      },
      expect.objectContaining({
        type: 'no_update',
        status: 'expected',
        opens_at: '2026-06-11T00:00:00.000Z',
        resolved_by: [expect.objectContaining({ by: 'news' }), expect.objectContaining({ by: 'field_changed' })],
      }),
    ]);
  });

  it('without future exceptions if the shipment has the maximum number', () => {
    const scenario = createOceanShipmentScenario({ etd: '2026-06-04T00:00:00.000Z' });
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(3));
    const { state } = scenario;
    const [hold] = state?.exceptions ?? [];
    if (state === undefined || hold === undefined) throw new Error('nothing opened');
    const resolved = { ...hold, status: 'resolved' as const };
    const withAll = (most: number) => ({
      ...state,
      exceptions: [...Array.from({ length: most - 1 }, () => resolved), hold],
    });
    const toldOf = (most: number) =>
      explainShipment(withAll(most), SAMPLE_DECISION_INPUTS).exceptions.map(({ status }) => status);
    expect(toldOf(499)).toContain('expected');
    expect(toldOf(500)).toEqual(['open']);
  });

  it('with an exception that a person resolved, until its condition has ended', () => {
    const scenario = createOceanShipmentScenario();
    const hold = scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(3)).milestone;
    const [exception] = scenario.state?.exceptions ?? [];
    if (exception === undefined) throw new Error('nothing opened');
    scenario.resolveException(exception, { code: 'waived' });
    const toldOfHold = () => explained(scenario).exceptions.filter(({ type }) => type === 'customs_hold');
    expect(toldOfHold()).toEqual([
      expect.objectContaining({
        exception_id: exception.id,
        status: 'suppressed',
        because: `Customs hold since ${createTimeInJanuary2026(3)}.`,
        milestone_id: hold.id,
        opens_at: null,
      }),
    ]);
    expect(toldOfHold()[0]?.resolved_by.map(({ by }) => by)).toEqual(['milestone', 'correction']);
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(4));
    expect(toldOfHold()).toEqual([]);
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(5));
    expect(toldOfHold()).toEqual([expect.objectContaining({ status: 'open' })]);
  });

  it('without it if a person opened another one', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(3));
    const [exception] = scenario.state?.exceptions ?? [];
    if (exception === undefined) throw new Error('nothing opened');
    scenario.resolveException(exception);
    scenario.openException('customs_hold');
    const told = explained(scenario).exceptions.filter(({ type }) => type === 'customs_hold');
    expect(told.map(({ status, rule }) => [status, rule])).toEqual([['open', null]]);
  });
});

const LOCATIONS = [null, 'CNSHA', 'SGSIN', 'USLAX', 'USNYC', 'Pier 400'];
const codes = MILESTONE_CATALOG.map(({ code }) => code);
type Step = (scenario: ShipmentScenario) => void;
const post: fc.Arbitrary<Step> = fc
  .record({
    code: fc.constantFrom(...codes),
    number: fc.integer({ min: 1, max: 12 }),
    rest: fc.record({
      classifier: fc.constantFrom('actual' as const, 'actual' as const, 'estimated' as const, 'planned' as const),
      container_number: fc.constantFrom(null, null, CONTAINER_A, CONTAINER_B),
      location: fc.constantFrom(...LOCATIONS),
      source: fc.constantFrom('manual' as const, 'carrier' as const),
    }),
  })
  .map(
    ({ code, number, rest }) =>
      (scenario) =>
        scenario.postMilestoneInScenario(code, createTimeInJanuary2026(number), rest),
  );
const nth = (scenario: ShipmentScenario, n: number) => {
  const timeline = scenario.state?.timeline ?? [];
  return timeline[n % Math.max(1, timeline.length)]?.milestone;
};
const other: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((scenario) => scenario.cancelShipment()),
  fc.constant<Step>((scenario) => scenario.reopenShipment()),
  fc.nat(20).map((n): Step => (scenario) => {
    const milestone = nth(scenario, n);
    if (milestone !== undefined) scenario.retractMilestone(milestone);
  }),
  fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 12 })).map(([n, number]): Step => (scenario) => {
    const milestone = nth(scenario, n);
    if (milestone !== undefined) scenario.correctMilestone(milestone, { occurred_at: createTimeInJanuary2026(number) });
  }),
  fc
    .record(
      {
        container_numbers: fc.constantFrom(
          [CONTAINER_A],
          [CONTAINER_A, CONTAINER_B],
          [CONTAINER_A, CONTAINER_B, CONTAINER_C, CONTAINER_WITH_WRONG_CHECK_DIGIT],
          [],
        ),
        eta: fc.constantFrom(null, createTimeInJanuary2026(10), createTimeInJanuary2026(12)),
        etd: fc.constantFrom(null, createTimeInJanuary2026(2)),
        mode: fc.constantFrom('ocean' as const, 'road' as const, 'rail' as const, null),
        load_type: fc.constantFrom('lcl' as const, null),
        destination_port: fc.constantFrom('USLAX', 'SGSIN', null),
        legs: fc.constantFrom([], [null, createTimeInJanuary2026(9)]).map((etas) =>
          etas.map((eta, index) =>
            createLegWithOtherFieldsNull({
              origin_port: ['CNSHA', 'SGSIN'][index] ?? null,
              destination_port: ['SGSIN', 'USLAX'][index] ?? null,
              eta,
            }),
          ),
        ),
      },
      { requiredKeys: [] },
    )
    .map(
      (fields): Step =>
        (scenario) =>
          scenario.upsertShipment(fields),
    ),
);

/** Refused commands have no effect. */
function took(
  steps: readonly Step[],
  scenario = createOceanShipmentScenario({
    container_numbers: [CONTAINER_A, CONTAINER_B],
    eta: createTimeInJanuary2026(11),
  }),
): ShipmentScenario {
  for (const step of steps) {
    try {
      step(scenario);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }
  return scenario;
}
const journeys = fc.array(fc.oneof({ weight: 4, arbitrary: post }, { weight: 1, arbitrary: other }), { maxLength: 16 });

/** Returns the effects of milestones on a container, only from the entries of the explanation. */
function countedFor(
  milestones: readonly MilestoneWithExplainedEffect[],
  number: string | null,
): readonly ShipmentStatus[] {
  return milestones.flatMap((entry) => {
    if (entry.container_number !== null && entry.container_number !== number) return [];
    const { result, counts_as } = entry.containers.find((each) => each.container_number === number) ?? entry;
    return (result === 'counted' || result === 'demoted') && counts_as !== null ? [counts_as] : [];
  });
}

const highest = (statuses: readonly ShipmentStatus[]): ShipmentStatus =>
  statuses.reduce((a, b) => (RANK(b) > RANK(a) ? b : a), 'pending');
const lowest = (statuses: readonly ShipmentStatus[]): ShipmentStatus =>
  statuses.reduce((a, b) => (RANK(b) < RANK(a) ? b : a), 'cancelled');

function statusBy({ status, containers, milestones }: ShipmentExplanation): ShipmentStatus {
  const numbers = containers.length === 0 ? [null] : containers.map(({ number }) => number);
  const each = numbers.map((number) => highest(countedFor(milestones, number).filter((one) => one !== 'cancelled')));
  switch (status.rule) {
    case 'cancelled_by_client':
      return 'cancelled';
    case 'cancelled_by_milestone':
      return milestones.some(({ counts_as }) => counts_as === 'cancelled') ? 'cancelled' : 'pending';
    case 'not_all_delivered':
      return 'out_for_delivery';
    case 'lowest_of_delivered':
      return lowest(each);
    case 'no_milestone':
    case 'highest_rank':
    case 'earlier_rules':
      return highest(each);
  }
}

/**
 * Returns a time from its explained rule: that of its milestone, or the client's value. Values from before an actual
 * time are checked by the model: test/model/reasons.ts.
 */
function timeBy(
  { milestones, ...told }: ShipmentExplanation,
  time: 'etd' | 'eta' | 'atd' | 'ata',
  { record, schedule }: ShipmentState,
): string | null {
  const own = milestones.filter(({ sets }) => sets.includes(time));
  expect(own.length).toBeLessThanOrEqual(1);
  const { rule } = told[time];
  switch (rule) {
    case 'unknown':
      return null;
    case 'newest_estimate':
    case 'at_port':
    case 'earliest':
      return own[0]?.occurred_at ?? null;
    case 'set_by_client':
      return time === 'etd' || time === 'eta' ? (schedule[time].value ?? 'nothing') : 'nothing';
    case 'of_leg':
      return time === 'etd' ? (record.legs[0]?.etd ?? null) : (record.legs.at(-1)?.eta ?? null);
    case 'actual_time_known':
      expect(time === 'etd' ? record.atd : record.ata).not.toBeNull();
      return record[time];
    case 'earlier_rules':
      throw new Error(`${time} stands as rules of before had it`);
  }
}

describe('agrees with the shipment', () => {
  it('in status, containers and times', () => {
    const seen = new Set<MilestoneRule>();
    fc.assert(
      fc.property(journeys, (steps) => {
        const { record, state } = took(steps);
        if (state === undefined) throw new Error('there is no shipment');
        const explanation = explainShipment(state, SAMPLE_DECISION_INPUTS);
        const { milestones, containers, status } = explanation;
        expect(statusBy(explanation)).toBe(record.status);
        expect([status.value, status.milestone_id]).toEqual([record.status, record.status_milestone_id]);
        for (const container of record.containers) {
          const counted = countedFor(milestones, container.number).filter((one) => one !== 'cancelled');
          expect(highest(counted)).toBe(container.status);
          const told = containers.find(({ number }) => number === container.number)?.status;
          expect(told?.milestone_id).toBe(container.status_milestone_id);
        }
        for (const time of ['etd', 'eta', 'atd', 'ata'] as const) {
          expect(timeBy(explanation, time, state)).toBe(record[time]);
          const { rule, milestone_id } = explanation[time];
          const own = milestones.filter(({ sets }) => sets.includes(time)).map((entry) => entry.milestone_id);
          expect(own).toEqual(rule === 'actual_time_known' || milestone_id === null ? [] : [milestone_id]);
        }
        for (const [index, leg] of state.schedule.legs.value.entries()) {
          for (const time of ['etd', 'eta'] as const) {
            const [own] = milestones.filter(({ sets }) => sets.includes(`legs[${index}].${time}`));
            if (own !== undefined) expect(record.legs[index]?.[time]).toBe(own.occurred_at);
            else if (record.legs[index]?.[time === 'eta' ? 'ata' : 'atd'] === null) {
              expect(record.legs[index]?.[time]).toBe(leg[time]);
            }
          }
        }
        const rules = [status, ...containers.map((each) => each.status), explanation.eta, explanation.etd];
        expect(rules.map(({ rule }) => rule)).not.toContain('earlier_rules');
        expect(milestones.map((entry) => entry.milestone_id)).toEqual(state.timeline.map((each) => each.milestone.id));
        for (const { rule, result } of milestones) {
          expect(result).toBe(MILESTONE_RESULTS_BY_RULE[rule]);
          seen.add(rule);
        }
      }),
      { numRuns: 400 },
    );
    // Random journeys cover nearly all rules; each has its own example above.
    expect(seen.size).toBeGreaterThan(12);
  });

  it('in open exceptions, which its remedies resolve', () => {
    let resolved = 0;
    fc.assert(
      fc.property(journeys, (steps) => {
        const before = took(steps);
        const open = before.state?.exceptions.filter(({ status }) => status !== 'resolved') ?? [];
        const exceptions = openIn(before);
        expect(exceptions.map(({ exception_id }) => exception_id)).toEqual(open.map(({ id }) => id));
        for (const told of exceptions) expect(told.resolved_by).not.toEqual([]);
        expectRemediesResolveException(before, () => (resolved += 1));
      }),
      { numRuns: 100 },
    );
    expect(resolved).toBeGreaterThan(0);
  });
});
