import type { Leg, LegFields } from '@tracking/contracts';
import type { LegTimesWritten } from './events/event-data.ts';
import type { ShipmentState } from './state.ts';

/** Legs that an upsert sent, with what continues of the legs before them. */
export interface ContinuedLegs {
  /** With the present times where the upsert did not send other ones than the last. */
  readonly legs: readonly LegFields[];
  /** By leg: the events that set its times; absent where the upsert sets all of them. */
  readonly written?: readonly LegTimesWritten[];
  /** By leg: as it was answered before; without actual times where it is new. */
  readonly answered: readonly Leg[];
}

/**
 * Takes the times of legs that an upsert sends again from the present legs, so that they are no new statements.
 * @param revision of the upsert's first event
 */
export function continueLegs(
  sent: readonly LegFields[],
  { schedule, sent: lastSent, record }: Pick<ShipmentState, 'schedule' | 'sent' | 'record'>,
  revision: number,
): ContinuedLegs {
  const formerlySent = formerPlaces(sent, lastSent.legs);
  const present = formerPlaces(sent, schedule.legs.value);
  const continued = sent.map((leg, index) => {
    const place = present[index] ?? NOWHERE;
    const [before, written] = [schedule.legs.value[place], schedule.legs.written[place]];
    const last = lastSent.legs[formerlySent[index] ?? NOWHERE];
    const keeps = (time: 'etd' | 'eta') => before !== undefined && last !== undefined && last[time] === leg[time];
    const timeOf = (time: 'etd' | 'eta') => (keeps(time) ? (before?.[time] ?? null) : leg[time]);
    const writtenOf = (time: 'etd' | 'eta') => (keeps(time) && written !== undefined ? written[time] : revision);
    return {
      leg: { ...leg, etd: timeOf('etd'), eta: timeOf('eta') },
      written: { etd: writtenOf('etd'), eta: writtenOf('eta') },
      answered: record.legs[place] ?? { ...leg, atd: null, ata: null },
    };
  });
  const written = continued.map((each) => each.written);
  const isAllNew = written.every(({ etd, eta }) => etd === revision && eta === revision);
  return {
    legs: continued.map(({ leg }) => leg),
    ...(!isAllNew && { written }),
    answered: continued.map(({ answered }) => answered),
  };
}

const NOWHERE = -1;

/** For each leg the place of the one that it continues: with the same ports, else in the same place. */
function formerPlaces(legs: readonly LegFields[], former: readonly LegFields[]): readonly (number | undefined)[] {
  const free = new Set(former.keys());
  const take = (place: number | undefined) => (place !== undefined && free.delete(place) ? place : undefined);
  const bySamePorts = legs.map((leg) => take([...free].find((place) => hasSamePorts(leg, former[place]))));
  return bySamePorts.map((found, index) => found ?? take(index));
}

function hasSamePorts(leg: LegFields, other: LegFields | undefined): boolean {
  return leg.origin_port === other?.origin_port && leg.destination_port === other.destination_port;
}
