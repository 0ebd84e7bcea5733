/** Every list answer. `next_cursor` is opaque and bound to the filters and sort that it came with. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}
export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** Which page is asked for, of a list inside. */
export interface PageRequest {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: readonly string[];
}
/** A page as the edge is handed it, which makes a {@link Page} of it. */
export interface PageOf<T> {
  readonly items: readonly T[];
  /** Where the next page begins; null after the last. */
  readonly next: readonly string[] | null;
}
