import type { AnswerOf, Milestone, Shipment } from '@tracking/client';
import { EXCEPTION_LABELS } from '../exceptions/exception-labels.ts';
import { freeTimeFacts, runningFreeTime } from './overview/overview-values.ts';
import { stands } from './timeline/timeline-rows.ts';

/** An expected event or a coming exception. */
export interface Next {
  readonly label: string;
  /** A time, or a date in the time zone of the place. */
  readonly at: string;
  readonly isDay: boolean;
  readonly place: string | null;
  readonly container: string | null;
  /** The time has passed without the event. */
  readonly isOverdue: boolean;
}

interface Situation {
  readonly shipment: Shipment;
  readonly milestones: readonly Milestone[];
  /** Undefined until it is read. */
  readonly explanation: AnswerOf<'explainShipment'> | undefined;
  readonly now: number;
}

type Expected = Omit<Next, 'isOverdue' | 'isDay'> & { readonly isDay?: true };

/** The next expected events, the soonest first; none for a shipment that has ended. */
export function whatComesNext({ shipment, milestones, explanation, now }: Situation): Next[] {
  if (['completed', 'returned', 'cancelled'].includes(shipment.status)) return [];
  const legs = legEvents(shipment);
  const pending = milestoneEvents(milestones).filter(
    ({ at, place }) => !legs.some((leg) => leg.at === at && (leg.place === place || place === null)),
  );
  const expected: Expected[] = [
    ...legs,
    ...pending,
    ...freeTimeEnds(shipment, milestones),
    ...comingExceptions(explanation),
  ];
  return expected
    .map((each) => ({ ...each, isDay: each.isDay ?? false, isOverdue: endOf(each) < now }))
    .toSorted((a, b) => a.at.localeCompare(b.at));
}

/** A day is over when it has ended everywhere on Earth. */
function endOf({ at, isDay }: Expected): number {
  return Date.parse(at) + (isDay ? 36 * 3_600_000 : 0);
}

/** Departures and arrivals, beginning with the latest leg on which something happened. */
function legEvents({ legs }: Shipment): Expected[] {
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

/** Estimates and plans of events that have not happened and that no later event has overtaken. */
function milestoneEvents(milestones: readonly Milestone[]): Expected[] {
  const standing = milestones.filter(stands);
  const actual = standing.filter(({ classifier }) => classifier === 'actual');
  const isFor = (one: Milestone, other: Milestone) =>
    one.container_number === null || other.container_number === null || one.container_number === other.container_number;
  const isDone = (expected: Milestone) =>
    actual.some(
      (done) =>
        isFor(done, expected) &&
        (done.code === expected.code ? samePlace(done, expected) : done.sequence > expected.sequence),
    );
  const open = standing.filter((milestone) => milestone.classifier !== 'actual' && !isDone(milestone));
  // Estimates come first: a plan of the same event is outdated.
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

function samePlace(one: Milestone, other: Milestone): boolean {
  return one.location === null || other.location === null || one.location === other.location;
}

const FREE_TIME_LABELS = { demurrage: 'Last free day', detention: 'Empty return due' } as const;

/** The running free days. */
function freeTimeEnds(shipment: Shipment, milestones: readonly Milestone[]): Expected[] {
  const facts = freeTimeFacts(shipment, milestones);
  return shipment.containers.flatMap((container) => {
    const running = runningFreeTime(container, facts);
    if (running === null) return [];
    const { kind, until } = running;
    return [{ label: FREE_TIME_LABELS[kind], at: until, isDay: true, place: null, container: container.number }];
  });
}

/** Exceptions that will open at a known time. */
function comingExceptions(explanation: AnswerOf<'explainShipment'> | undefined): Expected[] {
  return (explanation?.exceptions ?? []).flatMap(({ status, type, opens_at, container_number }) =>
    status === 'expected' && opens_at !== null
      ? [{ label: `Exception: ${EXCEPTION_LABELS[type]}`, at: opens_at, place: null, container: container_number }]
      : [],
  );
}
