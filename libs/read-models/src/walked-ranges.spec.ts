import { setImmediate } from 'node:timers/promises';
import type { Filter, IndexScanResult } from '@tracking/ports';
import { type IndexRangesOfListPart, scanRowRanges } from './walked-ranges.ts';

interface Row {
  readonly id: string;
  readonly at: string;
  readonly status: string;
}

describe('a page merged from several ranges', () => {
  it('contains a row that moves to the next status during the read', async () => {
    const rows = new Map<string, Row>([['one', { id: 'one', at: '1', status: 'open' }]]);
    let looks = 0;
    const scan = async ({ filter }: { readonly filter: Filter }): Promise<IndexScanResult<Row>> => {
      looks += 1;
      // The first scan is the slowest of the concurrent ones.
      if (looks === 1) for (let turns = 0; turns < 5; turns += 1) await setImmediate();
      const documents = [...rows.values()].filter(({ status }) => status === filter['status']);
      rows.set('one', { id: 'one', at: '1', status: 'acknowledged' });
      return { documents, next: undefined };
    };
    const part: IndexRangesOfListPart = {
      index: 'by_status',
      filters: [{ status: 'open' }, { status: 'acknowledged' }],
      sort: { fields: ['at', 'id'] },
      after: undefined,
      toSortValues: (values) => values.map(String),
    };
    const page = await scanRowRanges<Row>({ scan: scan as never }, part, 10, {
      visit: 100,
      stretches: 2,
      bytes: 1_000,
    });
    expect(page.documents.map(({ id }) => id)).toEqual(['one']);
  });
});
