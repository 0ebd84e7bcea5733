import type { LegFields, ClientShipmentFields, Timestamp } from '@tracking/contracts';
import type { ClientContainerFields, MilestoneInput, MilestonePatch, ShipmentPatch } from '../../src/index.ts';
import { convertDayToUtcAtPlace, getTimeAsSent } from './days.ts';
import { computeExpectedTimes } from './estimates.ts';
import {
  type ShipmentModelState,
  EMPTY_CONTAINER_FIELDS,
  type ModelMilestone,
  createEmptyModelMemory,
} from './memory.ts';
import {
  type Expected,
  replaceMilestoneInModel,
  correctModelMilestoneByHand,
  computeExpectedMilestoneOutcome,
  isActualWithDayPrecision,
  isUnknownContainer,
  addMilestoneToModelState,
  makeEstimateCurrentAgain,
  applyRepeatedMilestonePostToModelState,
  restateActualMilestoneInModelState,
  storeFormerEstimateReport,
  addExternalIdIfMissing,
} from './milestones.ts';
import { listCancellationsBeforeDelivery, getStatusRank, computeShipmentStatus } from './status.ts';

/**
 * A simple model of a shipment, with which tests compare the real one. It stores all inputs, and computes everything
 * from scratch after each command.
 */
export class ReferenceShipmentModel {
  readonly memory: ShipmentModelState = createEmptyModelMemory();

  /** @param readTime returns the time of the present command */
  constructor(private readonly readTime: () => Timestamp) {}

  private advanceModelTimeForNextCommand(): void {
    const { memory } = this;
    memory.now += 1;
    // The values with which the shipment was created precede all estimates.
    memory.times = [...memory.times, memory.now === 1 ? '' : this.readTime()];
  }

  /** Stores the client's ETA that counts after the arrival, which only a patch changes then. */
  private storeClientEtaCountingAfterArrival(hasEta: boolean, isPatch: boolean): void {
    const { memory } = this;
    if (!hasEta || (!isPatch && memory.answered.ata !== null)) return;
    const last = memory.legs.value.at(-1)?.eta ?? null;
    const ofLeg = { value: last, said: memory.legs.said.at(-1)?.eta ?? 0 };
    memory.etaAtArrival = memory.eta.value === null && last !== null ? ofLeg : memory.eta;
    // The first ETA is the first one since a patch last set the original ETA.
    const { since } = memory.originalEta;
    const isFirst = since === '' || (memory.times[memory.firstEta.said] ?? '') > since;
    if (memory.firstEta.value === null || !isFirst) memory.firstEta = memory.etaAtArrival;
  }

  /** Upserts the shipment. Omitted fields keep their value, `null` clears, arrays are replaced. */
  upsertShipment(fields: Partial<ClientShipmentFields>): void {
    const { memory } = this;
    this.advanceModelTimeForNextCommand();
    memory.fields = { ...memory.fields, ...fields };
    // `etd`, `eta` and `legs` of an upsert count only if they differ from the last upsert.
    let hasEta = false;
    for (const field of ['etd', 'eta'] as const) {
      const value = fields[field];
      if (value === undefined || value === memory.sent[field]) continue;
      memory[field] = { value, said: memory.now };
      hasEta ||= field === 'eta';
    }
    const { legs } = fields;
    if (legs !== undefined && JSON.stringify(legs) !== JSON.stringify(memory.sent.legs)) {
      setLegsInModel(legs, memory);
      hasEta = true;
    }
    this.storeClientEtaCountingAfterArrival(hasEta, false);
    const { etd, eta } = fields;
    memory.sent = { ...memory.sent, ...removeUndefinedFields({ etd, eta, legs }) };
    this.recomputeExpectedEtdAndEtaInModel();
  }

