import type { Collection, CollectionSpec, Document, DocumentStore } from '@tracking/ports';
import { Unavailable } from '@tracking/ports';
import { DutyCycle } from '@tracking/resilience';
import { ARRAY_LAYOUT, layoutOf } from './collection-layout.ts';
import { SqliteCollection } from './sqlite-collection.ts';
import type { SqliteStorage } from './sqlite-storage.ts';
import { ENGINE } from './sqlite-writer.ts';

/** Share of the time that a drop takes: the rest is for the writes of others. */
const DROP_SHARE = 0.25;

export class SqliteDocumentStore implements DocumentStore {
  private readonly collections = new Map<string, { readonly spec: string; readonly opened: Promise<unknown> }>();
  private readonly closing = new AbortController();

  constructor(private readonly storage: SqliteStorage) {}

  async collection<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    this.refuseWhenClosed();
    const json = JSON.stringify(spec);
    const known = this.collections.get(spec.name);
    if (known?.spec === json) return known.opened as Promise<SqliteCollection<T>>;
    const opened = this.open<T>(spec);
    this.collections.set(spec.name, { spec: json, opened });
    opened.catch(() => this.collections.delete(spec.name));
    return opened;
  }

  async collectionNames(prefix: string): Promise<readonly string[]> {
    this.refuseWhenClosed();
    const names = this.storage.database
      .rows('SELECT name FROM collections ORDER BY name')
      .map(([name]) => String(name));
    return Promise.resolve(names.filter((name) => name.startsWith(prefix)));
  }

  async dropCollection(name: string, ending?: AbortSignal): Promise<void> {
    this.collections.delete(name);
    const signal = ending === undefined ? this.closing.signal : AbortSignal.any([ending, this.closing.signal]);
    const pace = new DutyCycle({ share: DROP_SHARE });
    const drop = () => {
      this.refuseWhenClosed();
      this.storage.writer.admit();
      return this.storage.writer.run({ kind: 'drop', collection: name }, 1, 'durable', ({ more }) => more);
    };
    let more = await drop();
    while (more && ending?.aborted !== true) more = await pace.work(drop, signal);
  }

  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }

  private async open<T extends Document>(spec: CollectionSpec): Promise<SqliteCollection<T>> {
    const { name, indexes } = spec;
    const collection = new SqliteCollection<T>(layoutOf(spec), this.storage);
    this.storage.writer.admit();
    await this.storage.writer.run(
      { kind: 'define', spec: JSON.stringify({ name, indexes, layout: ARRAY_LAYOUT }) },
      1,
      'durable',
      collection.refuseDuplicate,
    );
    return collection;
  }

  private refuseWhenClosed(): void {
    if (this.closing.signal.aborted) throw new Unavailable(ENGINE, 'closed');
  }
}
