import {
  type AnswerOf,
  ApiError,
  AuthenticationError,
  ConnectionError,
  InternalError,
  PermissionError,
  RateLimitError,
  type TrackingClient,
} from '@tracking/client';
import { labelOf } from '../form/check-values.ts';
import type { ImportRecord, ImportStore, OddRow, SentItem } from './import-store.ts';

/** Seconds before a retry if the response has no `Retry-After`. */
const RETRY_SECONDS = 3;
const OTHER_USER = 'Another user is signed in with this browser. The import continues when you sign in again.';
const REMOVED = 'This import was cancelled in another tab. Shipments that were already sent are kept.';
const INCOMPLETE = 'This browser no longer has the remaining rows. Choose the file again to import them.';
const ELSEWHERE = 'This import is running in another tab. It continues here if that tab stops.';
/** Maximum number of stored warnings. */
const MAX_WARNINGS = 500;

export type Phase = 'running' | 'waiting' | 'stopped' | 'done';
export interface RunState {
  readonly record: ImportRecord;
  readonly phase: Phase;
  /** Reason why the run waits or has stopped. */
  readonly why?: string;
  /** True if the unsent rows are missing, so that the import cannot continue. */
  readonly isLost?: boolean;
}
type Answers = AnswerOf<'upsertShipments'>['data'];
type Api = Pick<TrackingClient, 'shipments'>;
export interface RunParts {
  readonly api: Api;
  /** Returns the owner id of the current session. The user may have signed in as another user in another tab. */
  readonly sender: () => Promise<string>;
  readonly store: Pick<ImportStore, 'batch' | 'answered' | 'get'>;
  /** Resolves after the given seconds, or earlier if aborted. */
  readonly wait: (seconds: number, signal: AbortSignal) => Promise<void>;
}

/** Thrown if the stored rows of the import are missing. */
class Lost extends Error {}

/**
 * Sends the remaining batches of an import. The idempotency key of a batch consists of the import id and the batch
 * index, so the API applies a batch only once, even if a response is lost or another tab sends the batch again.
 * Shipments are also identified by their references.
 */
export class ImportRun {
  private readonly ended = new AbortController();
  private readonly listeners = new Set<() => void>();
  private now: RunState;

  constructor(
    record: ImportRecord,
    private readonly parts: RunParts,
  ) {
    this.now = { record, phase: 'running' };
  }

  readonly state = (): RunState => this.now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  /** Stops the run. The API still completes the current batch, and the next run detects that. */
  readonly stop = (): void => {
    this.ended.abort();
    this.show({ phase: 'stopped', why: 'The import is paused.' });
  };

  /** Abort signal of the run. */
  get signal(): AbortSignal {
    return this.ended.signal;
  }

  /** Reports that another tab runs the import. */
  readonly waitForOtherTab = (): void => this.show({ phase: 'waiting', why: ELSEWHERE });

  /** Sends batches until the import is complete or the run stops. Never rejects. */
  async run(): Promise<void> {
    const { store } = this.parts;
    const { id } = this.now.record;
    try {
      // Another tab may have sent more batches, or removed the import.
      let record = await store.get(id);
      while (record !== undefined && record.done < record.batches) {
        this.show({ record, phase: 'running' });
        const index = record.done;
        const items = await store.batch(id, index);
        record = items === undefined ? await this.afterGap(index) : await this.answered(record, items, index);
      }
      if (record === undefined) throw new Lost(REMOVED);
      this.show({ record, phase: 'done' });
    } catch (error) {
      if (!this.ended.signal.aborted)
        this.show({ phase: 'stopped', why: stopReason(error), isLost: error instanceof Lost });
    }
  }

  /** Rereads an import whose next batch is missing, since another tab may have sent the batch or removed the import. */
  private async afterGap(index: number) {
    const { store } = this.parts;
    const record = await store.get(this.now.record.id);
    if (record?.done === index) throw new Lost(INCOMPLETE);
    return record;
  }

  private async answered(record: ImportRecord, items: readonly SentItem[], index: number) {
    return this.parts.store.answered(withAnswers(record, items, await this.send(items, index)), index);
  }