  /**
   * Applies a merge patch of RFC 7396: absent fields keep their value, objects are merged, null clears, arrays are
   * replaced.
   */
  patchShipment({ original_eta, ...patch }: ShipmentPatch): void {
    const { memory } = this;
    this.advanceModelTimeForNextCommand();
    memory.fields = applyMergePatch(memory.fields, patch);
    // A value that the client repeats is no new statement, unless an estimate was recorded since.
    const isNewer = (said: number) =>
      memory.milestones.some((each) => each.classifier === 'estimated' && !each.retracted && each.said > said);
    const { answered, legs: former } = memory;
    let hasEta = false;
    for (const field of ['etd', 'eta'] as const) {
      const value = patch[field];
      const leg = field === 'etd' ? former.value[0] : former.value.at(-1);
      if (value === undefined) continue;
      const applies = value === memory[field].value && answered[field] === (value ?? leg?.[field] ?? null);
      if (applies && !isNewer(memory[field].said)) continue;
      memory[field] = { value, said: memory.now };
      hasEta ||= field === 'eta';
    }
    const { legs } = patch;
    if (legs !== undefined) {
      const apply = legs.every(
        ({ etd, eta }, index) => answered.legs[index]?.etd === etd && answered.legs[index].eta === eta,
      );
      const since = Math.min(...former.said.flatMap(({ etd, eta }) => [etd, eta]));
      if (!apply || JSON.stringify(legs) !== JSON.stringify(former.value) || isNewer(since)) {
        memory.legs = { value: legs, said: legs.map(() => ({ etd: memory.now, eta: memory.now })) };
        hasEta = true;
      }
    }
    this.storeClientEtaCountingAfterArrival(hasEta, true);
    this.recomputeExpectedEtdAndEtaInModel();
    // A PATCH may set `original_eta`, and null sets it to the ETA. Otherwise it is the ETA that was reported first.
    const original = original_eta === null ? memory.answered.eta : original_eta;
    if (original === undefined || original === memory.answered.original_eta) return;
    memory.originalEta = { value: original, since: memory.times[memory.now] ?? '' };
    this.recomputeExpectedEtdAndEtaInModel();
  }

  /** Patches a container. Returns the error code if the command is refused. */
  patchContainer(number: string, patch: Partial<ClientContainerFields>): string | undefined {
    const { memory } = this;
    if (isUnknownContainer(number, memory)) return 'not_found';
    this.advanceModelTimeForNextCommand();
    const given = memory.containers.get(number) ?? EMPTY_CONTAINER_FIELDS;
    memory.containers = new Map(memory.containers).set(number, { ...given, ...patch });
    this.recomputeExpectedEtdAndEtaInModel();
    return undefined;
  }

  /** @param take checks the expected outcome, and returns the id of the milestone */
  postMilestoneInModel(sent: MilestoneInput, at: Timestamp, take: (expected: Expected) => string): void {
    const { memory } = this;
    const input = convertDayToUtcAtPlace(sent);
    const expected = computeExpectedMilestoneOutcome(input, memory);
    const id = take(expected);
    if (expected.outcome === 'refused') return;
    this.advanceModelTimeForNextCommand();
    if (expected.outcome === 'recorded') addMilestoneToModelState(input, id, at, memory);
    else if (expected.isOutdated) storeFormerEstimateReport(input, id, memory);
    else if (expected.by === 'external_id') applyRepeatedMilestonePostToModelState(input, id, memory);
    else if (expected.by === 'content') {
      addExternalIdIfMissing(input, id, memory);
      if (expected.outcome === 'corrected') makeEstimateCurrentAgain(id, memory);
      else restateActualMilestoneInModelState(input, id, memory);
    }
    this.recomputeExpectedEtdAndEtaInModel();
  }

