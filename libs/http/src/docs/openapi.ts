import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { SessionCookie } from '../authentication/authenticators.ts';
import {
  type Deprecations,
  describeRequiredAccess,
  ACCESS_BY_OPERATION,
  getPermissionOfAccess,
} from '../operations/operations.ts';
import type { ApiDocumentationContent } from './api-docs.ts';
import {
  type DescribedOperation,
  type OperationObject,
  listNestedObjects,
  listOpenApiOperations,
} from './described.ts';
import { ProblemResource } from './error.resource.ts';
import { addOpenApiExamples } from './examples.ts';
import {
  DOCUMENTED_RESPONSE_HEADERS,
  describeResponseHeaders,
  buildOpenApiHeaderParameters,
  declareCommaSeparatedQueryLists,
  moveParameterExampleToDescription,
  describeOperationRequestHeaders,
} from './headers.ts';
import { extractNamedEnums } from './named-enums.ts';
import { replaceErrorResponsesWithSharedReferences } from './refusals.ts';

interface OpenApiDescriptionOptions {
  readonly baseUrl: string;
  readonly docs: ApiDocumentationContent;
  readonly deprecations: Deprecations;
}

/** Returns the OpenAPI 3.1 description of the application's routes. */
export function describeApi(
  app: INestApplication,
  { baseUrl, docs, deprecations }: OpenApiDescriptionOptions,
): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(API_TITLE)
    .setDescription(API_DESCRIPTION)
    .setVersion('1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(baseUrl)
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'sk_live_… or sk_test_…',
      description: 'An API key: `sk_live_…` for live data, `sk_test_…` for test data.',
    })
    .addCookieAuth(
      new SessionCookie(baseUrl).name,
      { type: 'apiKey', in: 'cookie', description: SESSION_HEADERS_DESCRIPTION },
      'session',
    )
    .build();
  const created = SwaggerModule.createDocument(app, config, {
    extraModels: [ProblemResource, ...docs.models],
    autoTagControllers: false,
  });
  // Copy the document, because all descriptions share objects that belong to the decorators.
  const document = structuredClone(created);
  const { schemas, securitySchemes } = document.components ?? {};
  const parameters = buildOpenApiHeaderParameters() as NonNullable<OpenAPIObject['components']>['parameters'];
  document.components = {
    securitySchemes,
    schemas,
    parameters,
    headers: structuredClone(DOCUMENTED_RESPONSE_HEADERS),
  } as never;
  document.security = [{ bearer: [] }, { session: [] }];
  for (const describe of docs.describe) describe(document);
  const operations = listOpenApiOperations(document);
  for (const described of operations) {
    describePathParameters(described, docs);
    addSecurityToOperationDocs(described);
    declareCommaSeparatedQueryLists(described.operation);
    for (const parameter of described.operation.parameters ?? []) {
      if ('name' in parameter) moveParameterExampleToDescription(parameter);
    }
  }
  replaceErrorResponsesWithSharedReferences(document, docs);
  for (const described of operations) {
    describeOperationRequestHeaders(described);
    describeResponseHeaders(described, deprecations[described.id]);
  }
  addLinksToCreatedResources(operations);
  describeNullableMapsByAnyOf(document);
  removeEmptySchemaFormats(document);
  moveParametersToComponents(document, operations);
  extractNamedEnums(document);
  addOpenApiExamples(document, docs);
  removeUnusedDeprecationHeaders(document);
  const used = new Set(listOpenApiOperations(document).flatMap(({ operation }) => operation.tags ?? []));
  document.tags = Object.entries(TAG_DESCRIPTIONS).flatMap(([name, description]) =>
    used.has(name) || name === 'Webhooks' ? [{ name, description }] : [],
  );
  return document;
}

/**
 * Links the responses of operations that create a resource to the operation that reads it, so that tools can follow
 * them: the path of the reading operation has one more parameter, the id of the resource.
 */
