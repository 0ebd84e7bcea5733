import type { LegFields, ShipmentFields, Timestamp } from '@tracking/contracts';
import type { ClientContainerFields, MilestoneInput, MilestonePatch, ShipmentPatch } from '../../src/index.ts';
import { expectedTimes } from './estimates.ts';
import { type ModelMemory, EMPTY_CONTAINER_FIELDS, type ModelMilestone, emptyMemory } from './memory.ts';
import {
  type Expected,
  changeMilestone,
  correct,
  expectedOutcome,
  isUnknownContainer,
  record,
  makeCurrentAgain,
  resend,
  takeExternalId,
} from './milestones.ts';
import { cancellations, getRank, shipmentStatus } from './status.ts';

/** A simple model of a shipment. It stores all inputs, and computes everything from scratch after each command. */
export class ShipmentModel {
  readonly memory: ModelMemory = emptyMemory();

  /** Upserts the shipment. Omitted fields keep their value, `null` clears, arrays are replaced. */
  upsert(fields: Partial<ShipmentFields>): void {
    const { memory } = this;
    memory.now += 1;
    memory.fields = { ...memory.fields, ...fields };
    // `etd`, `eta` and `legs` of an upsert count only if they differ from the last upsert.
    for (const field of ['etd', 'eta'] as const) {
      const value = fields[field];
      if (value !== undefined && value !== memory.sent[field]) memory[field] = { value, said: memory.now };
    }
    const { legs } = fields;
    if (legs !== undefined && JSON.stringify(legs) !== JSON.stringify(memory.sent.legs)) sendLegs(legs, memory);
    const { etd, eta } = fields;
    memory.sent = { ...memory.sent, ...withoutUndefined({ etd, eta, legs }) };
    this.deriveAll(false);
  }

  /**
   * Applies a merge patch of RFC 7396: absent fields keep their value, objects are merged, null clears, arrays are
   * replaced.
   */
  patch({ original_eta, ...patch }: ShipmentPatch): void {
    const { memory } = this;
    memory.now += 1;
    memory.fields = mergePatch(memory.fields, patch);
    for (const field of ['etd', 'eta'] as const) {
      const value = patch[field];
      if (value !== undefined) memory[field] = { value, said: memory.now };
    }
    const { legs } = patch;
    if (legs !== undefined) memory.legs = { value: legs, said: legs.map(() => ({ etd: memory.now, eta: memory.now })) };
    // `original_eta` is the first known ETA. A PATCH may set it, and null resets it.
    if (original_eta !== undefined) memory.answered = { ...memory.answered, original_eta };
    this.deriveAll(true);
  }

  /** Patches a container. Returns the error code if the command is refused. */
  patchContainer(number: string, patch: Partial<ClientContainerFields>): string | undefined {
    const { memory } = this;
    if (isUnknownContainer(number, memory)) return 'not_found';
    memory.now += 1;
    const given = memory.containers.get(number) ?? EMPTY_CONTAINER_FIELDS;
    memory.containers = new Map(memory.containers).set(number, { ...given, ...patch });
    this.deriveAll(false);
    return undefined;
  }

  /** @param take checks the expected outcome, and returns the id of the milestone */
  post(input: MilestoneInput, at: Timestamp, take: (expected: Expected) => string): void {
    const { memory } = this;
    const expected = expectedOutcome(input, memory);
    const id = take(expected);
    if (expected.outcome === 'refused') return;
    memory.now += 1;
    if (expected.outcome === 'recorded') record(input, id, at, memory);
    else if (expected.by === 'external_id') resend(input, id, memory);
    else if (expected.by === 'content') {
      takeExternalId(input, id, memory);
      if (expected.outcome === 'corrected') makeCurrentAgain(id, memory);
    }
    this.deriveAll(false);
  }

  /** Corrects a milestone by hand. Returns the error code if the command is refused. */
  correct(id: string, patch: MilestonePatch): string | undefined {
    const { memory } = this;
    const old = this.milestone(id);
    const { external_id } = patch;
    if (old.retracted) return 'milestone_retracted';
    if (isUnknownContainer(patch.container_number, memory)) return 'validation_failed';
    const taken = memory.milestones.some(
      (other) => other.id !== id && !other.retracted && external_id != null && other.external_id === external_id,
    );
    if (taken) return 'milestone_exists';
    memory.now += 1;
    changeMilestone(id, memory, () => correct(old, { ...old, ...patch }, memory));
    this.deriveAll(false);
    return undefined;
  }

  /** Retracts a milestone. A repeated retraction changes nothing. */
  retract(id: string): void {
    const { memory } = this;
    memory.now += 1;
    changeMilestone(id, memory, (old) =>
      old.retracted ? old : { ...old, retracted: true, revision: old.revision + 1 },
    );
    this.deriveAll(false);
  }

