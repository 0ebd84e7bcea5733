/** Lists of operations are short and come whole. */
export interface ListAnswer<T> {
  readonly data: readonly T[];
}

export function listAnswer<T>(data: readonly T[]): ListAnswer<T> {
  return { data };
}
