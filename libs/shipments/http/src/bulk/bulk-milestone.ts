import { Inject, Injectable } from '@nestjs/common';
import { DomainError, parseMilestoneCode } from '@tracking/contracts';
import type { FieldError, PlaceLookup, WorkspaceScope, Timestamp, Warning } from '@tracking/contracts';
import {
  createFieldError,
  createInvalidRequestError,
  isJsonObject,
  createNotFoundError,
  ReadYourWrites,
  RequestError,
  getRequestScope,
  checkText,
} from '@tracking/http';
import { INACTIVE_STATUSES, FINAL_SHIPMENT_STATUSES } from '@tracking/read-models';
import type { ReadModelName, ShipmentOfContainer, ReferenceSearchValues } from '@tracking/read-models';
import { normaliseCode, selectShipmentsForContainerMilestone } from '@tracking/shipments';
import type { MilestoneInput } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import { READ_MODELS_INJECTION_TOKEN, SHIPMENTS_INJECTION_TOKEN } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { parseMilestoneBody } from '../milestones/milestone.pipes.ts';
import type { ParsedMilestone } from '../milestones/milestone.pipes.ts';
import { parseShipmentIdOrThrow } from '../shipments/shipment-reader.ts';
import { processItemsByGroup } from './bulk-request.ts';

/** Fields of an item that identify its shipment: the id, or one normalized reference. */
interface ShipmentReference {
  readonly field: 'shipment_id' | ReferenceSearchValues['field'];
  readonly value: string;
}

/** A milestone of a bulk request, with the reference to its shipment. */
export interface ParsedBulkMilestone {
  readonly reference: ShipmentReference;
  readonly milestone: MilestoneInput;
  /** Time of the milestone in UTC. */
  readonly occurred_at: Timestamp;
  readonly warnings: readonly Warning[];
}

/**
 * Fields of an item that only identify its shipment. Without any of them, `container_number` identifies the shipment.
 */
const SHIPMENT_IDENTIFYING_FIELDS = ['shipment_id', 'external_id', 'master_bill', 'booking_number'] as const;
const REFERENCE_AND_CONTAINER_FIELDS = [...SHIPMENT_IDENTIFYING_FIELDS, 'container_number'] as const;
/** Field of an item with the milestone's `external_id`, because `external_id` identifies the shipment. */
const MILESTONE_EXTERNAL_ID_FIELD = 'milestone_external_id';

/** @throws RequestError with every invalid field, as for a single request; `not_found` for a malformed shipment_id */
export function readBulkMilestone(
  item: unknown,
  sent: { readonly at: Timestamp; readonly strict: boolean },
  places: PlaceLookup,
): ParsedBulkMilestone {
  const found = isJsonObject(item) ? findReferenceOfBulkItem(item) : { faults: [] };
  if ('field' in found && found.field === 'shipment_id') parseShipmentIdOrThrow(found.value);
  const faults = 'field' in found ? [] : found.faults;
  const body = isJsonObject(item) ? convertItemToMilestoneBody(item) : item;
  const { milestone, occurred_at, warnings } = reportErrorsUnderItemFields(faults, () =>
    parseMilestoneBody({ ...sent, body }, places),
  );
  if (!('field' in found)) throw createInvalidRequestError(faults);
  return { reference: found, milestone, occurred_at, warnings };
}

