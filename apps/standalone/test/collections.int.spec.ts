import { readFile } from 'node:fs/promises';
import { IdempotencyClaims } from '@tracking/http';
import { Shutdown } from '@tracking/runtime';
import { eventually, silentLogger as logger, createTempFolder } from '@tracking/testing';
import { SecretBox } from '@tracking/webhooks';
import { loadConfig } from '../src/config.ts';
import { openEngines, startFeatures } from '../src/features.ts';

const PAGE = new URL('../../../docs/reference/running.md', import.meta.url);
const ADDRESSES = { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' };

/** Collections of standalone in the reference. */
async function listed(): Promise<readonly string[]> {
  const section = (await readFile(PAGE, 'utf8')).split('### Collections')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name);
}

it('the reference lists for every collection of standalone when documents are removed', async () => {
  const folder = await createTempFolder();
  const shutdown = new Shutdown(logger, 20_000);
  try {
    const config = loadConfig({ DATA_DIR: folder.path });
    const engines = await openEngines(config, logger, shutdown, 'server');
    const { documentStore } = engines.storage;
    const { readModels } = await startFeatures(engines, { ...config, addresses: ADDRESSES }, shutdown, false);
    const { clock, metrics, secrets } = engines;
    const claiming = { ...engines.storage, clock, logger, metrics, secret: secrets.secretsKey, takeOverAfterMs: 0 };
    const responseCipher = (key: Uint8Array) => new SecretBox(key);
    const claims = await IdempotencyClaims.open({ ...claiming, responseCipher });
    shutdown.add('idempotency keys', () => claims.close());
    await readModels.ready;
    // Some collections are created when they are first needed.
    await eventually(async () => {
      const names = await documentStore.collectionNames('');
      expect(names.map((name) => name.replace(/\.g\d+$/, '.g*')).sort()).toEqual(await listed());
    });
  } finally {
    await shutdown.run();
    await folder.remove();
  }
});
