import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { SessionCookie } from '../authentication/authenticators.ts';
import { type Deprecations, describeAccess, OPERATIONS, permissionOf } from '../operations/operations.ts';
import type { ApiDocs } from './api-docs.ts';
import { type Described, type OperationObject, operationsOf } from './described.ts';
import { ProblemResource } from './error.resource.ts';
import { addExamples } from './examples.ts';
import { RESPONSE_HEADERS, addResponseHeaders, headerParameters, separateLists, addRequestHeaders } from './headers.ts';
import { nameEnums } from './named-enums.ts';
import { describeRefusals } from './refusals.ts';

interface DescribeOptions {
  readonly baseUrl: string;
  readonly docs: ApiDocs;
  readonly deprecations: Deprecations;
}

/** Returns the OpenAPI 3.1 description of the application's routes. */
export function describeApi(app: INestApplication, { baseUrl, docs, deprecations }: DescribeOptions): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(API_TITLE)
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(baseUrl)
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'sk_live_… or sk_test_…',
      description: 'An API key: `sk_live_…` of live data, `sk_test_…` of test data.',
    })
    .addCookieAuth(
      new SessionCookie(baseUrl).name,
      { type: 'apiKey', in: 'cookie', description: SESSION_HEADERS },
      'session',
    )
    .build();
  const created = SwaggerModule.createDocument(app, config, {
    extraModels: [ProblemResource, ...docs.models],
    autoTagControllers: false,
  });
  // Parts of it belong to the decorators and are shared by all descriptions.
  const document = structuredClone(created);
  const { schemas, securitySchemes } = document.components ?? {};
  const parameters = headerParameters() as NonNullable<OpenAPIObject['components']>['parameters'];
  document.components = { securitySchemes, schemas, parameters, headers: structuredClone(RESPONSE_HEADERS) } as never;
  for (const describe of docs.describe) describe(document);
  for (const described of operationsOf(document)) {
    describePathParameters(described, docs);
    secure(described);
    separateLists(described.operation);
    describeRefusals(described, docs);
    addRequestHeaders(described);
    addResponseHeaders(described, deprecations[described.id]);
  }
  nameEnums(document);
  addExamples(document, docs);
  dropUnusedHeaders(document);
  const used = new Set(operationsOf(document).flatMap(({ operation }) => operation.tags ?? []));
  document.tags = Object.entries(TAGS).flatMap(([name, description]) =>
    used.has(name) || name === 'Webhooks' ? [{ name, description }] : [],
  );
  return document;
}

/** Removes the headers of deprecations if nothing is deprecated. */
function dropUnusedHeaders({ paths, components }: OpenAPIObject): void {
  const used = JSON.stringify(paths);
  for (const name of Object.keys(components?.headers ?? {})) {
    if (!used.includes(`#/components/headers/${name}"`)) delete components?.headers?.[name];
  }
}

const SESSION_HEADERS =
  'The cookie of a session, for pages of our own. A write needs the header `X-Requested-With`, with any value; the header `Environment`, `live` or `test`, says whose data it is about.';

/** Adds the credentials and the permission that the operation needs. */
export function secure({ id, operation }: Described): void {
  const access = OPERATIONS[id];
  const { description = '' } = operation;
  operation.description = `${description}${description === '' ? '' : '\n\n'}${describeAccess(access)}`;
  if (access === 'open') {
    operation.security = [];
    return;
  }
  const permission = permissionOf(access);
  const roles = permission === undefined || access !== permission ? [] : [permission];
  operation.security = [{ bearer: roles }, { session: roles }];
  if (permission !== undefined) Object.assign(operation, { 'x-permission': permission });
}

