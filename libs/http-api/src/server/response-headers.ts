/** Kinds of routes whose answers have headers of their own. */
export type AnswerKind = 'api' | 'docs';

export type ResponseHeaders = Readonly<Record<AnswerKind, Readonly<Record<string, string>>>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which headers its answers have; those of `api`, unless told. */
    answers?: AnswerKind;
  }
}

/** Everything from here and nothing inline; `data:` for the icons inside Swagger UI's style sheet. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every answer, by the kind of its route. `no-store` because answers belong to one key; files that may be kept say so. */
export function responseHeaders(baseUrl: string): ResponseHeaders {
  const everywhere = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }),
  };
  return {
    api: everywhere,
    docs: { ...everywhere, 'Content-Security-Policy': DOCS_POLICY },
  };
}