  private milestone(id: string): ModelMilestone {
    const found = this.memory.milestones.find((milestone) => milestone.id === id);
    if (found === undefined) throw new Error(`the model has no milestone ${id}`);
    return found;
  }

  /** Cancels the shipment, unless it is delivered. Returns the error code if the command is refused. */
  cancel(): string | undefined {
    const { memory } = this;
    const { status } = shipmentStatus(memory);
    if (status !== 'cancelled' && getRank(status) >= getRank('delivered')) return 'already_delivered';
    memory.now += 1;
    memory.cancelled ??= memory.now;
    this.deriveAll(false);
    return undefined;
  }

  /** Reopens the shipment, unless a milestone cancels it. Returns the error code if the command is refused. */
  reopen(): string | undefined {
    const { memory } = this;
    if (cancellations(memory).length > 0) return 'cancelled_by_milestone';
    memory.now += 1;
    memory.cancelled = null;
    this.deriveAll(false);
    return undefined;
  }

  private deriveAll(isPatch: boolean): void {
    this.memory.answered = expectedTimes(this.memory, isPatch);
  }
}

/** Sets the legs. A time of a leg counts only if it differs from the last upsert's time for the same leg. */
function sendLegs(legs: readonly LegFields[], memory: ModelMemory): void {
  const { now, sent, answered } = memory;
  const old = memory.legs;
  const [oldOf, sentOf] = [matchLegs(legs, old.value), matchLegs(legs, sent.legs)];
  const isUnchanged = (index: number, time: 'etd' | 'eta') => {
    const [place, last] = [oldOf[index], sentOf[index]];
    return place !== undefined && last !== undefined && sent.legs[last]?.[time] === legs[index]?.[time];
  };
  const choose = <T>(index: number, time: 'etd' | 'eta', before: (place: number) => T | undefined, otherwise: T): T =>
    (isUnchanged(index, time) ? before(oldOf[index] ?? -1) : undefined) ?? otherwise;
  memory.legs = {
    value: legs.map((leg, index) => ({
      ...leg,
      etd: choose(index, 'etd', (place) => old.value[place]?.etd, isUnchanged(index, 'etd') ? null : leg.etd),
      eta: choose(index, 'eta', (place) => old.value[place]?.eta, isUnchanged(index, 'eta') ? null : leg.eta),
    })),
    said: legs.map((_leg, index) => ({
      etd: choose(index, 'etd', (place) => old.said[place]?.etd, now),
      eta: choose(index, 'eta', (place) => old.said[place]?.eta, now),
    })),
  };
  // A leg that has departed or arrived keeps its expected times, at any index.
  memory.answered = {
    ...answered,
    legs: legs.map((leg, index) => answered.legs[oldOf[index] ?? -1] ?? { ...leg, atd: null, ata: null }),
  };
}

/**
 * Returns for each leg the index of the same leg among the other legs: the first leg with the same ports, otherwise the
 * leg at the same index.
 */
function matchLegs(legs: readonly LegFields[], others: readonly LegFields[]): readonly (number | undefined)[] {
  const taken: number[] = [];
  const take = (isIt: (other: LegFields, place: number) => boolean): number | undefined => {
    const place = others.findIndex((other, at) => !taken.includes(at) && isIt(other, at));
    if (place >= 0) taken.push(place);
    return place >= 0 ? place : undefined;
  };
  const ports = ({ origin_port, destination_port }: LegFields) => `${origin_port} ${destination_port}`;
  const byPorts = legs.map((leg) => take((other) => ports(other) === ports(leg)));
  return byPorts.map((place, index) => place ?? take((_other, at) => at === index));
}

function withoutUndefined<T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Applies a merge patch of RFC 7396. An object without members counts as null. */
function mergePatch(fields: ShipmentFields, patch: Omit<ShipmentPatch, 'original_eta'>): ShipmentFields {
  const party = { name: null, external_id: null };
  const metadata = patch.metadata === null ? {} : { ...fields.metadata, ...patch.metadata };
  return {
    ...({ ...fields, ...patch } as ShipmentFields),
    shipper: patch.shipper === null ? null : emptyToNull({ ...party, ...fields.shipper, ...patch.shipper }),
    consignee: patch.consignee === null ? null : emptyToNull({ ...party, ...fields.consignee, ...patch.consignee }),
    metadata: emptyToNull(
      Object.fromEntries(Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== null)),
    ),
  };
}

function emptyToNull<T extends object>(value: T): T | null {
  return Object.values(value).every((member) => member === null) ? null : value;
}
