import type { AnswerOf, Milestone, Shipment } from '@tracking/client';
import { EXCEPTION_LABELS } from '../exceptions/exception-labels.ts';
import { ENDED_SHIPMENT_STATUSES } from '../values/codes.ts';
import { getDayAtPlace } from '../values/zones.ts';
import { extractFreeTimeFacts, findRunningFreeTime } from './overview/overview-values.ts';
import { isMilestoneInEffect } from './timeline/timeline-rows.ts';

/** An expected event of the shipment, or an exception that will open. */
export interface ExpectedShipmentEvent {
  readonly label: string;
  /** Time of the event, ISO 8601. If `isDay` is true, a date in the time zone of the place. */
  readonly at: string;
  readonly isDay: boolean;
  readonly place: string | null;
  readonly container: string | null;
  /** True if the expected time has passed and the event has not been reported. */
  readonly isOverdue: boolean;
}

interface UpcomingShipmentEventsInput {
  readonly shipment: Shipment;
  readonly milestones: readonly Milestone[];
  /** Explanation of the shipment from the API. Undefined while it loads. */
  readonly explanation: AnswerOf<'explainShipment'> | undefined;
  /** Returns the time zone of a port. Returns undefined if the zone is unknown. */
  readonly zoneOf: (port: string | null) => string | null | undefined;
  readonly now: number;
}

interface UpcomingEventTimeBounds extends Pick<ExpectedShipmentEvent, 'at' | 'isDay'> {
  /** Time in epoch milliseconds after which the event is overdue. */
  readonly endMs: number;
}

type ExpectedEvent = UpcomingEventTimeBounds & Pick<ExpectedShipmentEvent, 'label' | 'place' | 'container'>;

/** Lists the next expected events of a shipment, soonest first. For a shipment that has ended, the list is empty. */
export function listUpcomingShipmentEvents({
  shipment,
  milestones,
  explanation,
  zoneOf,
  now,
}: UpcomingShipmentEventsInput): ExpectedShipmentEvent[] {
  if (ENDED_SHIPMENT_STATUSES.includes(shipment.status)) return [];
  const legs = listLegEvents(shipment, zoneOf);
  const pending = listEstimatedAndPlannedMilestonesAhead(milestones).filter(
    ({ at, place }) => !legs.some((leg) => leg.at === at && (leg.place === place || place === null)),
  );
  const expected: ExpectedEvent[] = [
    ...legs,
    ...pending,
    ...listFreeTimeEnds(shipment, milestones),
    ...listUpcomingExceptions(explanation),
  ];
  return expected
    .map(({ endMs, ...event }) => ({ ...event, isOverdue: endMs < now }))
    .toSorted((a, b) => a.at.localeCompare(b.at));
}

/**
 * Returns the time of an event: the time itself, or the date of a whole day at its place.
 * @param time ISO 8601 time in UTC; of a whole day, its last millisecond
 */
function toUpcomingEventTimeBounds(
  time: string,
  precision: Milestone['occurred_at_precision'] = 'time',
  zone?: string | null,
): UpcomingEventTimeBounds {
  const isDay = precision === 'day';
  return { at: isDay ? getDayAtPlace(time, zone) : time, isDay, endMs: Date.parse(time) };
}

/** Lists the expected departures and arrivals of the legs. Legs before the latest leg that has started are skipped. */
function listLegEvents({ legs }: Shipment, zoneOf: UpcomingShipmentEventsInput['zoneOf']): ExpectedEvent[] {
  const from = Math.max(
    legs.findLastIndex(({ atd, ata }) => atd !== null || ata !== null),
    0,
  );
  return legs
    .slice(from)
    .flatMap(({ etd, etd_precision, eta, eta_precision, atd, ata, origin_port, destination_port }) => [
      ...(etd === null || atd !== null || ata !== null
        ? []
        : [
            {
              ...toUpcomingEventTimeBounds(etd, etd_precision, zoneOf(origin_port)),
              ...{ label: 'Departure', place: origin_port, container: null },
            },
          ]),
      ...(eta === null || ata !== null
        ? []
        : [
            {
              ...toUpcomingEventTimeBounds(eta, eta_precision, zoneOf(destination_port)),
              ...{ label: 'Arrival', place: destination_port, container: null },
            },
          ]),
    ]);
}

/**
 * Lists the estimated and planned milestones that are still expected. A milestone is not expected if it has happened or
 * if a later milestone has happened.
 */
function listEstimatedAndPlannedMilestonesAhead(milestones: readonly Milestone[]): ExpectedEvent[] {
  const standing = milestones.filter(isMilestoneInEffect);
  const actual = standing.filter(({ classifier }) => classifier === 'actual');
  const isFor = (one: Milestone, other: Milestone) =>
    one.container_number === null || other.container_number === null || one.container_number === other.container_number;
  const isDone = (expected: Milestone) =>
    actual.some(
      (done) =>
        isFor(done, expected) &&
        (done.code === expected.code ? mayBeAtSamePlace(done, expected) : done.sequence > expected.sequence),
    );
  const open = standing.filter((milestone) => milestone.classifier !== 'actual' && !isDone(milestone));
  // Estimates are sorted before planned times, because an estimate replaces the planned time of the same event.
  const byStep = Map.groupBy(
    open.toSorted((a, b) => a.classifier.localeCompare(b.classifier) || b.recorded_at.localeCompare(a.recorded_at)),
    ({ code, location, container_number }) => [code, location, container_number].join(' '),
  );
  return [...byStep.values()].flatMap(([first]) =>
    first === undefined
      ? []
      : [
          {
            ...toUpcomingEventTimeBounds(first.occurred_at, first.occurred_at_precision, first.timezone),
            ...{ label: first.label, place: first.location, container: first.container_number },
          },
        ],
  );
}

function mayBeAtSamePlace(one: Milestone, other: Milestone): boolean {
  return one.location === null || other.location === null || one.location === other.location;
}

/** Number of hours from the start of a day in UTC to its end in UTC−12, the last time zone. */
const HOURS_UNTIL_DAY_ENDS_EVERYWHERE = 36;
const FREE_TIME_LABELS = { demurrage: 'Last free day', detention: 'Empty return due' } as const;

/** Lists the end of the running free time of each container. */
function listFreeTimeEnds(shipment: Shipment, milestones: readonly Milestone[]): ExpectedEvent[] {
  const facts = extractFreeTimeFacts(shipment, milestones);
  return shipment.containers.flatMap((container) => {
    const running = findRunningFreeTime(container, facts);
    if (running === null) return [];
    const { kind, until } = running;
    // The time zone of the place is unknown. The day has ended when it has ended in every time zone.
    const endMs = Date.parse(until) + HOURS_UNTIL_DAY_ENDS_EVERYWHERE * 3_600_000;
    return [{ label: FREE_TIME_LABELS[kind], at: until, isDay: true, endMs, place: null, container: container.number }];
  });
}

/** Lists the expected exceptions whose opening time is known. */
function listUpcomingExceptions(explanation: AnswerOf<'explainShipment'> | undefined): ExpectedEvent[] {
  return (explanation?.exceptions ?? []).flatMap(({ status, type, opens_at, container_number }) =>
    status === 'expected' && opens_at !== null
      ? [
          {
            ...toUpcomingEventTimeBounds(opens_at),
            ...{ label: `Exception: ${EXCEPTION_LABELS[type]}`, place: null, container: container_number },
          },
        ]
      : [],
  );
}
