import { DatabaseSync } from 'node:sqlite';
import { Database, PAGE_BYTES } from './sqlite-database.ts';
import { canCheckpointBesideWriter, longestWal } from './wal.ts';

/** Of the tables below. Files of a later version are refused. */
export const SCHEMA_VERSION = 2;
/** Marks the file as ours (`file` and `PRAGMA application_id` show it): "frtk". */
const APPLICATION_ID = 0x6672746b;

export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';
}

/**
 * The only connection that writes, to a file that was found sound. Makes the tables, and counts the start.
 * @param checkpointBytes at what size of the write-ahead log a checkpoint is due
 */
export function openForWriting(file: string, checkpointBytes: number): { database: Database; incarnation: number } {
  const database = new Database(new DatabaseSync(file, { timeout: 5_000 }));
  if (database.value('PRAGMA journal_mode = WAL') !== 'wal') throw new Error('its file system cannot share memory');
  database.run('PRAGMA synchronous = FULL');
  database.run('PRAGMA cache_size = -32000');
  // Where the `WalCheckpointer` works, SQLite's own checkpoint at a commit is only for the case that it ended.
  const automaticBytes = canCheckpointBesideWriter(database) ? 2 * longestWal(checkpointBytes) : checkpointBytes;
  database.run(`PRAGMA wal_autocheckpoint = ${Math.ceil(automaticBytes / PAGE_BYTES)}`);
  database.run(`PRAGMA journal_size_limit = ${longestWal(checkpointBytes)}`);
  const version = Number(database.value('PRAGMA user_version'));
  if (version === 0) createSchema(database);
  // Version 1 had other tables for indexes of arrays: each collection makes its own anew when it is opened.
  else if (version < SCHEMA_VERSION) database.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  addCommitCount(database);
  database.run('UPDATE engine SET incarnation = incarnation + 1');
  return { database, incarnation: Number(database.value('SELECT incarnation FROM engine')) };
}

function createSchema(database: Database): void {
  database.run('BEGIN IMMEDIATE');
  for (const statement of [
    `CREATE TABLE events (position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL,
       id TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL)`,
    'CREATE UNIQUE INDEX events_by_stream ON events (stream, revision)',
    'CREATE TABLE collections (name TEXT PRIMARY KEY, spec TEXT NOT NULL) WITHOUT ROWID',
    'CREATE TABLE topics (name TEXT PRIMARY KEY, partitions INTEGER NOT NULL, retention_ms INTEGER NOT NULL) WITHOUT ROWID',
    `CREATE TABLE messages (position INTEGER PRIMARY KEY, topic TEXT NOT NULL, partition INTEGER NOT NULL,
       at INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, headers TEXT NOT NULL)`,
    'CREATE INDEX messages_by_partition ON messages (topic, partition, position)',
    'CREATE TABLE message_sequence (position INTEGER NOT NULL)',
    'INSERT INTO message_sequence VALUES (0)',
    `CREATE TABLE offsets (consumer_group TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
       position INTEGER NOT NULL, PRIMARY KEY (consumer_group, topic, partition)) WITHOUT ROWID`,
    'CREATE TABLE engine (incarnation INTEGER NOT NULL)',
    'INSERT INTO engine VALUES (0)',
    `PRAGMA application_id = ${APPLICATION_ID}`,
    `PRAGMA user_version = ${SCHEMA_VERSION}`,
  ]) {
    database.run(statement);
  }
  database.run('COMMIT');
}

/** Files of earlier versions lack it. */
function addCommitCount(database: Database): void {
  database.run('CREATE TABLE IF NOT EXISTS commits (number INTEGER NOT NULL)');
  database.run('INSERT INTO commits SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM commits)');
}
