/** Every list answer. `next_cursor` is opaque and bound to the filters and sort that it came with. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}
export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;
