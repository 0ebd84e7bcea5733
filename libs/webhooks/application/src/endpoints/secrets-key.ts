import type { CollectionSpec, Document, DocumentStore } from '@tracking/ports';
import { ENDPOINTS, type EndpointDocument } from './endpoint-document.ts';
import { SecretBox, sealingKeyId } from './secret-box.ts';

interface KeyDocument extends Document {
  readonly key_id: string;
}

/** Which key is in use stands where what it sealed does, so that one copy holds both. */
const KEYS: CollectionSpec = { name: 'webhook_secrets_key', indexes: [] };
const ID = 'in_use';

/** The id of the key that this store's secrets are sealed with; undefined where there was none yet. */
export async function secretsKeyInUse(store: DocumentStore): Promise<string | undefined> {
  const keys = await store.collection<KeyDocument>(KEYS);
  const stored = await keys.get(ID);
  if (stored !== undefined) return stored.key_id;
  // Nobody has noted it yet, but perhaps it was used.
  const endpoints = await store.collection<EndpointDocument>(ENDPOINTS);
  const [endpoint] = await endpoints.find({ filter: { deleted: false }, limit: 1 });
  const sealed = endpoint?.secrets[0]?.sealed;
  return sealed === undefined ? undefined : sealingKeyId(sealed);
}

/**
 * Takes a key into use where none is; of several processes that do so at once, one key wins. Answers the id of the key
 * in use where it is another than this one, whose secrets this one could not open, nor that one those sealed from now on.
 * @param key 32 bytes, as `Webhooks.start` takes it
 * @param lost id of a key that is given up: this one takes its place
 */
export async function useSecretsKey(store: DocumentStore, key: Uint8Array, lost?: string): Promise<string | undefined> {
  const { keyId } = new SecretBox(key);
  const before = await secretsKeyInUse(store);
  if (before !== undefined && before !== keyId && before !== lost) return before;
  const keys = await store.collection<KeyDocument>(KEYS);
  const mine = { id: ID, key_id: keyId };
  if (!(await keys.insert(mine)) && lost !== undefined) await keys.replace(mine, { key_id: lost });
  const stored = await keys.get(ID);
  return stored?.key_id === keyId ? undefined : stored?.key_id;
}
