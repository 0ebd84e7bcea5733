import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@tracking/contracts';
import type { FieldError, Places, Timestamp, Warning } from '@tracking/contracts';
import { fault, invalidRequest, isObject, notFound, ReadYourWrites, RequestError, scopeOf, text } from '@tracking/http';
import type { ReadModelName, ShipmentReferences } from '@tracking/read-models';
import { normaliseCode } from '@tracking/shipments';
import type { MilestoneInput } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import { READ_MODELS } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { readMilestone } from '../milestones/milestone.pipes.ts';
import type { ParsedMilestone } from '../milestones/milestone.pipes.ts';
import { readShipmentId } from '../shipments/shipment-reader.ts';

/** Fields of an item that identify its shipment: the id, or one normalized reference. */
interface ShipmentReference {
  readonly field: 'shipment_id' | ShipmentReferences['field'];
  readonly value: string;
}

/** A milestone of a bulk request, with the reference to its shipment. */
export interface ParsedBulkMilestone {
  readonly reference: ShipmentReference;
  readonly milestone: MilestoneInput;
  readonly warnings: readonly Warning[];
}

/**
 * Fields of an item that only identify its shipment. Without any of them, `container_number` identifies the shipment.
 */
const SHIPMENT_REFERENCE_FIELDS = ['shipment_id', 'external_id', 'master_bill', 'booking_number'] as const;
const REFERENCE_FIELDS = [...SHIPMENT_REFERENCE_FIELDS, 'container_number'] as const;
/** Field of an item with the milestone's `external_id`, because `external_id` identifies the shipment. */
const MILESTONE_EXTERNAL_ID_FIELD = 'milestone_external_id';

/** @throws RequestError with every invalid field, as for a single request; `not_found` for a malformed shipment_id */
export function readBulkMilestone(
  item: unknown,
  sent: { readonly at: Timestamp; readonly strict: boolean },
  places: Places,
): ParsedBulkMilestone {
  const found = isObject(item) ? findReference(item) : { faults: [] };
  if ('field' in found && found.field === 'shipment_id') readShipmentId(found.value);
  const faults = 'field' in found ? [] : found.faults;
  const body = isObject(item) ? toSingleBody(item) : item;
  const { milestone, warnings } = renameItemFaults(faults, () => readMilestone({ ...sent, body }, places));
  if (!('field' in found)) throw invalidRequest(faults);
  return { reference: found, milestone, warnings };
}

/** Returns the single reference of an item, normalized, or the errors of its fields. */
function findReference(
  item: Readonly<Record<string, unknown>>,
): ShipmentReference | { readonly faults: readonly FieldError[] } {
  const isGiven = (name: string) => item[name] !== undefined && item[name] !== null;
  const [field, second] = SHIPMENT_REFERENCE_FIELDS.filter(isGiven);
  if (second !== undefined && field !== undefined) {
    const own = [field, second].includes('external_id')
      ? ` The external_id of the milestone itself is ${MILESTONE_EXTERNAL_ID_FIELD} in this request.`
      : '';
    const message = `Must not be combined with ${field}: send one field that identifies the shipment.${own}`;
    return { faults: fault(second, 'invalid_value', message) };
  }
  const name = field ?? 'container_number';
  if (!isGiven(name)) {
    return { faults: fault('shipment_id', 'required', `One of ${REFERENCE_FIELDS.join(', ')} is required.`) };
  }
  const value = item[name];
  const faults = text(value, name);
  // An invalid container number is reported as a field of the milestone.
  if (faults.length > 0) return { faults: name === 'container_number' ? [] : faults };
  return { field: name, value: name === 'container_number' ? normaliseCode(String(value)) : String(value) };
}

/** Converts an item to the body of the request for a single milestone. */
function toSingleBody(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { [MILESTONE_EXTERNAL_ID_FIELD]: external_id, ...others } = item;
  const own = Object.entries(others).filter(
    ([name]) => !(SHIPMENT_REFERENCE_FIELDS as readonly string[]).includes(name),
  );
  return { ...Object.fromEntries(own), ...(external_id !== undefined && { external_id }) };
}

/** Reports errors of the reference and of the milestone together, under the field names of the item. */
function renameItemFaults(faults: readonly FieldError[], read: () => ParsedMilestone): ParsedMilestone {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RequestError) || error.details.length === 0) throw error;
    throw invalidRequest([...faults, ...error.details.map(renameFieldOfItem)]);
  }
}

function renameFieldOfItem(error: FieldError): FieldError {
  return error.param === 'external_id' ? { ...error, param: MILESTONE_EXTERNAL_ID_FIELD } : error;
}

/** Finds the shipments that the references of a bulk request identify. */
interface ReferencedShipments {
  /** @throws RequestError `not_found`; DomainError `ambiguous_shipment` if several shipments have the reference */
  idOf(reference: ShipmentReference): string;
}

/** Finds shipments by references. Each distinct reference is searched for once. */
@Injectable()
export class ShipmentFinder {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ShipmentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites<ReadModelName>,
  ) {}

  /**
   * Finds shipments by references, including shipments that the same API key has just written.
   * @throws RequestError `read_model_behind`
   */
  async find(request: FastifyRequest, references: readonly ShipmentReference[]): Promise<ReferencedShipments> {
    const values = new Map<ShipmentReferences['field'], Set<string>>();
    for (const { field, value } of references) {
      if (field !== 'shipment_id') values.set(field, (values.get(field) ?? new Set()).add(value));
    }
    if (values.size > 0) await this.readYourWrites.waitForReadModel('shipments', request);
    const found = new Map<string, ReadonlyMap<string, readonly string[]>>();
    for (const [field, ofField] of values) {
      const { shipments } = this.readModels.queries;
      found.set(field, await shipments.findIdsByReference(scopeOf(request), { field, values: [...ofField] }, 2));
    }
    return {
      idOf: ({ field, value }) =>
        field === 'shipment_id' ? value : requireSingleShipment(field, found.get(field)?.get(value) ?? []),
    };
  }
}

function requireSingleShipment(field: string, ids: readonly string[]): string {
  const [id] = ids;
  if (id === undefined) throw notFound('shipment');
  if (ids.length > 1) {
    const message = `Several shipments have this ${field}, including ${ids.join(' and ')}. Identify the shipment by shipment_id.`;
    throw new DomainError('ambiguous_shipment', message);
  }
  return id;
}
