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
import { getLabelOfWarnedField } from '../form/check-values.ts';
import type { ImportRecord, ImportStore, ImportRowWarning, ShipmentImportItemWithCells } from './import-store.ts';

/** Number of seconds until a retry if the response has no `Retry-After` header. */
const DEFAULT_RETRY_DELAY_SECONDS = 3;
const OTHER_USER_SIGNED_IN_MESSAGE =
  'Another user is signed in with this browser. The import continues when you sign in again.';
const REMOVED_IMPORT_MESSAGE = 'This import was cancelled in another tab. Shipments that were already sent are kept.';
const IMPORT_ROWS_LOST_MESSAGE = 'This browser no longer has the remaining rows. Choose the file again to import them.';
const IMPORT_IN_OTHER_TAB_MESSAGE = 'This import is running in another tab. It continues here if that tab stops.';
/** Maximum number of warnings that the import stores. */
const MAX_STORED_IMPORT_WARNINGS = 500;

export type Phase = 'running' | 'waiting' | 'stopped' | 'done';
export interface ImportRunState {
  readonly record: ImportRecord;
  readonly phase: Phase;
  /** Reason why the import run waits or has stopped. */
  readonly why?: string;
  /** True if the browser no longer has the unsent rows. The import then cannot continue. */
  readonly isLost?: boolean;
}
type Answers = AnswerOf<'upsertShipments'>['data'];
type Api = Pick<TrackingClient, 'shipments'>;
export interface ImportRunOptions {
  readonly api: Api;
  /**
   * Returns the owner id of the current session. Another user may have signed in in another tab since the import was
   * started.
   */
  readonly sender: () => Promise<string>;
  readonly store: Pick<ImportStore, 'readImportBatchItems' | 'storeImportProgress' | 'getImport'>;
  /** Resolves after the given number of seconds. If the signal aborts, it resolves immediately. */
  readonly wait: (seconds: number, signal: AbortSignal) => Promise<void>;
}

/** Error that is thrown if the stored rows of the import are missing. */
class MissingStoredImportRowsError extends Error {}

/**
 * Sends the remaining batches of an import. The idempotency key of a batch consists of the import id and the batch
 * index. The API therefore applies a batch only once, even if a response is lost or two tabs send the same batch. The
 * references of the shipments also prevent duplicates.
 */
export class ImportBatchSender {
  private readonly ended = new AbortController();
  private readonly listeners = new Set<() => void>();
  private now: ImportRunState;

  constructor(
    record: ImportRecord,
    private readonly parts: ImportRunOptions,
  ) {
    this.now = { record, phase: 'running' };
  }

  readonly state = (): ImportRunState => this.now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  /** Stops the import run. The API still completes the batch that was already sent. The next run finds the result. */
  readonly stop = (): void => {
    this.ended.abort();
    this.publishImportState({ phase: 'stopped', why: 'The import is paused.' });
  };

  /** Signal that aborts when the import run is stopped. */
  get signal(): AbortSignal {
    return this.ended.signal;
  }

  /** Shows that the import waits for another browser tab, which is sending it. */
  readonly waitForOtherTab = (): void =>
    this.publishImportState({ phase: 'waiting', why: IMPORT_IN_OTHER_TAB_MESSAGE });

  /** Sends batches until the import is complete or the run is stopped. The promise never rejects. */
  async runImportUntilDone(): Promise<void> {
    const { store } = this.parts;
    const { id } = this.now.record;
    try {
      // The stored import is read before each batch, because another tab may have sent batches or removed the import.
      let record = await store.getImport(id);
      while (record !== undefined && record.done < record.batches) {
        this.publishImportState({ record, phase: 'running' });
        const index = record.done;
        const items = await store.readImportBatchItems(id, index);
        record =
          items === undefined
            ? await this.rereadImportRecord(index)
            : await this.sendAndRecordBatch(record, items, index);
      }
      if (record === undefined) throw new MissingStoredImportRowsError(REMOVED_IMPORT_MESSAGE);
      this.publishImportState({ record, phase: 'done' });
    } catch (error) {
      if (!this.ended.signal.aborted)
        this.publishImportState({
          phase: 'stopped',
          why: describeImportStopReason(error),
          isLost: error instanceof MissingStoredImportRowsError,
        });
    }
  }