/** Returns the single reference of an item, normalized, or the errors of its fields. */
function findReferenceOfBulkItem(
  item: Readonly<Record<string, unknown>>,
): ShipmentReference | { readonly faults: readonly FieldError[] } {
  const isGiven = (name: string) => item[name] !== undefined && item[name] !== null;
  const [field, second] = SHIPMENT_IDENTIFYING_FIELDS.filter(isGiven);
  if (second !== undefined && field !== undefined) {
    const own = [field, second].includes('external_id')
      ? ` The external_id of the milestone itself is ${MILESTONE_EXTERNAL_ID_FIELD} in this request.`
      : '';
    const message = `Must not be combined with ${field}: send one field that identifies the shipment.${own}`;
    return { faults: createFieldError(second, 'invalid_value', message) };
  }
  const name = field ?? 'container_number';
  if (!isGiven(name)) {
    return {
      faults: createFieldError(
        'shipment_id',
        'required',
        `One of ${REFERENCE_AND_CONTAINER_FIELDS.join(', ')} is required.`,
      ),
    };
  }
  const value = item[name];
  const faults = checkText(value, name);
  // An invalid container number is reported as a field of the milestone.
  if (faults.length > 0) return { faults: name === 'container_number' ? [] : faults };
  return { field: name, value: name === 'container_number' ? normaliseCode(String(value)) : String(value) };
}

/** Converts an item to the body of the request for a single milestone. */
function convertItemToMilestoneBody(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { [MILESTONE_EXTERNAL_ID_FIELD]: external_id, ...others } = item;
  const own = Object.entries(others).filter(
    ([name]) => !(SHIPMENT_IDENTIFYING_FIELDS as readonly string[]).includes(name),
  );
  return { ...Object.fromEntries(own), ...(external_id !== undefined && { external_id }) };
}

/** Reports errors of the reference and of the milestone together, under the field names of the item. */
function reportErrorsUnderItemFields(faults: readonly FieldError[], read: () => ParsedMilestone): ParsedMilestone {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RequestError) || error.details.length === 0) throw error;
    throw createInvalidRequestError([...faults, ...error.details.map(renameFieldInError)]);
  }
}

function renameFieldInError(error: FieldError): FieldError {
  return error.param === 'external_id' ? { ...error, param: MILESTONE_EXTERNAL_ID_FIELD } : error;
}

/** Shipments that the items of a bulk request identify. */
interface ShipmentsOfBulkMilestoneItems {
  /**
   * Checks that the item's reference is known.
   * @throws RequestError `not_found`; DomainError `ambiguous_shipment` or `no_open_shipment`
   */
  check(item: ParsedBulkMilestone): void;
  /** Returns a key that is equal for all items that may belong to the same shipment. */
  groupOf(item: ParsedBulkMilestone): string;
  /**
   * Returns the id of the item's shipment. Depends on what earlier items of the group have changed.
   * @throws RequestError, DomainError as `check`
   */
  idOf(item: ParsedBulkMilestone): Promise<string>;
}

/** Finds shipments by references. Each distinct reference is searched for once. */
@Injectable()
export class ShipmentFinder {
  constructor(
    @Inject(READ_MODELS_INJECTION_TOKEN) private readonly readModels: ShipmentsHttpDependencies['readModels'],
    @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites<ReadModelName>,
  ) {}

  /**
   * Finds the shipments of items, including shipments that the same API key has just written.
   * @throws RequestError `read_model_behind`
   */
  async findShipmentsOfBulkMilestones(
    request: FastifyRequest,
    items: readonly ParsedBulkMilestone[],
  ): Promise<ShipmentsOfBulkMilestoneItems> {
    const values = new Map<ReferenceSearchValues['field'], Set<string>>();
    for (const { field, value } of items.map(({ reference }) => reference)) {
      if (field !== 'shipment_id') values.set(field, (values.get(field) ?? new Set()).add(value));
    }
    if (values.size > 0) await this.readYourWrites.waitForReadModel('shipments', request);
    const { shipments } = this.readModels.queries;
    const scope = getRequestScope(request);
    const found = new Map<string, ReadonlyMap<string, readonly string[]>>();
    let containers: ReadonlyMap<string, readonly ShipmentOfContainer[]> = new Map();
    for (const [field, ofField] of values) {
      if (field === 'container_number') containers = await shipments.findShipmentsByContainer(scope, [...ofField]);
      else found.set(field, await shipments.findShipmentIdsByReference(scope, { field, values: [...ofField] }, 2));
    }
    const single = ({ field, value }: ShipmentReference) =>
      field === 'shipment_id' ? value : getOnlyMatchingShipmentIdOrThrow(field, found.get(field)?.get(value) ?? []);
    const candidatesOf = (item: ParsedBulkMilestone) => {
      const candidates = containers.get(item.reference.value) ?? [];
      if (candidates.length === 0) throw createNoOpenShipmentError(item);
      return candidates;
    };
    const isByContainer = ({ reference }: ParsedBulkMilestone) => reference.field === 'container_number';
    const groups = assignKeysToShipmentsSharingContainer(containers.values());
    const mayFinish = items.some(({ milestone }) => canMilestoneFinishShipment(milestone));
    return {
      check: (item) => void (isByContainer(item) ? candidatesOf(item) : single(item.reference)),
      groupOf: (item) => {
        const id = isByContainer(item) ? (candidatesOf(item)[0]?.id ?? '') : single(item.reference);
        return groups.get(id) ?? id;
      },
      idOf: async (item) => {
        if (!isByContainer(item)) return single(item.reference);
        const candidates = candidatesOf(item);
        const [only] = candidates;
        const isClear = candidates.length === 1 && !mayFinish && only !== undefined && isOpenShipment(only);
        return isClear ? only.id : this.findShipmentOfContainer(scope, item, candidates);
      },
    };
  }

