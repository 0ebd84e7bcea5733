/** What of a timeline stands in the address. */
export interface TimelineSearch {
  /** Of this container alone. */
  readonly container?: string | undefined;
  /** Also what was taken back or replaced. */
  readonly past?: true | undefined;
  /** The milestone that is looked at. */
  readonly milestone?: string | undefined;
}

/** What an address says; what it says wrongly counts as not said. */
export function readTimelineSearch(raw: Record<string, unknown>): TimelineSearch {
  const text = (name: string) => (typeof raw[name] === 'string' && raw[name] !== '' ? raw[name] : undefined);
  const said = { container: text('container'), past: raw['past'] === true || undefined, milestone: text('milestone') };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}