  /**
   * Reads the import again after its next batch was missing. Another tab may have sent the batch or removed the import.
   */
  private async rereadImportRecord(index: number) {
    const { store } = this.parts;
    const record = await store.getImport(this.now.record.id);
    if (record?.done === index) throw new MissingStoredImportRowsError(IMPORT_ROWS_LOST_MESSAGE);
    return record;
  }

  private async sendAndRecordBatch(record: ImportRecord, items: readonly ShipmentImportItemWithCells[], index: number) {
    return this.parts.store.storeImportProgress(
      addBatchResultsToImport(record, items, await this.sendImportBatch(items, index)),
      index,
    );
  }

  private async sendImportBatch(items: readonly ShipmentImportItemWithCells[], index: number): Promise<Answers> {
    const bodies = items.map(({ body }) => body);
    const options = { idempotencyKey: `import-${this.now.record.id}-${index}`, retries: 1, signal: this.ended.signal };
    for (;;) {
      this.ended.signal.throwIfAborted();
      let pause: { readonly seconds: number; readonly why: string };
      try {
        if ((await this.parts.sender()) !== this.now.record.owner) throw new Error(OTHER_USER_SIGNED_IN_MESSAGE);
        const { data } = await this.parts.api.shipments.upsertMany(bodies, options);
        if (data.every(({ status }) => status < 500)) return data;
        pause = { seconds: DEFAULT_RETRY_DELAY_SECONDS, why: 'The service is busy.' };
      } catch (error) {
        if (isBatchRejectedByApi(error))
          return items.map((_, place) => ({ index: place, status: error.status, error })) as Answers;
        const found = getRetryDelay(error);
        if (found === undefined) throw error;
        pause = found;
      }
      this.publishImportState({ phase: 'waiting', why: `${pause.why} The import continues automatically.` });
      await this.parts.wait(pause.seconds, this.ended.signal);
    }
  }

  private publishImportState(change: Partial<ImportRunState>): void {
    if (this.ended.signal.aborted && change.phase !== 'stopped') return;
    const { record } = this.now;
    this.now = { record, phase: 'running', ...change };
    for (const listener of this.listeners) listener();
  }
}

/** Checks if the API rejected the content of a batch. A retry of such a batch cannot succeed. */
function isBatchRejectedByApi(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error instanceof AuthenticationError || error instanceof PermissionError)
    return false;
  return error.status < 500 && getRetryDelay(error) === undefined;
}

function getRetryDelay(error: unknown): { readonly seconds: number; readonly why: string } | undefined {
  if (error instanceof ConnectionError)
    return { seconds: DEFAULT_RETRY_DELAY_SECONDS, why: 'The service cannot be reached.' };
  if (!(error instanceof ApiError)) return undefined;
  const seconds = error.retryAfter ?? DEFAULT_RETRY_DELAY_SECONDS;
  if (error instanceof RateLimitError) return { seconds, why: 'The request limit is reached.' };
  if (error.code === 'idempotency_in_progress')
    return { seconds, why: 'The service is still processing the previous request.' };
  return error instanceof InternalError ? { seconds, why: 'The service is busy.' } : undefined;
}

function describeImportStopReason(error: unknown): string {
  if (error instanceof AuthenticationError) return 'Your session has ended. Sign in again to continue the import.';
  return error instanceof Error ? error.message : String(error);
}

/** Adds the results of a batch to the record of the import. */
export function addBatchResultsToImport(
  record: ImportRecord,
  items: readonly ShipmentImportItemWithCells[],
  answers: Answers,
): ImportRecord {
  const answered = items.map((item, index) => ({ item, answer: answers[index] }));
  const refused = answered.filter(({ answer }) => answer === undefined || answer.status >= 300);
  const errors = refused.flatMap(({ item, answer }) =>
    listErrorsOfImportedRow(answer).flatMap(({ param, message }) =>
      item.rows.map((row) => ({ row, column: getLabelOfWarnedField(param) ?? param, value: '', message })),
    ),
  );
  const warnings: readonly ImportRowWarning[] = answered.flatMap(({ item, answer }) =>
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
    warnings: [...record.warnings, ...warnings].slice(0, MAX_STORED_IMPORT_WARNINGS),
  };
}

function listErrorsOfImportedRow(
  answer: Answers[number] | undefined,
): readonly { readonly param: string; readonly message: string }[] {
  const { details = [], message = 'The service returned no result for this row.' } = answer?.error ?? {};
  return details.length > 0 ? details : [{ param: '', message }];
}