function addLinksToCreatedResources(operations: readonly DescribedOperation[]): void {
  const reads = operations.filter(({ method }) => method === 'get');
  for (const { method, path, operation } of operations) {
    const read = reads.find(
      (one) => one.path.startsWith(`${path}/{`) && one.path.indexOf('}', path.length) === one.path.length - 1,
    );
    if (method !== 'post' || read === undefined) continue;
    const name = read.path.slice(path.length + 2, -1);
    const outer = [...path.matchAll(/\{(\w+)\}/g)].map(([, each = '']) => [each, `$request.path.${each}`]);
    const parameters = { ...Object.fromEntries(outer), [name]: '$response.body#/id' };
    for (const status of ['200', '201', '202']) {
      const response = operation.responses[status];
      if (response === undefined || '$ref' in response) continue;
      response.links = { [read.id]: { operationId: read.id, parameters } };
    }
  }
}

/** Drops empty formats. A request has one instead of the format of the response, which its fields inherit. */
function removeEmptySchemaFormats({ components }: OpenAPIObject): void {
  for (const schema of listNestedObjects(components?.schemas)) if (schema['format'] === '') delete schema['format'];
}

/** Describes maps that can be null by `anyOf`: some generators ignore the `null` in a list of types of a map. */
function describeNullableMapsByAnyOf({ components }: OpenAPIObject): void {
  for (const schema of listNestedObjects(components?.schemas)) {
    const { type, additionalProperties, maxProperties } = schema;
    if (!(Array.isArray(type) && type.includes('object') && type.includes('null'))) continue;
    const map = { type: 'object', additionalProperties, ...(maxProperties !== undefined && { maxProperties }) };
    for (const keyword of ['type', 'additionalProperties', 'maxProperties']) Reflect.deleteProperty(schema, keyword);
    Object.assign(schema, { anyOf: [map, { type: 'null' }] });
  }
}

/** Minimum number of operations with the same parameter for which the parameter becomes a component. */
const MIN_SHARED_PARAMETER_USES = 3;

/** Replaces equal query and header parameters of several operations with references to a component. */
function moveParametersToComponents(document: OpenAPIObject, operations: readonly DescribedOperation[]): void {
  const shared: Record<string, unknown> = { ...document.components?.parameters };
  const all = operations.flatMap(({ operation }) => operation.parameters ?? []);
  const uses = Map.groupBy(all, (parameter) => JSON.stringify(parameter));
  for (const { operation } of operations) {
    operation.parameters = (operation.parameters ?? []).map((parameter) => {
      const text = JSON.stringify(parameter);
      if (
        !('name' in parameter) ||
        parameter.in === 'path' ||
        (uses.get(text)?.length ?? 0) < MIN_SHARED_PARAMETER_USES
      )
        return parameter;
      const { name } = parameter;
      // Another form of the parameter may already have the name.
      if (JSON.stringify((shared[name] ??= parameter)) !== text) return parameter;
      return { $ref: `#/components/parameters/${name}` };
    });
  }
  document.components = { ...document.components, parameters: shared as never };
}

/** Removes the deprecation headers if no operation is deprecated. */
function removeUnusedDeprecationHeaders({ paths, components }: OpenAPIObject): void {
  const used = JSON.stringify([paths, components?.responses]);
  for (const name of Object.keys(components?.headers ?? {})) {
    if (!used.includes(`#/components/headers/${name}"`)) delete components?.headers?.[name];
  }
}

const SESSION_HEADERS_DESCRIPTION =
  'Session cookie, used by the web application. A write needs the header `X-Requested-With` with any value. The header `Environment` selects `live` or `test` data.';

/** Describes the credentials and the permission that an operation needs. */
export function addSecurityToOperationDocs({ id, operation }: DescribedOperation): void {
  const access = ACCESS_BY_OPERATION[id];
  const { description = '' } = operation;
  operation.description = `${description}${description === '' ? '' : '\n\n'}${describeRequiredAccess(access)}`;
  if (access === 'open') {
    operation.security = [];
    return;
  }
  const permission = getPermissionOfAccess(access);
  // The document's own security applies.
  delete operation.security;
  if (permission !== undefined) Object.assign(operation, { 'x-permission': permission });
}

