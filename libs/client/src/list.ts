import type { Call } from './call.ts';

/** A page as the API answers it. */
export interface Page<Item> {
  readonly data: Item[];
  /** The `cursor` of the next page; null on the last one. */
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/**
 * A list. Iterated, it is all items, and each page is asked for when it is needed; a page may hold fewer items than asked
 * for, even none, while others follow. Nothing is asked for before.
 */
export class List<Item> implements AsyncIterable<Item> {
  constructor(private readonly ask: (cursor: string | undefined) => Call<Page<Item>>) {}

  /** One page: the first, or the one of this cursor. */
  page(cursor?: string): Call<Page<Item>> {
    return this.ask(cursor);
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.ask(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** All items at once, held in memory. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const { data } of this.pages()) items.push(...data);
    return items;
  }
}
