import type { ProcessSpec } from './managed-process.ts';

/** Milliseconds for which a readiness check waits for a primary. */
const PRIMARY_SELECTION_TIMEOUT_MS = 1_000;

/** The command that starts a MongoDB server. */
interface MongoServerStartCommand {
  /** Connection string of the server. */
  readonly url: string;
  /** Command that starts the server on its data in the foreground. `sh` runs it and is replaced by it. */
  readonly command: string;
}

/** Returns the process of a MongoDB server. It is ready when it is the primary of its replica set. */
export function createMongoServerSpec({ url, command }: MongoServerStartCommand): Omit<ProcessSpec, 'logFile'> {
  return { name: 'mongodb', command: 'sh', args: ['-c', `exec ${command}`], ready: () => isPrimaryServer(url) };
}

async function isPrimaryServer(url: string): Promise<boolean> {
  // Most tests do not need the driver, which takes long to load.
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(url, { serverSelectionTimeoutMS: PRIMARY_SELECTION_TIMEOUT_MS });
  try {
    const { isWritablePrimary } = await client.db('admin').command({ hello: 1 });
    return isWritablePrimary === true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

/**
 * Returns the connection string with another database.
 * @param url `mongodb://hosts/database?options`; the database and the options are optional
 * @param credentials `user:password` instead of those of the connection string
 */
export function replaceDatabaseInMongoUrl(url: string, database: string, credentials?: string): string {
  const [, protocol = '', user = '', hosts = '', options = ''] =
    /^([^/]+\/\/)([^@/?]*@)?([^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(url) ?? [];
  return `${protocol}${credentials === undefined ? user : `${credentials}@`}${hosts}/${database}${options}`;
}
