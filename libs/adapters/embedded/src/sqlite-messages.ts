import type { Database } from './sqlite-database.ts';
import type { DoneOutcome, MessagesOperation, TrimmedOutcome } from './storage-protocol.ts';

const INSERT =
  'INSERT INTO messages (position, topic, partition, at, key, value, headers) VALUES (?, ?, ?, ?, ?, ?, ?)';
const DEFINE = 'INSERT INTO topics (name, partitions, retention_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
/** Never back: a batch that was handled twice may commit twice. */
const COMMIT = `INSERT INTO offsets (consumer_group, topic, partition, position) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET position = max(position, excluded.position)`;
/**
 * Positions grow with time, so that the oldest are the first: none is looked at but those. Nor any that a consumer group has
 * not handled yet: a process that was away for longer than its topic keeps them, or a clock that jumps ahead, loses none.
 */
const TRIM = `DELETE FROM messages WHERE at < ?1 AND position IN
  (SELECT position FROM messages WHERE topic = ?2 AND partition = ?3
    AND position <= coalesce((SELECT min(position) FROM offsets WHERE topic = ?2 AND partition = ?3), 9e15)
    ORDER BY position LIMIT (?4 + 0))`;

/** Cells of one message in a `PublishOperation`. */
const CELLS = 4;
/** Messages deleted in one transaction. */
const TRIM_AT_ONCE = 1_000;
const DONE: DoneOutcome = { kind: 'done', duplicate: null };

/** Topics in the writer's thread. */
export class SqliteMessages {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  perform(operation: MessagesOperation): DoneOutcome | TrimmedOutcome {
    switch (operation.kind) {
      case 'publish': {
        const { topic, at, first, cells } = operation;
        const insert = this.database.prepare(INSERT);
        let position = first;
        for (let cell = 0; cell < cells.length; cell += CELLS) {
          const [partition = 0, key = '', value = '', headers = ''] = cells.slice(cell, cell + CELLS);
          insert.run(position++, topic, partition, at, key, value, headers);
        }
        // Kept apart from the messages: a sequence that began again after a trim would repeat positions.
        this.database.run('UPDATE message_sequence SET position = ?', [position - 1]);
        return DONE;
      }
      case 'topics':
        for (const { name, partitions, retentionMs } of operation.topics) {
          this.database.run(DEFINE, [name, partitions, retentionMs]);
        }
        return DONE;
      case 'commit':
        this.database.run(COMMIT, [operation.group, operation.topic, operation.partition, operation.position]);
        return DONE;
      case 'trim': {
        const { topic, partition, before } = operation;
        const deleted = this.database.run(TRIM, [before, topic, partition, TRIM_AT_ONCE]);
        return { kind: 'trimmed', deleted, more: deleted === TRIM_AT_ONCE };
      }
    }
  }
}
