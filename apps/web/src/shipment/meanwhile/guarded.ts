import { ConflictError } from '@tracking/client';
import { isOutdated } from '../../app/failures.ts';

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

export interface GuardedParts<Thing, Output> {
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