/** Adds a description and an example to each path parameter that has none. */
function describePathParameters(
  { id, path, operation }: DescribedOperation,
  { resources, pathParameters }: ApiDocumentationContent,
): void {
  const resource = resources[path.split('/')[2] ?? ''];
  for (const parameter of selectPathParameters(operation)) {
    const known =
      parameter.name === 'id' && resource
        ? [`Id of the ${resource[0]}, \`${resource[1].slice(0, 4)}…\`.`, resource[1]]
        : pathParameters[parameter.name];
    if (!known) throw new Error(`Operation ${id}: the path parameter {${parameter.name}} has no description.`);
    parameter.description ??= known[0] ?? '';
    // Handlers that read all path parameters into one object declare no types.
    if (Object.keys(parameter.schema ?? {}).length === 0) parameter.schema = { type: 'string' };
    parameter.example ??= known[1];
  }
}

function selectPathParameters({ parameters = [] }: OperationObject) {
  return parameters.flatMap((parameter) => ('in' in parameter && parameter.in === 'path' ? [parameter] : []));
}

export const API_TITLE = 'Shipment Tracking API';
const API_DESCRIPTION = `Track freight shipments: create them, record their milestones, and query their current state.\n\nEvery request needs \`Authorization: Bearer <API_KEY>\` or a session cookie. Writes with a session need\n\`X-Requested-With\`. Requests with a session may select the environment with \`Environment\`. Lists are paged with \`limit\` and \`cursor\`. All errors have the\nsame form, or are \`application/problem+json\` if \`Accept\` asks for it; the codes are explained at /docs/errors.\n\nUnknown query parameters are refused. Unknown fields of a body are ignored and listed in \`warnings\`, which every\nresponse to a write has. Enumeration values may be written in any case. A path that exists, but not with the request's\nmethod, returns 405 with \`Allow\`.\n\nRequest header | Meaning\n---|---\n\`Idempotency-Key\` | For POST: a repeat with the same key within 24 hours takes effect once and gets the same response.\n\`Prefer: handling=strict\` | Refuse unknown body fields and wrong check digits, instead of warning.\n\`Consistency-Token\` | Return a result at least as recent as the write whose response had this token.\n\`If-Match\` | For writes: carry out the write only if the resource still has one of these ETags; otherwise 412.\n\`If-None-Match\` | For reads: 304 if the resource still has one of these ETags.\n\`traceparent\` | W3C trace context, stored with the events of the request. Without it, the API starts a new trace.\n\nResponse header | Meaning\n---|---\n\`Request-Id\` | Id of the request, as in the error body.\n\`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` | Requests allowed per minute, requests left, and the time at which the full quota is available again, in seconds since the Unix epoch.\n\`Consistency-Token\` | For writes: position of the write, for reads that must see it.\n\`ETag\` | Version of a single resource. It changes with every change.\n\`Idempotency-Replayed\` | \`true\` if this is the stored response to an earlier request with the same key.\n\`Retry-After\` | Seconds to wait, with 429, 503 and 507, and with 409 while the first request with the same key is in progress.\n\`Deprecation\`, \`Sunset\`, \`Link\` | For operations that will be removed: time of deprecation, time of removal, and documentation of the replacement.`;

/** Tags of operations, in the order of the documentation page. */
export const TAG_DESCRIPTIONS: Readonly<Record<string, string>> = {
  Shipments: 'Freight shipments with their containers and legs, and explanations of their state.',
  Milestones: 'Recorded, planned and expected events of a shipment.',
  Exceptions: 'Problems of a shipment, detected by rules or reported by people.',
  Documents: 'Documents of a shipment, with their files.',
  Places: 'Ports and airports by name.',
  Events: 'Events of a workspace, as a list or as a live stream.',
  'Webhook endpoints': 'URLs that receive events.',
  'Webhook deliveries': 'One delivery for each event and endpoint, with all attempts.',
  'Webhook dead letters': 'Deliveries that failed permanently: count, deliver again or discard them in bulk.',
  'Webhook replays': 'Jobs that deliver past events again: failed events, or events that were never recorded.',
  Webhooks: 'Requests that the service sends to webhook endpoints.',
  'API keys': 'Keys of users and of service accounts.',
  'Service accounts': 'Accounts for other systems, each with a role.',
  Users: 'Users and their roles.',
  'One-time links': 'Invitations, and links for setting a password.',
  Session: 'Sign-in for the web application.',
  'Audit log': 'Changes to keys, users, endpoints and settings, with their actors.',
  Settings: 'Rules for exceptions, and required documents of a shipment.',
  Health: 'Health checks for orchestrators.',
};
