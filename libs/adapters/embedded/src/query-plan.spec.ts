import { DatabaseSync } from 'node:sqlite';
import type { Query } from '@tracking/ports';
import { definition, layoutOf } from './collection-layout.ts';
import { findSql } from './query-sql.ts';

const LAYOUT = layoutOf({
  name: 'things',
  indexes: [
    { name: 'by_time', fields: ['owner', 'made_at', 'id'] },
    { name: 'by_status', fields: ['owner', 'status', 'made_at', 'id'] },
    { name: 'by_code', fields: ['owner', 'code'], unique: true },
    { name: 'by_word', fields: ['owner', 'words', 'made_at'], arrayField: 'words' },
  ],
});

const newestFirst = { fields: ['made_at', 'id'], descending: true };
const QUERIES: readonly [string, Omit<Query, 'limit'>, string][] = [
  ['a list', { filter: { owner: 'o' }, sort: newestFirst }, 'by_time (f_owner=?)'],
  [
    'its next page',
    { filter: { owner: 'o' }, sort: newestFirst, after: ['2026', 'x'] },
    'by_time (f_owner=? AND (f_made_at,id)<(?,?))',
  ],
  [
    'a filtered list',
    { filter: { owner: 'o', status: 's', note: 'n' }, sort: newestFirst },
    'by_status (f_owner=? AND f_status=?)',
  ],
  [
    'a time’s worth',
    { filter: { owner: 'o', made_at: { gte: '2026', lt: '2027' } }, sort: { fields: ['made_at'] } },
    'by_time (f_owner=? AND f_made_at>? AND f_made_at<?)',
  ],
  ['a unique key', { filter: { owner: 'o', code: 'c' } }, 'by_code (f_owner=? AND f_code=?)'],
  ['an element', { filter: { owner: 'o', words: 'w' } }, 'a USING PRIMARY KEY (f_owner=? AND f_words=?)'],
];

describe('query plans', () => {
  it.each(QUERIES)('of %s go by an index, and sort nothing', (_title, query, expected) => {
    const database = new DatabaseSync(':memory:');
    for (const statement of definition(LAYOUT)) database.exec(statement);
    const { text, values } = findSql(LAYOUT, { ...query, limit: 50 });
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
    database.close();
    const steps = plan.map(({ detail }) => detail).join('\n');
    expect(steps).toContain(expected);
    expect(steps).not.toMatch(/SCAN [ad]\b|TEMP B-TREE/);
  });
});
