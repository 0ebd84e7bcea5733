import type { AnswerOf, Milestone, Shipment } from '@tracking/client';
import { EXCEPTION_LABELS } from '../exceptions/exception-labels.ts';
import { extractFreeTimeFacts, findRunningFreeTime } from './overview/overview-values.ts';
import { isInEffect } from './timeline/timeline-rows.ts';

/** An expected event of the shipment, or an exception that will open. */
export interface NextEvent {
  readonly label: string;
  /** Time of the event, ISO 8601. If `isDay` is true, a date in the time zone of the place. */
  readonly at: string;
  readonly isDay: boolean;
  readonly place: string | null;
  readonly container: string | null;
  /** True if the expected time has passed and the event has not been reported. */
  readonly isOverdue: boolean;
}

interface NextEventsInput {
  readonly shipment: Shipment;
  readonly milestones: readonly Milestone[];
  /** Explanation of the shipment from the API. Undefined while it loads. */
  readonly explanation: AnswerOf<'explainShipment'> | undefined;
  readonly now: number;
}

type ExpectedEvent = Omit<NextEvent, 'isOverdue' | 'isDay'> & { readonly isDay?: true };

/** Lists the next expected events of a shipment, soonest first. For a shipment that has ended, the list is empty. */
export function listNextEvents({ shipment, milestones, explanation, now }: NextEventsInput): NextEvent[] {
  if (['completed', 'returned', 'cancelled'].includes(shipment.status)) return [];
  const legs = listLegEvents(shipment);
  const pending = listExpectedMilestones(milestones).filter(
    ({ at, place }) => !legs.some((leg) => leg.at === at && (leg.place === place || place === null)),
  );
  const expected: ExpectedEvent[] = [
    ...legs,
    ...pending,
    ...listFreeTimeEnds(shipment, milestones),
    ...listExpectedExceptions(explanation),
  ];
  return expected
    .map((each) => ({ ...each, isDay: each.isDay ?? false, isOverdue: getEndTimestamp(each) < now }))
    .toSorted((a, b) => a.at.localeCompare(b.at));
}

/**
 * Returns the end of an event in epoch milliseconds. An event on a day ends when the day has ended in every time zone.
 */
function getEndTimestamp({ at, isDay }: ExpectedEvent): number {
  return Date.parse(at) + (isDay ? 36 * 3_600_000 : 0);
}

/** Lists the expected departures and arrivals of the legs. Legs before the latest leg that has started are skipped. */
function listLegEvents({ legs }: Shipment): ExpectedEvent[] {
  const from = Math.max(
    legs.findLastIndex(({ atd, ata }) => atd !== null || ata !== null),
    0,
  );
  return legs
    .slice(from)
    .flatMap(({ etd, eta, atd, ata, origin_port, destination_port }) => [
      ...(etd === null || atd !== null || ata !== null
        ? []
        : [{ label: 'Departure', at: etd, place: origin_port, container: null }]),
      ...(eta === null || ata !== null
        ? []
        : [{ label: 'Arrival', at: eta, place: destination_port, container: null }]),
    ]);
}

/**
 * Lists the estimated and planned milestones that are still expected. A milestone is not expected if it has happened or
 * if a later milestone has happened.
 */
function listExpectedMilestones(milestones: readonly Milestone[]): ExpectedEvent[] {
  const standing = milestones.filter(isInEffect);
  const actual = standing.filter(({ classifier }) => classifier === 'actual');
  const isFor = (one: Milestone, other: Milestone) =>
    one.container_number === null || other.container_number === null || one.container_number === other.container_number;
  const isDone = (expected: Milestone) =>
    actual.some(
      (done) =>
        isFor(done, expected) &&
        (done.code === expected.code ? haveSamePlace(done, expected) : done.sequence > expected.sequence),
    );
  const open = standing.filter((milestone) => milestone.classifier !== 'actual' && !isDone(milestone));
  // Estimates come before plans, because an estimate replaces the plan of the same event.
  const byStep = Map.groupBy(
    open.toSorted((a, b) => a.classifier.localeCompare(b.classifier) || b.recorded_at.localeCompare(a.recorded_at)),
    ({ code, location, container_number }) => [code, location, container_number].join(' '),
  );
  return [...byStep.values()].flatMap(([first]) =>
    first === undefined
      ? []
      : [{ label: first.label, at: first.occurred_at, place: first.location, container: first.container_number }],
  );
}

function haveSamePlace(one: Milestone, other: Milestone): boolean {
  return one.location === null || other.location === null || one.location === other.location;
}

const FREE_TIME_LABELS = { demurrage: 'Last free day', detention: 'Empty return due' } as const;

/** Lists the end of the running free time of each container. */
function listFreeTimeEnds(shipment: Shipment, milestones: readonly Milestone[]): ExpectedEvent[] {
  const facts = extractFreeTimeFacts(shipment, milestones);
  return shipment.containers.flatMap((container) => {
    const running = findRunningFreeTime(container, facts);
    if (running === null) return [];
    const { kind, until } = running;
    return [{ label: FREE_TIME_LABELS[kind], at: until, isDay: true, place: null, container: container.number }];
  });
}

/** Lists the expected exceptions whose opening time is known. */
function listExpectedExceptions(explanation: AnswerOf<'explainShipment'> | undefined): ExpectedEvent[] {
  return (explanation?.exceptions ?? []).flatMap(({ status, type, opens_at, container_number }) =>
    status === 'expected' && opens_at !== null
      ? [{ label: `Exception: ${EXCEPTION_LABELS[type]}`, at: opens_at, place: null, container: container_number }]
      : [],
  );
}
