import { type DocumentRecord, isPresent } from '@tracking/contracts';
import type { StoredDocument } from './events/stored-document.ts';

type Replaced = Pick<DocumentRecord, 'replaced_by_document_id'>;

/**
 * Finds the replacement of a document among those of its shipment: the last one in the chain that is still there.
 * Streams of earlier releases may name a replacement that was deleted; it does not count.
 */
export function replacementsAmong<Document extends StoredDocument>(
  documents: readonly Document[],
): (document: Replaced) => Document | undefined {
  const byId = new Map(documents.map((each) => [each.document.id, each]));
  const next = ({ replaced_by_document_id: id }: Replaced) => (id === null ? undefined : byId.get(id));
  return (document) => {
    let replacement: Document | undefined;
    for (let each = next(document); each !== undefined; each = next(each.document)) {
      if (isPresent(each.document)) replacement = each;
    }
    return replacement;
  };
}

/** The document in whose place no other one stands once this one is deleted, as it is then; undefined where there is none. */
export function restoredWithout(
  { id, ...deleted }: DocumentRecord,
  documents: readonly StoredDocument[],
): StoredDocument | undefined {
  if (replacementsAmong(documents)(deleted) !== undefined) return undefined;
  const replacedBy = (by: string) => documents.find(({ document }) => document.replaced_by_document_id === by);
  let former = replacedBy(id);
  while (former !== undefined && !isPresent(former.document)) former = replacedBy(former.document.id);
  return former && { object_id: former.object_id, document: { ...former.document, replaced_by_document_id: null } };
}
