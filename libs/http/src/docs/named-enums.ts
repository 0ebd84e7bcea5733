import * as contracts from '@tracking/contracts';
import type { OpenAPIObject } from '@nestjs/swagger';
import { listNestedObjects, createSchemaReference } from './described.ts';
import type { JsonSchema } from './described.ts';

/**
 * Enumerations with their own name in the OpenAPI description, so that generators create one type for each.
 * The `enumName` of @nestjs/swagger does not give the same result: it describes the enumeration with the text of the
 * first property that uses it, and puts each reference into an `allOf`.
 */
const NAMED_ENUMS: Readonly<Record<string, readonly string[]>> = {
  AuditType: contracts.AUDIT_TYPES,
  AutomaticExceptionType: contracts.AUTOMATIC_EXCEPTION_TYPES,
  CanonicalMilestoneCode: contracts.MILESTONE_CODES,
  Classifier: contracts.MILESTONE_CLASSIFIER_VALUES,
  DeliveryStatus: contracts.DELIVERY_STATUSES,
  DocumentContentType: contracts.DOCUMENT_CONTENT_TYPES,
  DocumentStatus: contracts.DOCUMENT_STATUSES,
  DocumentType: contracts.DOCUMENT_TYPES,
  Environment: contracts.ENVIRONMENTS,
  ErrorCode: Object.keys(contracts.ERROR_CODES),
  ErrorType: [...new Set(Object.values(contracts.ERROR_CODES))],
  SubscribableEventType: ['*', ...contracts.EVENT_TYPES],
  EventTypeName: contracts.EVENT_TYPES,
  ExceptionStatus: contracts.EXCEPTION_STATUSES,
  ExceptionType: contracts.EXCEPTION_TYPES,
  FieldErrorCode: contracts.FIELD_ERROR_CODES,
  HistoryType: contracts.HISTORY_ENTRY_TYPES,
  Incoterm: contracts.INCOTERMS,
  LoadType: contracts.CARGO_LOAD_TYPES,
  ManualResolutionCode: contracts.MANUAL_RESOLUTION_CODES,
  MilestoneSource: contracts.MILESTONE_SOURCES,
  Mode: contracts.TRANSPORT_MODES,
  ModeInput: [...contracts.TRANSPORT_MODES, ...Object.keys(contracts.MODE_ALIASES)],
  PayloadForm: contracts.PAYLOAD_FORMS,
  Permission: contracts.API_KEY_PERMISSIONS,
  ReasonCode: contracts.MILESTONE_REASON_CODES,
  ResolutionCode: contracts.RESOLUTION_CODES,
  Role: contracts.USER_ROLES,
  Severity: contracts.SEVERITIES,
  ShipmentEventType: contracts.SHIPMENT_EVENT_TYPES,
  ShipmentStatus: contracts.SHIPMENT_STATUSES,
  TimePrecision: contracts.TIME_PRECISIONS,
  WarningCode: contracts.WARNING_CODES,
};
const ENUM_NAMES_BY_VALUES = new Map(Object.entries(NAMED_ENUMS).map(([name, values]) => [values.join(), name]));

/** Replaces the values of each named enumeration with a reference to it. */
export function extractNamedEnums(document: OpenAPIObject): void {
  const used = new Map<string, JsonSchema>();
  for (const schema of listNestedObjects([document.paths, document.components])) {
    const { enum: values } = schema;
    if (!Array.isArray(values)) continue;
    const name = ENUM_NAMES_BY_VALUES.get(values.filter((value) => value !== null).join());
    if (name === undefined) continue;
    delete schema['enum'];
    delete schema['type'];
    if (values.includes(null)) schema['anyOf'] = [createSchemaReference(name), { type: 'null' }];
    else Object.assign(schema, createSchemaReference(name));
    used.set(name, { type: 'string', enum: NAMED_ENUMS[name] });
  }
  const schemas = Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
  document.components = { ...document.components, schemas: { ...document.components?.schemas, ...schemas } };
}
