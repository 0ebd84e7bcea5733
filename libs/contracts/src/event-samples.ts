import type { ShipmentDocument } from './documents.ts';
import { EXCEPTION_TITLES, type ShipmentException } from './exceptions.ts';
import {
  type Environment,
  type Milestone,
  type Shipment,
  type ClientShipmentFields,
  type Timestamp,
  addMissingShipmentFields,
  EMPTY_MILESTONE_DETAILS,
} from './shipment.ts';
import type { PublicAddresses } from './common.ts';

/** Returns the time that lies the given number of hours after the current time of the samples. */
type SampleTimes = (hours: number) => Timestamp;

const HOUR_MS = 3_600_000;

const SAMPLE_SHIPMENT_ID_SUFFIX = 'sandbox2sandbox2sandbox2aa';
const SHIPMENT_ID = `shp_${SAMPLE_SHIPMENT_ID_SUFFIX}`;
const SAMPLE_CONTAINER_NUMBER = 'CSQU3054383';
const SAMPLE_DEPARTURE_MILESTONE = {
  id: `mst_${SAMPLE_SHIPMENT_ID_SUFFIX}1`,
  code: 'vessel_departed',
  label: 'Vessel departed',
  location: 'CNSHA',
};
const SAMPLE_ENDPOINT_ID = 'whe_sandbox2sandbox2sandbox2aa';
const SAMPLE_USER = { type: 'user', id: 'usr_sandbox' } as const;

/** Sample resources for sandbox events: one shipment, and an endpoint that fails. */
export type EventSamples = ReturnType<typeof createEventSamples>;

export function createEventSamples(at: Timestamp, addresses: PublicAddresses, environment: Environment = 'live') {
  const time: SampleTimes = (hours) => new Date(Date.parse(at) + hours * HOUR_MS).toISOString();
  return {
    shipment: createSampleShipmentResource(time, addresses),
    milestone: (state: 'recorded' | 'retracted') =>
      createSampleMilestoneResource(time, state === 'retracted' ? time(0) : null),
    exception: (status: 'open' | 'acknowledged' | 'resolved') => createSampleExceptionResource(time, status),
    document: (status: 'uploaded' | 'approved' | 'rejected') => createSampleDocumentResource(time, addresses, status),
    endpoint: createSampleEndpointResource(time, environment),
    failing_since: time(-1),
    failed: createSampleDeadLetterResource(time),
  };
}

/** Sample shipment: an ocean container from Shanghai to Rotterdam that is thirty hours late. */
function createSampleShipmentResource(time: SampleTimes, { appUrl }: PublicAddresses) {
  const voyage = {
    mode: 'ocean',
    carrier_scac: 'MSCU',
    origin_port: 'CNSHA',
    destination_port: 'NLRTM',
    etd: time(-96),
    etd_precision: 'time',
    eta: time(510),
    eta_precision: 'time',
    atd: time(-94),
    ata: null,
  } as const;
  const last_milestone = { ...SAMPLE_DEPARTURE_MILESTONE, occurred_at: time(-94) };
  const shipment = {
    ...voyage,
    id: SHIPMENT_ID,
    external_id: 'PO-SANDBOX-1',
    status: 'in_transit',
    status_milestone_id: SAMPLE_DEPARTURE_MILESTONE.id,
    load_type: 'fcl',
    house_bill: 'HBL-SANDBOX-1',
    master_bill: 'MEDUSANDBOX1',
    booking_number: 'BKG-SANDBOX-1',
    container_numbers: [SAMPLE_CONTAINER_NUMBER],
    shipper: { name: 'Sandbox Export Ltd', external_id: 'SUP-1' },
    consignee: { name: 'Sandbox Import B.V.', external_id: 'CUS-1' },
    references: [{ type: 'purchase_order', value: 'PO-SANDBOX-1' }],
    metadata: null,
    legs: [{ ...voyage, vessel: 'MSC SANDBOX', voyage: '123W' }],
    containers: [
      {
        number: SAMPLE_CONTAINER_NUMBER,
        valid_check_digit: true,
        size_type: null,
        seal_number: null,
        status: 'in_transit',
        status_milestone_id: SAMPLE_DEPARTURE_MILESTONE.id,
        last_milestone,
        discharged_at: null,
        available_at: null,
        gated_out_at: null,
        delivered_at: null,
        empty_returned_at: null,
        last_free_day: null,
        empty_return_by: null,
      },
    ],
    original_eta: time(480),
    original_eta_precision: 'time',
    last_milestone,
    open_exceptions_count: 1,
    documents_count: 1,
    created_at: time(-240),
    updated_at: time(0),
    version: 7,
    url: `${appUrl}/shipments/${SHIPMENT_ID}`,
  } satisfies Omit<Shipment, keyof ClientShipmentFields> & Partial<ClientShipmentFields>;
  return addMissingShipmentFields<typeof shipment>(shipment) as typeof shipment;
}

