export const VIEWS = ['all', 'mine', 'unassigned', 'resolved'] as const;
export type View = (typeof VIEWS)[number];
export const QUEUE_SORTS = ['-severity', 'opened_at', '-opened_at', 'due'] as const;
export type QueueSort = (typeof QUEUE_SORTS)[number];
/** Since when it is open: more or less than so many hours. */
export const AGES = ['<24', '>24', '>72', '>168'] as const;
export type Age = (typeof AGES)[number];

/** What of the queue stands in the address. */
export interface QueueSearch {
  /** `all` unless told. */
  readonly view?: Exclude<View, 'all'> | undefined;
  /** Separated by commas. */
  readonly severity?: string | undefined;
  /** Separated by commas. */
  readonly type?: string | undefined;
  readonly status?: 'open' | 'acknowledged' | undefined;
  readonly age?: Age | undefined;
  /** `-severity` unless told. */
  readonly sort?: Exclude<QueueSort, '-severity'> | undefined;
  /** The exception that is looked at. */
  readonly at?: string | undefined;
}

/** What an address says; what it says wrongly counts as not said. */
export function readQueueSearch(raw: Record<string, unknown>): QueueSearch {
  const said = {
    view: oneOf(['mine', 'unassigned', 'resolved'] as const, raw['view']),
    severity: words(raw['severity']),
    type: words(raw['type']),
    status: oneOf(['open', 'acknowledged'] as const, raw['status']),
    age: oneOf(AGES, raw['age']),
    sort: oneOf(['opened_at', '-opened_at', 'due'] as const, raw['sort']),
    at: typeof raw['at'] === 'string' && raw['at'].startsWith('exc_') ? raw['at'] : undefined,
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** Which of them there are is looked at where the list is: the address is read before any page is. */
function words(value: unknown): string | undefined {
  return typeof value === 'string' && /^[a-z_]+(,[a-z_]+)*$/.test(value) ? value : undefined;
}

function oneOf<const T extends string>(all: readonly T[], value: unknown): T | undefined {
  return all.find((each) => each === value);
}