/** Adds description and example to path parameters, unless the operation has its own. */
function describePathParameters({ id, path, operation }: Described, { resources, pathParameters }: ApiDocs): void {
  const collection = path.split('/')[2] ?? '';
  for (const parameter of ofPath(operation)) {
    const [noun, example] = resources[collection] ?? [];
    const known =
      parameter.name === 'id' && noun
        ? [`Id of the ${noun}, \`${example?.slice(0, 4)}…\`.`, example]
        : pathParameters[parameter.name];
    if (!known) throw new Error(`${id}: nothing is known of {${parameter.name}}`);
    parameter.description ??= known[0] ?? '';
    parameter.example ??= known[1];
  }
}

function ofPath({ parameters = [] }: OperationObject) {
  return parameters.flatMap((parameter) => ('in' in parameter && parameter.in === 'path' ? [parameter] : []));
}

export const API_TITLE = 'Shipment Tracking API';
const DESCRIPTION = `Track freight shipments: create them, record what happens to them, and read where they are.

Every request carries \`Authorization: Bearer <API_KEY>\`, or the cookie of a session; a session’s writes need
\`X-Requested-With\`, and its requests may name the environment in \`Environment\`. Lists are paged with \`limit\` and \`cursor\`. Errors have one form,
or are \`application/problem+json\` where \`Accept\` asks for it; their codes are explained at /docs/errors.

Names of query parameters that an operation does not have are refused. Unknown fields of a body are ignored and named in
the answer's \`warnings\`, which every write has. Values of enumerations may be written in any case. A path that exists, but
not with the method asked for, is answered 405 with \`Allow\`.

Header of a request | Meaning
---|---
\`Idempotency-Key\` | Of a POST: sent again under the same key, it is carried out once and answered the same, for 24 hours.
\`Prefer: handling=strict\` | Refuse unknown fields of a body and wrong check digits, instead of warning.
\`Consistency-Token\` | Read nothing older than the write that answered with it.
\`If-Match\` | Of a write: carry it out only if the resource still has one of these ETags; else 412.
\`If-None-Match\` | Of a read: 304 if the resource still has one of these ETags.
\`traceparent\` | W3C trace context, kept with what the request writes; a trace is begun where there is none.

Header of an answer | Meaning
---|---
\`Request-Id\` | The request's id, as in the error body.
\`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` | Requests per minute, those left, and the epoch second when all are free again.
\`Consistency-Token\` | Of a write: its place, for reads by others, or through others, that must see it.
\`ETag\` | Of one resource: its version. It changes with every change.
\`Idempotency-Replayed\` | \`true\` on the answer to a request that was answered before.
\`Retry-After\` | Seconds, with 429 and 503, and where the first request under a key is under way.
\`Deprecation\`, \`Sunset\`, \`Link\` | Of an operation that goes: since when, when it ends, and where to read what to use instead.`;

/** Topics of operations, in their order on the page. */
export const TAGS: Readonly<Record<string, string>> = {
  Shipments: 'Freight shipments with their containers and legs, and why they are what they are.',
  Milestones: 'What happened to a shipment, or is expected to.',
  Exceptions: 'What is wrong with a shipment, found by rules or told by people.',
  Documents: 'The papers of a shipment, with their bytes.',
  Places: 'Ports and airports by their names.',
  Events: 'What clients are told, to read afterwards or to follow.',
  'Webhook endpoints': 'Where events are posted to.',
  'Webhook deliveries': 'Every event for every endpoint, with each attempt.',
  'Webhook dead letters': 'What failed for good: counted, delivered again or given up, many at once.',
  'Webhook replays': 'Sending again what failed or was missed.',
  Webhooks: 'What is posted to endpoints.',
  'API keys': 'Keys of people and of service accounts.',
  'Service accounts': 'Other systems, with a role of their own.',
  Users: 'People and what they may do.',
  'One-time links': 'Invitations, and links by which a password is set.',
  Session: 'Signing in, for pages of our own.',
  'Audit log': 'Who changed keys, users, endpoints and settings.',
  Settings: 'How exceptions open, and which documents a shipment needs.',
  Health: 'For orchestrators.',
};
