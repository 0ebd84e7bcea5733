import type { Query } from '@tracking/ports';
import { VisitedRows } from '../test/visited-rows.ts';

const THINGS = {
  name: 'things',
  indexes: [
    { name: 'by_time', fields: ['owner', 'made_at', 'id'] },
    { name: 'by_status', fields: ['owner', 'status', 'made_at', 'size'] },
    { name: 'by_word', fields: ['owner', 'words', 'made_at', 'id'], arrayField: 'words' },
  ],
};
const COUNT = 1_000;

describe('rows that are looked at', () => {
  let things: VisitedRows;
  beforeAll(() => {
    things = new VisitedRows(THINGS);
    things.store(
      Array.from({ length: COUNT }, (_, n) => ({
        id: `t${n}`,
        owner: 'o',
        status: 's',
        made_at: String(n).padStart(4, '0'),
        size: n,
        words: ['all', 'every', `w${n}`],
        note: `n${n}`,
      })),
    );
  });
  afterAll(() => things.close());

  const newest = { fields: ['made_at', 'id'], descending: true };
  const visited: readonly [string, Query, number][] = [
    ['of a page in an index’s order, those answered', { filter: { owner: 'o' }, sort: newest, limit: 5 }, 5],
    [
      'of the next page of older ones, those answered',
      {
        filter: { owner: 'o', status: 's', made_at: { lt: '0900' } },
        sort: { fields: ['made_at'] },
        after: ['0800'],
        limit: 5,
      },
      5,
    ],
    ['of any few, those answered', { filter: { owner: 'o', status: 's' }, limit: 5 }, 5],
    [
      'of what an index leads to by way of an element, two each',
      { filter: { owner: 'o', words: 'all' }, limit: 5 },
      10,
    ],
    ['of a page of those with an element', { filter: { owner: 'o', words: 'all' }, sort: newest, limit: 5 }, 10],
    ['of those with one of some elements', { filter: { owner: 'o', words: { in: ['all', 'every'] } }, limit: 5 }, 10],
    [
      'of those with an element, also what is left out',
      { filter: { owner: 'o', words: 'all', note: { ne: 'n0' } }, limit: 5 },
      12,
    ],
    ['of those without an element, one posting', { filter: { owner: 'o', words: { ne: 'w0' } }, limit: 5 }, 6 + 1],
    ['all of them where nothing leads there', { filter: { owner: 'o', note: 'n999' }, limit: 5 }, COUNT],
    ['all, in the index alone as well', { filter: { owner: 'o', status: 's', size: 999 }, limit: 5 }, COUNT],
    ['all that have to be sorted', { filter: { owner: 'o' }, sort: { fields: ['note'] }, limit: 5 }, COUNT],
  ];
  it.each(visited)('are, %s', (_title, query, rows) => {
    expect(things.visit(query).rows).toBe(rows);
  });
});
