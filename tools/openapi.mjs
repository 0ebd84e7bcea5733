// Writes the description of the API, as the code has it, where the client's types and the checks of CI read it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRoutes } from '../libs/http-api/dist/index.js';

const FILE = join(import.meta.dirname, '..', 'docs', 'openapi.json');

// Where a platform stands unless told otherwise.
await writeFile(FILE, `${JSON.stringify(await describeRoutes('http://localhost:3000'), null, 1)}\n`);
