import { queryOptions } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { type Environment, api } from '../../session/api.ts';
import type { HistoryEntry } from '../history/history-sentences.ts';
import type { Seen } from '../meanwhile/guarded.ts';
import { versionIn } from '../meanwhile/version.ts';
import { shipmentQuery } from '../shipment-queries.ts';

/** Those of a shipment, whatever became of them, and the shipment's version of which they are at least. */
export function seenExceptionsQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['exceptions-seen', environment, id],
    queryFn: async ({ client, signal }): Promise<Seen<readonly ShipmentException[]>> => {
      const version = client.getQueryData(shipmentQuery(environment, id).queryKey)?.version ?? 0;
      return { version, thing: await api(environment).exceptions.listOf(id, { limit: 200 }, { signal }).toArray() };
    },
  });
}

export async function readException(environment: Environment, id: string): Promise<Seen<ShipmentException>> {
  const { data: thing, etag } = await api(environment).exceptions.get(id).withResponse();
  return { thing, version: versionIn(etag) };
}

/** What happened to an exception and what was said of it, the newest first. */
export function exceptionStoryQuery(environment: Environment, { id, shipment_id, opened_at }: ShipmentException) {
  return queryOptions({
    queryKey: ['exception-story', environment, shipment_id, id],
    queryFn: async ({ signal }) => {
      const story: HistoryEntry[] = [];
      for await (const entry of api(environment).shipments.history(shipment_id, { limit: 200 }, { signal })) {
        if (Date.parse(entry.at) < Date.parse(opened_at)) break;
        if (isAbout(entry, id)) story.push(entry);
      }
      return story;
    },
  });
}

function isAbout({ changes: { exception } }: HistoryEntry, id: string): boolean {
  return [exception?.from, exception?.to].some(
    (one) => (one as { readonly id?: string } | null | undefined)?.id === id,
  );
}
