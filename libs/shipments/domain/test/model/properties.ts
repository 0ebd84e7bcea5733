import type { MilestoneRule } from '@tracking/contracts';
import * as fc from 'fast-check';
import { type ShipmentState, explainShipment, fold, upcastStoredShipmentEvent } from '../../src/index.ts';
import { SAMPLE_DECISION_INPUTS } from '../scenario.ts';
import { checkAnnouncedChanges } from './announced.ts';
import { createExpectedShipment } from './answer.ts';
import { milestoneArrivalOrdersArbitrary } from './arrivals.ts';
import { expectConsistentExplanation, getScenarioShipmentOrThrow } from './invariants.ts';
import { journeysWithManyEstimatesArbitrary, journeysArbitrary } from './journeys.ts';
import {
  convertStateToModelForm,
  recordMilestonesInArrivalOrder,
  getOrderIndependentOutcome,
  runJourneyWithModel,
} from './walk.ts';

/** Fields of a shipment (without `url`, which only the HTTP layer adds), of a container, and of a leg. */
const FIELD_NAMES_OF_SHIPMENT = `id external_id mode load_type house_bill master_bill booking_number container_numbers carrier_scac origin_port
  destination_port etd eta shipper consignee references metadata legs incoterm status status_milestone_id containers atd ata original_eta
  last_milestone open_exceptions_count documents_count created_at updated_at version
  etd_precision eta_precision original_eta_precision`;
const COMPARED_CONTAINER_FIELD_NAMES = `number valid_check_digit size_type seal_number status status_milestone_id last_milestone discharged_at
  available_at gated_out_at delivered_at empty_returned_at last_free_day empty_return_by`;
const LEG_FIELDS =
  'mode carrier_scac vessel voyage origin_port destination_port etd etd_precision eta eta_precision atd ata';
const splitAtSpacesAndSort = (text: string): readonly string[] => text.split(/\s+/).sort();

/**
 * Defines tests of properties of the domain, each with many random journeys. A failed test prints its seed and path. To
 * reproduce the failure, add both to the parameters of `fc.assert`.
 */
export function declareDomainPropertyTests(numRuns: number): void {
  it('the domain agrees with the model after every step of a journey', () => {
    fc.assert(
      fc.property(journeysArbitrary, (journey) => {
        runJourneyWithModel(journey, (scenario, { memory }) => {
          expect(convertStateToModelForm(scenario)).toEqual(createExpectedShipment(memory));
        });
      }),
      { numRuns },
    );
  });

  it('the explanation agrees with the shipment', () => {
    fc.assert(
      fc.property(journeysArbitrary, (journey) => {
        runJourneyWithModel(journey, (scenario) => {
          expectConsistentExplanation(
            explainShipment(getScenarioShipmentOrThrow(scenario), SAMPLE_DECISION_INPUTS),
            getScenarioShipmentOrThrow(scenario),
          );
        });
      }),
      { numRuns },
    );
  });

  it('the explanation agrees with the shipment for every rule about estimates', () => {
    const seen = new Set<MilestoneRule>();
    fc.assert(
      fc.property(journeysWithManyEstimatesArbitrary, (journey) => {
        runJourneyWithModel(journey, (scenario) => {
          const explanation = explainShipment(getScenarioShipmentOrThrow(scenario), SAMPLE_DECISION_INPUTS);
          expectConsistentExplanation(explanation, getScenarioShipmentOrThrow(scenario));
          for (const { classifier, rule } of explanation.milestones) if (classifier === 'estimated') seen.add(rule);
        });
      }),
      { numRuns },
    );
    // Nearly all journeys together apply all eight rules. Each rule also has an example test.
    expect(seen.size).toBeGreaterThan(4);
  });

  it('every command announces its changes exactly once, and stores no event if nothing changes', () => {
    fc.assert(
      fc.property(journeysArbitrary, (journey) => {
        let [before, seen]: [ShipmentState | undefined, number] = [undefined, 0];
        runJourneyWithModel(journey, (scenario) => {
          const after = getScenarioShipmentOrThrow(scenario);
          checkAnnouncedChanges({ before, after, events: scenario.events.slice(seen) });
          expectCompleteShipmentFields(after);
          [before, seen] = [after, scenario.events.length];
        });
      }),
      { numRuns },
    );
  });

  it('the order in which milestones arrive does not change the shipment, and retracted milestones have no effect', () => {
    fc.assert(
      fc.property(milestoneArrivalOrdersArbitrary, ({ fields, inOrder, inDisorder }) => {
        expect(getOrderIndependentOutcome(recordMilestonesInArrivalOrder(fields, inDisorder))).toEqual(
          getOrderIndependentOutcome(recordMilestonesInArrivalOrder(fields, inOrder)),
        );
      }),
      { numRuns },
    );
  });

  it('the stream up to a revision gives the answer of that time, also if it is read from stored JSON', () => {
    fc.assert(
      fc.property(journeysArbitrary, (journey) => {
        const answers: { readonly revision: number; readonly state: ShipmentState; readonly text: string }[] = [];
        const { events } = runJourneyWithModel(journey, (scenario) => {
          const state = getScenarioShipmentOrThrow(scenario);
          answers.push({ revision: scenario.events.length, state, text: JSON.stringify(state) });
        });
        const stored = JSON.parse(JSON.stringify(events)) as Parameters<typeof upcastStoredShipmentEvent>[0][];
        for (const { revision, state, text } of answers) {
          const then = fold(stored.slice(0, revision).map(upcastStoredShipmentEvent));
          expect(then).toEqual(state);
          // Later events must not change the answer that was given at a revision.
          expect(JSON.stringify(state)).toBe(text);
        }
      }),
      { numRuns },
    );
  });
}

/** Checks that every field of the shipment is present, and that counts are correct. */
function expectCompleteShipmentFields({ record, exceptions }: ShipmentState): void {
  expect(Object.keys(record).sort()).toEqual(splitAtSpacesAndSort(FIELD_NAMES_OF_SHIPMENT));
  for (const container of record.containers)
    expect(Object.keys(container).sort()).toEqual(splitAtSpacesAndSort(COMPARED_CONTAINER_FIELD_NAMES));
  for (const leg of record.legs) expect(Object.keys(leg).sort()).toEqual(splitAtSpacesAndSort(LEG_FIELDS));
  expect(JSON.stringify(record)).toBe(JSON.stringify(JSON.parse(JSON.stringify(record))));
  const open = exceptions.filter(({ status }) => status !== 'resolved');
  expect(record.open_exceptions_count).toBe(open.length);
  expect(record.containers.map(({ number }) => number)).toEqual(record.container_numbers);
}
