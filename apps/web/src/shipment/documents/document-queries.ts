import { queryOptions } from '@tanstack/react-query';
import type { DocumentType, ShipmentDocument } from '@tracking/client';
import { type Environment, api } from '../../session/api.ts';
import type { Seen } from '../meanwhile/guarded.ts';
import { versionIn } from '../meanwhile/version.ts';
import { shipmentQuery } from '../shipment-queries.ts';

/** Those of a shipment, whatever became of them, and the shipment's version of which they are at least. */
export function documentsQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['documents', environment, id],
    queryFn: async ({ client, signal }): Promise<Seen<readonly ShipmentDocument[]>> => {
      const version = client.getQueryData(shipmentQuery(environment, id).queryKey)?.version ?? 0;
      return { version, thing: await api(environment).documents.list(id, { limit: 200 }, { signal }).toArray() };
    },
  });
}

export async function readDocument(environment: Environment, id: string): Promise<Seen<ShipmentDocument>> {
  const { data: thing, etag } = await api(environment).documents.get(id).withResponse();
  return { thing, version: versionIn(etag) };
}

/** What a shipment of each mode needs. */
export function requiredQuery(environment: Environment) {
  return queryOptions({
    queryKey: ['required-documents', environment],
    queryFn: async ({ signal }): Promise<Readonly<Partial<Record<string, readonly DocumentType[]>>>> =>
      (await api(environment).documents.required({ signal })).required_documents,
    staleTime: 60_000,
  });
}
