import { DatabaseSync } from 'node:sqlite';
import type { Query } from '@tracking/ports';
import { createTableStatements, computeSqliteCollectionLayout } from './collection-layout.ts';
import { createCountSql, createFindSql, createScanSql } from './query-sql.ts';
import type { SqlStatement } from './storage-threads.ts';

const LAYOUT = computeSqliteCollectionLayout({
  name: 'things',
  indexes: [
    { name: 'by_time', fields: ['owner', 'made_at', 'id'] },
    { name: 'by_status', fields: ['owner', 'status', 'made_at', 'id'] },
    { name: 'by_code', fields: ['owner', 'code'], unique: true },
    { name: 'by_word', fields: ['owner', 'words', 'made_at', 'id'], arrayField: 'words' },
    { name: 'by_grade', fields: ['owner', 'grade', 'made_at'], only: 'grade' },
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
  ['a field that few have', { filter: { owner: 'o', grade: 'g' } }, 'by_grade (f_owner=? AND f_grade=?)'],
  [
    'from one value of it to the next',
    { filter: { owner: 'o', grade: { exists: true } }, sort: { fields: ['grade', 'made_at'] }, after: ['g', '2026'] },
    'by_grade (f_owner=? AND (f_grade,f_made_at)>(?,?))',
  ],
  ['an element', { filter: { owner: 'o', words: 'w' } }, 'a USING PRIMARY KEY (f_owner=? AND f_words=?)'],
];

const POSTINGS = 'SEARCH a USING PRIMARY KEY';
const DOCUMENT = 'SEARCH d USING INDEX sqlite_autoindex_documents:things_1 (id=?)';
const LOOKUP = 'SEARCH e USING PRIMARY KEY (f_owner=? AND f_words=? AND f_made_at=? AND id=?)';
const both = { all: ['w', 'v'] };
const beginning = { gte: 'w', lt: 'x' };

/** Kind of statement, its text, and the complete plan of SQLite. */
const STEPS: readonly [string, SqlStatement, readonly string[]][] = [
  [
    'those with several elements, in the order of the index',
    createFindSql(LAYOUT, { filter: { owner: 'o', words: both }, sort: newestFirst, limit: 50 }),
    [`${POSTINGS} (f_owner=? AND f_words=?)`, 'CORRELATED SCALAR SUBQUERY', LOOKUP, DOCUMENT],
  ],
  [
    'those with an element and one of others, in the order of the index',
    createFindSql(LAYOUT, {
      filter: { owner: 'o', words: { all: ['w', { in: ['u', 'v'] }] } },
      sort: newestFirst,
      limit: 50,
    }),
    [`${POSTINGS} (f_owner=? AND f_words=?)`, 'CORRELATED SCALAR SUBQUERY', LOOKUP, DOCUMENT],
  ],
  [
    'those of an index with several elements',
    createFindSql(LAYOUT, { filter: { owner: 'o', words: both }, sort: newestFirst, limit: 50, index: 'by_time' }),
    [
      'SEARCH d USING INDEX index:things:by_time (f_owner=?)',
      ...['CORRELATED SCALAR SUBQUERY', LOOKUP],
      ...['CORRELATED SCALAR SUBQUERY', LOOKUP],
    ],
  ],
  [
    'how many have an element',
    createCountSql(LAYOUT, { owner: 'o', words: 'w' }, { atMost: 9 }),
    ['CO-ROUTINE', `${POSTINGS} (f_owner=? AND f_words=?)`, 'SCAN'],
  ],
  [
    'how many are of a time',
    createCountSql(LAYOUT, { owner: 'o', made_at: { gte: 'a', lt: 'b' } }, { atMost: 9, index: 'by_time' }),
    [
      'CO-ROUTINE',
      'SEARCH d USING COVERING INDEX index:things:by_time (f_owner=? AND f_made_at>? AND f_made_at<?)',
      'SCAN',
    ],
  ],
  [
    'a stretch of an index',
    createScanSql(LAYOUT, { ...stretch('by_time'), filter: { owner: 'o', note: 'n' } }),
    ['SEARCH d USING INDEX index:things:by_time (f_owner=?)', 'CORRELATED SCALAR SUBQUERY', 'SCAN e VIRTUAL TABLE'],
  ],
  [
    'the next stretch',
    createScanSql(LAYOUT, { ...stretch('by_time'), filter: { owner: 'o', words: 'w' }, after: ['2026', 'x'] }),
    [
      'SEARCH d USING INDEX index:things:by_time (f_owner=? AND (f_made_at,id)<(?,?))',
      'CORRELATED SCALAR SUBQUERY',
      LOOKUP,
    ],
  ],
  [
    'a stretch of an element’s postings',
    createScanSql(LAYOUT, { ...stretch('by_word'), filter: { owner: 'o', words: both, made_at: { gte: '2026' } } }),
    [
      `${POSTINGS} (f_owner=? AND f_words=? AND f_made_at>? AND f_made_at<?)`,
      ...['CORRELATED SCALAR SUBQUERY', LOOKUP],
      ...['CORRELATED SCALAR SUBQUERY', DOCUMENT],
    ],
  ],
];

function stretch(index: string) {
  return { index, sort: newestFirst, limit: 50, visit: 500 };
}

function stepsOf({ text, values }: SqlStatement): string[] {
  const database = new DatabaseSync(':memory:');
  for (const statement of createTableStatements(LAYOUT)) database.exec(statement);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
  database.close();
  return plan.map(({ detail }) => detail);
}

describe('query plans', () => {
  it.each(QUERIES)('of %s use an index and sort nothing', (_title, query, expected) => {
    const steps = stepsOf(createFindSql(LAYOUT, { ...query, limit: 50 })).join('\n');
    expect(steps).toContain(expected);
    expect(steps).not.toMatch(/SCAN [ad]\b|TEMP B-TREE/);
  });

  it.each(STEPS)('of %s have exactly these steps', (_title, sql, expected) => {
    const steps = stepsOf(sql);
    expect(steps).toEqual(expected.map((step) => expect.stringContaining(step) as string));
    expect(steps).not.toContainEqual(expect.stringMatching(/SCAN [ad]\b|TEMP B-TREE/));
  });

  it('of a word prefix: its postings, each document once, and only their documents are sorted', () => {
    const query = { filter: { owner: 'o', words: { all: [beginning, 'v'] } }, sort: newestFirst, limit: 50 };
    const steps = stepsOf(createFindSql(LAYOUT, { ...query, index: 'by_word' })).join('\n');
    expect(steps).toContain('PRIMARY KEY (f_owner=? AND f_words>? AND f_words<?)');
    expect(steps).toContain('USE TEMP B-TREE FOR DISTINCT');
    expect(steps).toContain('USE TEMP B-TREE FOR ORDER BY');
    expect(steps).toContain(LOOKUP);
    expect(steps).toContain(DOCUMENT);
  });
});
