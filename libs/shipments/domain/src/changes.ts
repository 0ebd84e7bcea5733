import {
  type Container,
  type LastMilestoneSummary,
  SHIPMENT_FIELD_NAMES,
  type ClientShipmentFields,
  type ShipmentRecord,
} from '@tracking/contracts';
import { SHIPMENT_LIMITS } from './check-shipment.ts';
import type {
  AnnouncedFields,
  Change,
  Changes,
  ContainerChange,
  ChangedLastMilestoneSummaries,
} from './events/event-data.ts';

type DerivedField = Exclude<keyof AnnouncedFields, keyof ClientShipmentFields>;
/**
 * Derived fields that events announce when they change. Each follows another field in the order of changes. The
 * compiler checks that no derived field is missing.
 */
const DERIVED_FIELDS: Readonly<Record<DerivedField, { readonly after: keyof ClientShipmentFields }>> = {
  status: { after: 'external_id' },
  status_milestone_id: { after: 'external_id' },
  etd_precision: { after: 'etd' },
  eta_precision: { after: 'eta' },
  atd: { after: 'eta' },
  ata: { after: 'eta' },
  original_eta: { after: 'eta' },
  original_eta_precision: { after: 'eta' },
};
/**
 * Announced fields in the order in which changes are stored: fields that clients set, each followed by its derived
 * fields.
 */
const ANNOUNCED_FIELDS: readonly (keyof AnnouncedFields)[] = SHIPMENT_FIELD_NAMES.flatMap((field) => [
  field,
  ...(Object.keys(DERIVED_FIELDS) as DerivedField[]).filter((derived) => DERIVED_FIELDS[derived].after === field),
]);

/** Returns true if two values are equal as JSON, in any order of their members. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => isSameJson(item, b[i]))
    );
  }
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) => Object.hasOwn(b, name) && isSameJson(a[name as keyof typeof a], b[name as keyof typeof b]),
  );
}

/** Returns the changes to announce between two states of a shipment; undefined if no visible field differs. */
export function computeAnnouncedChanges(from: ShipmentRecord, to: ShipmentRecord): Changes | undefined {
  const changes: Record<string, Change<unknown>> = {};
  for (const field of ANNOUNCED_FIELDS) {
    if (!isSameJson(from[field], to[field])) changes[field] = { from: from[field], to: to[field] };
  }
  const containers = computeContainerChanges(from.containers, to.containers);
  if (containers !== undefined) changes['containers'] = containers;
  return Object.keys(changes).length === 0 ? undefined : (changes as Changes);
}

function computeContainerChanges(
  from: readonly Container[],
  to: readonly Container[],
): Change<readonly ContainerChange[]> | undefined {
  const before = new Map(from.map((container) => [container.number, container]));
  const change: { readonly from: ContainerChange[]; readonly to: ContainerChange[] } = { from: [], to: [] };
  for (const container of to) {
    const old = before.get(container.number);
    before.delete(container.number);
    if (old === undefined) {
      change.to.push(container);
    } else if (old !== container) {
      const moved = (Object.keys(container) as (keyof Container)[]).filter(
        (field) => field !== 'last_milestone' && old[field] !== container[field],
      );
      if (moved.length > 0) {
        change.from.push(pickContainerFields(old, moved));
        change.to.push(pickContainerFields(container, moved));
      }
    }
  }
  change.from.push(...before.values());
  return change.from.length + change.to.length === 0 ? undefined : change;
}

function pickContainerFields(container: Container, fields: readonly (keyof Container)[]): ContainerChange {
  return Object.fromEntries([['number', container.number], ...fields.map((field) => [field, container[field]])]);
}

/** Returns the changed `last_milestone` of the shipment and of each container that is in both states. */
export function listChangesOfLastMilestone(from: ShipmentRecord, to: ShipmentRecord): ChangedLastMilestoneSummaries {
  const before = new Map(from.containers.map((container) => [container.number, container.last_milestone]));
  const groups = new Map<string | undefined, { last: LastMilestoneSummary | null; numbers: string[] }>();
  for (const { number, last_milestone: last } of to.containers) {
    const old = before.get(number);
    if (old === undefined || isSameJson(old, last)) continue;
    const group = groups.get(last?.id);
    if (group === undefined) groups.set(last?.id, { last, numbers: [number] });
    else group.numbers.push(number);
  }
  const containers = [...groups.values()];
  if (isSameJson(from.last_milestone, to.last_milestone)) return { containers };
  return { shipment: to.last_milestone, containers };
}

