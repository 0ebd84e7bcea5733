// Writes the API description that the code declares to the file that the client's types and the checks of CI read.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocumentsHttpModule } from '../libs/documents/http/dist/index.js';
import { describeRoutesInOpenApi } from '../libs/http/dist/index.js';
import { IdentityHttpModule } from '../libs/identity/http/dist/index.js';
import { EventsHttpModule, ShipmentsHttpModule } from '../libs/shipments/http/dist/index.js';
import { WebhooksHttpModule } from '../libs/webhooks/http/dist/index.js';

const FILE = join(import.meta.dirname, '..', 'docs', 'openapi.json');
const FEATURES = [ShipmentsHttpModule, DocumentsHttpModule, EventsHttpModule, WebhooksHttpModule, IdentityHttpModule];

// Base URL of a server with default settings.
const description = await describeRoutesInOpenApi('http://localhost:3000', FEATURES);
await writeFile(FILE, `${JSON.stringify(description, null, 1)}\n`);
