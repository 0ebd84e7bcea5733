import { type Collection, type Document, type DocumentStore, UnavailableError } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';

/** Maximum share of time in which a job may work. The remaining time is for requests. */
export const MAX_JOB_TIME_SHARE = 0.25;
/**
 * Milliseconds for which a call to an engine is retried before the job's round ends. The next round continues from the
 * job's cursor.
 */
export const RETRY_TIMEOUT_MS = 10_000;

/**
 * @throws UnavailableError if the engine does not respond within `patienceMs`; any other error of the action
 *   immediately
 */
export function retryWhileUnavailable<T>(
  action: () => Promise<T>,
  patienceMs: number,
  signal: AbortSignal,
): Promise<T> {
  const deadline = monotonicMs() + patienceMs;
  return retry(action, { signal, deadline, isTransient: (error) => error instanceof UnavailableError });
}

/** Progress of one job. The id is the name of the job. */
interface JobCursorDocument<T> extends Document {
  readonly place: T;
}

/** The stored cursor of one job, from which it continues after a restart. */
export class JobCursor<T> {
  private constructor(
    private readonly documents: Collection<JobCursorDocument<T>>,
    private readonly name: string,
  ) {}

  /** @throws UnavailableError */
  static async openStoreOfJobProgress<T>(documentStore: DocumentStore, name: string): Promise<JobCursor<T>> {
    return new JobCursor<T>(await documentStore.collection({ name: 'document_jobs', indexes: [] }), name);
  }

  /** Returns the stored cursor; undefined if the job never stored one. @throws UnavailableError */
  async readJobCursor(): Promise<T | undefined> {
    return (await this.documents.get(this.name))?.place;
  }

  /** @throws UnavailableError */
  async storeJobCursor(place: T): Promise<void> {
    await this.documents.upsert({ id: this.name, place });
  }
}
