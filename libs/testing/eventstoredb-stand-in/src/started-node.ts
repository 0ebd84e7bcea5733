import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import type { ProcessSpec } from '@tracking/testing';

/** How a node is started that is not the stand-in. */
export interface NodeStart {
  /** Where it serves. */
  readonly url: string;
  /** Starts it on its data, in the foreground; run by `sh`, which it replaces. */
  readonly command: string;
}

/** Ready when it leads: before that it refuses what only the leader may answer. */
export function startedNode({ url, command }: NodeStart): Omit<ProcessSpec, 'logFile'> {
  return {
    name: 'eventstoredb',
    command: 'sh',
    args: ['-c', `exec ${command}`],
    ready: () => leads(url),
  };
}

async function leads(url: string): Promise<boolean> {
  const client = EventStoreDBClient.connectionString(url);
  try {
    const last = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader: true });
    for await (const _event of last) return true;
    return true;
  } catch {
    return false;
  } finally {
    await client.dispose().catch(() => undefined);
  }
}
