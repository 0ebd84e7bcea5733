import { readFile } from 'node:fs/promises';
import * as published from '@tracking/client';
import { startApi, type Api } from './start-api.ts';

const README = new URL('../../../client/README.md', import.meta.url);

describe('the ten lines of the client’s README', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());

  it('prints the documented output, also when it runs again', async () => {
    const text = await readFile(README, 'utf8');
    const [code = '', printed = ''] = ['js', 'text'].map(
      (language) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(text)?.[1],
    );
    expect(code.trim().split('\n')).toHaveLength(10);
    // The code of the README is executed with another address and import, because the test cannot create modules from
    // text.
    const run = code
      .replace("import { TrackingClient } from '@tracking/client';", 'const { TrackingClient } = published;')
      .replace('http://127.0.0.1:3000', api.url);
    const AsyncFunction = (async () => undefined).constructor as new (
      ...source: string[]
    ) => (...values: unknown[]) => Promise<void>;
    const process = { env: { API_KEY: await api.key('admin', 'test') } };
    for (let round = 0; round < 2; round += 1) {
      const lines: string[] = [];
      const console = { log: (line: string) => lines.push(line) };
      await new AsyncFunction('published', 'process', 'console', run)(published, process, console);
      expect(lines).toEqual(printed.trim().split('\n'));
    }
  });
});
