import type { Collection, DocumentStore } from '@tracking/ports';
import { monotonicMs, pause } from '@tracking/resilience';
import { PARKED, type ParkedStream } from './parked-stream.ts';

const LISTED_AT_MOST = 1_000;
const POLL_MS = 50;
const PATIENCE_MS = 10_000;

/**
 * What came of asking for another attempt: `applied`, nothing waits any more; `parked`, it failed again; `requested`,
 * whoever handles the stream has not got to it yet; `not_found`, no such id.
 */
export type RetryOutcome = 'applied' | 'parked' | 'requested' | 'not_found';

/** The streams that wait, as operators see them: of every subscriber, whichever process it runs in. */
export class ParkedStreams {
  constructor(
    private readonly store: DocumentStore,
    /** Lets the subscriber look at once, where it runs in this process. */
    private readonly wake: (subscriber: string) => void,
  ) {}

  /** The first thousand, by id; of all subscribers, or of one. @throws Unavailable */
  async list(subscriber?: string): Promise<readonly ParkedStream[]> {
    const filter = subscriber === undefined ? {} : { subscriber };
    return (await this.documents()).find({ filter, sort: { fields: ['id'] }, limit: LISTED_AT_MOST });
  }

  /** How many streams wait in a generation. @throws Unavailable */
  async count(subscriber: string, generation: number): Promise<number> {
    return (await this.documents()).count({ subscriber, generation });
  }

  /** Asks whoever handles the stream to try it again, and waits some seconds for what comes of it. @throws Unavailable */
  async retry(id: string): Promise<RetryOutcome> {
    const documents = await this.documents();
    const before = await documents.get(id);
    if (!before) return 'not_found';
    await documents.replace({ ...before, retry: true }, { attempts: before.attempts });
    this.wake(before.subscriber);
    for (const deadline = monotonicMs() + PATIENCE_MS; monotonicMs() < deadline; await pause(POLL_MS)) {
      const now = await documents.get(id);
      if (!now) return 'applied';
      if (now.attempts > before.attempts) return 'parked';
    }
    return 'requested';
  }

  private documents(): Promise<Collection<ParkedStream>> {
    return this.store.collection<ParkedStream>(PARKED);
  }
}
