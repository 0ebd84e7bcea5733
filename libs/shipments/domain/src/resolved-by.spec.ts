import { RESOLUTION_TRIGGERS, type ExceptionResolutionConditions } from '@tracking/contracts';
import * as fc from 'fast-check';
import { timedJourneysArbitrary } from '../test/model/over-time.ts';
import { runJourneyOverTime } from '../test/model/timed-walk.ts';
import {
  readExceptionStatusAfterAction,
  cloneShipmentScenario,
  expectRemediesResolveException,
  explainOpenExceptions,
} from '../test/remedies.ts';
import { CONTAINER_A, CONTAINER_B, type ShipmentScenario, CONTAINER_WITH_WRONG_CHECK_DIGIT } from '../test/scenario.ts';
import {
  createScenarioWithRule,
  createJanuaryTime,
  createLeg,
  DOCUMENT_TYPES_REQUIRED_FOR_OCEAN,
} from '../test/time-driven.ts';

/** Equals `rounds` of the testing library, which the domain cannot import. */
const rounds = (all: number): number => (process.env['PROPERTY_ROUNDS'] === 'all' ? all : Math.ceil(all / 5));

const box = { container_number: CONTAINER_A };
const viaSingapore = {
  legs: [createLeg('CNSHA', 'SGSIN', createJanuaryTime(2)), createLeg('SGSIN', 'USLAX', createJanuaryTime(9))],
};
const boxes = { container_numbers: [CONTAINER_A, CONTAINER_B] };

/** Open exceptions, their remedies, and the scenario that causes them. */
type Example = readonly [what: string, by: readonly string[], given: () => ShipmentScenario];
const EXAMPLES: readonly Example[] = [
  [
    'a later ETA',
    ['milestone', 'field_changed eta original_eta'],
    () => {
      const scenario = createScenarioWithRule('eta_slip', { eta: createJanuaryTime(10) });
      scenario.setTimeOfNextCommand(createJanuaryTime(2)).patchShipment({ eta: createJanuaryTime(12) });
      return scenario;
    },
  ],
  [
    'no departure',
    ['milestone', 'field_changed etd'],
    () =>
      createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(2) }).setTimeOfNextCommand(
        createJanuaryTime(5),
      ),
  ],
  [
    'no arrival',
    ['milestone', 'field_changed eta'],
    () =>
      createScenarioWithRule('arrival_overdue', { eta: createJanuaryTime(5) }).setTimeOfNextCommand(
        createJanuaryTime(8),
      ),
  ],
  [
    'no arrival since it departed',
    ['milestone', 'field_changed eta'],
    () => {
      const scenario = createScenarioWithRule('arrival_overdue', { eta: createJanuaryTime(5) }).setTimeOfNextCommand(
        createJanuaryTime(8),
      );
      scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(3));
      return scenario;
    },
  ],
  [
    'no news',
    ['news', 'field_changed etd'],
    () => createScenarioWithRule('no_update').setTimeOfNextCommand(createJanuaryTime(20)),
  ],
  [
    'a missed connection',
    ['milestone', 'field_changed legs[1].etd', 'correction transshipment_discharged', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('missed_connection', { ...viaSingapore, ...boxes }).setTimeOfNextCommand(
        createJanuaryTime(12),
      );
      scenario.postMilestoneInScenario('transshipment_discharged', createJanuaryTime(6), { location: 'SGSIN', ...box });
      return scenario;
    },
  ],
  [
    'a long stop',
    ['milestone', 'correction transshipment_discharged'],
    () => {
      const scenario = createScenarioWithRule('missed_connection').setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('transshipment_discharged', createJanuaryTime(6), { location: 'SGSIN' });
      return scenario;
    },
  ],
  [
    'a hold before the departure',
    ['milestone', 'correction customs_hold', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('customs_hold', boxes).setTimeOfNextCommand(createJanuaryTime(5));
      scenario.postMilestoneInScenario('customs_hold', createJanuaryTime(3), box);
      return scenario;
    },
  ],
  [
    'an inspection after it',
    ['milestone', 'correction customs_inspection'],
    () => {
      const scenario = createScenarioWithRule('customs_hold', boxes).setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(3));
      scenario.postMilestoneInScenario('customs_inspection', createJanuaryTime(18));
      return scenario;
    },
  ],
  [
    'a last free day',
    ['milestone', 'field_changed last_free_day', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('demurrage_risk', boxes).setTimeOfNextCommand(createJanuaryTime(20));
      scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-19' });
      return scenario;
    },
  ],
  [
    'a discharge long ago',
    ['milestone', 'field_changed last_free_day', 'correction discharged', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('demurrage_risk', boxes).setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('rail_departed', createJanuaryTime(3));
      scenario.postMilestoneInScenario('discharged', createJanuaryTime(5), box);
      return scenario;
    },
  ],
  [
    'a day of return',
    ['milestone', 'field_changed empty_return_by', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('detention_risk', boxes).setTimeOfNextCommand(createJanuaryTime(20));
      scenario.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-19' });
      return scenario;
    },
  ],
  [
    'a gate-out long ago',
    ['milestone', 'milestone', 'field_changed empty_return_by', 'correction gated_out', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('detention_risk', boxes).setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('gated_out', createJanuaryTime(5), box);
      return scenario;
    },
  ],
  [
    'documents that are missing',
    ['document_uploaded bill_of_lading packing_list', 'field_changed eta mode'],
    () =>
      createScenarioWithRule('missing_document', { eta: createJanuaryTime(5) }).setTimeOfNextCommand(
        createJanuaryTime(4),
      ),
  ],
  [
    'documents that were rejected',
    ['document_approved packing_list bill_of_lading'],
    () => {
      const scenario = createScenarioWithRule('document_rejected');
      for (const type of DOCUMENT_TYPES_REQUIRED_FOR_OCEAN)
        scenario.rejectDocument(scenario.addDocument({ type }).document);
      return scenario;
    },
  ],
  [
    'an attempt to deliver',
    ['milestone', 'correction delivery_attempted', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('delivery_failed', boxes).setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('delivery_attempted', createJanuaryTime(19), box);
      return scenario;
    },
  ],
  [
    'a delivery before a movement',
    ['correction delivered discharged', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('milestone_conflict', boxes).setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('delivered', createJanuaryTime(5), box);
      scenario.postMilestoneInScenario('discharged', createJanuaryTime(9), box);
      return scenario;
    },
  ],
  [
    'a cancellation after the delivery',
    ['milestone', 'correction booking_cancelled'],
    () => {
      const scenario = createScenarioWithRule('milestone_conflict').setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('delivered', createJanuaryTime(5));
      scenario.postMilestoneInScenario('booking_cancelled', createJanuaryTime(4));
      return scenario;
    },
  ],
  [
    'a movement after the cancellation',
    ['cancellation_taken_back', 'correction vessel_departed', 'container_taken_off'],
    () => {
      const scenario = createScenarioWithRule('movement_after_cancel', boxes).setTimeOfNextCommand(
        createJanuaryTime(20),
      );
      scenario.cancelShipment();
      scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(5), box);
      return scenario;
    },
  ],
  [
    'a movement after two cancellations',
    ['cancellation_taken_back', 'correction vessel_departed'],
    () => {
      const scenario = createScenarioWithRule('movement_after_cancel').setTimeOfNextCommand(createJanuaryTime(20));
      scenario.postMilestoneInScenario('booking_cancelled', createJanuaryTime(4));
      scenario.cancelShipment();
      scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(5));
      return scenario;
    },
  ],
  [
    'a wrong check digit',
    ['container_taken_off'],
    () =>
      createScenarioWithRule('invalid_container_number', {
        container_numbers: [CONTAINER_A, CONTAINER_WITH_WRONG_CHECK_DIGIT],
      }),
  ],
];

