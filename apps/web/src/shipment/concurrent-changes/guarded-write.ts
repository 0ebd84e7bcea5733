import { useQueryClient } from '@tanstack/react-query';
import { ConflictError } from '@tracking/client';
import { useState } from 'react';
import { isOutdatedVersionError } from '../../app/failures.ts';
import { type WriteOptions, useApiWrite } from '../../app/write.ts';
import { useEnvironment } from '../../session/session.ts';
import { type HistoryEntry, readHistoryAfterVersion } from '../history/history-sentences.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';

/** Conflict: the user and another user have changed the same resource. */
export interface ConflictingResourceVersions<Thing> {
  readonly seen: VersionedResource<Thing>;
  readonly now: VersionedResource<Thing>;
  /**
   * History entries that were added after the user read the resource, newest first. Empty if the history could not be
   * read.
   */
  readonly since: readonly HistoryEntry[];
  /** Applies the user's change to the latest state of the resource. Undefined if the change is no longer possible. */
  readonly keepMine: (() => void) | undefined;
  readonly keepTheirs: () => void;
}

interface GuardedWriteOptions<Thing, Input, Output> extends Pick<WriteOptions<Input, Output>, 'done' | 'onDone'> {
  /** Kind of the resource that the mutation changes. */
  readonly kind: 'shipment' | 'document' | 'exception' | 'milestone';
  readonly write: (thing: Thing, input: Input, ifMatch: string) => Promise<Output>;
  readonly read: (thing: Thing) => Promise<VersionedResource<Thing>>;
  readonly isSame: (seen: Thing, now: Thing) => boolean;
  /** Returns true if the user's change is still possible in the latest state of the resource. */
  readonly canStill: (now: Thing, input: Input) => boolean;
  /** Callback that runs when the user keeps the change of the other user. */
  readonly onLeft?: () => void;
}

/** Kinds of queries about a shipment that are refetched after a write. */
const SHIPMENT_QUERY_KINDS = [
  ...(['shipment', 'milestones', 'milestone-history', 'eta-history', 'documents', 'exceptions'] as const),
  ...(['exceptions-seen', 'exception-story', 'history', 'explanation'] as const),
] as const;

export function useQueryKeysOfShipmentPage() {
  const [environment, { id }] = [useEnvironment(), useShipmentOfPage()];
  return SHIPMENT_QUERY_KINDS.map((kind) => [kind, environment, id] as const);
}

/**
 * Returns a mutation that writes to a shipment or to one of its resources, such as a milestone. The mutation reports a
 * conflict if another user has changed the resource since it was read.
 */
export function useGuardedWrite<Thing extends { readonly id: string }, Input = void, Output = unknown>(
  parts: GuardedWriteOptions<Thing, Input, Output>,
) {
  const { kind, write, read, isSame, canStill, onLeft, ...writeParts } = parts;
  const queries = useQueryClient();
  const [environment, shipment] = [useEnvironment(), useShipmentOfPage()];
  const touches = useQueryKeysOfShipmentPage();
  const [conflict, setConflict] = useState<ConflictingResourceVersions<Thing>>();
  const writing = useApiWrite({
    ...writeParts,
    onDone: (output: Output, { input }: { seen: VersionedResource<Thing>; input: Input }) =>
      writeParts.onDone?.(output, input),
    invalidates: touches,
    write: async ({ seen, input }: { seen: VersionedResource<Thing>; input: Input }) => {
      try {
        return await writeIfResourceUnchangedOrThrow(seen, {
          write: (ifMatch) => write(seen.thing, input, ifMatch),
          read: () => read(seen.thing),
          isSame,
        });
      } catch (error) {
        if (!(error instanceof ResourceChangedError)) throw error;
        const all = await readHistoryAfterVersion(environment, shipment.id, seen.version).catch(() => []);
        const now = error.now as VersionedResource<Thing>;
        setConflict({
          seen,
          now,
          since:
            kind === 'shipment' ? all : all.filter(({ changes }) => isChangeOfResource(changes[kind], seen.thing.id)),
          keepMine: canStill(now.thing, input)
            ? () => {
                setConflict(undefined);
                writing.mutate({ seen: now, input });
              }
            : undefined,
          keepTheirs: () => {
            setConflict(undefined);
            onLeft?.();
          },
        });
        await Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
        throw error;
      }
    },
    showsError: (error) => error instanceof ResourceChangedError,
  });
  return {
    run: (seen: VersionedResource<Thing>, input: Input) => writing.mutate({ seen, input }),
    isPending: writing.isPending,
    conflict,
  };
}

function isChangeOfResource(change: HistoryEntry['changes'][string] | undefined, id: string): boolean {
  return [change?.from, change?.to].some((thing) => (thing as { readonly id?: string } | null | undefined)?.id === id);
}

/** A resource with the version of its shipment at the time of the read. */
export interface VersionedResource<Thing> {
  readonly thing: Thing;
  readonly version: number;
}

/**
 * Error that is thrown if another user has changed the resource since it was read. In this case nothing was written.
 */
export class ResourceChangedError<Thing> extends Error {
  constructor(
    readonly seen: VersionedResource<Thing>,
    readonly now: VersionedResource<Thing>,
  ) {
    super('Another user changed this resource.');
    this.name = 'ResourceChangedError';
  }
}

interface ConditionalWriteOptions<Thing, Output> {
  readonly write: (ifMatch: string) => Promise<Output>;
  readonly read: () => Promise<VersionedResource<Thing>>;
  /** Returns true if the user's decision is the same for both states of the resource. */
  readonly isSame: (seen: Thing, now: Thing) => boolean;
}

/** Maximum number of attempts of one write. An attempt fails if the shipment has changed since the previous read. */
const MAX_WRITE_ATTEMPTS = 6;

/**
 * Writes a change if the resource is in the state that the user has seen. The version in the request covers the whole
 * shipment. If something else in the shipment has changed, such as a new milestone, the write is repeated with the latest
 * version.
 * @throws ResourceChangedError if the resource itself has changed
 */
export async function writeIfResourceUnchangedOrThrow<Thing, Output>(
  seen: VersionedResource<Thing>,
  { write, read, isSame }: ConditionalWriteOptions<Thing, Output>,
): Promise<Output> {
  let { version } = seen;
  for (let left = MAX_WRITE_ATTEMPTS; ; left -= 1) {
    try {
      return await write(`"${version}"`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const now = await read();
      if (!isSame(seen.thing, now.thing)) throw new ResourceChangedError(seen, now);
      // An error other than an outdated version is thrown immediately, because a retry would fail again.
      if (!isOutdatedVersionError(error) || left === 1) throw error;
      ({ version } = now);
    }
  }
}
