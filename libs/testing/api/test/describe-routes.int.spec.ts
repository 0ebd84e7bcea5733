import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRoutes, MISSING_EXAMPLE } from '@tracking/http';
import { FEATURES } from './features.ts';

const FILE = join(import.meta.dirname, '../../../../docs/openapi.json');

it('the file matches the code; update it with `npm run openapi`', async () => {
  const described = await describeRoutes('http://localhost:3000', FEATURES);
  expect(await readFile(FILE, 'utf8')).toBe(`${JSON.stringify(described, null, 1)}\n`);
});

it('every field of an example has a value: of its schema, a sample or by its name', async () => {
  const text = JSON.stringify(await describeRoutes('http://localhost:3000', FEATURES));
  const untold = [...text.matchAll(new RegExp(`"(\\w+)":"${MISSING_EXAMPLE}"`, 'g'))].map(([, name]) => name);
  expect([...new Set(untold)]).toEqual([]);
});
