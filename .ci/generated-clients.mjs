// Checks that clients generated from the description compile and have precise types: two generators, each with a file
// of uses that compiles only with precise types.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypescript, { astToString } from 'openapi-typescript';

const root = join(import.meta.dirname, '..');
const description = join(root, 'docs/openapi.json');
const made = join(root, 'node_modules/.cache/generated-clients');

await rm(made, { recursive: true, force: true });
await mkdir(made, { recursive: true });
await cp(join(import.meta.dirname, 'generated-clients'), made, { recursive: true });
const types = await openapiTypescript(new URL(`file://${description}`), { silent: true });
await writeFile(join(made, 'openapi-typescript.ts'), astToString(types));
await createClient({ input: description, output: join(made, 'hey-api'), logs: { level: 'silent' } });
execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', made], {
  stdio: 'inherit',
});
