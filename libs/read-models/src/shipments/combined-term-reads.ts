import type { WorkspaceScope } from '@tracking/contracts';
import type { Collection, DocumentsWithinByteLimit } from '@tracking/ports';
import { createTermsFilter, MAX_DUPLICATE_SEARCH_READ_BYTES } from './possible-duplicates.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';

/** Limits of one request. A read that exceeds them is sent alone. */
const MAX_COMBINED_READS = 10;
const MAX_COMBINED_TERMS = 100;
/** Maximum size of the rows of combined reads, in bytes of JSON. Reads whose rows exceed it are sent one by one. */
const MAX_COMBINED_READ_BYTES = 4 * MAX_DUPLICATE_SEARCH_READ_BYTES;
/** Maximum milliseconds for which a read waits for an earlier request. */
const MAX_READ_COMBINING_WAIT_MS = 5;

type ShipmentRows = Pick<Collection<ShipmentReadModelRow>, 'findWithinByteLimit'>;
type FoundRows = DocumentsWithinByteLimit<ShipmentReadModelRow>;

interface WaitingReadByTerms {
  readonly terms: readonly string[];
  resolve(found: FoundRows): void;
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

  /**
   * Returns rows that have at least one of the terms, in no particular order, limited by their number and size.
   * @throws UnavailableError
   */
  readRows(rows: ShipmentRows, scope: WorkspaceScope, terms: readonly string[]): Promise<FoundRows> {
    const key = `${scope.workspace_id}/${scope.environment}`;
    const group = this.groups.get(key) ?? { rows, scope, waiting: [], running: 0, cancelSending: undefined };
    // The group still reads the rows of another generation.
    if (group.rows !== rows) return this.readAlone({ rows, scope }, terms);
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

  private readAlone(
    { rows, scope }: Pick<TermReadsOfScope, 'rows' | 'scope'>,
    terms: readonly string[],
  ): Promise<FoundRows> {
    const query = { filter: createTermsFilter(scope, terms), limit: this.limit };
    return rows.findWithinByteLimit(query, MAX_DUPLICATE_SEARCH_READ_BYTES);
  }

  /** Never rejects. */
  private async runReadsAsOneQuery(group: TermReadsOfScope, batch: readonly WaitingReadByTerms[]): Promise<void> {
    try {
      const found = batch.length === 1 ? undefined : await this.readTogether(group, batch);
      if (found !== undefined) for (const one of batch) one.resolve(this.selectRowsWithTerms(found, one));
      // One at a time, because the rows may be large.
      else for (const one of batch) await this.readAlone(group, one.terms).then(one.resolve, one.reject);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Returns the rows of all reads; undefined if rows of one read may have displaced rows of another. */
  private async readTogether(
    { rows, scope }: TermReadsOfScope,
    batch: readonly WaitingReadByTerms[],
  ): Promise<readonly ShipmentReadModelRow[] | undefined> {
    const terms = [...new Set(batch.flatMap((one) => one.terms))];
    const query = { filter: createTermsFilter(scope, terms), limit: this.limit * batch.length };
    const { documents, isCut } = await rows.findWithinByteLimit(query, MAX_COMBINED_READ_BYTES);
    return isCut || documents.length === query.limit ? undefined : documents;
  }

  private selectRowsWithTerms(found: readonly ShipmentReadModelRow[], { terms }: WaitingReadByTerms): FoundRows {
    const wanted = new Set(terms);
    const own = found.filter((row) => row.terms.some((term) => wanted.has(term)));
    return { documents: own.slice(0, this.limit), isCut: false };
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
