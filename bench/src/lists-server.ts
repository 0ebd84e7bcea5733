import 'reflect-metadata';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoConnection, MongoDocumentStore } from '@tracking/distributed';
import { EmbeddedSqliteEngine } from '@tracking/embedded';
import { createHttpApi, IdempotencyClaims } from '@tracking/http';
import { ACCESS_TO_ALL_KEYS, IdentityServices } from '@tracking/identity';
import { loadPlaces } from '@tracking/places';
import { ReadModels } from '@tracking/read-models';
import { noMetrics, silentLogger } from '@tracking/testing';
import { SecretBox } from '@tracking/webhooks';
import { type ApiDependencies, FEATURES } from './http-features.ts';
import { fill, otherWorkspaceIds } from './shipment-store.ts';

/**
 * Serves lists of shipments whose read models are in the embedded document store or, if `MONGODB_URL` is set, in
 * MongoDB; everything else is embedded. First fills its event store with `COUNT` shipments. The file `key` in the data
 * folder contains the API key to use, `rows-seconds` the duration of building the read models.
 */
const { DATA_DIR = '', PORT, COUNT, MONGODB_URL } = process.env;
const [logger, metrics, clock] = [silentLogger, noMetrics, () => new Date()];
const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir: DATA_DIR, logger, metrics });
const { eventStore, documentStore, leases, quota } = engine;
const secret = randomBytes(32);
const identity = await IdentityServices.openIdentity({ documentStore, clock, logger, secret });
const workspace = await identity.workspaces.findWorkspaceByName('default');
const actor = { type: 'system', id: 'bench' } as const;
const command = { id: randomUUID(), at: clock().toISOString(), actor, workspace_id: String(workspace?.id) };
const account = await identity.serviceAccounts.createServiceAccount(command, { name: 'bench', role: 'operator' });
const owner = { type: 'service_account', id: account.after.id } as const;
const created = await identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, {
  name: 'bench',
  environment: 'live',
  owner,
});
await writeFile(join(DATA_DIR, 'key'), created.after.key);

await fill(eventStore, Number(COUNT), otherWorkspaceIds(String(workspace?.id)));
const rowStore = MONGODB_URL === undefined ? documentStore : mongo(MONGODB_URL);
const began = performance.now();
const readModels = await ReadModels.startReadModelsOfProcess({
  eventStore,
  documentStore: rowStore,
  leases,
  clock,
  logger,
  metrics,
});
await readModels.ready;
const head = await eventStore.head();
if (head !== undefined) await readModels.waitForAllReadModels(head, 3_600_000);
await writeFile(join(DATA_DIR, 'rows-seconds'), ((performance.now() - began) / 1_000).toFixed(1));

const settings = {
  ...{ appUrl: 'http://127.0.0.1', baseUrl: 'http://127.0.0.1', trustedProxies: [], cursorSecret: secret },
  rateLimitPerMinute: 1_000_000_000,
};
const responseCipher = (key: Uint8Array) => new SecretBox(key);
const idempotency = await IdempotencyClaims.openIdempotencyClaims({
  ...{ documentStore, leases, clock, logger, metrics, secret, takeOverAfterMs: 0, responseCipher },
});
const asked = {
  ...{ identity, idempotency, quota, readModels, clock, logger, metrics, settings },
  authenticateKey: (key: string) => identity.authenticateKey(key),
  head: () => eventStore.head(),
  places: await loadPlaces({}),
  health: () => ({ status: 'ready', engines: {}, httpStatus: 200 }),
};
/** A dependency that lists do not use: every call of every part returns the same. */
const unusedDependency: object = new Proxy(() => unusedDependency, {
  get: (_, name) => (name === 'then' ? undefined : unusedDependency),
  apply: () => unusedDependency,
});
const dependencies = new Proxy(asked, { get: (of, name) => (Reflect.get(of, name) as unknown) ?? unusedDependency });
const app = await createHttpApi(dependencies as unknown as ApiDependencies, FEATURES);
process.once('SIGTERM', () => process.exit(0));
await app.listen(Number(PORT), '127.0.0.1');

function mongo(url: string): MongoDocumentStore {
  return new MongoDocumentStore(new MongoConnection({ url, metrics }));
}
