/** What of the documents stands in the address: the one that is looked at. */
export interface DocumentSearch {
  readonly document?: string;
}

export function readDocumentSearch({ document }: Record<string, unknown>): DocumentSearch {
  return typeof document === 'string' && /^doc_\w+$/.test(document) ? { document } : {};
}
