import { randomUUID } from 'node:crypto';
import { EMPTY_MILESTONE_DETAILS, EMPTY_SHIPMENT_FIELDS } from '@tracking/contracts';
import type {
  DocumentRecord,
  JsonObject,
  Milestone,
  WorkspaceScope,
  ShipmentException,
  ShipmentRecord,
  Timestamp,
} from '@tracking/contracts';
import type { EventStore, NewEvent, Position } from '@tracking/ports';
import type { Changes, ShipmentEventBody } from '@tracking/shipments-domain';

export const ACME_LIVE_SCOPE: WorkspaceScope = { workspace_id: 'wsp_acme', environment: 'live' };
export const ACME_TEST_SCOPE: WorkspaceScope = { workspace_id: 'wsp_acme', environment: 'test' };
export const OTHER_WORKSPACE: WorkspaceScope = { workspace_id: 'wsp_other', environment: 'live' };

const BASE32_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const SAMPLE_NOON_EPOCH_MS = Date.parse('2026-03-01T12:00:00.000Z');

/**
 * Returns the token of the n-th shipment. It is as long as real tokens, and its first character is uniformly
 * distributed.
 */
export function createNthTestShipmentToken(n: number): string {
  return `${BASE32_ALPHABET[n % 32] ?? 'a'}${'a'.repeat(17)}${String(n)
    .padStart(8, '0')
    .replace(/[01]/g, (digit) => BASE32_ALPHABET[Number(digit)] ?? '')}`;
}

export function createSampleShipmentRecord(n: number, fields: Partial<ShipmentRecord> = {}): ShipmentRecord {
  const at = new Date(SAMPLE_NOON_EPOCH_MS + n * 1_000).toISOString();
  return {
    ...EMPTY_SHIPMENT_FIELDS,
    id: `shp_${createNthTestShipmentToken(n)}`,
    external_id: null,
    mode: 'ocean',
    load_type: null,
    house_bill: null,
    master_bill: null,
    booking_number: null,
    container_numbers: [],
    carrier_scac: 'MAEU',
    origin_port: 'CNSHA',
    destination_port: 'NLRTM',
    etd: null,
    eta: null,
    etd_precision: 'time',
    eta_precision: 'time',
    shipper: { name: 'Shipper', external_id: null },
    consignee: null,
    references: [],
    metadata: null,
    legs: [],
    status: 'pending',
    status_milestone_id: null,
    containers: [],
    atd: null,
    ata: null,
    original_eta: null,
    original_eta_precision: 'time',
    last_milestone: null,
    open_exceptions_count: 0,
    documents_count: 0,
    created_at: at,
    updated_at: at,
    version: 1,
    ...fields,
  };
}

export function createSampleMilestone(n: number, id: string, fields: Partial<Milestone> = {}): Milestone {
  return {
    id: `mst_${createNthTestShipmentToken(n)}${id}`,
    shipment_id: `shp_${createNthTestShipmentToken(n)}`,
    code: 'gated_in',
    label: 'Gated in',
    sequence: 40,
    classifier: 'actual',
    occurred_at: '2026-03-02T08:00:00.000Z',
    location: null,
    timezone: null,
    source: 'manual',
    reason_code: null,
    external_id: null,
    container_number: null,
    vessel: null,
    voyage: null,
    note: null,
    ...EMPTY_MILESTONE_DETAILS,
    reported_at: '2026-03-02T09:00:00.000Z',
    recorded_at: '2026-03-02T09:00:00.000Z',
    recorded_by: { type: 'service_account', id: 'sva_1' },
    retracted_at: null,
    superseded_at: null,
    revision: 1,
    ...fields,
  };
}

export function createSampleException(
  n: number,
  id: string,
  fields: Partial<ShipmentException> = {},
): ShipmentException {
  return {
    id: `exc_${createNthTestShipmentToken(n)}${id}`,
    shipment_id: `shp_${createNthTestShipmentToken(n)}`,
    container_number: null,
    type: 'customs_hold',
    severity: 'high',
    status: 'open',
    title: 'Held by customs',
    detail: null,
    detected_by: 'system',
    rule: 'customs_hold',
    milestone_id: null,
    reason_code: null,
    assignee: null,
    metrics: {},
    resolution: null,
    opened_at: '2026-03-02T09:00:00.000Z',
    acknowledged_at: null,
    resolved_at: null,
    ...fields,
  };
}

export function createSampleDocumentRecord(
  n: number,
  id: string,
  fields: Partial<DocumentRecord> = {},
): DocumentRecord {
  return {
    id: `doc_${createNthTestShipmentToken(n)}${id}`,
    shipment_id: `shp_${createNthTestShipmentToken(n)}`,
    type: 'packing_list',
    status: 'uploaded',
    file_name: 'packing list.pdf',
    content_type: 'application/pdf',
    size_bytes: 1_000,
    checksum_sha256: 'ab'.repeat(32),
    uploaded_by: { type: 'service_account', id: 'sva_1' },
    created_at: '2026-03-02T09:00:00.000Z',
    uploaded_at: '2026-03-02T09:00:00.000Z',
    reviewed_by: null,
    reviewed_at: null,
    rejection_reason: null,
    replaces_document_id: null,
    replaced_by_document_id: null,
    ...fields,
  };
}

