import type { MilestoneRule, TimeRule } from '@tracking/contracts';
import { type Happened, arrivalOf, departureOf, isVisit, legAta, legAtd } from './actual-times.ts';
import {
  arrivalsOfShipment,
  countingAfter,
  currentEstimates,
  estimatesArrival,
  estimatesDeparture,
  isEndOfShipment,
  isStartOfShipment,
  newestOfEach,
} from './estimates.ts';
import type { Memory, Said } from './memory.ts';

type Field = 'etd' | 'eta';

/** By which rule a time is what it is, and the milestones of which one set it; none where no milestone did. */
interface Reason {
  readonly rule: TimeRule;
  readonly by: readonly Said[];
}

/** A time that estimates speak for. */
interface Estimated {
  /** `eta`, `legs[1].etd`. */
  readonly time: string;
  /** All that estimate it. */
  readonly estimates: readonly Said[];
  /** Of them those that "leave `eta` alone", since "there is an estimated `arrived_at_destination`". */
  readonly silenced: readonly Said[];
  /** Number of the command by which the client last said it. */
  readonly said: number;
  /** It has happened. */
  readonly isOver: boolean;
}

/** "Null: nobody says it." */
const UNKNOWN: Reason = { rule: 'unknown', by: [] };

/** Why times are what they are, and what estimates count as for them: the tables of docs/reference/shipments.md#explanation. */
export class Reasons {
  readonly times: Readonly<Record<Field | 'atd' | 'ata', Reason>>;
  private readonly all: readonly Estimated[];
  private readonly departed: Happened | null;
  private readonly arrived: Happened | null;

  constructor(private readonly memory: Memory) {
    const [departed, arrived] = [departureOf(memory), arrivalOf(memory)];
    this.departed = departed;
    this.arrived = arrived;
    this.all = [...this.timesOfShipment(), ...timesOfLegs(memory)];
    this.times = {
      etd: this.reasonOf('etd'),
      eta: this.reasonOf('eta'),
      atd: departed === null ? UNKNOWN : { rule: departed.rule, by: [departed.by] },
      ata: arrived === null ? UNKNOWN : { rule: arrived.rule, by: [arrived.by] },
    };
  }

  /** Which estimates set which time: of those beside it one, where there are any. */
  get setters(): ReadonlyMap<string, readonly Said[]> {
    const setters = new Map(this.all.map((each) => [each.time, this.settersOf(each)]));
    for (const field of ['etd', 'eta'] as const) {
      const { rule, by } = this.times[field];
      setters.set(field, rule === 'actual_time_known' ? [] : by);
    }
    return setters;
  }

  /**
   * What may be told of a current estimate: "is the estimate that sets a time" where it sets one. Else, where it is one thing
   * for one time and another for another, the reference leaves open which.
   */
  wordsFor(estimate: Said): readonly MilestoneRule[] {
    const times = this.all.filter(({ estimates }) => estimates.includes(estimate));
    if (times.length === 0) {
      const { memory } = this;
      const isOfTime = estimatesArrival(estimate, memory) || estimatesDeparture(estimate, memory);
      // "Of what sets no time"; or "at a place that is no port of the shipment or its legs" where it could set one.
      return [isOfTime ? 'estimated_elsewhere' : 'estimates_nothing'];
    }
    const words = times.map((time) => this.wordsForTime(estimate, time));
    return words.some((each) => each.join() === 'newest_estimate') ? ['newest_estimate'] : words.flat();
  }

  private wordsForTime(estimate: Said, time: Estimated): readonly MilestoneRule[] {
    const { silenced, said, isOver } = time;
    // "Estimates an arrival while one at the destination itself is estimated"; whether or not that has happened.
    if (silenced.includes(estimate))
      return isOver ? ['destination_estimated', 'actual_time_known'] : ['destination_estimated'];
    // "Estimates what has happened."
    if (isOver) return ['actual_time_known'];
    // "Is an estimate before what the client set."
    if (estimate.said <= said) return ['set_by_client'];
    const setters = this.settersOf(time);
    // Of two containers whose newest say the same, either sets it.
    if (setters.includes(estimate))
      return setters.length === 1 ? ['newest_estimate'] : ['newest_estimate', 'later_estimate'];
    // "Is the newest estimate of a container while another container's is later"; "is an estimate before a newer one".
    const isNewest = newestOfEach(said, speaking(time), this.memory).includes(estimate);
    return [isNewest ? 'later_estimate' : 'newer_estimate'];
  }