export function hasNoLastMilestones(last: ChangedLastMilestoneSummaries): boolean {
  return last.shipment === undefined && last.containers.length === 0;
}

/** Returns the shipment with the changes applied. */
export function applyChangesToShipment(record: ShipmentRecord, changes: Changes): ShipmentRecord {
  // The change `milestone` describes a correction or retraction; the shipment has no such field.
  const { containers, milestone: _, ...fields } = changes;
  const moved = Object.entries(fields as Record<string, Change<unknown>>).map(([field, { to }]) => [field, to]);
  const after: ShipmentRecord = { ...record, ...(Object.fromEntries(moved) as Partial<ShipmentRecord>) };
  if (containers === undefined && changes.container_numbers === undefined) return after;
  return { ...after, containers: mergeContainerChanges(after, containers?.to ?? []) };
}

/** Returns the containers in the order of `container_numbers`. */
function mergeContainerChanges(record: ShipmentRecord, changed: readonly ContainerChange[]): Container[] {
  const present = new Map(record.containers.map((container) => [container.number, container]));
  const moved = new Map(changed.map((container) => [container.number, container]));
  return record.container_numbers.map((number) => ({ ...present.get(number), ...moved.get(number) }) as Container);
}

/** Returns the shipment and its containers with the changed `last_milestone` values. */
export function applyLastMilestoneChanges(record: ShipmentRecord, last: ChangedLastMilestoneSummaries): ShipmentRecord {
  const moved = new Map<string, LastMilestoneSummary | null>();
  for (const group of last.containers) for (const number of group.numbers) moved.set(number, group.last);
  return {
    ...record,
    last_milestone: last.shipment === undefined ? record.last_milestone : last.shipment,
    containers:
      moved.size === 0
        ? record.containers
        : record.containers.map((container) => {
            const milestone = moved.get(container.number);
            return milestone === undefined ? container : { ...container, last_milestone: milestone };
          }),
  };
}

/** Fields of a container that only clients set. */
export type ClientContainerFields = Pick<Container, 'size_type' | 'seal_number' | 'last_free_day' | 'empty_return_by'>;

/**
 * Client fields of containers that were removed from the shipment, by number. If a container is added again, it gets
 * these fields back.
 */
export type RemovedContainers = ReadonlyMap<string, ClientContainerFields>;

export const EMPTY_CLIENT_CONTAINER_FIELDS: ClientContainerFields = {
  size_type: null,
  seal_number: null,
  last_free_day: null,
  empty_return_by: null,
};

/**
 * Returns the remembered client fields of removed containers after the changes: adds those of containers that the
 * changes remove, drops those of containers that the changes add again, and keeps only the newest up to a limit.
 */
export function rememberFieldsOfRemovedContainers(
  removedContainers: RemovedContainers,
  { containers }: Changes,
): RemovedContainers {
  if (containers === undefined) return removedContainers;
  const present = new Set(containers.to.map(({ number }) => number));
  const removed = containers.from.filter(({ number }) => !present.has(number));
  const isPutBack = [...present].some((number) => removedContainers.has(number));
  if (removed.length === 0 && !isPutBack) return removedContainers;
  const after = new Map([...removedContainers].filter(([number]) => !present.has(number)));
  for (const container of removed) {
    const given = pickClientFieldsOfContainer(container);
    if (given !== undefined) after.set(container.number, given);
  }
  return new Map([...after].slice(-SHIPMENT_LIMITS.containers));
}

/** Returns those fields of a container that only clients set; undefined if none of them is set. */
function pickClientFieldsOfContainer(container: Partial<ClientContainerFields>): ClientContainerFields | undefined {
  const { size_type = null, seal_number = null, last_free_day = null, empty_return_by = null } = container;
  const given = { size_type, seal_number, last_free_day, empty_return_by };
  return Object.values(given).some((value) => value !== null) ? given : undefined;
}