  private async send(items: readonly SentItem[], index: number): Promise<Answers> {
    const bodies = items.map(({ body }) => body);
    const options = { idempotencyKey: `import-${this.now.record.id}-${index}`, retries: 1, signal: this.ended.signal };
    for (;;) {
      this.ended.signal.throwIfAborted();
      let pause: { readonly seconds: number; readonly why: string };
      try {
        if ((await this.parts.sender()) !== this.now.record.owner) throw new Error(OTHER_USER);
        const { data } = await this.parts.api.shipments.upsertMany(bodies, options);
        if (data.every(({ status }) => status < 500)) return data;
        pause = { seconds: RETRY_SECONDS, why: 'The service is busy.' };
      } catch (error) {
        if (isRefusedBatch(error))
          return items.map((_, place) => ({ index: place, status: error.status, error })) as Answers;
        const found = pauseFor(error);
        if (found === undefined) throw error;
        pause = found;
      }
      this.show({ phase: 'waiting', why: `${pause.why} The import continues automatically.` });
      await this.parts.wait(pause.seconds, this.ended.signal);
    }
  }

  private show(change: Partial<RunState>): void {
    if (this.ended.signal.aborted && change.phase !== 'stopped') return;
    const { record } = this.now;
    this.now = { record, phase: 'running', ...change };
    for (const listener of this.listeners) listener();
  }
}

/** Checks if the API rejected the content of the batch, so that a retry cannot succeed. */
function isRefusedBatch(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error instanceof AuthenticationError || error instanceof PermissionError)
    return false;
  return error.status < 500 && pauseFor(error) === undefined;
}

function pauseFor(error: unknown): { readonly seconds: number; readonly why: string } | undefined {
  if (error instanceof ConnectionError) return { seconds: RETRY_SECONDS, why: 'The service cannot be reached.' };
  if (!(error instanceof ApiError)) return undefined;
  const seconds = error.retryAfter ?? RETRY_SECONDS;
  if (error instanceof RateLimitError) return { seconds, why: 'The request limit is reached.' };
  if (error.code === 'idempotency_in_progress')
    return { seconds, why: 'The service is still processing the previous request.' };
  return error instanceof InternalError ? { seconds, why: 'The service is busy.' } : undefined;
}

function stopReason(error: unknown): string {
  if (error instanceof AuthenticationError) return 'Your session has ended. Sign in again to continue the import.';
  return error instanceof Error ? error.message : String(error);
}

/** Adds the results of a batch to the import record. */
export function withAnswers(record: ImportRecord, items: readonly SentItem[], answers: Answers): ImportRecord {
  const answered = items.map((item, index) => ({ item, answer: answers[index] }));
  const refused = answered.filter(({ answer }) => answer === undefined || answer.status >= 300);
  const errors = refused.flatMap(({ item, answer }) =>
    faultsOf(answer).flatMap(({ param, message }) =>
      item.rows.map((row) => ({ row, column: labelOf(param) ?? param, value: '', message })),
    ),
  );
  const warnings: readonly OddRow[] = answered.flatMap(({ item, answer }) =>
    (answer?.shipment?.warnings ?? []).map(({ code, message }) => ({ row: item.rows[0] ?? 0, code, message })),
  );
  const wrong = refused.flatMap(({ item }) => item.rows.map((row, index) => ({ row, cells: item.cells[index] ?? [] })));
  const count = (status: number) => answered.filter(({ answer }) => answer?.status === status).length;
  return {
    ...record,
    done: record.done + 1,
    sent: record.sent + items.length,
    created: record.created + count(201),
    changed: record.changed + count(200),
    errors: [...record.errors, ...errors],
    wrong: [...record.wrong, ...wrong],
    warnings: [...record.warnings, ...warnings].slice(0, MAX_WARNINGS),
  };
}

function faultsOf(
  answer: Answers[number] | undefined,
): readonly { readonly param: string; readonly message: string }[] {
  const { details = [], message = 'The service returned no result for this row.' } = answer?.error ?? {};
  return details.length > 0 ? details : [{ param: '', message }];
}
