import type { ShipmentException, Timestamp } from '@tracking/contracts';
import * as fc from 'fast-check';
import {
  computeRuleCheckEventsAt,
  expectExceptionsIndependentOfHistory,
  checkExplainedExceptions,
  getScenarioShipmentOrThrow,
} from './invariants.ts';
import {
  type TestJourneyWithTimedSteps,
  clampNegativeStepTimesToZero,
  addHoursToTime,
  timedJourneysArbitrary,
} from './over-time.ts';
import { type CheckPlan, listUnresolvedExceptions, runJourneyOverTime } from './timed-walk.ts';

const fractionArbitrary = fc.double({ min: 0.001, max: 1, noNaN: true });
const checkPlanArbitrary: fc.Arbitrary<CheckPlan> = fc.oneof(
  fc.constantFrom('due' as const, 'due' as const, 'last' as const, 'never' as const),
  fc.array(fractionArbitrary, { minLength: 1, maxLength: 3 }).map((parts) => parts.toSorted((a, b) => a - b)),
);
/**
 * Lists of check plans. A plan defines when a shipment is checked between two steps of a journey; the steps use one
 * plan after another.
 */
const ruleCheckPlansArbitrary = fc.array(checkPlanArbitrary, { minLength: 1, maxLength: 6 });

/**
 * Defines tests of properties of exceptions over time, each with many random journeys. `declareDomainPropertyTests`
 * explains how to reproduce a failure.
 */
export function testExceptionPropertiesOverTime(numRuns: number): void {
  it('the open exceptions depend only on the shipment, however and whenever it is checked', () => {
    fc.assert(
      fc.property(timedJourneysArbitrary, ruleCheckPlansArbitrary, (journey, plan) => {
        runJourneyOverTime(journey, plan, expectExceptionsIndependentOfHistory);
      }),
      { numRuns },
    );
  });

  it('exceptions do not depend on the times of checks, and open no later than the first check after they are due', () => {
    fc.assert(
      fc.property(
        timedJourneysArbitrary.map(clampNegativeStepTimesToZero),
        ruleCheckPlansArbitrary,
        (journey, plan) => {
          const precise = runJourneyAndListOpenExceptions(journey, ['due']);
          const others = runJourneyAndListOpenExceptions(journey, plan);
          const late = precise.open.map((exception) => ({
            ...exception,
            opened_at: others.moments.find((moment) => moment >= exception.opened_at),
          }));
          expect(others.open.map(pickComparableExceptionFields)).toEqual(late.map(pickComparableExceptionFields));
        },
      ),
      { numRuns },
    );
  });

  it('the next check is due exactly when the shipment next changes without a command', () => {
    fc.assert(
      fc.property(timedJourneysArbitrary, ruleCheckPlansArbitrary, fractionArbitrary, (journey, plan, share) => {
        runJourneyOverTime(journey, plan, (scenario, now) => {
          const next = getScenarioShipmentOrThrow(scenario).nextCheckAt;
          const idle = listSampleTimesBeforeNextCheck(next, now, share);
          expect(idle.flatMap((moment) => computeRuleCheckEventsAt(moment, scenario))).toEqual([]);
          if (next === null) return;
          expect(next > now).toBe(true);
          expect(computeRuleCheckEventsAt(next, scenario)).not.toEqual([]);
        });
      }),
      { numRuns },
    );
  });

  it('the explanation contains open exceptions, and the times at which further exceptions open if nothing else happens', () => {
    fc.assert(
      fc.property(timedJourneysArbitrary, ruleCheckPlansArbitrary, (journey, plan) => {
        runJourneyOverTime(journey, plan, checkExplainedExceptions);
      }),
      { numRuns },
    );
  });
}

/** Returns the exceptions after a journey, and all times at which exceptions were decided. */
function runJourneyAndListOpenExceptions(journey: TestJourneyWithTimedSteps, plan: readonly CheckPlan[]) {
  const moments: Timestamp[] = [];
  const scenario = runJourneyOverTime(journey, plan, (_scenario, now) => moments.push(now));
  return { open: listUnresolvedExceptions(scenario), moments };
}

/** Returns the fields by which exceptions are compared. Ids are omitted, because they depend on commands. */
function pickComparableExceptionFields({
  type,
  container_number,
  severity,
  status,
  detail,
  metrics,
  rule,
  assignee,
  ...rest
}: ComparableException) {
  const { document_ids: _, ...measured } = metrics;
  return { type, container_number, severity, status, detail, measured, rule, assignee, opened_at: rest.opened_at };
}
type ComparableException = Omit<ShipmentException, 'opened_at'> & { readonly opened_at: Timestamp | undefined };

/**
 * Returns times before the next check: now, a little later, at a fraction of the time until the check, and just before
 * it. If there is no next check, also returns a far time.
 */
function listSampleTimesBeforeNextCheck(next: Timestamp | null, now: Timestamp, share: number): readonly Timestamp[] {
  const begin = Date.parse(now);
  const end = next === null ? Date.parse(addHoursToTime(now, 20_000)) : Date.parse(next) - 1;
  const moments = [begin, begin + 1, Math.round(begin + share * (end - begin)), end];
  return moments.filter((moment) => moment <= end).map((moment) => new Date(moment).toISOString());
}