  /** Corrects a milestone by hand. Returns the error code if the command is refused. */
  correctMilestone(id: string, patch: MilestonePatch): string | undefined {
    const { memory } = this;
    const old = this.getMilestone(id);
    if (old.retracted) return 'milestone_retracted';
    // The day of a milestone stays if only its place changes.
    const content = convertDayToUtcAtPlace({ ...old, occurred_at: getTimeAsSent(old), ...patch });
    if (isUnknownContainer(patch.container_number, memory) || isActualWithDayPrecision(content))
      return 'validation_failed';
    const { external_id, container_number } = content;
    const taken = memory.milestones.some(
      (other) =>
        (external_id !== old.external_id || container_number !== old.container_number) &&
        other.id !== id &&
        !other.retracted &&
        external_id !== null &&
        other.external_id === external_id &&
        other.container_number === container_number,
    );
    if (taken) return 'milestone_exists';
    this.advanceModelTimeForNextCommand();
    replaceMilestoneInModel(id, memory, () => correctModelMilestoneByHand(old, content, memory));
    this.recomputeExpectedEtdAndEtaInModel();
    return undefined;
  }

  /** Retracts a milestone. A repeated retraction changes nothing. */
  retractMilestone(id: string): void {
    const { memory } = this;
    this.advanceModelTimeForNextCommand();
    replaceMilestoneInModel(id, memory, (old) =>
      old.retracted ? old : { ...old, retracted: true, revision: old.revision + 1 },
    );
    this.recomputeExpectedEtdAndEtaInModel();
  }

  private getMilestone(id: string): ModelMilestone {
    const found = this.memory.milestones.find((milestone) => milestone.id === id);
    if (found === undefined) throw new Error(`the model has no milestone ${id}`);
    return found;
  }

  /** Cancels the shipment, unless it is delivered. Returns the error code if the command is refused. */
  cancelShipment(): string | undefined {
    const { memory } = this;
    const { status } = computeShipmentStatus(memory);
    if (status !== 'cancelled' && getStatusRank(status) >= getStatusRank('delivered')) return 'already_delivered';
    this.advanceModelTimeForNextCommand();
    memory.cancelled ??= memory.now;
    this.recomputeExpectedEtdAndEtaInModel();
    return undefined;
  }

  /** Reopens the shipment, unless a milestone cancels it. Returns the error code if the command is refused. */
  reopenShipment(): string | undefined {
    const { memory } = this;
    if (listCancellationsBeforeDelivery(memory).length > 0) return 'cancelled_by_milestone';
    this.advanceModelTimeForNextCommand();
    memory.cancelled = null;
    this.recomputeExpectedEtdAndEtaInModel();
    return undefined;
  }

  private recomputeExpectedEtdAndEtaInModel(): void {
    this.memory.answered = computeExpectedTimes(this.memory);
  }
}

/** Sets the legs. A time of a leg counts only if it differs from the last upsert's time for the same leg. */
function setLegsInModel(legs: readonly LegFields[], memory: ShipmentModelState): void {
  const { now, sent } = memory;
  const old = memory.legs;
  const [oldOf, sentOf] = [findIndexesOfMatchingLegs(legs, old.value), findIndexesOfMatchingLegs(legs, sent.legs)];
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
}

/**
 * Returns for each leg the index of the same leg among the other legs: the first leg with the same ports, otherwise the
 * leg at the same index.
 */
function findIndexesOfMatchingLegs(
  legs: readonly LegFields[],
  others: readonly LegFields[],
): readonly (number | undefined)[] {
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

function removeUndefinedFields<T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Applies a merge patch of RFC 7396. An object without members counts as null. */
function applyMergePatch(
  fields: ClientShipmentFields,
  patch: Omit<ShipmentPatch, 'original_eta'>,
): ClientShipmentFields {
  const party = { name: null, external_id: null };
  const metadata = patch.metadata === null ? {} : { ...fields.metadata, ...patch.metadata };
  return {
    ...({ ...fields, ...patch } as ClientShipmentFields),
    shipper:
      patch.shipper === null ? null : convertEmptyObjectToNull({ ...party, ...fields.shipper, ...patch.shipper }),
    consignee:
      patch.consignee === null ? null : convertEmptyObjectToNull({ ...party, ...fields.consignee, ...patch.consignee }),
    metadata: convertEmptyObjectToNull(
      Object.fromEntries(Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== null)),
    ),
  };
}

function convertEmptyObjectToNull<T extends object>(value: T): T | null {
  return Object.values(value).every((member) => member === null) ? null : value;
}
