/** Endpoints fall into this many shards; each is attempted by one process at a time. Never changes: it names leases. */
export const SHARD_COUNT = 64;

/** The shard of an endpoint, from 0: FNV-1a (32 bit) of its id. */
export function shardOf(endpointId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < endpointId.length; index += 1) {
    hash = Math.imul(hash ^ endpointId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % SHARD_COUNT;
}
