export { TrackingClient } from './tracking-client.ts';
export type * from './options.ts';
export type * from './api-types.ts';
export type * from './resource-types.ts';
export type { components, operations, paths } from './generated/api.ts';
export type { Answered, Call } from './call.ts';
export type { List, Page } from './list.ts';
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
export type { Download, DownloadOptions } from './documents/document-download.ts';
export type {
  DocumentContentType,
  DocumentType,
  DocumentUpload,
  ShipmentDocument,
  UploadOptions,
} from './documents/document-upload.ts';
export type * from './events/event-types.ts';
export type { EventStream, StreamOptions } from './events/event-stream.ts';
export type { PresignedUpload } from './resources/documents.ts';
export { verifyWebhook, type WebhookToVerify } from './webhooks/verify-webhook.ts';
export * from './webhooks/webhook-errors.ts';
