import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';

const DESCRIPTION = `Track freight shipments: create them, record what happens to them, and read where they are.

Every request carries \`Authorization: Bearer <API_KEY>\`. Lists are paged with \`limit\` and \`cursor\`. Errors have one form,
or are \`application/problem+json\` where \`Accept\` asks for it; their codes are explained at /docs/errors. A path that
exists, but not with the method asked for, is answered 404 with \`Allow\`.

Header of a request | Meaning
---|---
\`Prefer: handling=strict\` | Refuse unknown fields and wrong check digits.
\`Consistency-Token\` | Read nothing older than the write that answered with it.
\`traceparent\` | W3C trace context, kept with what the request writes; a trace is begun where there is none.

Header of an answer | Meaning
---|---
\`Request-Id\` | The request's id, as in the error body.
\`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` | Requests per minute, those left, and the epoch second when all are free again.
\`Consistency-Token\` | Of a write: its place, for reads by others that must see it.
\`Retry-After\` | Seconds, with 429 and 503.`;

/** The OpenAPI 3.1 description of the application's routes. */
export function describeApi(app: INestApplication, baseUrl: string): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Shipment Tracking API')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addServer(baseUrl)
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An API key: `sk_live_…` or `sk_test_…`.' })
    .build();
  return SwaggerModule.createDocument(app, config);
}
