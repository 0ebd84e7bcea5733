import { readFile } from 'node:fs/promises';
import { IdempotencyClaims } from '@tracking/http';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import { Shutdown } from '@tracking/runtime';
import { eventually, silentLogger as logger, createTempFolder, type TempFolder } from '@tracking/testing';
import { SecretBox } from '@tracking/webhooks';
import { loadConfig } from '../src/config.ts';
import { openFeatureEngines, startStandaloneFeatures } from '../src/features.ts';

const PAGE = new URL('../../../docs/reference/running.md', import.meta.url);
const ADDRESSES = { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' };

/** Collections of standalone in the reference. */
async function listed(): Promise<readonly string[]> {
  const section = (await readFile(PAGE, 'utf8')).split('### Collections')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name);
}

/** Names of all collections whose indexes the set-up of the services builds. */
async function readNamesInSetup(): Promise<readonly string[]> {
  const text = await readFile(new URL('../../setup/index-versions.json', import.meta.url), 'utf8');
  return Object.keys(JSON.parse(text) as object);
}

const withoutGeneration = (name: string) => name.replace(/\.g\d+$/, '.g*');

describe('collections of standalone', () => {
  const shutdown = new Shutdown(logger, 20_000);
  const opened = new Map<string, CollectionSpec>();
  let folder: TempFolder;
  let documentStore: DocumentStore;
  beforeAll(async () => {
    folder = await createTempFolder();
    const config = loadConfig({ DATA_DIR: folder.path });
    const engines = await openFeatureEngines(config, logger, shutdown, 'server');
    ({ documentStore } = engines.storage);
    const open = documentStore.collection.bind(documentStore);
    documentStore.collection = (spec) => {
      opened.set(withoutGeneration(spec.name), spec);
      return open(spec);
    };
    const { readModels } = await startStandaloneFeatures(engines, { ...config, addresses: ADDRESSES }, shutdown, false);
    const { clock, metrics, secrets } = engines;
    const claiming = { ...engines.storage, clock, logger, metrics, secret: secrets.secretsKey, takeOverAfterMs: 0 };
    const responseCipher = (key: Uint8Array) => new SecretBox(key);
    const claims = await IdempotencyClaims.openIdempotencyClaims({ ...claiming, responseCipher });
    shutdown.addShutdownStep('idempotency keys', () => claims.stopClaimSweeper());
    await readModels.ready;
  });
  afterAll(async () => {
    await shutdown.runShutdownSteps();
    await folder.remove();
  });

  it('are in the reference, with the time when their documents are removed', async () => {
    // Some collections are created when they are first needed.
    await eventually(async () => {
      const names = await documentStore.listCollectionNames('');
      expect(names.map(withoutGeneration).sort()).toEqual(await listed());
    });
  });

  it('that have indexes are known to the set-up of the services', async () => {
    const onlyInMongo = ['quota'];
    await eventually(async () => {
      const indexed = [...opened].flatMap(([name, { indexes }]) => (indexes.length === 0 ? [] : name));
      expect([...indexed, ...onlyInMongo].sort()).toEqual(await readNamesInSetup());
    });
  });
});