type Body = ShipmentEventBody | { readonly type: string; readonly data: object };

export function createShipmentEventForTest(
  body: Body,
  next_check_at: Timestamp | null = null,
  at = new Date(),
): NewEvent {
  return {
    id: randomUUID(),
    type: body.type,
    data: body.data as unknown as JsonObject,
    metadata: {
      command_id: randomUUID(),
      command_index: 0,
      recorded_at: at.toISOString(),
      actor: { type: 'service_account', id: 'sva_1' },
      request_id: 'req_1',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      next_check_at,
    },
  };
}

/** Writes events of numbered shipments in the format of the command handlers, in order. */
export class ShipmentEventWriter {
  private readonly revisions = new Map<number, number>();

  constructor(private readonly eventStore: EventStore) {}

  getShipmentStreamName(n: number): string {
    return `shipment-${createNthTestShipmentToken(n)}`;
  }

  createShipment(
    n: number,
    fields: Partial<ShipmentRecord> = {},
    scope: WorkspaceScope = ACME_LIVE_SCOPE,
  ): Promise<Position> {
    const sent = { etd: null, eta: null, legs: [] };
    return this.appendEventsWithBodies(n, {
      type: 'shipment.created.v1',
      data: { ...scope, shipment: createSampleShipmentRecord(n, fields), sent },
    });
  }

  writeShipmentChangedEvent(n: number, to: Partial<ShipmentRecord>): Promise<Position> {
    const changes = Object.fromEntries(Object.entries(to).map(([field, value]) => [field, { from: null, to: value }]));
    return this.appendEventsWithBodies(n, {
      type: 'shipment.changed.v1',
      data: { changes: changes as unknown as Changes },
    });
  }

  writeMilestoneRecordedEvent(
    n: number,
    id: string,
    fields: Partial<Milestone> = {},
    supersedes: readonly string[] = [],
    drops: readonly string[] = [],
  ): Promise<Position> {
    const last = { containers: [] };
    const data = {
      milestone: createSampleMilestone(n, id, fields),
      supersedes,
      last,
      ...(drops.length > 0 && { drops }),
    };
    return this.appendEventsWithBodies(n, { type: 'milestone.recorded.v1', data });
  }

  writeExceptionOpenedEvent(n: number, opened: ShipmentException): Promise<Position> {
    return this.appendEventsWithBodies(n, {
      type: 'exception.opened.v1',
      data: { exception: opened, open_exceptions_count: 1 },
    });
  }

  /** Writes a change of the exception. If its new status is `resolved`, writes the event that resolves it. */
  writeExceptionChangeEvent(n: number, changed: ShipmentException): Promise<Position> {
    if (changed.status === 'resolved') {
      const { id: exception_id, resolution, resolved_at } = changed;
      const data = { exception_id, resolution, resolved_at, open_exceptions_count: 0 };
      return this.appendEventsWithBodies(n, { type: 'exception.resolved.v2', data });
    }
    // Folds ignore the previous state of the exception.
    const data = { exception: changed, previous: changed, note: null };
    return this.appendEventsWithBodies(n, { type: 'exception.updated.v1', data });
  }

  /** Writes the event that leads to the document's status. Only the document's row matters to tests. */
  writeDocumentEvent(n: number, document: DocumentRecord, object_id: string | null, at?: string): Promise<Position> {
    const stored = { document, object_id };
    const bodies = {
      pending_upload: { type: 'document.requested.v1', data: { stored } },
      uploaded: { type: 'document.uploaded.v1', data: { stored, replaced: null, documents_count: 1 } },
      approved: { type: 'document.approved.v1', data: { stored, previous: document } },
      rejected: { type: 'document.rejected.v1', data: { stored, previous: document } },
      expired: { type: 'document.expired.v1', data: { stored, previous: document } },
      deleted: { type: 'document.deleted.v1', data: { stored, previous: document, documents_count: 0 } },
    } as const;
    return this.appendEvents(n, [
      createShipmentEventForTest(bodies[document.status], null, at === undefined ? undefined : new Date(at)),
    ]);
  }

  /** Records that the shipment's rules were checked, with the time of the next check. */
  recordRuleCheck(n: number, next: Timestamp | null): Promise<Position> {
    return this.appendEvents(n, [createShipmentEventForTest({ type: 'shipment.checked.v1', data: {} }, next)]);
  }

  appendEventsWithBodies(n: number, ...bodies: readonly Body[]): Promise<Position> {
    return this.appendEvents(
      n,
      bodies.map((body) => createShipmentEventForTest(body)),
    );
  }

  private async appendEvents(n: number, events: readonly NewEvent[]): Promise<Position> {
    const last = this.revisions.get(n);
    const result = await this.eventStore.append(this.getShipmentStreamName(n), last ?? 'no_stream', events);
    this.revisions.set(n, result.revision);
    return result.position;
  }
}
