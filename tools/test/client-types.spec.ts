import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { clientTypes } from '../client-types.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('the generated client matches the description', async () => {
  const description = JSON.parse(await readFile(`${root}docs/openapi.json`, 'utf8'));
  for (const [name, text] of Object.entries(await clientTypes(description))) {
    const kept = await readFile(`${root}libs/client/src/generated/${name}`, 'utf8');
    // If this fails, run `npm run client-types`.
    expect({ name, upToDate: kept === text }).toEqual({ name, upToDate: true });
  }
});
