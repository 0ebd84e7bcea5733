import {
  EMPTY_SHIPMENT_FIELDS,
  type Leg,
  type LegFields,
  type Milestone,
  type Mode,
  type ShipmentFields,
  type Timestamp,
} from '@tracking/contracts';
import type { ClientContainerFields, MilestoneInput } from '../../src/index.ts';

/** A milestone as the model remembers it. */
export interface ModelMilestone extends MilestoneInput {
  readonly id: string;
  readonly sequence: number;
  readonly recorded_at: Timestamp;
  /** Number of the command that recorded it: as an actual one, where it was an estimate before. */
  readonly recorded: number;
  /** Number of the command that last said its kind, time or place. */
  readonly said: number;
  readonly revision: number;
  readonly retracted: boolean;
  /** What a feed last sent of it; null where none did. */
  readonly sent: MilestoneInput | null;
}

/** What the client said of a field, and with which command. */
interface Statement<T> {
  readonly value: T;
  readonly said: number;
}

/** By which commands the client said the times of a leg. */
type LegStatements = Readonly<Record<'etd' | 'eta', number>>;

/** All that was ever said of a shipment, and little else: everything answered is worked out from it. */
export interface Memory {
  /** Number of the last command. */
  now: number;
  /** As the client gave them. */
  fields: ShipmentFields;
  /** The client's newest statements of what estimates move too. */
  etd: Statement<Timestamp | null>;
  eta: Statement<Timestamp | null>;
  legs: { readonly value: readonly LegFields[]; readonly said: readonly LegStatements[] };
  /** What the last upsert that named them sent. */
  sent: Pick<ShipmentFields, 'etd' | 'eta' | 'legs'>;
  milestones: readonly ModelMilestone[];
  /** What the client gave of containers, those that were taken off too. */
  containers: ReadonlyMap<string, ClientContainerFields>;
  /** Number of the command by which the client cancelled it; null unless that stands. */
  cancelled: number | null;
  /** As answered after the last command. */
  answered: {
    readonly etd: Timestamp | null;
    readonly eta: Timestamp | null;
    readonly original_eta: Timestamp | null;
    readonly atd: Timestamp | null;
    readonly ata: Timestamp | null;
    /** Of the legs as the client gave them. */
    readonly legs: readonly Leg[];
    readonly cancelledByMilestone: boolean;
  };
}

export const EMPTY_CONTAINER_FIELDS: ClientContainerFields = {
  size_type: null,
  seal_number: null,
  last_free_day: null,
  empty_return_by: null,
};

export function emptyMemory(): Memory {
  return {
    now: 0,
    fields: EMPTY_SHIPMENT_FIELDS,
    etd: { value: null, said: 0 },
    eta: { value: null, said: 0 },
    legs: { value: [], said: [] },
    sent: { etd: null, eta: null, legs: [] },
    milestones: [],
    containers: new Map(),
    cancelled: null,
    answered: { etd: null, eta: null, original_eta: null, atd: null, ata: null, legs: [], cancelledByMilestone: false },
  };
}

/** "`origin_port` … that were not given themselves are those of the first … leg." */
export function findOrigin({ fields, legs }: Memory): string | null {
  return fields.origin_port ?? legs.value[0]?.origin_port ?? null;
}

/** "… `destination_port` … that were not given themselves are those of … the last leg." */
export function findDestination({ fields, legs }: Memory): string | null {
  return fields.destination_port ?? legs.value.at(-1)?.destination_port ?? null;
}

/** "A container taken off the shipment keeps its milestones in the list, but they no longer count." */
export function countingMilestones(memory: Memory): readonly ModelMilestone[] {
  const { container_numbers } = memory.fields;
  return memory.milestones.filter(
    ({ retracted, container_number }) =>
      !retracted && (container_number === null || container_numbers.includes(container_number)),
  );
}

/** "Derived … among the milestones that are *actual* and not retracted", in the order of the list. */
export function actualMilestones(memory: Memory): readonly ModelMilestone[] {
  return countingMilestones(memory)
    .filter(({ classifier }) => classifier === 'actual')
    .toSorted(compareInListOrder);
}

/** "The rank is computed for each container from the milestones that name it plus those that name none." */
export function milestonesOfContainer(milestones: readonly ModelMilestone[], container: string | null): readonly ModelMilestone[] {
  return milestones.filter(({ container_number }) => container_number === null || container_number === container);
}

type MilestoneSortKey = Pick<Milestone, 'occurred_at' | 'sequence' | 'recorded_at' | 'id'>;
/** "Listed by `occurred_at`, catalog sequence, `recorded_at`." */
export function compareInListOrder(a: MilestoneSortKey, b: MilestoneSortKey): number {
  const key = ({ occurred_at, sequence, recorded_at, id }: MilestoneSortKey) =>
    [occurred_at, String(sequence).padStart(4, '0'), recorded_at, id].join(' ');
  return key(a) < key(b) ? -1 : 1;
}

/** "`picked_up` follows the shipment's present mode (courier as road)." */
export function isByRoad(mode: Mode | null): boolean {
  return mode === 'road' || mode === 'courier';
}