/** Returns the kind of the remedy, with its fields, document types or milestone codes. */
function nameOf(
  { by, fields, document_types, milestone_ids }: ExceptionResolutionConditions,
  scenario: ShipmentScenario,
): string {
  return [by, ...fields, ...document_types, ...milestone_ids.map((id) => scenario.getMilestone(id).code)].join(' ');
}

/** No later departure demotes these milestones. */
const BEYOND = [
  ...['available_for_pickup', 'gated_out', 'out_for_delivery', 'delivery_attempted', 'delivered', 'cargo_stripped'],
  ...['empty_returned', 'returned_to_shipper'],
  // If the container was discharged before it departed, the ship sailed on without it.
  'discharged',
];

describe('explained remedies resolve their exception, each alone, and nothing else does', () => {
  const tried = new Set<string>();

  it.each(EXAMPLES)('%s', (_what, by, given) => {
    const scenario = given();
    scenario.checkRules();
    const [told, ...others] = explainOpenExceptions(scenario);
    expect(others).toEqual([]);
    expect(told?.resolved_by.map((each) => nameOf(each, scenario)).sort()).toEqual([...by].sort());
    expectRemediesResolveException(scenario, (remedy) => {
      tried.add(remedy.by);
      // Each remedy alone.
      if (remedy.by === 'correction') expect(remedy.act(cloneShipmentScenario(scenario))).toHaveLength(1);
    });
  });

  it('cover every kind of remedy', () => {
    expect([...tried].sort()).toEqual([...RESOLUTION_TRIGGERS].sort());
  });

  it.each(EXAMPLES)('%s: not resolved by earlier dates, only by dates after everything else', (_what, _by, given) => {
    const scenario = given();
    scenario.checkRules();
    for (const told of explainOpenExceptions(scenario)) {
      for (const { codes, occurred_from } of told.resolved_by) {
        if (occurred_from === null) continue;
        const tooEarly = new Date(Date.parse(occurred_from) - 1).toISOString();
        const early = (code: string) => (one: ShipmentScenario) =>
          one.postMilestoneInScenario(code, tooEarly, { container_number: told.container_number });
        const outcomes = codes.map(
          (code) => [code, readExceptionStatusAfterAction(scenario, told, early(code))] as const,
        );
        const isBeyond = (code: string) => BEYOND.includes(code);
        expect(outcomes.filter(([code]) => !isBeyond(code))).toEqual(
          codes.filter((code) => !isBeyond(code)).map((code) => [code, 'open']),
        );
        expect(outcomes.map(([, outcome]) => outcome)).toContain('open');
      }
    }
  });

  it('holds on random journeys over time', () => {
    let resolved = 0;
    fc.assert(
      fc.property(timedJourneysArbitrary, (journey) => {
        const scenario = runJourneyOverTime(journey, ['due'], () => undefined);
        // The last step can be a change of settings, which the next check applies.
        scenario.checkRules();
        expectRemediesResolveException(scenario, () => (resolved += 1));
      }),
      { numRuns: rounds(200) },
    );
    expect(resolved).toBeGreaterThan(100);
  });
});
