import {
  EMPTY_SHIPMENT_FIELDS,
  type Leg,
  type LegFields,
  type Milestone,
  type Mode,
  type EtdAndEtaPrecisions,
  type ClientShipmentFields,
  type TimeOrDay,
  type Timestamp,
} from '@tracking/contracts';
import type { ClientContainerFields, MilestoneInput } from '../../src/index.ts';

/** The parts of an estimate that its sender can state again under the same `external_id`. */
export interface EstimateReportInModel extends Pick<
  MilestoneInput,
  'code' | 'occurred_at' | 'occurred_at_precision' | 'location'
> {
  readonly reported: Timestamp;
}

/** A milestone as the model stores it. */
export interface ModelMilestone extends MilestoneInput {
  readonly id: string;
  readonly sequence: number;
  readonly recorded_at: Timestamp;
  /** Number of the command that recorded the milestone, or that made an estimate actual. */
  readonly recorded: number;
  /** Number of the command that last stated the milestone's classifier, time or place. */
  readonly said: number;
  /** Time when the source stated the milestone. */
  readonly reported: Timestamp;
  /** Former reports of an estimate. */
  readonly former: readonly EstimateReportInModel[];
  readonly revision: number;
  readonly retracted: boolean;
  /** Values that a feed last sent for the milestone, and the time of that report; null if no feed sent any. */
  readonly sent: (MilestoneInput & Pick<EstimateReportInModel, 'reported'>) | null;
}

/** A value that the client set, with the number of the command. */
interface NumberedClientValue<T> {
  readonly value: T;
  readonly said: number;
}

/** Sequence numbers of the commands with which the client set the times of a leg. */
type LegStatements = Readonly<Record<'etd' | 'eta', number>>;

/**
 * State of the model of one shipment: the inputs of all commands, from which the model computes every answer, and the
 * times after the last command.
 */
export interface ShipmentModelState {
  /** Number of the last command. */
  now: number;
  /** Times of the commands, by number. The first command is before all reports. */
  times: readonly Timestamp[];
  /** Fields of the shipment as the client set them. */
  fields: ClientShipmentFields;
  /** The client's newest statements about fields that estimates also set. */
  etd: NumberedClientValue<TimeOrDay | null>;
  eta: NumberedClientValue<TimeOrDay | null>;
  legs: { readonly value: readonly LegFields[]; readonly said: readonly LegStatements[] };
  /** The client's ETA that counts after the arrival, and its first ETA. */
  etaAtArrival: NumberedClientValue<TimeOrDay | null>;
  firstEta: NumberedClientValue<TimeOrDay | null>;
  /** Original ETA that a patch set, and the time of that patch. */
  originalEta: { readonly value: TimeOrDay | null; readonly since: Timestamp };
  /** Values of the last upsert that contained the fields `etd`, `eta` or `legs`. */
  sent: Pick<ClientShipmentFields, 'etd' | 'eta' | 'legs'>;
  milestones: readonly ModelMilestone[];
  /** Client fields of containers, including removed containers. */
  containers: ReadonlyMap<string, ClientContainerFields>;
  /** Number of the command with which the client cancelled the shipment; null if it is not cancelled by the client. */
  cancelled: number | null;
  /** Times of the shipment after the last command. Expected times can be dates. */
  answered: {
    readonly etd: TimeOrDay | null;
    readonly eta: TimeOrDay | null;
    readonly original_eta: TimeOrDay | null;
    readonly atd: Timestamp | null;
    readonly ata: Timestamp | null;
    /** Returns the legs as the client set them. */
    readonly legs: readonly Omit<Leg, keyof EtdAndEtaPrecisions>[];
    readonly cancelledByMilestone: boolean;
  };
}

export const EMPTY_CONTAINER_FIELDS: ClientContainerFields = {
  size_type: null,
  seal_number: null,
  last_free_day: null,
  empty_return_by: null,
};

export function createEmptyModelMemory(): ShipmentModelState {
  return {
    now: 0,
    times: [''],
    etaAtArrival: { value: null, said: 0 },
    firstEta: { value: null, said: 0 },
    originalEta: { value: null, since: '' },
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

/** Returns the origin: `origin_port`, otherwise the origin of the first leg. */
export function findOriginPort({ fields, legs }: ShipmentModelState): string | null {
  return fields.origin_port ?? legs.value[0]?.origin_port ?? null;
}

/** Returns the destination: `destination_port`, otherwise the destination of the last leg. */
export function findDestinationPort({ fields, legs }: ShipmentModelState): string | null {
  return fields.destination_port ?? legs.value.at(-1)?.destination_port ?? null;
}

/** Returns the milestones that count. Milestones of removed containers stay in the list but do not count. */
export function listCountingMilestones(memory: ShipmentModelState): readonly ModelMilestone[] {
  const { container_numbers } = memory.fields;
  return memory.milestones.filter(
    ({ retracted, container_number }) =>
      !retracted && (container_number === null || container_numbers.includes(container_number)),
  );
}

/**
 * Returns the milestones that count for a container: milestones that name the container, and milestones without a
 * container.
 */
export function listMilestonesOfContainer(
  milestones: readonly ModelMilestone[],
  container: string | null,
): readonly ModelMilestone[] {
  return milestones.filter(({ container_number }) => container_number === null || container_number === container);
}

type MilestoneSortKey = Pick<Milestone, 'occurred_at' | 'sequence' | 'recorded_at' | 'id'>;
/** Compares two milestones by `occurred_at`, catalog sequence and `recorded_at`. */
export function compareMilestonesInListOrder(a: MilestoneSortKey, b: MilestoneSortKey): number {
  const key = ({ occurred_at, sequence, recorded_at, id }: MilestoneSortKey) =>
    [occurred_at, String(sequence).padStart(4, '0'), recorded_at, id].join(' ');
  return key(a) < key(b) ? -1 : 1;
}

/** Returns true if the mode is road or courier. */
export function isByRoad(mode: Mode | null): boolean {
  return mode === 'road' || mode === 'courier';
}
