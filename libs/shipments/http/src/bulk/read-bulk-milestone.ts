import type { FieldError, Places, Timestamp, Warning } from '@tracking/contracts';
import { fault, invalidRequest, isObject, notFound, RequestError, text } from '@tracking/http';
import { normaliseCode, parseShipmentId } from '@tracking/shipments';
import type { MilestoneInput } from '@tracking/shipments';
import { readMilestone } from '../milestones/milestone.pipes.ts';
import type { ReadMilestone } from '../milestones/milestone.pipes.ts';
import type { ShipmentReference } from './shipment-finder.ts';

/** A milestone and the reference of its shipment. */
export interface ReadBulkMilestone {
  readonly reference: ShipmentReference;
  readonly milestone: MilestoneInput;
  readonly warnings: readonly Warning[];
}

/** Fields that only name the shipment. `container_number` names it if none of them is given. */
const NAMES = ['shipment_id', 'external_id', 'master_bill', 'booking_number'] as const;
const ALL_NAMES = [...NAMES, 'container_number'] as const;
/** The `external_id` of the milestone, as `external_id` is that of the shipment here. */
const OWN = 'milestone_external_id';

/** @throws RequestError naming every faulty field, as the single call does; `not_found` if `shipment_id` is not an id */
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

/** The one reference that is given, normalised as on the shipment. */
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
  // The checks of the milestone report a faulty container.
  if (faults.length > 0) return { faults: name === 'container_number' ? [] : faults };
  return { field: name, value: name === 'container_number' ? normaliseCode(String(value)) : String(value) };
}

function requireId(value: string): void {
  if (parseShipmentId(value) === undefined) throw notFound('shipment');
}

/** The item as the body of the single call. */
function ownOf(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { [OWN]: external_id, ...others } = item;
  const own = Object.entries(others).filter(([name]) => !(NAMES as readonly string[]).includes(name));
  return { ...Object.fromEntries(own), ...(external_id !== undefined && { external_id }) };
}

/** Reports the faults of the reference and of the milestone under the names that the item has. */
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
