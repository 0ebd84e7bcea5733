import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { EmbeddedSqliteEngine } from '@tracking/embedded';
import { createHttpApi, IdempotencyClaims } from '@tracking/http';
import { ACCESS_TO_ALL_KEYS, IdentityServices } from '@tracking/identity';
import { noMetrics, silentLogger } from '@tracking/testing';
import { SecretBox } from '@tracking/webhooks';
import { type ApiDependencies, FEATURES } from './http-features.ts';

/**
 * The edge alone, over an empty list: the cost of a request before its work. `WITHOUT` names the parts of
 * `authentication` and `limit` to omit. The file `key` in the data folder contains the API key to use. SIGUSR2 writes
 * the event loop's delay since the last SIGUSR2, in milliseconds, to the file `event-loop-delay`.
 */
const { DATA_DIR = '', PORT, WITHOUT = '' } = process.env;
const [logger, metrics, clock] = [silentLogger, noMetrics, () => new Date()];
const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir: DATA_DIR, logger, metrics });
const { documentStore, leases, quota } = engine;
const secret = randomBytes(32);
const identity = await IdentityServices.openIdentity({ documentStore, clock, logger, secret });
const responseCipher = (key: Uint8Array) => new SecretBox(key);
const storage = { documentStore, leases, clock, logger, metrics };
const idempotency = await IdempotencyClaims.openIdempotencyClaims({
  ...storage,
  secret,
  takeOverAfterMs: 0,
  responseCipher,
});

const workspace = await identity.workspaces.findWorkspaceByName('default');
const actor = { type: 'system', id: 'bench' } as const;
const command = { id: 'bench', at: clock().toISOString(), actor, workspace_id: String(workspace?.id) };
const account = await identity.serviceAccounts.createServiceAccount(command, { name: 'bench', role: 'admin' });
const owner = { type: 'service_account', id: account.after.id } as const;
const created = await identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, {
  name: 'bench',
  environment: 'live',
  owner,
});
const { key } = created.after;
await writeFile(join(DATA_DIR, 'key'), key);
const person = { email: 'bench@example.com', role: 'admin', password: 'violet harbour crane' } as const;
await identity.users.createUser({ ...command, id: 'bench user' }, person);

const principal = await identity.authenticateKey(key);
const parts = {
  authenticateKey: WITHOUT.includes('authentication')
    ? () => Promise.resolve(principal)
    : (sent: string) => identity.authenticateKey(sent),
  quota: WITHOUT.includes('limit')
    ? {
        takeQuotaForRequest: (_: string, limit: number) =>
          Promise.resolve({ admitted: true, limit, remaining: limit, resetAt: 0, retryAfter: 0 }),
      }
    : quota,
};
const asked = {
  ...parts,
  ...{ identity, idempotency, clock, logger, metrics },
  webhooks: { endpoints: { list: () => Promise.resolve({ items: [], next: null }) } },
  health: () => ({ status: 'ready', engines: {}, httpStatus: 200 }),
  settings: {
    ...{ appUrl: 'http://127.0.0.1', baseUrl: 'http://127.0.0.1', trustedProxies: [], cursorSecret: secret },
    rateLimitPerMinute: 1_000_000_000,
  },
};
/** A dependency that the route does not use: every call of every part returns the same. */
const unusedDependency: object = new Proxy(() => unusedDependency, {
  get: (_, name) => (name === 'then' ? undefined : unusedDependency),
  apply: () => unusedDependency,
});
const dependencies = new Proxy(asked, { get: (of, name) => (Reflect.get(of, name) as unknown) ?? unusedDependency });
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('SIGUSR2', () => {
  // The histogram counts the whole interval, of which one millisecond was requested.
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - 1);
  const figures = { p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max) };
  delay.reset();
  const file = join(DATA_DIR, 'event-loop-delay');
  void writeFile(`${file}.draft`, JSON.stringify(figures)).then(() => rename(`${file}.draft`, file));
});
const app = await createHttpApi(dependencies as unknown as ApiDependencies, FEATURES);
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
await app.listen(Number(PORT), '127.0.0.1');
