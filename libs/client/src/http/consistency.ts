/** More would not fit into a header: what was written longest ago is shown everywhere by then. */
const MOST = 16;

/**
 * The places of a client's writes that its reads must see. A write that was sent with places answers one that is not less,
 * which takes their place: so there is one, and several only while writes are sent side by side.
 */
export class ConsistencyTokens {
  private tokens: readonly string[];

  constructor(first?: string) {
    this.tokens = split(first);
  }

  /** For the header; undefined where nothing was written. */
  get header(): string | undefined {
    return this.tokens.length === 0 ? undefined : this.tokens.join(', ');
  }

  /** @param sent the header that the write went with */
  wrote(token: string, sent: string | undefined): void {
    const superseded = new Set([token, ...split(sent)]);
    this.tokens = [...this.tokens.filter((each) => !superseded.has(each)), token].slice(-MOST);
  }

  /** From now on reads see this, too. */
  add(header: string): void {
    for (const token of split(header)) this.wrote(token, undefined);
  }

  /** Another system does not know them. */
  forget(header: string | undefined): void {
    const refused = new Set(split(header));
    this.tokens = this.tokens.filter((token) => !refused.has(token));
  }
}

function split(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((part) => part.trim() || []);
}
