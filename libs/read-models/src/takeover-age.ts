import type { Timestamp } from '@tracking/contracts';
import { type Clock, type Position, UnavailableError } from '@tracking/ports';
import { withDeadline } from '@tracking/resilience';
import { toLogPosition } from '@tracking/subscriptions';
import type { ProjectionProgress } from './projection-progress.ts';

/** @param position null for the start of the log @throws UnavailableError */
export type FindTimeAfter = (position: Position | null) => Promise<Timestamp | undefined>;

/** Milliseconds during which the lists of a read model share one look-up. */
const MISSING_EVENTS_AGE_LOOK_UP_REUSE_MS = 250;
/** Maximum milliseconds that a list waits for a look-up. The event store may be hung, and a list does not need it. */
const MISSING_EVENTS_AGE_LOOK_UP_TIMEOUT_MS = 1_000;

/** Determines how old the rows of a read model are while a process takes over its projection from another. */
export class ReadModelAgeDuringTakeover {
  /** Last look-up: epoch milliseconds since when the rows may lack changes. */
  private lookUp: { readonly at: number; readonly missingSince: Promise<number> } | undefined;

  constructor(
    private readonly progress: Pick<ProjectionProgress, 'isTakenOver' | 'readCurrentHandledPosition'>,
    private readonly clock: Clock,
    private readonly findTimeAfter: FindTimeAfter,
  ) {}

  /**
   * Returns the milliseconds since the first event was recorded that the rows may lack; undefined without a takeover,
   * also if it ends meanwhile.
   * @throws UnavailableError, after 1 s at the latest
   */
  async measureAgeOfMissingEvents(): Promise<number | undefined> {
    if (!this.progress.isTakenOver) return undefined;
    const now = this.clock().getTime();
    if (this.lookUp === undefined || Math.abs(now - this.lookUp.at) > MISSING_EVENTS_AGE_LOOK_UP_REUSE_MS) {
      const createError = () =>
        new UnavailableError('event store', 'the age of the read models is not known; retry later');
      const missingSince = withDeadline(
        this.readTimeOfFirstUnprojectedEvent(now),
        MISSING_EVENTS_AGE_LOOK_UP_TIMEOUT_MS,
        createError,
      );
      // A failed look-up is not shared with later lists.
      missingSince.catch(() => (this.lookUp = undefined));
      this.lookUp = { at: now, missingSince };
    }
    const missingSince = await this.lookUp.missingSince;
    return this.progress.isTakenOver ? Math.max(0, now - missingSince) : undefined;
  }

  /** @param now epoch milliseconds, which are the result if the rows lack nothing */
  private async readTimeOfFirstUnprojectedEvent(now: number): Promise<number> {
    const place = await this.progress.readCurrentHandledPosition();
    const recordedAt = await this.findTimeAfter(place === undefined ? null : toLogPosition(place));
    return recordedAt === undefined ? now : Date.parse(recordedAt);
  }
}

/** Returns the ages of read models by their names; none if the time of events cannot be found. */
export function createReadModelAgeMeters(
  rows: Readonly<Record<string, { readonly progress: ProjectionProgress }>>,
  { clock, findTimeAfter }: { readonly clock: Clock; readonly findTimeAfter?: FindTimeAfter },
): ReadonlyMap<string, ReadModelAgeDuringTakeover> {
  if (findTimeAfter === undefined) return new Map();
  return new Map(
    Object.entries(rows).map(([name, { progress }]) => [
      name,
      new ReadModelAgeDuringTakeover(progress, clock, findTimeAfter),
    ]),
  );
}
