import type { List, Page } from '@tracking/client';
import {
  countJsonBytes,
  MAX_RESULT_BYTES,
  createPageOfResourceLists,
  readPageWithinResultSize,
  shortenValueToBytes,
} from './result-size.ts';

/** List of texts whose cursor is the index of the next item. Records the sizes of requested pages. */
function listOf(texts: readonly string[], sizes: number[] = []) {
  return (limit: number) =>
    ({
      page: (cursor = '0') => {
        sizes.push(limit);
        const end = Number(cursor) + limit;
        const next_cursor = end < texts.length ? String(end) : null;
        const page: Page<string> = {
          data: texts.slice(Number(cursor), end),
          next_cursor,
          has_more: next_cursor !== null,
        };
        return Promise.resolve(page);
      },
    }) as unknown as List<string>;
}

describe('readPageWithinResultSize', () => {
  it('returns every item once, in pages within the limit', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => `${index} ${'x'.repeat(index * 50)}`);
    const read: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await readPageWithinResultSize(listOf(texts), { limit: 50, cursor }, (text) => text);
      expect(countJsonBytes(page)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      read.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(read).toEqual(texts);
  });

  it('skips empty pages, but only ten of them', async () => {
    const emptyUntil = (index: number) => () =>
      ({
        page: (cursor = '0') =>
          Promise.resolve({
            data: Number(cursor) < index ? [] : ['x'],
            next_cursor: Number(cursor) < index ? String(Number(cursor) + 1) : null,
            has_more: Number(cursor) < index,
          }),
      }) as unknown as List<string>;
    const read = (index: number) => readPageWithinResultSize(emptyUntil(index), { limit: 5 }, (text) => text);
    expect(await read(10)).toEqual({ items: ['x'], next_cursor: null });
    expect(await read(12)).toEqual({ items: [], next_cursor: '11' });
  });

  it('shortens an item that is too large alone', async () => {
    const sizes: number[] = [];
    const texts = ['x'.repeat(100_000), 'short'];
    const page = await readPageWithinResultSize(listOf(texts, sizes), { limit: 2 }, (text) => text);
    expect(page).toEqual({ items: [expect.stringMatching(/^x{2000}… \[shortened\]$/)], next_cursor: '1' });
    expect(sizes).toEqual([2, 1]);
  });
});

describe('pageOfLists', () => {
  const resource = {
    id: 'a',
    first: Array.from({ length: 300 }, (_, index) => ({ index, text: 'é'.repeat(100) })),
    second: [
      { index: 300, text: 'x'.repeat(100_000) },
      { index: 301, text: '' },
    ],
  };

  it('returns every item of all lists once, and the other fields on every page', () => {
    const indexes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = createPageOfResourceLists(resource, ['first', 'second'], 7, cursor);
      expect(page.id).toBe('a');
      expect(countJsonBytes(page)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      indexes.push(...[...page.first, ...page.second].map(({ index }) => index));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(indexes).toEqual(Array.from({ length: 302 }, (_, index) => index));
  });

  it.each([
    ['6.1', 'resource_changed'],
    ['a', 'invalid_cursor'],
    ['7.-1', 'invalid_cursor'],
  ])('refuses the cursor %s with %s', (cursor, code) => {
    expect(() => createPageOfResourceLists(resource, ['first'], 7, cursor)).toThrow(expect.objectContaining({ code }));
  });
});

describe('shorten', () => {
  it('keeps small values unchanged', () => {
    const value = { text: 'x', list: [1, 2, 3] };
    expect(shortenValueToBytes(value, 100)).toBe(value);
  });

  it('bounds texts, lists and free-form objects', () => {
    const metadata = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, 'v'.repeat(1_000)]));
    const shortened = shortenValueToBytes(
      { id: 'a', metadata, list: Array.from({ length: 9_000 }, () => 'x') },
      MAX_RESULT_BYTES,
    );
    expect(shortened.id).toBe('a');
    expect(countJsonBytes(shortened)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
  });

  it('does not split a surrogate pair', () => {
    expect(shortenValueToBytes('😀'.repeat(3_000), 9_000).isWellFormed()).toBe(true);
  });
});