  private reasonOf(field: Field): Reason {
    // "What it was when the milestone named ended that, or was set since."
    const ended = field === 'etd' ? this.departed : this.arrived;
    if (ended !== null) return { rule: 'actual_time_known', by: [ended.by] };
    const { legs, [field]: statement } = this.memory;
    // "That of the first or last leg": the estimate that set it there set it here.
    const index = field === 'etd' ? 0 : legs.value.length - 1;
    if (this.isOfLeg(field)) return { rule: 'of_leg', by: this.settersOfTime(`legs[${index}].${field}`) };
    // "The newest estimate; of several containers the latest."
    const by = this.settersOfTime(field);
    if (by.length > 0) return { rule: 'newest_estimate', by };
    return statement.value === null ? UNKNOWN : { rule: 'set_by_client', by: [] };
  }

  /** "`etd` … and `eta` that the client does not give itself are those of its first and last leg." */
  private isOfLeg(field: Field): boolean {
    const { legs, [field]: statement } = this.memory;
    return statement.value === null && legs.value.at(field === 'etd' ? 0 : -1)?.[field] != null;
  }

  private settersOfTime(name: string): readonly Said[] {
    return this.all.filter(({ time }) => time === name).flatMap((time) => this.settersOf(time));
  }

  private settersOf(time: Estimated): readonly Said[] {
    return time.isOver ? [] : countingAfter(time.said, speaking(time), this.memory);
  }

  /** What is that of a leg is estimated there alone, until it has happened. */
  private timesOfShipment(): readonly Estimated[] {
    const { memory } = this;
    const { etd, eta } = memory;
    const { starting, ending, silenced } = estimatesOf(memory);
    const times = [
      { field: 'etd', estimates: starting, silenced: [], said: etd.said, isOver: this.departed !== null },
      { field: 'eta', estimates: ending, silenced, said: eta.said, isOver: this.arrived !== null },
    ] as const;
    return times
      .filter(({ field, isOver }) => isOver || !this.isOfLeg(field))
      .map(({ field, ...time }) => ({ time: field, ...time }));
  }
}

function timesOfLegs(memory: Memory): readonly Estimated[] {
  const { value: legs, said: ofLegs } = memory.legs;
  const { departures, arrivals, starting, ending, silenced } = estimatesOf(memory);
  return legs.flatMap((_leg, index) => {
    const [isFirst, isLast] = [index === 0, index === legs.length - 1];
    const isThere = (each: Said, port: 'origin_port' | 'destination_port') => isVisit(each, index, port, memory);
    const leaving = departures.filter((each) => isThere(each, 'origin_port') || (isFirst && starting.includes(each)));
    const reaching = arrivals.filter((each) => isThere(each, 'destination_port') || (isLast && ending.includes(each)));
    const said = ofLegs[index] ?? { etd: 0, eta: 0 };
    const [left, reached] = [legAtd(index, memory) !== null, legAta(index, memory) !== null];
    return [
      { time: `legs[${index}].etd`, estimates: leaving, silenced: [], said: said.etd, isOver: left },
      { time: `legs[${index}].eta`, estimates: reaching, silenced, said: said.eta, isOver: reached },
    ];
  });
}

function estimatesOf(memory: Memory) {
  const current = currentEstimates(memory);
  const departures = current.filter((milestone) => estimatesDeparture(milestone, memory));
  const arrivals = current.filter((milestone) => estimatesArrival(milestone, memory));
  const starting = departures.filter((milestone) => isStartOfShipment(milestone, memory));
  const ending = arrivals.filter((milestone) => isEndOfShipment(milestone, memory));
  const heard = arrivalsOfShipment(memory);
  const silenced = ending.filter((milestone) => !heard.includes(milestone));
  return { departures, arrivals, starting, ending, silenced };
}

function speaking({ estimates, silenced }: Estimated): readonly Said[] {
  return estimates.filter((estimate) => !silenced.includes(estimate));
}
