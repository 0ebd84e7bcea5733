import { queryOptions } from '@tanstack/react-query';
import type { ShipmentDocument } from '@tracking/client';
import { type Environment, api } from '../../../session/api.ts';

export type PreviewKind = 'picture' | 'pdf' | 'text';

const KINDS: Readonly<Partial<Record<ShipmentDocument['content_type'], PreviewKind>>> = {
  'application/pdf': 'pdf',
  'image/png': 'picture',
  'image/jpeg': 'picture',
  'text/plain': 'text',
  'text/csv': 'text',
  'application/xml': 'text',
};

/** How a document is shown; undefined for what browsers cannot show, which can be saved. */
export function previewKind({ content_type }: Pick<ShipmentDocument, 'content_type'>): PreviewKind | undefined {
  return KINDS[content_type];
}

/**
 * The bytes of a document, kept while they are shown and no longer. They are asked for by the client and not by an address in
 * the page: that could not say which environment it is about.
 */
export function contentQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['document-content', environment, id],
    queryFn: async ({ signal }) => (await api(environment).documents.download(id, { signal })).blob(),
    staleTime: Infinity,
    gcTime: 0,
  });
}
