import type { Database } from './sqlite-database.ts';
import type { AppendOperation, AppendOutcome } from './storage-protocol.ts';

const LAST = 'SELECT revision FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1';
const INSERT = 'INSERT INTO events (position, stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)';
const RANGE = 'SELECT id, position FROM events WHERE stream = ? AND revision > ? AND revision <= ? ORDER BY revision';

/** Cells of one event in an `AppendOperation`. */
const CELLS = 4;

/** Appends in the writer's thread. Positions follow each other without holes, so that they can be counted with. */
export class SqliteAppends {
  private readonly database: Database;
  /** Last position given out. */
  private position = 0;

  constructor(database: Database) {
    this.database = database;
    this.reload();
  }

  get head(): number {
    return this.position;
  }

  /** After a rollback. */
  reload(): void {
    this.position = Number(this.database.value('SELECT max(position) FROM events') ?? 0);
  }

  append({ stream, expected, cells }: AppendOperation): AppendOutcome {
    const actual = Number(this.database.value(LAST, [stream]) ?? -1);
    if (actual !== expected) return this.repeated(stream, expected, cells) ?? { kind: 'conflict', actual };
    let revision = expected;
    const insert = this.database.prepare(INSERT);
    for (let at = 0; at < cells.length; at += CELLS) {
      insert.run(
        ++this.position,
        stream,
        ++revision,
        cells[at] ?? null,
        cells[at + 1] ?? null,
        cells[at + 2] ?? null,
        cells[at + 3] ?? null,
      );
    }
    return { kind: 'appended', revision, position: this.position, repeated: false };
  }

  /** The answer of the append that stored these very events at this very place, if there was one. */
  private repeated(stream: string, expected: number, cells: readonly string[]): AppendOutcome | undefined {
    const count = cells.length / CELLS;
    const stored = this.database.rows(RANGE, [stream, expected, expected + count]);
    if (stored.length < count || stored.some(([id], index) => id !== cells[index * CELLS])) return undefined;
    return { kind: 'appended', revision: expected + count, position: Number(stored[count - 1]?.[1]), repeated: true };
  }
}
