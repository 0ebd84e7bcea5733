import { useQueryClient } from '@tanstack/react-query';
import { ConflictError } from '@tracking/client';
import { useState } from 'react';
import { isOutdated } from '../../app/failures.ts';
import { type WriteOptions, useWrite } from '../../app/write.ts';
import { useEnvironment } from '../../session/session.ts';
import { type HistoryEntry, historySince } from '../history/history-sentences.ts';
import { useShipment } from '../shipment-queries.ts';

/** Another user's change of the resource that the user was about to change. */
export interface Conflict<Thing> {
  readonly seen: Seen<Thing>;
  readonly now: Seen<Thing>;
  /** The history since then, the newest first; empty if it could not be read. */
  readonly since: readonly HistoryEntry[];
  /** Repeats the user's write on the current state; undefined if that is no longer possible. */
  readonly keepMine: (() => void) | undefined;
  readonly keepTheirs: () => void;
}

interface Parts<Thing, Input, Output> extends Pick<WriteOptions<Input, Output>, 'done' | 'onDone'> {
  /** The part of the shipment that is written. */
  readonly kind: 'shipment' | 'document' | 'exception' | 'milestone';
  readonly write: (thing: Thing, input: Input, ifMatch: string) => Promise<Output>;
  readonly read: (thing: Thing) => Promise<Seen<Thing>>;
  readonly isSame: (seen: Thing, now: Thing) => boolean;
  /** Returns true if the write is still possible. */
  readonly canStill: (now: Thing, input: Input) => boolean;
  /** Called when the user accepts the other change. */
  readonly onLeft?: () => void;
}

/** Query kinds of a shipment that a write to any part of it changes. */
const KINDS = [
  ...(['shipment', 'milestones', 'milestone-history', 'eta-history', 'documents', 'exceptions'] as const),
  ...(['exceptions-seen', 'exception-story', 'history', 'explanation'] as const),
] as const;

export function useShipmentTouches() {
  const [environment, { id }] = [useEnvironment(), useShipment()];
  return KINDS.map((kind) => [kind, environment, id] as const);
}

/** A write to a shipment or a part of it that is refused if another user changed that part since it was read. */
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

/** A resource, and the version of its shipment when it was read. */
export interface Seen<Thing> {
  readonly thing: Thing;
  readonly version: number;
}

/** Thrown when the resource differs from what the user saw. Nothing was written. */
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
  /** Returns true if the user would decide the same about both. */
  readonly isSame: (seen: Thing, now: Thing) => boolean;
}

/** Attempts before giving up on a shipment that changes before each of them. */
const MAX_ATTEMPTS = 6;

/**
 * Writes if the resource is as the user saw it. A version covers the whole shipment, and most of its changes concern other
 * parts, such as a new milestone: then the write is repeated with the current version.
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
      // Another version would not help.
      if (!isOutdated(error) || left === 1) throw error;
      ({ version } = now);
    }
  }
}
