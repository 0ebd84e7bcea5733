import { queryOptions } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import type { MANUAL_RESOLUTIONS } from '../../exceptions/exception-labels.ts';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import type { HistoryEntry } from '../history/history-sentences.ts';
import { type VersionedResource, useGuardedWrite } from '../concurrent-changes/guarded-write.ts';
import { shipmentQuery, parseVersionFromETag } from '../shipment-queries.ts';

/**
 * Query of all exceptions of a shipment. The result includes a version of the shipment that is not newer than the
 * exceptions.
 */
export function versionedExceptionsQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['exceptions-seen', environment, id],
    queryFn: async ({ client, signal }): Promise<VersionedResource<readonly ShipmentException[]>> => {
      const version = client.getQueryData(shipmentQuery(environment, id).queryKey)?.version ?? 0;
      return {
        version,
        thing: await getApiClient(environment).exceptions.listOf(id, { limit: 200 }, { signal }).toArray(),
      };
    },
  });
}

async function fetchExceptionWithVersion(
  environment: Environment,
  id: string,
): Promise<VersionedResource<ShipmentException>> {
  const { data: thing, etag } = await getApiClient(environment).exceptions.get(id).withResponse();
  return { thing, version: parseVersionFromETag(etag) };
}

/** Query of the history of one exception with its notes, newest entry first. */
export function exceptionHistoryQuery(environment: Environment, { id, shipment_id, opened_at }: ShipmentException) {
  return queryOptions({
    queryKey: ['exception-story', environment, shipment_id, id],
    queryFn: async ({ signal }) => {
      const story: HistoryEntry[] = [];
      for await (const entry of getApiClient(environment).shipments.history(shipment_id, { limit: 200 }, { signal })) {
        if (Date.parse(entry.at) < Date.parse(opened_at)) break;
        if (isChangeOfException(entry, id)) story.push(entry);
      }
      return story;
    },
  });
}

function isChangeOfException({ changes: { exception } }: HistoryEntry, id: string): boolean {
  return [exception?.from, exception?.to].some(
    (one) => (one as { readonly id?: string } | null | undefined)?.id === id,
  );
}

/** Action of a user on an exception, with its input. */
export type ExceptionAction =
  | { readonly kind: 'acknowledge' | 'assign'; readonly assignee: string | null; readonly note?: string }
  | { readonly kind: 'remark'; readonly note: string }
  | { readonly kind: 'resolve'; readonly code: (typeof MANUAL_RESOLUTIONS)[number]; readonly note?: string };

const EXCEPTION_ACTION_SUCCESS_MESSAGES: Readonly<Record<ExceptionAction['kind'], string>> = {
  acknowledge: 'Exception acknowledged.',
  assign: 'Assignee changed.',
  remark: 'Note added.',
  resolve: 'Exception resolved.',
};
/** Fields that the conflict dialog compares between two states of an exception. */
export const COMPARED_EXCEPTION_FIELDS = ['status', 'severity', 'assignee', 'detail', 'resolution'] as const;
const COMPARED_FIELDS_OF_OPEN_EXCEPTION = ['status', 'severity', 'assignee', 'detail'] as const;

/**
 * Returns a mutation that acknowledges, assigns, resolves or comments on an exception. The mutation reports a conflict
 * if another user has changed the exception since it was read.
 */
export function useExceptionAction(onEnd: () => void) {
  const [client, environment] = [useApi(), useEnvironment()];
  return useGuardedWrite<ShipmentException, ExceptionAction, ExceptionAction>({
    kind: 'exception',
    write: async ({ id }, dealing, ifMatch) => {
      const { kind, ...words } = dealing;
      if (dealing.kind === 'resolve')
        await client.exceptions.resolve(id, { code: dealing.code, note: dealing.note }, { ifMatch });
      else await client.exceptions.acknowledge(id, words, { ifMatch });
      return { kind, ...words } as ExceptionAction;
    },
    read: ({ id }) => fetchExceptionWithVersion(environment, id),
    isSame: (seen, now) => COMPARED_FIELDS_OF_OPEN_EXCEPTION.every((field) => seen[field] === now[field]),
    canStill: ({ status }) => status !== 'resolved',
    done: ({ kind }) => EXCEPTION_ACTION_SUCCESS_MESSAGES[kind],
    onDone: onEnd,
    onLeft: onEnd,
  });
}
