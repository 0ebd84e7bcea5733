import { EngineAccessRefusedError } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import type { Document } from 'mongodb';
import type { MongoConnection } from './mongo-connection.ts';
import { ENGINE_NAME } from './mongo-errors.ts';
import { LEASES_COLLECTION_SPEC } from './mongo-leases.ts';

/** Milliseconds for which a server must refuse this process before the settings count as wrong. */
const SERVER_REFUSAL_TOLERANCE_MS = 3_000;
/** Id that no document has. */
const NONEXISTENT_ID = '';

/**
 * Checks that the server accepts the TLS settings and the user, that the user may read and write the database, and that
 * the server is a replica set or a sharded cluster.
 * @throws EngineAccessRefusedError if the server refuses this process for several seconds; UnavailableError if no server
 *   responds
 */
export async function checkMongoServerAccess(
  connection: MongoConnection,
  refusalPeriodMs = SERVER_REFUSAL_TOLERANCE_MS,
): Promise<void> {
  const deadline = monotonicMs() + refusalPeriodMs;
  // A new server refuses users until an administrator has created them.
  const isTransient = (error: unknown) => error instanceof EngineAccessRefusedError;
  await retry(() => probeServerAccess(connection), { deadline, isTransient });
}

async function probeServerAccess(connection: MongoConnection): Promise<void> {
  // With the ordinary deadline, the connection would stop waiting before the driver reports why no server was found.
  const hello = await connection.runOnDatabase((database) => database.command({ hello: 1 }), 2 * connection.deadlineMs);
  if (isStandaloneMongoServer(hello))
    throw new EngineAccessRefusedError(
      ENGINE_NAME,
      'the server is standalone; a replica set is required, of at least one member',
    );
  await connection.runOnDatabase(async (database) => {
    const documents = database.collection<{ readonly _id: string }>(LEASES_COLLECTION_SPEC.name);
    await documents.findOne({ _id: NONEXISTENT_ID });
    await documents.updateOne({ _id: NONEXISTENT_ID }, { $set: { beat: 0 } });
  });
}

/** Returns true if the server belongs to no replica set, and is neither a router nor behind a load balancer. */
function isStandaloneMongoServer(hello: Document): boolean {
  return hello['setName'] === undefined && hello['msg'] !== 'isdbgrid' && hello['serviceId'] === undefined;
}
