export type { DeclaredFileTypeAndName } from './content/text-judge.ts';
export { DeletedDocumentSweeper } from './deleted-documents.ts';
export type {
  DeletedDocument,
  DeletedDocumentSweeperDependencies,
  DeletedDocumentPosition,
} from './deleted-documents.ts';
export { DocumentBytesStore } from './document-bytes.ts';
export type { BytesToStore, DocumentBytesDependencies, StoredDocumentFile } from './document-bytes.ts';
export { OrphanSweep, type OrphanSweepDependencies } from './orphan-sweep.ts';
export {
  STORAGE_RESERVATIONS_COLLECTION_SPEC,
  StorageQuotaLimiter,
  type StorageReservation,
  type StorageUsage,
} from './storage-quota.ts';
export type { StorageQuotaOptions } from './storage-quota.ts';
export {
  type DocumentRefusal,
  DocumentTooLargeError,
  EmptyDocumentError,
  isDocumentRefusal,
  StorageQuotaExceededError,
  UnsupportedDocumentTypeError,
} from './refusals.ts';
