import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { findFreePort } from './machine.ts';

const appsDir = fileURLToPath(new URL('../../../apps', import.meta.url));

/** Returns settings of all services with engines that do not exist. @param port port on which nothing listens */
export const createAbsentEngineSettings = (port: number) => ({
  EVENTSTOREDB_URL: `esdb://127.0.0.1:${port}?tls=false`,
  KAFKA_BROKERS: `127.0.0.1:${port}`,
  MONGODB_URL: `mongodb://127.0.0.1:${port}/?replicaSet=rs0`,
  SHIPMENTS_URL: `127.0.0.1:${port}`,
  WEBHOOKS_URL: `127.0.0.1:${port}`,
  SERVICES_TOKEN: 't'.repeat(32),
  ADMINISTRATION_TOKEN: 't'.repeat(32),
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
});

/**
 * Starts the built service, which must exit on its own, without engines.
 * @param env settings that replace those of absent engines
 */
export async function spawnServiceAndAwaitExit(
  app: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly errors: string }> {
  const [nobody, port, managementPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const child = spawn(process.execPath, [`${appsDir}/${app}/dist/main.js`], {
    env: { ...createAbsentEngineSettings(nobody), PORT: String(port), MANAGEMENT_PORT: String(managementPort), ...env },
  });
  child.stdout.resume();
  try {
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { code: code as number | null, errors };
  } finally {
    child.kill('SIGKILL');
  }
}
