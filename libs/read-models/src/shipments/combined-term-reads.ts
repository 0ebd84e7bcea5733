import type { WorkspaceScope } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { createTermsFilter } from './possible-duplicates.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';

/** Limits of one request. A read that exceeds them is sent alone. */
const MAX_COMBINED_READS = 10;
const MAX_COMBINED_TERMS = 100;
/** Maximum milliseconds for which a read waits for an earlier request. */
const MAX_READ_COMBINING_WAIT_MS = 5;

type ShipmentRows = Pick<Collection<ShipmentReadModelRow>, 'find'>;

interface WaitingReadByTerms {
  readonly terms: readonly string[];
  resolve(rows: readonly ShipmentReadModelRow[]): void;
  reject(error: unknown): void;
}

/** Reads of the rows of one workspace and environment. */
interface TermReadsOfScope {
  readonly rows: ShipmentRows;
  readonly scope: WorkspaceScope;
  waiting: WaitingReadByTerms[];
  running: number;
  cancelSending: (() => void) | undefined;
}

/**
 * Combines reads of rows by their terms into one request: those of one turn of the event loop, and those that arrive
 * within 5 ms while a request runs. Reads of different workspaces or environments are never combined.
 */
export class ConcurrentTermReadBatcher {
  private readonly groups = new Map<string, TermReadsOfScope>();

  /** @param limit maximum number of rows of each read */
  constructor(private readonly limit: number) {}

  /** Returns rows that have at least one of the terms, in no particular order. @throws UnavailableError */
  readRows(
    rows: ShipmentRows,
    scope: WorkspaceScope,
    terms: readonly string[],
  ): Promise<readonly ShipmentReadModelRow[]> {
    const key = `${scope.workspace_id}/${scope.environment}`;
    const group = this.groups.get(key) ?? { rows, scope, waiting: [], running: 0, cancelSending: undefined };
    // The group still reads the rows of another generation.
    if (group.rows !== rows) return rows.find({ filter: createTermsFilter(scope, terms), limit: this.limit });
    this.groups.set(key, group);
    return new Promise((resolve, reject) => {
      group.waiting.push({ terms, resolve, reject });
      this.scheduleCombinedTermReads(key, group);
    });
  }

  private scheduleCombinedTermReads(key: string, group: TermReadsOfScope): void {
    if (group.cancelSending !== undefined) return;
    const send = () => this.runWaitingReads(key, group);
    if (group.running === 0) {
      const immediate = setImmediate(send);
      group.cancelSending = () => clearImmediate(immediate);
    } else {
      const timer = setTimeout(send, MAX_READ_COMBINING_WAIT_MS);
      group.cancelSending = () => clearTimeout(timer);
    }
  }

  private runWaitingReads(key: string, group: TermReadsOfScope): void {
    group.cancelSending?.();
    group.cancelSending = undefined;
    while (group.waiting.length > 0) {
      group.running += 1;
      void this.runReadsAsOneQuery(group, takeNextBatch(group)).then(() => {
        group.running -= 1;
        if (group.waiting.length > 0) this.runWaitingReads(key, group);
        else if (group.running === 0) this.groups.delete(key);
      });
    }
  }

  /** Never rejects. */
  private async runReadsAsOneQuery(
    { rows, scope }: TermReadsOfScope,
    batch: readonly WaitingReadByTerms[],
  ): Promise<void> {
    const read = (terms: readonly string[], limit: number) =>
      rows.find({ filter: createTermsFilter(scope, terms), limit });
    try {
      const terms = [...new Set(batch.flatMap((one) => one.terms))];
      const found = await read(terms, this.limit * batch.length);
      const isComplete = batch.length === 1 || found.length < this.limit * batch.length;
      for (const one of batch) {
        if (!isComplete) read(one.terms, this.limit).then(one.resolve, one.reject);
        else one.resolve(batch.length === 1 ? found : this.selectRowsWithTerms(found, one));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  private selectRowsWithTerms(
    found: readonly ShipmentReadModelRow[],
    { terms }: WaitingReadByTerms,
  ): readonly ShipmentReadModelRow[] {
    const wanted = new Set(terms);
    return found.filter((row) => row.terms.some((term) => wanted.has(term))).slice(0, this.limit);
  }
}

function takeNextBatch(group: TermReadsOfScope): readonly WaitingReadByTerms[] {
  let terms = 0;
  const end = group.waiting.findIndex((one, index) => {
    terms += one.terms.length;
    return index >= MAX_COMBINED_READS || (index > 0 && terms > MAX_COMBINED_TERMS);
  });
  return group.waiting.splice(0, end < 0 ? group.waiting.length : end);
}
