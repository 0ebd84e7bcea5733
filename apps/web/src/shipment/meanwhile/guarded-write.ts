import { useQueryClient } from '@tanstack/react-query';
import { ConflictError } from '@tracking/client';
import { useState } from 'react';
import { isOutdated } from '../../app/failures.ts';
import { type WriteParts, useWrite } from '../../app/write.ts';
import { useEnvironment } from '../../session/session.ts';
import { historySince, type HistoryEntry } from '../history/history-sentences.ts';
import { useShipment } from '../shipment-queries.ts';

/** Somebody else changed what one was about to change. */
export interface Conflict<Thing> {
  readonly seen: Seen<Thing>;
  readonly now: Seen<Thing>;
  /** Who did what to it since, the newest first; empty where that could not be read. */
  readonly since: readonly HistoryEntry[];
  /** Does what one was about to do, to what it is now; undefined where it cannot be done any more. */
  readonly keepMine: (() => void) | undefined;
  readonly keepTheirs: () => void;
}

interface Parts<Thing, Input, Output> extends Pick<WriteParts<Input, Output>, 'done' | 'onDone'> {
  /** What is written: the shipment as a whole, or a part of it. */
  readonly kind: 'shipment' | 'document' | 'exception' | 'milestone';
  readonly write: (thing: Thing, input: Input, ifMatch: string) => Promise<Output>;
  readonly read: (thing: Thing) => Promise<Seen<Thing>>;
  readonly isSame: (seen: Thing, now: Thing) => boolean;
  /** Whether it can be done to what it is now. */
  readonly canStill: (now: Thing, input: Input) => boolean;
  /** When it was left as somebody else made it. */
  readonly onLeft?: () => void;
}

/** What is read of a shipment, and made old by a write to any part of it. */
const KINDS = [
  ...(['shipment', 'milestones', 'milestone-history', 'eta-history', 'documents', 'exceptions'] as const),
  ...(['exceptions-seen', 'exception-story', 'history', 'explanation'] as const),
] as const;

export function useShipmentTouches() {
  const [environment, { id }] = [useEnvironment(), useShipment()];
  return KINDS.map((kind) => [kind, environment, id] as const);
}

/** A write to the shipment or a part of it, refused if somebody else changed that since it was seen. */
export function useGuardedWrite<Thing extends { readonly id: string }, Input = void, Output = unknown>(
  parts: Parts<Thing, Input, Output>,
) {
  const { kind, write, read, isSame, canStill, onLeft, ...told } = parts;
  const queries = useQueryClient();
  const [environment, shipment] = [useEnvironment(), useShipment()];
  const touches = useShipmentTouches();
  const [conflict, setConflict] = useState<Conflict<Thing>>();
  const writing = useWrite({
    ...told,
    onDone: (output: Output, { input }: { seen: Seen<Thing>; input: Input }) => told.onDone?.(output, input),
    touches,
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
    shows: (error) => error instanceof ChangedMeanwhile,
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

/** A thing as it is, or as somebody saw it, and the version of its shipment then. */
export interface Seen<Thing> {
  readonly thing: Thing;
  readonly version: number;
}

/** What somebody decided about is not as they saw it any more. Nothing was written. */
export class ChangedMeanwhile<Thing> extends Error {
  constructor(
    readonly seen: Seen<Thing>,
    readonly now: Seen<Thing>,
  ) {
    super('It was changed meanwhile.');
    this.name = 'ChangedMeanwhile';
  }
}

interface GuardedParts<Thing, Output> {
  readonly write: (ifMatch: string) => Promise<Output>;
  readonly read: () => Promise<Seen<Thing>>;
  /** Whether somebody would decide the same about both. */
  readonly isSame: (seen: Thing, now: Thing) => boolean;
}

/** A shipment of which so much is told that another change comes before each try. */
const TRIES = 6;

/**
 * Writes where the thing is as it was seen. A write changes the version of the whole shipment, and most changes of that are of
 * other things, as a milestone that came: then it is written by the version of now.
 * @throws ChangedMeanwhile where the thing itself is another
 */
export async function guarded<Thing, Output>(
  seen: Seen<Thing>,
  { write, read, isSame }: GuardedParts<Thing, Output>,
): Promise<Output> {
  let { version } = seen;
  for (let left = TRIES; ; left -= 1) {
    try {
      return await write(`"${version}"`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const now = await read();
      if (!isSame(seen.thing, now.thing)) throw new ChangedMeanwhile(seen, now);
      // Refused for another reason, which no other version mends.
      if (!isOutdated(error) || left === 1) throw error;
      ({ version } = now);
    }
  }
}
