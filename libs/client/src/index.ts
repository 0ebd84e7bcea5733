export { TrackingClient } from './tracking-client.ts';
export type {
  ClientOptions,
  RequestOptions,
  ReadOptions,
  WriteOptions,
  PostOptions,
  UpsertOptions,
  ApiResponse,
  Call,
  List,
  Page,
} from './call.ts';
export type {
  OperationId,
  AnswerOf,
  BodyOf,
  QueryOf,
  ItemOf,
  Shipment,
  ShipmentFields,
  ShipmentWritten,
  Milestone,
  MilestoneFields,
  MilestoneWritten,
  ShipmentException,
  WebhookEndpoint,
  WebhookDelivery,
  WebhookDeadLetterSummary,
  WebhookReplay,
  WorkspaceSettings,
  Warning,
  FieldError,
  TrackingEvent,
  EventType,
  EventOf,
  WebhookEvent,
  WebhookPayload,
  EndpointVerification,
} from './api.ts';
export type { components, operations, paths } from './generated/api.ts';
export { SHIPMENT_FILTERS } from './generated/shipment-filters.ts';
export type { Progress } from './http/request.ts';
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InternalError,
  InvalidRequestError,
  NotFoundError,
  NotModifiedError,
  PermissionError,
  RateLimitError,
  TimeoutError,
  TrackingError,
  type ErrorCode,
  type ErrorType,
} from './errors.ts';
export type {
  Download,
  DownloadOptions,
  DocumentContentType,
  DocumentType,
  DocumentUpload,
  ShipmentDocument,
  UploadOptions,
  PresignedUpload,
} from './documents.ts';
export type { EventStream, StreamOptions } from './events.ts';
export {
  verifyWebhook,
  type WebhookToVerify,
  WebhookVerificationError,
  WebhookFormError,
  WebhookSignatureError,
  WebhookTimestampError,
} from './webhooks.ts';
