import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { startDatabaseAndBrokerProcesses, type TestEngineAddressesAndProcesses } from '@tracking/system';
import {
  ManagedProcess,
  eventually,
  findFreePort,
  createTempFolder,
  type TempFolder,
  replaceDatabaseInMongoUrl,
} from '@tracking/testing';
import axios from 'axios';
import { MongoClient } from 'mongodb';
import { createExternalMongoServerOptions, TEST_ENGINES_DIR, NO_ENGINES_REASON, REPOSITORY_ROOT } from './subject.ts';

jest.setTimeout(120_000);

type Service = 'gateway' | 'webhooks';
/** Address without a server. The secrets key is checked before this address is used. */
const UNREACHABLE_ADDRESS = '127.0.0.1:1';

interface Started {
  readonly process: ManagedProcess;
  readonly managementUrl: string;
  readonly said: () => Promise<string>;
}

function tests() {
  let folder: TempFolder;
  let engines: TestEngineAddressesAndProcesses;
  let mongo: MongoClient;
  let started: Started[] = [];
  let count = 0;

  beforeAll(async () => {
    folder = await createTempFolder();
    const elsewhere = { eventStoreDbUrl: `esdb://${UNREACHABLE_ADDRESS}?tls=false`, kafkaBrokers: UNREACHABLE_ADDRESS };
    engines = await startDatabaseAndBrokerProcesses({
      folder: folder.path,
      enginesDir: TEST_ENGINES_DIR,
      ...elsewhere,
      ...createExternalMongoServerOptions(),
    });
    mongo = await new MongoClient(engines.mongoUrl).connect();
  });
  afterEach(async () => {
    await Promise.all(started.map(({ process: one }) => one.killProcess()));
    started = [];
  });
  afterAll(async () => {
    await mongo.close();
    await engines.mongo?.killProcess();
    await folder.remove();
  });

  const start = async (service: Service, database: string, key: Buffer, more = {}): Promise<Started> => {
    const managementPort = await findFreePort();
    const logFile = join(folder.path, `${service}-${(count += 1)}.log`);
    const one = new ManagedProcess({
      name: service,
      command: process.execPath,
      args: [join(REPOSITORY_ROOT, `apps/${service}/dist/main.js`)],
      env: {
        PORT: '0',
        MANAGEMENT_PORT: String(managementPort),
        MONGODB_URL: replaceDatabaseInMongoUrl(engines.mongoUrl, database),
        KAFKA_BROKERS: UNREACHABLE_ADDRESS,
        SHIPMENTS_URL: UNREACHABLE_ADDRESS,
        WEBHOOKS_URL: UNREACHABLE_ADDRESS,
        SERVICES_TOKEN: randomBytes(32).toString('hex'),
        ADMINISTRATION_TOKEN: randomBytes(32).toString('hex'),
        SECRETS_KEY: key.toString('base64'),
        ...more,
      },
      // A process counts as started once it is refused or waits for the other engines.
      ready: /"msg":"ready"/,
      logFile,
    });
    const managementUrl = `http://127.0.0.1:${managementPort}`;
    const entry = { process: one, managementUrl, said: () => readFile(logFile, 'utf8') };
    started.push(entry);
    void one.startProcess().catch(() => undefined);
    return entry;
  };
  const isRefused = async ({ said }: Started) => (await said()).includes('SECRETS_KEY');
  const isLive = ({ managementUrl }: Started) =>
    axios.get(`${managementUrl}/health/live`, { proxy: false }).then(
      () => true,
      () => false,
    );
  /** Waits until the database uses a key other than `lost`. Returns the key's id. */
  const keyInUse = (database: string, lost = '') =>
    eventually(
      async () => {
        const stored = await mongo.db(database).collection<{ key_id: string }>('webhook_secrets_key').findOne();
        expect(stored?.key_id).toMatch(/^[0-9a-f]{8}$/);
        expect(stored?.key_id).not.toBe(lost);
        return stored?.key_id ?? '';
      },
      { deadlineMs: 60_000 },
    );
  const refusal = async (one: Started): Promise<string> => {
    await eventually(async () => expect(await isRefused(one)).toBe(true), { deadlineMs: 60_000 });
    await one.process.waitForExit();
    const lines = (await one.said()).split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(lines).toHaveLength(1);
    return lines[0] ?? '';
  };

  it.each([
    ['gateway', 'webhooks'],
    ['webhooks', 'webhooks'],
    ['gateway', 'gateway'],
  ] as const)('one of a %s and a %s with different keys continues, and the other is refused', async (a, b) => {
    const keys = [randomBytes(32), randomBytes(32)];
    const database = `race-${a}-${b}`;
    const both = await Promise.all([a, b].map((service, index) => start(service, database, keys[index] as Buffer)));
    await eventually(async () => expect((await Promise.all(both.map(isRefused))).filter(Boolean)).toHaveLength(1), {
      deadlineMs: 60_000,
    });
    const refused = await Promise.all(both.map(isRefused));
    const [winner, loser] = refused[0] ? [both[1], both[0]] : [both[0], both[1]];
    const line = await refusal(loser as Started);
    expect(line).toMatch(/^SECRETS_KEY holds a different key, .*restore that key.*SECRETS_KEY_LOST=[0-9a-f]{8},/);
    for (const key of keys) expect(line).not.toContain(key.toString('base64'));
    expect(await isLive(winner as Started)).toBe(true);
  });

  it.each(['gateway', 'webhooks'] as const)(
    'a %s with a different key is refused until the old key is declared lost',
    async (service) => {
      const [key, other] = [randomBytes(32), randomBytes(32)];
      const database = `later-${service}`;
      const first = await start(service, database, key);
      const id = await keyInUse(database);
      await first.process.killProcess();
      expect(await refusal(await start(service, database, other))).toContain(`SECRETS_KEY_LOST=${id},`);
      const next = await start(service, database, other, { SECRETS_KEY_LOST: id });
      await keyInUse(database, id);
      expect(await isLive(next)).toBe(true);
      expect(await refusal(await start(service, database, key))).toContain('holds a different key');
    },
  );
}

if (NO_ENGINES_REASON === undefined) describe('services that share secrets', tests);
else test.todo(`services that share secrets [not tested: ${NO_ENGINES_REASON}]`);
