import { connect } from 'node:net';
import type { PublicApi } from './public-api.ts';
import { LISTENING } from './resend.ts';

/** Milliseconds for an answer of this machine; one that gives none counts as there. */
const PATIENCE = 1_000;

/**
 * Deletes endpoints of a `listen` that was killed: nothing listens at their port any more, and whatever takes it next would
 * get their deliveries. A `listen` that runs has its port before its endpoint, and its endpoint goes before its port.
 * @param own of this one: whoever was at its address before is gone. It is verified, so the service means this machine by
 *   127.0.0.1 too
 * @returns the ids of those that are deleted
 */
export async function clearAbandoned(
  { client, answered }: PublicApi,
  own: { readonly id: string; readonly url: string },
): Promise<readonly string[]> {
  const endpoints = await answered(client.webhookEndpoints.list().toArray());
  const cleared: string[] = [];
  for (const { id, url, description } of endpoints) {
    if (description !== LISTENING || id === own.id) continue;
    if (url !== own.url && !(await isDeserted(url))) continue;
    // It is cleanliness alone: whatever is in the way is told by what comes next.
    const isDeleted = await answered(client.webhookEndpoints.delete(id)).catch(() => undefined);
    if (isDeleted) cleared.push(id);
  }
  return cleared;
}

/** Whether this machine says that nothing listens there. */
function isDeserted(address: string): Promise<boolean> {
  const url = URL.parse(address);
  if (url?.hostname !== '127.0.0.1') return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) || 80, timeout: PATIENCE });
    const end = (isRefused: boolean) => {
      socket.destroy();
      resolve(isRefused);
    };
    socket
      .once('connect', () => end(false))
      .once('timeout', () => end(false))
      .once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'));
  });
}