  /** @throws DomainError `ambiguous_shipment`, `no_open_shipment` */
  private async findShipmentOfContainer(
    scope: WorkspaceScope,
    item: ParsedBulkMilestone,
    candidates: readonly ShipmentOfContainer[],
  ): Promise<string> {
    // The note is of no use for the match.
    const request = { ...scope, milestone: { ...item.milestone, note: null } };
    const matches = await processItemsByGroup(
      candidates,
      () => undefined,
      async ({ id }) => {
        const match = await this.shipments.matchMilestone({ ...request, shipment_id: id });
        return match === undefined ? [] : [{ id, ...match }];
      },
    );
    const ids = selectShipmentsForContainerMilestone(matches.flat(), item.occurred_at).map(({ id }) => id);
    if (ids.length === 0) throw createNoOpenShipmentError(item);
    return getOnlyMatchingShipmentIdOrThrow('container_number', ids);
  }
}

/** Returns a key for the id of each shipment. Shipments that are candidates for the same container have the same key. */
function assignKeysToShipmentsSharingContainer(
  all: Iterable<readonly ShipmentOfContainer[]>,
): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const candidates of all) {
    const ids = candidates.map(({ id }) => id);
    const joined = new Set(ids.map((id) => groups.get(id) ?? id));
    const [key = ''] = joined;
    const others = [...groups].filter(([, group]) => joined.has(group)).map(([id]) => id);
    for (const id of [...ids, ...others]) groups.set(id, key);
  }
  return groups;
}

/** Returns true if the milestone can finish its shipment, so that later milestones belong to another one. */
function canMilestoneFinishShipment({ code }: MilestoneInput): boolean {
  const status = parseMilestoneCode(code)?.status ?? null;
  return status !== null && INACTIVE_STATUSES.includes(status);
}

function isOpenShipment({ status }: ShipmentOfContainer): boolean {
  return !FINAL_SHIPMENT_STATUSES.includes(status);
}

function createNoOpenShipmentError({ milestone, occurred_at }: ParsedBulkMilestone): DomainError {
  const number = normaliseCode(milestone.container_number ?? '');
  const message = `No open shipment has the container ${number}, and no completed one had it at ${occurred_at}.`;
  return new DomainError('no_open_shipment', message);
}

function getOnlyMatchingShipmentIdOrThrow(field: string, ids: readonly string[]): string {
  const [id] = ids;
  if (id === undefined) throw createNotFoundError('shipment');
  if (ids.length > 1) {
    const message = `Several shipments have this ${field}, including ${ids.slice(0, 2).join(' and ')}. Identify the shipment by shipment_id.`;
    throw new DomainError('ambiguous_shipment', message);
  }
  return id;
}
