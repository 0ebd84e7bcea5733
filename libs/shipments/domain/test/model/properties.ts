import type { MilestoneRule } from '@tracking/contracts';
import * as fc from 'fast-check';
import { type ShipmentState, explainShipment, fold, toShipmentEvent } from '../../src/index.ts';
import { decisionInputs } from '../scenario.ts';
import { checkAnnouncements } from './announced.ts';
import { createExpectedAnswer } from './answer.ts';
import { arrivalsArbitrary } from './arrivals.ts';
import { checkExplanation, requireState } from './invariants.ts';
import { estimatingJourneys, journeysArbitrary } from './journeys.ts';
import { toModelForm, recordArrivals, orderIndependentOutcome, walkJourney } from './walk.ts';

/** Fields of a shipment (without `url`, which only the HTTP layer adds), of a container, and of a leg. */
const FIELDS = `id external_id mode load_type house_bill master_bill booking_number container_numbers carrier_scac origin_port
  destination_port etd eta shipper consignee references metadata legs incoterm status status_milestone_id containers atd ata original_eta
  last_milestone open_exceptions_count documents_count created_at updated_at version
  etd_precision eta_precision original_eta_precision`;
const CONTAINER_FIELDS = `number valid_check_digit size_type seal_number status status_milestone_id last_milestone discharged_at
  available_at gated_out_at delivered_at empty_returned_at last_free_day empty_return_by`;
const LEG_FIELDS =
  'mode carrier_scac vessel voyage origin_port destination_port etd etd_precision eta eta_precision atd ata';
const listSortedNames = (text: string): readonly string[] => text.split(/\s+/).sort();

/**
 * Defines tests of properties of the domain, each with many random journeys. A failed test prints its seed and path. To
 * reproduce the failure, add both to the parameters of `fc.assert`.
 */
export function describeProperties(numRuns: number): void {
  it('the domain agrees with the model after every step of a journey', () => {
    fc.assert(
      fc.property(journeysArbitrary, (journey) => {
        walkJourney(journey, (scenario, { memory }) => {
          expect(toModelForm(scenario)).toEqual(createExpectedAnswer(memory));
        });
      }),
      { numRuns },
    );
  });

  it('the explanation agrees with the shipment', () => {
    fc.assert(
      fc.property(journeysArbitrary, (journey) => {
        walkJourney(journey, (scenario) => {
          checkExplanation(explainShipment(requireState(scenario), decisionInputs), requireState(scenario));
        });
      }),
      { numRuns },
    );
  });

  it('the explanation agrees with the shipment for every rule about estimates', () => {
    const seen = new Set<MilestoneRule>();
    fc.assert(
      fc.property(estimatingJourneys, (journey) => {
        walkJourney(journey, (scenario) => {
          const explanation = explainShipment(requireState(scenario), decisionInputs);
          checkExplanation(explanation, requireState(scenario));
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
        walkJourney(journey, (scenario) => {
          const after = requireState(scenario);
          checkAnnouncements({ before, after, events: scenario.events.slice(seen) });
          checkForm(after);
          [before, seen] = [after, scenario.events.length];
        });
      }),
      { numRuns },
    );
  });

  it('the order in which milestones arrive does not change the shipment, and retracted milestones have no effect', () => {
    fc.assert(
      fc.property(arrivalsArbitrary, ({ fields, inOrder, inDisorder }) => {
        expect(orderIndependentOutcome(recordArrivals(fields, inDisorder))).toEqual(
          orderIndependentOutcome(recordArrivals(fields, inOrder)),
        );
      }),
      { numRuns },
    );
  });

  it('the stream up to a revision gives the answer of that time, also if it is read from stored JSON', () => {
    fc.assert(
      fc.property(journeysArbitrary, (journey) => {
        const answers: { readonly revision: number; readonly state: ShipmentState; readonly text: string }[] = [];
        const { events } = walkJourney(journey, (scenario) => {
          const state = requireState(scenario);
          answers.push({ revision: scenario.events.length, state, text: JSON.stringify(state) });
        });
        const stored = JSON.parse(JSON.stringify(events)) as Parameters<typeof toShipmentEvent>[0][];
        for (const { revision, state, text } of answers) {
          const then = fold(stored.slice(0, revision).map(toShipmentEvent));
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
function checkForm({ record, exceptions }: ShipmentState): void {
  expect(Object.keys(record).sort()).toEqual(listSortedNames(FIELDS));
  for (const container of record.containers)
    expect(Object.keys(container).sort()).toEqual(listSortedNames(CONTAINER_FIELDS));
  for (const leg of record.legs) expect(Object.keys(leg).sort()).toEqual(listSortedNames(LEG_FIELDS));
  expect(JSON.stringify(record)).toBe(JSON.stringify(JSON.parse(JSON.stringify(record))));
  const open = exceptions.filter(({ status }) => status !== 'resolved');
  expect(record.open_exceptions_count).toBe(open.length);
  expect(record.containers.map(({ number }) => number)).toEqual(record.container_numbers);
}
