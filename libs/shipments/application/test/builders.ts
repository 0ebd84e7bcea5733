import { randomUUID } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS, EMPTY_MILESTONE_DETAILS, type Places } from '@tracking/contracts';
import type {
  AcknowledgeException,
  AddDocument,
  CancelShipment,
  CorrectMilestone,
  DeleteDocument,
  MilestoneInput,
  MilestonePatch,
  OpenException,
  PatchContainer,
  PatchShipment,
  ReceivedObject,
  ReceiveUpload,
  RecordMilestone,
  ReopenShipment,
  RequestUpload,
  ResolveException,
  RetractMilestone,
  UpsertShipment,
} from '@tracking/shipments-domain';
import type { RuleSettingsReader } from '../src/decide-batch.ts';

type Upsert = Omit<UpsertShipment, 'shipment_id'>;

export const SAMPLE_SCOPE = { workspace_id: 'wsp_1', environment: 'live' } as const;
/** Settings of workspaces that never changed them. */
export const SAMPLE_SETTINGS: RuleSettingsReader = { getCachedSettings: async () => DEFAULT_RULE_SETTINGS };
export const SAMPLE_PLACES: Places = {
  find: () => undefined,
  isUnknownCode: () => false,
  isPlaceName: () => false,
  findByName: () => undefined,
  listAliases: () => [],
};

const SAMPLE_CONTEXT = () => ({
  id: randomUUID(),
  at: '2026-03-01T12:00:00.000Z',
  ...SAMPLE_SCOPE,
  actor: { type: 'service_account', id: 'sva_1' } as const,
  request_id: 'req_1',
  traceparent: null,
  strict: false,
});

export function createUpsertCommand(fields: Upsert['fields'], changes: Partial<Upsert> = {}): Upsert {
  return { type: 'UpsertShipment', ...SAMPLE_CONTEXT(), fields, ...changes };
}

export function createMilestone(
  shipmentId: string,
  fields: Partial<MilestoneInput> = {},
  changes: Partial<RecordMilestone> = {},
): RecordMilestone {
  return {
    type: 'RecordMilestone',
    ...SAMPLE_CONTEXT(),
    shipment_id: shipmentId,
    milestone: {
      code: 'gated_in',
      occurred_at: '2026-02-01T08:00:00.000Z',
      source: 'manual',
      classifier: 'actual',
      reason_code: null,
      location: null,
      timezone: null,
      external_id: null,
      container_number: null,
      vessel: null,
      voyage: null,
      note: null,
      ...EMPTY_MILESTONE_DETAILS,
      reported_at: null,
      ...fields,
    },
    ...changes,
  };
}

export function createPatchCommand(shipment_id: string, fields: PatchShipment['patch']): PatchShipment {
  return { type: 'PatchShipment', ...SAMPLE_CONTEXT(), shipment_id, patch: fields };
}

export function patchContainer(shipment_id: string, number: string, fields: PatchContainer['patch']): PatchContainer {
  return { type: 'PatchContainer', ...SAMPLE_CONTEXT(), shipment_id, number, patch: fields };
}

export function createCorrection(shipment_id: string, milestone_id: string, patch: MilestonePatch): CorrectMilestone {
  return { type: 'CorrectMilestone', ...SAMPLE_CONTEXT(), shipment_id, milestone_id, patch };
}

export function createRetraction(shipment_id: string, milestone_id: string): RetractMilestone {
  return { type: 'RetractMilestone', ...SAMPLE_CONTEXT(), shipment_id, milestone_id };
}

export function createCancellation(shipment_id: string): CancelShipment {
  return { type: 'CancelShipment', ...SAMPLE_CONTEXT(), shipment_id };
}

export function createReopening(shipment_id: string): ReopenShipment {
  return { type: 'ReopenShipment', ...SAMPLE_CONTEXT(), shipment_id };
}

export function createException(
  shipment_id: string,
  exception: Partial<OpenException['exception']> = {},
): OpenException {
  const unsaid = { title: null, detail: null, container_number: null, milestone_id: null, reason_code: null };
  const said = { type: 'other', severity: 'medium', assignee: null, ...unsaid, ...exception } as const;
  return { type: 'OpenException', ...SAMPLE_CONTEXT(), shipment_id, exception: said };
}

export function createAcknowledgement(
  shipment_id: string,
  exception_id: string,
  assignee: string | null,
): AcknowledgeException {
  return { type: 'AcknowledgeException', ...SAMPLE_CONTEXT(), shipment_id, exception_id, assignee, note: null };
}

export function createResolution(shipment_id: string, exception_id: string): ResolveException {
  return { type: 'ResolveException', ...SAMPLE_CONTEXT(), shipment_id, exception_id, code: 'fixed', note: null };
}

/** Returns `count` different milestones of one shipment. */
export function createMilestones(shipmentId: string, count: number, changes: Partial<RecordMilestone> = {}) {
  return Array.from({ length: count }, (_, n) =>
    createMilestone(shipmentId, { code: 'in_transit_checkpoint', location: `checkpoint ${n}` }, changes),
  );
}

const SAMPLE_DOCUMENT_FIELDS = { type: 'packing_list', file_name: 'list.pdf', replaces_document_id: null } as const;
const createReceivedObject = (id: string): ReceivedObject => ({
  id,
  size_bytes: 3,
  sha256: 'ab'.repeat(32),
  content_type: 'application/pdf',
});

export function addDocument(shipment_id: string, objectId: string): AddDocument {
  return {
    type: 'AddDocument',
    ...SAMPLE_CONTEXT(),
    shipment_id,
    document: SAMPLE_DOCUMENT_FIELDS,
    object: createReceivedObject(objectId),
  };
}

export function requestUpload(shipment_id: string): RequestUpload {
  const { size_bytes, sha256: checksum_sha256, content_type } = createReceivedObject('');
  const document = { ...SAMPLE_DOCUMENT_FIELDS, size_bytes, checksum_sha256, content_type };
  return { type: 'RequestUpload', ...SAMPLE_CONTEXT(), shipment_id, document };
}

export function receiveUpload(shipment_id: string, document_id: string, objectId: string): ReceiveUpload {
  const received = { object: createReceivedObject(objectId), kept_object_id: null };
  return { type: 'ReceiveUpload', ...SAMPLE_CONTEXT(), shipment_id, document_id, ...received };
}

export function deleteDocument(shipment_id: string, document_id: string): DeleteDocument {
  return { type: 'DeleteDocument', ...SAMPLE_CONTEXT(), shipment_id, document_id };
}
