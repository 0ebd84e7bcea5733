import { useQueryClient } from '@tanstack/react-query';
import { ConflictError } from '@tracking/client';
import { useState } from 'react';
import { isOutdated } from '../../app/failures.ts';
import { type WriteOptions, useWrite } from '../../app/write.ts';
import { useEnvironment } from '../../session/session.ts';
import { type HistoryEntry, historySince } from '../history/history-sentences.ts';
import { useShipment } from '../shipment-queries.ts';

/** Conflict between the user's change and another user's change of the same resource. */
export interface Conflict<Thing> {
  readonly seen: Seen<Thing>;
  readonly now: Seen<Thing>;
  /** History entries since the user read the resource, newest first. Empty if the history could not be read. */
  readonly since: readonly HistoryEntry[];
  /** Repeats the user's change on the latest state. Undefined if the change is no longer possible. */
  readonly keepMine: (() => void) | undefined;
  readonly keepTheirs: () => void;
}

interface Parts<Thing, Input, Output> extends Pick<WriteOptions<Input, Output>, 'done' | 'onDone'> {
  /** Kind of resource that is written. */
  readonly kind: 'shipment' | 'document' | 'exception' | 'milestone';
  readonly write: (thing: Thing, input: Input, ifMatch: string) => Promise<Output>;
  readonly read: (thing: Thing) => Promise<Seen<Thing>>;
  readonly isSame: (seen: Thing, now: Thing) => boolean;
  /** Returns true if the change is still possible in the latest state. */
  readonly canStill: (now: Thing, input: Input) => boolean;
  /** Called when the user keeps the other user's change. */
  readonly onLeft?: () => void;
}

/** Kinds of shipment queries to refetch after a write. */
const KINDS = [
  ...(['shipment', 'milestones', 'milestone-history', 'eta-history', 'documents', 'exceptions'] as const),
  ...(['exceptions-seen', 'exception-story', 'history', 'explanation'] as const),
] as const;

export function useShipmentTouches() {
  const [environment, { id }] = [useEnvironment(), useShipment()];
  return KINDS.map((kind) => [kind, environment, id] as const);
}

/**
 * Writes to a shipment or one of its parts. The write is rejected if another user changed that part after it was read.
 */
export function useGuardedWrite<Thing extends { readonly id: string }, Input = void, Output = unknown>(
  parts: Parts<Thing, Input, Output>,
) {
  const { kind, write, read, isSame, canStill, onLeft, ...writeParts } = parts;
  const queries = useQueryClient();
  const [environment, shipment] = [useEnvironment(), useShipment()];
  const touches = useShipmentTouches();
  const [conflict, setConflict] = useState<Conflict<Thing>>();
  const writing = useWrite({
    ...writeParts,
    onDone: (output: Output, { input }: { seen: Seen<Thing>; input: Input }) => writeParts.onDone?.(output, input),
    invalidates: touches,
    write: async ({ seen, input }: { seen: Seen<Thing>; input: Input }) => {
      try {
        return await guarded(seen, {
          write: (ifMatch) => write(seen.thing, input, ifMatch),
          read: () => read(seen.thing),
          isSame,
        });
      } catch (error) {
        if (!(error instanceof ChangedMeanwhile)) throw error;
        const all = await historySince(environment, shipment.id, seen.version).catch(() => []);
        const now = error.now as Seen<Thing>;
        setConflict({
          seen,
          now,
          since: kind === 'shipment' ? all : all.filter(({ changes }) => isAbout(changes[kind], seen.thing.id)),
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
    showsError: (error) => error instanceof ChangedMeanwhile,
  });
  return {
    run: (seen: Seen<Thing>, input: Input) => writing.mutate({ seen, input }),
    isPending: writing.isPending,
    conflict,
  };
}

function isAbout(change: HistoryEntry['changes'][string] | undefined, id: string): boolean {
  return [change?.from, change?.to].some((thing) => (thing as { readonly id?: string } | null | undefined)?.id === id);
}

/** A resource, with the version of its shipment at the time of the read. */
export interface Seen<Thing> {
  readonly thing: Thing;
  readonly version: number;
}

/** Thrown if another user changed the resource after it was read. Nothing was written. */
export class ChangedMeanwhile<Thing> extends Error {
  constructor(
    readonly seen: Seen<Thing>,
    readonly now: Seen<Thing>,
  ) {
    super('Another user changed this resource.');
    this.name = 'ChangedMeanwhile';
  }
}

interface GuardedParts<Thing, Output> {
  readonly write: (ifMatch: string) => Promise<Output>;
  readonly read: () => Promise<Seen<Thing>>;
  /** Returns true if both states lead to the same decision of the user. */
  readonly isSame: (seen: Thing, now: Thing) => boolean;
}

/** Maximum number of attempts while the shipment changes before each one. */
const MAX_ATTEMPTS = 6;

/**
 * Writes if the resource is unchanged since the user read it. The version covers the whole shipment, so changes of
 * other parts, such as a new milestone, repeat the write with the latest version.
 * @throws ChangedMeanwhile if the resource itself has changed
 */
export async function guarded<Thing, Output>(
  seen: Seen<Thing>,
  { write, read, isSame }: GuardedParts<Thing, Output>,
): Promise<Output> {
  let { version } = seen;
  for (let left = MAX_ATTEMPTS; ; left -= 1) {
    try {
      return await write(`"${version}"`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const now = await read();
      if (!isSame(seen.thing, now.thing)) throw new ChangedMeanwhile(seen, now);
      // A retry with another version would not help.
      if (!isOutdated(error) || left === 1) throw error;
      ({ version } = now);
    }
  }
}
