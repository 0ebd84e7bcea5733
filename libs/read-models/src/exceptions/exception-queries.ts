import type { Scope, ShipmentException } from '@tracking/contracts';
import type { ActiveRows } from '../active-rows.ts';
import type { QueryPage, SortValues } from '../read-model.ts';
import { PAGE_BYTES, type WalkBounds, pageOfParts, walked } from '../walked-ranges.ts';
import { type ExceptionListFilter, type ExceptionSort, partsOf } from './exception-ranges.ts';
import type { ExceptionRow } from './exception-rows.ts';

export interface ExceptionListQuery {
  readonly filter: ExceptionListFilter;
  readonly sort: ExceptionSort;
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before, under the same filter and sort. */
  readonly after?: SortValues | undefined;
}

/** Of a whole page: parts share it. */
const BOUNDS: WalkBounds = { visit: 2_000, stretches: 2, bytes: PAGE_BYTES };

/** Exceptions as the read model has them; read-your-writes is waited for with `ReadModelProgress`. */
export class ExceptionQueries {
  constructor(
    private readonly active: Pick<ActiveRows<ExceptionRow>, 'rows'>,
    private readonly bounds = BOUNDS,
  ) {}

  /**
   * In the order asked for, by id where that leaves a choice. No page looks at more than a fixed number of rows: it may hold
   * fewer than `limit`, even none, while more follow. Whatever is written while someone pages, an exception that does not
   * change is on one page, once.
   * @throws Unavailable, Busy
   */
  async list(scope: Scope, { filter, sort, limit, after }: ExceptionListQuery): Promise<QueryPage<ShipmentException>> {
    const rows = await this.active.rows();
    const parts = partsOf(scope, filter, sort, after);
    const { stretches } = this.bounds;
    const visit = Math.ceil(this.bounds.visit / parts.length);
    const bytes = this.bounds.bytes / parts.length;
    const page = await pageOfParts(parts, limit, (part, wanted) =>
      walked(rows, part, wanted, { visit, stretches, bytes }),
    );
    return { items: page.rows.map(({ exception }) => exception), next: page.next };
  }
}
