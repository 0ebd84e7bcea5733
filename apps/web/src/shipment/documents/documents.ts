import { queryOptions } from '@tanstack/react-query';
import type { DocumentType, ShipmentDocument } from '@tracking/client';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { type VersionedResource, useGuardedWrite } from '../concurrent-changes/guarded-write.ts';
import { shipmentQuery, parseVersionFromETag } from '../shipment-queries.ts';

/**
 * Query of all documents of a shipment. The result includes a version of the shipment that is not newer than the
 * documents.
 */
export function documentsQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['documents', environment, id],
    queryFn: async ({ client, signal }): Promise<VersionedResource<readonly ShipmentDocument[]>> => {
      const version = client.getQueryData(shipmentQuery(environment, id).queryKey)?.version ?? 0;
      return {
        version,
        thing: await getApiClient(environment).documents.list(id, { limit: 200 }, { signal }).toArray(),
      };
    },
  });
}

async function fetchShipmentDocumentWithVersion(
  environment: Environment,
  id: string,
): Promise<VersionedResource<ShipmentDocument>> {
  const { data: thing, etag } = await getApiClient(environment).documents.get(id).withResponse();
  return { thing, version: parseVersionFromETag(etag) };
}

/** Query of the document types that the workspace requires, by mode. */
export function requiredDocumentsQuery(environment: Environment) {
  return queryOptions({
    queryKey: ['required-documents', environment],
    queryFn: async ({ signal }): Promise<Readonly<Partial<Record<string, readonly DocumentType[]>>>> =>
      (await getApiClient(environment).documents.required({ signal })).required_documents,
    staleTime: 60_000,
  });
}

/** Query of the bytes that the documents of the workspace use, in both environments. */
export function documentStorageQuery(environment: Environment) {
  return queryOptions({
    queryKey: ['storage', environment],
    queryFn: ({ signal }) => getApiClient(environment).documents.storage({ signal }),
  });
}

type PreviewKind = 'picture' | 'pdf' | 'text';

const PREVIEW_KIND_BY_CONTENT_TYPE: Readonly<Partial<Record<ShipmentDocument['content_type'], PreviewKind>>> = {
  'application/pdf': 'pdf',
  'image/png': 'picture',
  'image/jpeg': 'picture',
  'image/webp': 'picture',
  'text/plain': 'text',
  'text/csv': 'text',
  'application/xml': 'text',
  'message/rfc822': 'text',
};

/** Returns the kind of preview for a document, or undefined if browsers cannot display its format. */
export function getPreviewKind({ content_type }: Pick<ShipmentDocument, 'content_type'>): PreviewKind | undefined {
  return PREVIEW_KIND_BY_CONTENT_TYPE[content_type];
}

/** Decodes the beginning of a text file: UTF-16 with a byte order mark, otherwise UTF-8. */
export function decodeTextFile(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes);
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  return new TextDecoder(first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8').decode(bytes);
}

/**
 * Query of a document's content, which is cached only while a preview shows it. The API client downloads the content,
 * because a URL in the page could not select the environment.
 */
export function documentContentQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['document-content', environment, id],
    queryFn: async ({ signal }) => {
      const download = await getApiClient(environment).documents.download(id, { signal });
      const blob = await download.blob();
      // The service chooses a name whose extension matches the content.
      return new File([blob], download.fileName ?? id, { type: blob.type });
    },
    staleTime: Infinity,
    gcTime: 0,
  });
}

/** User's decision about a document: approval, rejection or deletion. */
type Decision =
  { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string } | { readonly kind: 'delete' };

const DOCUMENT_DECISION_MESSAGES = {
  approve: 'Document approved.',
  reject: 'Document rejected.',
  delete: 'Document deleted.',
} as const;
/**
 * Fields of a document that a review decision depends on. If another user changed one of them, the decision is a
 * conflict.
 */
export const DOCUMENT_CONFLICT_FIELDS = ['status', 'rejection_reason', 'replaced_by_document_id'] as const;

/**
 * Returns a mutation that approves, rejects or deletes a document. The mutation reports a conflict if another user has
 * changed the document since it was read.
 */
export function useDocumentReviewMutation(onEnd: () => void) {
  const [client, environment] = [useApi(), useEnvironment()];
  return useGuardedWrite<ShipmentDocument, Decision, Decision>({
    kind: 'document',
    write: async ({ id }, decision, ifMatch) => {
      if (decision.kind === 'approve') await client.documents.approve(id, { ifMatch });
      else if (decision.kind === 'reject') await client.documents.reject(id, decision.reason, { ifMatch });
      else await client.documents.delete(id, { ifMatch });
      return decision;
    },
    read: ({ id }) => fetchShipmentDocumentWithVersion(environment, id),
    isSame: (seen, now) => DOCUMENT_CONFLICT_FIELDS.every((field) => seen[field] === now[field]),
    canStill: ({ status }, { kind }) => (kind === 'delete' ? status !== 'deleted' : status === 'uploaded'),
    done: ({ kind }) => DOCUMENT_DECISION_MESSAGES[kind],
    onDone: onEnd,
    onLeft: onEnd,
  });
}

/** A document with its earlier versions, newest version first. */
export interface DocumentWithEarlierVersions {
  readonly current: ShipmentDocument;
  readonly earlier: readonly ShipmentDocument[];
}

/** Checks if the content of a document is missing because the document was deleted or its upload expired. */
export function isContentMissing({ status }: ShipmentDocument): boolean {
  return status === 'deleted' || status === 'expired';
}

/**
 * Groups documents by version chain: each current document with its earlier versions. The order of the list is kept.
 */
export function groupDocumentVersions(all: readonly ShipmentDocument[]): readonly DocumentWithEarlierVersions[] {
  const byId = new Map(all.map((document) => [document.id, document]));
  const earlierThan = (document: ShipmentDocument): readonly ShipmentDocument[] => {
    const before = byId.get(document.replaces_document_id ?? '');
    // If another document has replaced the previous version, this document does not belong to its chain.
    return before?.replaced_by_document_id === document.id ? [before, ...earlierThan(before)] : [];
  };
  return all
    .filter(({ replaced_by_document_id }) => !byId.has(replaced_by_document_id ?? ''))
    .map((current) => ({ current, earlier: earlierThan(current) }));
}

export type Fulfilment = 'missing' | 'rejected' | 'uploaded' | 'approved';
interface RequiredDocumentFulfilment {
  readonly type: DocumentType;
  readonly state: Fulfilment;
  /** Document of the required type with the best review status. */
  readonly document?: ShipmentDocument;
}

/** Review statuses of documents, ordered from worst to best. */
const REVIEW_STATUSES_WORST_FIRST: readonly string[] = ['rejected', 'uploaded', 'approved'];

/** Returns the state of each required document type. Replaced documents and documents without content are ignored. */
export function listStatesOfRequiredDocuments(
  required: readonly DocumentType[],
  all: readonly ShipmentDocument[],
): readonly RequiredDocumentFulfilment[] {
  return required.map((type) => {
    const [document] = all
      .filter(
        (one) =>
          one.type === type && one.replaced_by_document_id === null && REVIEW_STATUSES_WORST_FIRST.includes(one.status),
      )
      .sort(
        (one, other) =>
          REVIEW_STATUSES_WORST_FIRST.indexOf(other.status) - REVIEW_STATUSES_WORST_FIRST.indexOf(one.status),
      );
    return document === undefined
      ? { type, state: 'missing' }
      : { type, state: document.status as Fulfilment, document };
  });
}
