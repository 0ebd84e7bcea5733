import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type WriteParts, useWrite } from '../../app/write.ts';
import { useEnvironment } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import { historySince } from '../history/history-queries.ts';
import type { HistoryEntry } from '../history/history-sentences.ts';
import { ChangedMeanwhile, type Seen, guarded } from './guarded.ts';

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
