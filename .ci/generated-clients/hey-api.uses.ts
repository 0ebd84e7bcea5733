// Uses of the client that @hey-api/openapi-ts generates: see .ci/generated-clients.mjs.
import { cancelShipment, listShipments, recordMilestone } from './hey-api';
import type { Event, Severity, ShipmentStatus } from './hey-api';

/** A union of events narrows by `type`. */
export function told(event: Event): string | null {
  if (event.type === 'milestone.retracted') return event.data.milestone.retracted_at;
  // @ts-expect-error no event holds one before it is told which it is
  void event.data.milestone;
  return event.type === 'document.approved' ? event.data.document.download_url : event.created_at;
}

export async function uses(id: string): Promise<string | undefined> {
  const { data } = await listShipments({ query: { status: ['in_transit'], has_open_exceptions: true } });
  const status: ShipmentStatus | undefined = data?.data[0]?.status;
  // @ts-expect-error no status
  await listShipments({ query: { status: ['sailing'] } });
  const { error } = await cancelShipment({ path: { id }, headers: { Prefer: 'handling=strict', 'If-Match': '"7"' } });
  if (error && 'error' in error && error.error.code === 'already_delivered') return error.error.request_id;
  // @ts-expect-error a milestone has a time
  await recordMilestone({ path: { id }, body: { code: 'vessel_departed' } });
  const severity: Severity = 'high';
  return `${status} ${severity}`;
}
