import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { POSTMAN_COLLECTION, postmanCollection } from '../postman.mjs';

it('the Postman collection matches the description; update it with `npm run openapi`', async () => {
  const file = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
  const collection = postmanCollection(JSON.parse(await readFile(file, 'utf8')));
  expect(await readFile(POSTMAN_COLLECTION, 'utf8')).toBe(`${JSON.stringify(collection, null, 1)}\n`);
});
