import { randomUUID } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS, EMPTY_MILESTONE_DETAILS, type PlaceLookup } from '@tracking/contracts';
import type {
  AcknowledgeException,
  AddDocumentCommand,
  CancelShipmentCommand,
  CorrectMilestoneCommand,
  DeleteDocumentCommand,
  MilestoneInput,
  MilestonePatch,
  OpenExceptionCommand,
  PatchContainerCommand,
  PatchShipmentCommand,
  ReceivedDocumentFile,
  ReceiveUploadCommand,
  RecordMilestoneCommand,
  ReopenCancelledShipmentCommand,
  RequestUploadCommand,
  ResolveExceptionCommand,
  RetractMilestoneCommand,
  UpsertShipment,
} from '@tracking/shipments-domain';
import type { RuleSettingsReader } from '../src/decide-batch.ts';

type Upsert = Omit<UpsertShipment, 'shipment_id'>;

export const SAMPLE_SCOPE = { workspace_id: 'wsp_1', environment: 'live' } as const;
/** Settings of workspaces that never changed them. */
export const DEFAULT_RULE_SETTINGS_READER: RuleSettingsReader = {
  getCachedSettings: async () => DEFAULT_RULE_SETTINGS,
};
export const EMPTY_PLACE_LOOKUP: PlaceLookup = {
  find: () => undefined,
  isUnknownLocationCode: () => false,
  isWordOfPlaceName: () => false,
  lookUpPlaceCodesByName: () => undefined,
  listAliases: () => [],
};

const createSampleCommandContext = () => ({
  id: randomUUID(),
  at: '2026-03-01T12:00:00.000Z',
  ...SAMPLE_SCOPE,
  actor: { type: 'service_account', id: 'sva_1' } as const,
  request_id: 'req_1',
  traceparent: null,
  strict: false,
});

export function createUpsertCommand(fields: Upsert['fields'], changes: Partial<Upsert> = {}): Upsert {
  return { type: 'UpsertShipment', ...createSampleCommandContext(), fields, ...changes };
}

export function createMilestoneCommand(
  shipmentId: string,
  fields: Partial<MilestoneInput> = {},
  changes: Partial<RecordMilestoneCommand> = {},
): RecordMilestoneCommand {
  return {
    type: 'RecordMilestone',
    ...createSampleCommandContext(),
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

export function createPatchCommand(shipment_id: string, fields: PatchShipmentCommand['patch']): PatchShipmentCommand {
  return { type: 'PatchShipment', ...createSampleCommandContext(), shipment_id, patch: fields };
}

export function createPatchContainerCommand(
  shipment_id: string,
  number: string,
  fields: PatchContainerCommand['patch'],
): PatchContainerCommand {
  return { type: 'PatchContainer', ...createSampleCommandContext(), shipment_id, number, patch: fields };
}

export function createCorrectMilestoneCommand(
  shipment_id: string,
  milestone_id: string,
  patch: MilestonePatch,
): CorrectMilestoneCommand {
  return { type: 'CorrectMilestone', ...createSampleCommandContext(), shipment_id, milestone_id, patch };
}

export function createRetractMilestoneCommand(shipment_id: string, milestone_id: string): RetractMilestoneCommand {
  return { type: 'RetractMilestone', ...createSampleCommandContext(), shipment_id, milestone_id };
}

export function createSampleCancelShipmentCommand(shipment_id: string): CancelShipmentCommand {
  return { type: 'CancelShipment', ...createSampleCommandContext(), shipment_id };
}

export function createReopenShipmentCommand(shipment_id: string): ReopenCancelledShipmentCommand {
  return { type: 'ReopenShipment', ...createSampleCommandContext(), shipment_id };
}

export function createOpenExceptionCommand(
  shipment_id: string,
  exception: Partial<OpenExceptionCommand['exception']> = {},
): OpenExceptionCommand {
  const unsaid = { title: null, detail: null, container_number: null, milestone_id: null, reason_code: null };
  const said = { type: 'other', severity: 'medium', assignee: null, ...unsaid, ...exception } as const;
  return { type: 'OpenException', ...createSampleCommandContext(), shipment_id, exception: said };
}

export function createAcknowledgeExceptionCommand(
  shipment_id: string,
  exception_id: string,
  assignee: string | null,
): AcknowledgeException {
  return {
    type: 'AcknowledgeException',
    ...createSampleCommandContext(),
    shipment_id,
    exception_id,
    assignee,
    note: null,
  };
}

export function createSampleResolveExceptionCommand(
  shipment_id: string,
  exception_id: string,
): ResolveExceptionCommand {
  return {
    type: 'ResolveException',
    ...createSampleCommandContext(),
    shipment_id,
    exception_id,
    code: 'fixed',
    note: null,
  };
}

/** Returns `count` different milestones of one shipment. */
export function createMilestones(shipmentId: string, count: number, changes: Partial<RecordMilestoneCommand> = {}) {
  return Array.from({ length: count }, (_, n) =>
    createMilestoneCommand(shipmentId, { code: 'in_transit_checkpoint', location: `checkpoint ${n}` }, changes),
  );
}

const SAMPLE_DOCUMENT_FIELDS = { type: 'packing_list', file_name: 'list.pdf', replaces_document_id: null } as const;
const createSampleReceivedObject = (id: string): ReceivedDocumentFile => ({
  id,
  size_bytes: 3,
  sha256: 'ab'.repeat(32),
  content_type: 'application/pdf',
});

export function createAddDocumentCommand(shipment_id: string, objectId: string): AddDocumentCommand {
  return {
    type: 'AddDocument',
    ...createSampleCommandContext(),
    shipment_id,
    document: SAMPLE_DOCUMENT_FIELDS,
    object: createSampleReceivedObject(objectId),
  };
}

export function createSampleRequestUploadCommand(shipment_id: string): RequestUploadCommand {
  const { size_bytes, sha256: checksum_sha256, content_type } = createSampleReceivedObject('');
  const document = { ...SAMPLE_DOCUMENT_FIELDS, size_bytes, checksum_sha256, content_type };
  return { type: 'RequestUpload', ...createSampleCommandContext(), shipment_id, document };
}

export function createReceiveUploadCommand(
  shipment_id: string,
  document_id: string,
  objectId: string,
): ReceiveUploadCommand {
  const received = { object: createSampleReceivedObject(objectId), kept_object_id: null };
  return { type: 'ReceiveUpload', ...createSampleCommandContext(), shipment_id, document_id, ...received };
}

export function createDeleteDocumentCommand(shipment_id: string, document_id: string): DeleteDocumentCommand {
  return { type: 'DeleteDocument', ...createSampleCommandContext(), shipment_id, document_id };
}