function createSampleMilestoneResource(time: SampleTimes, retractedAt: Timestamp | null) {
  return {
    ...SAMPLE_DEPARTURE_MILESTONE,
    shipment_id: SHIPMENT_ID,
    sequence: 55,
    classifier: 'actual',
    occurred_at: time(-94),
    timezone: 'Asia/Shanghai',
    source: 'carrier',
    reason_code: null,
    external_id: null,
    container_number: SAMPLE_CONTAINER_NUMBER,
    vessel: 'MSC SANDBOX',
    voyage: '123W',
    note: null,
    ...EMPTY_MILESTONE_DETAILS,
    reported_at: time(-93),
    recorded_at: time(-93),
    recorded_by: SAMPLE_USER,
    retracted_at: retractedAt,
    superseded_at: null,
    revision: retractedAt === null ? 1 : 2,
  } satisfies Milestone;
}

/** Sample exception, with fields as described in docs/reference/exceptions.md#fields. */
function createSampleExceptionResource(time: SampleTimes, status: 'open' | 'acknowledged' | 'resolved') {
  const resolved = status === 'resolved';
  const metrics = { slip_hours: 30, eta: time(510), original_eta: time(480) };
  return {
    id: `exc_${SAMPLE_SHIPMENT_ID_SUFFIX}1`,
    shipment_id: SHIPMENT_ID,
    container_number: null,
    type: 'eta_slip',
    severity: 'medium',
    status,
    title: EXCEPTION_TITLES.eta_slip,
    detail: `The ETA ${metrics.eta} is 30 hours past the original ${metrics.original_eta}.`,
    detected_by: 'system',
    rule: 'eta_slip',
    milestone_id: null,
    reason_code: null,
    assignee: status === 'open' ? null : 'kim@example.com',
    metrics,
    resolution: resolved ? { code: 'fixed', note: 'Consignee informed.', by: SAMPLE_USER } : null,
    opened_at: time(-2),
    acknowledged_at: status === 'open' ? null : time(-1),
    resolved_at: resolved ? time(0) : null,
  } satisfies ShipmentException;
}

/** Sample document with the content described in docs/reference/delivery.md#sandbox. */
function createSampleDocumentResource(
  time: SampleTimes,
  { baseUrl }: PublicAddresses,
  status: 'uploaded' | 'approved' | 'rejected',
) {
  const id = `doc_${SAMPLE_SHIPMENT_ID_SUFFIX}1`;
  const reviewed = status !== 'uploaded';
  return {
    id,
    shipment_id: SHIPMENT_ID,
    type: 'bill_of_lading',
    status,
    file_name: 'bill-of-lading.pdf',
    content_type: 'application/pdf',
    size_bytes: 182_044,
    checksum_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    uploaded_by: SAMPLE_USER,
    created_at: time(-3),
    uploaded_at: time(-3),
    reviewed_by: reviewed ? SAMPLE_USER : null,
    reviewed_at: reviewed ? time(0) : null,
    rejection_reason: status === 'rejected' ? 'The second page is missing.' : null,
    replaces_document_id: null,
    replaced_by_document_id: null,
    download_url: `${baseUrl}/v1/documents/${id}/download`,
  } as const satisfies ShipmentDocument;
}

/** Sample webhook endpoint that responds to every attempt with an error. */
function createSampleEndpointResource(time: SampleTimes, environment: Environment) {
  return {
    id: SAMPLE_ENDPOINT_ID,
    url: 'https://tms.example.com/webhooks',
    event_types: ['*'],
    description: 'The TMS of the sandbox',
    api_version: '2026-11-01',
    payload: 'full',
    environment,
    status: 'enabled',
    disabled_reason: null,
    last_verification: { at: time(-720), ok: true, error: null },
    headers: { 'x-api-key': '********' },
    max_concurrency: 16,
    created_at: time(-721),
    updated_at: time(-719),
    version: 3,
  } as const;
}

/** Sample dead letter: a delivery that was attempted for three days. */
function createSampleDeadLetterResource(time: SampleTimes) {
  return {
    id: 'dlv_sandbox2sandbox2sandbox2aa',
    endpoint_id: SAMPLE_ENDPOINT_ID,
    event_id: 'evt_7c0a4a52-5b0e-4d5e-9a53-0f2f6f1f7a10',
    event_type: 'milestone.recorded',
    status: 'dead_lettered',
    sandbox: false,
    created_at: time(-72),
    next_attempt_at: null,
    completed_at: time(0),
    attempts_count: 13,
    last_error: { code: 'unexpected_status', message: 'The endpoint answered 503.' },
    version: 14,
  } as const;
}
