import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import { SessionCookie } from '../authentication/session-cookie.ts';
import type { Deprecations } from '../operations/deprecations.ts';
import type { ApiDocs } from './api-docs.ts';
import { ANSWER_HEADERS, giveHeaders } from './answer-headers.ts';
import { API_TITLE, DESCRIPTION, TAGS } from './api-text.ts';
import { operationsOf } from './described.ts';
import { describePathParameters } from './path-parameters.ts';
import { giveExamples } from './examples.ts';
import { nameEnums } from './named-enums.ts';
import { ProblemResource } from './problem.resource.ts';
import { describeRefusals } from './refusals.ts';
import { headerParameters, separateLists, takeHeaders } from './request-headers.ts';
import { secure } from './security.ts';

export interface DescribeOptions {
  readonly baseUrl: string;
  readonly docs: ApiDocs;
  readonly deprecations: Deprecations;
}

/** The OpenAPI 3.1 description of the application's routes. */
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
      { type: 'apiKey', in: 'cookie', description: OF_SESSIONS },
      'session',
    )
    .build();
  const created = SwaggerModule.createDocument(app, config, {
    extraModels: [ProblemResource, ...docs.models],
  });
  // Parts of it are those of the decorators, for every description that is made.
  const document = structuredClone(created);
  const { schemas, securitySchemes } = document.components ?? {};
  const parameters = headerParameters() as NonNullable<OpenAPIObject['components']>['parameters'];
  document.components = { securitySchemes, schemas, parameters, headers: structuredClone(ANSWER_HEADERS) } as never;
  for (const describe of docs.describe) describe(document);
  for (const described of operationsOf(document)) {
    describePathParameters(described, docs);
    secure(described);
    separateLists(described.operation);
    describeRefusals(described, docs);
    takeHeaders(described);
    giveHeaders(described, deprecations[described.id]);
  }
  nameEnums(document);
  giveExamples(document, docs);
  dropUnusedHeaders(document);
  const used = new Set(operationsOf(document).flatMap(({ operation }) => operation.tags ?? []));
  document.tags = Object.entries(TAGS).flatMap(([name, description]) =>
    used.has(name) || name === 'Webhooks' ? [{ name, description }] : [],
  );
  return document;
}

/** Those of deprecations, where nothing goes. */
function dropUnusedHeaders({ paths, components }: OpenAPIObject): void {
  const used = JSON.stringify(paths);
  for (const name of Object.keys(components?.headers ?? {})) {
    if (!used.includes(`#/components/headers/${name}"`)) delete components?.headers?.[name];
  }
}

const OF_SESSIONS =
  'The cookie of a session, for pages of our own. A write needs the header `X-Requested-With`, with any value; the header `Environment`, `live` or `test`, says whose data it is about.';
