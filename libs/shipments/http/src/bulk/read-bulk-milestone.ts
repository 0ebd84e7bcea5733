import type { FieldError, Places, Timestamp, Warning } from '@tracking/contracts';
import { fault, invalidRequest, isObject, notFound, RequestError, text } from '@tracking/http';
import { normaliseCode, parseShipmentId } from '@tracking/shipments';
import type { MilestoneInput } from '@tracking/shipments';
import { readMilestone } from '../milestones/milestone.pipes.ts';
import type { ReadMilestone } from '../milestones/milestone.pipes.ts';
import type { ShipmentReference } from './shipment-finder.ts';

/** A milestone, and what names its shipment. */
export interface ReadBulkMilestone {
  readonly reference: ShipmentReference;
  readonly milestone: MilestoneInput;
  readonly warnings: readonly Warning[];
}

/** What names a shipment and nothing else; `container_number` does where none of them stands beside it. */
const NAMES = ['shipment_id', 'external_id', 'master_bill', 'booking_number'] as const;
const ALL_NAMES = [...NAMES, 'container_number'] as const;
/** The milestone's own, beside the `external_id` that is the shipment's here. */
const OWN = 'milestone_external_id';

/** @throws RequestError naming every faulty field, as the single call does; `not_found` for what is no id */
export function readBulkMilestone(
  item: unknown,
  sent: { readonly at: Timestamp; readonly strict: boolean },
  places: Places,
): ReadBulkMilestone {
  const found = isObject(item) ? referenceIn(item) : undefined;
  if (found !== undefined && 'field' in found && found.field === 'shipment_id') requireId(found.value);
  const faults = found === undefined || 'field' in found ? [] : found.faults;
  const { milestone, warnings } = readOwn(isObject(item) ? ownOf(item) : item, faults, (body) =>
    readMilestone({ ...sent, body }, places),
  );
  if (found === undefined || !('field' in found)) throw invalidRequest(faults);
  return { reference: found, milestone, warnings };
}

/** The one name that is given, in the form that shipments have it. */
function referenceIn(
  item: Readonly<Record<string, unknown>>,
): ShipmentReference | { readonly faults: readonly FieldError[] } {
  const isGiven = (name: string) => item[name] !== undefined && item[name] !== null;
  const [field, second] = NAMES.filter(isGiven);
  if (second !== undefined && field !== undefined) {
    const own = [field, second].includes('external_id') ? ` The milestone's own external_id is ${OWN} here.` : '';
    const message = `Names the shipment, as ${field} does: give one of them.${own}`;
    return { faults: fault(second, 'invalid_value', message) };
  }
  const name = field ?? 'container_number';
  if (!isGiven(name)) {
    return { faults: fault('shipment_id', 'required', `One of ${ALL_NAMES.join(', ')} is required.`) };
  }
  const value = item[name];
  const faults = text(value, name);
  // What is wrong with a container the milestone tells.
  if (faults.length > 0) return { faults: name === 'container_number' ? [] : faults };
  return { field: name, value: name === 'container_number' ? normaliseCode(String(value)) : String(value) };
}

function requireId(value: string): void {
  if (parseShipmentId(value) === undefined) throw notFound('shipment');
}

/** The item as the single call takes it. */
function ownOf(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { [OWN]: external_id, ...others } = item;
  const own = Object.entries(others).filter(([name]) => !(NAMES as readonly string[]).includes(name));
  return { ...Object.fromEntries(own), ...(external_id !== undefined && { external_id }) };
}

/** Faults of both under the names that the item has. */
function readOwn(own: unknown, faults: readonly FieldError[], read: (body: unknown) => ReadMilestone): ReadMilestone {
  try {
    return read(own);
  } catch (error) {
    if (!(error instanceof RequestError) || error.details.length === 0) throw error;
    throw invalidRequest([...faults, ...error.details.map(asSent)]);
  }
}

function asSent(error: FieldError): FieldError {
  return error.param === 'external_id' ? { ...error, param: OWN } : error;
}
