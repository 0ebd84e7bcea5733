import type { DocumentType, ShipmentDocument } from '@tracking/client';

/** A document and those that it took the place of, the newest first. */
export interface Versions {
  readonly current: ShipmentDocument;
  readonly earlier: readonly ShipmentDocument[];
}

/** There is nothing to be seen of it any more. */
export function isGone({ status }: ShipmentDocument): boolean {
  return status === 'deleted' || status === 'expired';
}

/** Every document once: as the newest of its kind, or among the earlier ones of that. In the order of the list. */
export function versionsOf(all: readonly ShipmentDocument[]): readonly Versions[] {
  const byId = new Map(all.map((document) => [document.id, document]));
  const earlierThan = (document: ShipmentDocument): readonly ShipmentDocument[] => {
    const before = byId.get(document.replaces_document_id ?? '');
    // One that was pending while another took that place replaces nothing.
    return before?.replaced_by_document_id === document.id ? [before, ...earlierThan(before)] : [];
  };
  return all
    .filter(({ replaced_by_document_id }) => !byId.has(replaced_by_document_id ?? ''))
    .map((current) => ({ current, earlier: earlierThan(current) }));
}

export type Fulfilment = 'missing' | 'rejected' | 'uploaded' | 'approved';
export interface Requirement {
  readonly type: DocumentType;
  readonly state: Fulfilment;
  /** The one that fulfils it best. */
  readonly document?: ShipmentDocument;
}

/** The best last. */
const STATES: readonly string[] = ['rejected', 'uploaded', 'approved'];

/** How far what is required is there. One that was replaced, or has no bytes, counts for nothing. */
export function checklist(required: readonly DocumentType[], all: readonly ShipmentDocument[]): readonly Requirement[] {
  return required.map((type) => {
    const [document] = all
      .filter((one) => one.type === type && one.replaced_by_document_id === null && STATES.includes(one.status))
      .sort((one, other) => STATES.indexOf(other.status) - STATES.indexOf(one.status));
    return document === undefined
      ? { type, state: 'missing' }
      : { type, state: document.status as Fulfilment, document };
  });
}
