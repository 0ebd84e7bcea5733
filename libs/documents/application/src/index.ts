export type { ContentHint } from './content/text-judge.ts';
export { DeletedDocuments } from './deleted-documents.ts';
export type { DeletedDocument, DeletedDocumentsDependencies, DeletedDocumentPosition } from './deleted-documents.ts';
export { DocumentBytes } from './document-bytes.ts';
export type { BytesToStore, DocumentBytesDependencies, DocumentObject } from './document-bytes.ts';
export { OrphanSweep, type OrphanSweepDependencies } from './orphan-sweep.ts';
export { RESERVATIONS_COLLECTION, StorageQuota, type StorageReservation, type StorageUsage } from './storage-quota.ts';
export type { StorageQuotaOptions } from './storage-quota.ts';
export {
  type DocumentRefusal,
  DocumentTooLarge,
  EmptyDocument,
  isDocumentRefusal,
  StorageQuotaExceeded,
  UnsupportedDocumentType,
} from './refusals.ts';
