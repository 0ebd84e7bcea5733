/** The values used last, bounded by their weights together, so that a live event usually needs no read. */
export class RecentlyUsed<V> {
  private readonly entries = new Map<string, { readonly value: V; readonly weight: number }>();
  private total = 0;

  /** @param weight of a value; an ordinary one weighs 1 */
  constructor(
    private readonly capacity: number,
    private readonly weight: (value: V) => number = () => 1,
  ) {}

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V): void {
    this.remove(key);
    const weight = this.weight(value);
    this.entries.set(key, { value, weight });
    this.total += weight;
    for (const eldest of this.entries.keys()) {
      if (this.total <= this.capacity) break;
      this.remove(eldest);
    }
  }

  private remove(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.total -= entry.weight;
  }
}
