/** Kinds of routes whose answers have headers of their own. */
type AnswerKind = 'api' | 'docs' | 'page';

export type Headers = Readonly<Record<string, string>>;
type ResponseHeaders = Readonly<Record<AnswerKind, Headers>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which headers its answers have; those of `api`, unless told. */
    answers?: AnswerKind;
  }
}

/**
 * What a page may load and do: everything from here, nothing inline. `blob:` for pictures that the page read itself: those of
 * documents are answered for saving alone, and to requests that name their environment, which no address in a page does.
 */
const PAGE = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
};
/** `data:` for the icons inside Swagger UI's style sheet. */
const DOCS = { ...PAGE, 'img-src': "'self' data:", 'form-action': "'none'" };
/** An answer that no browser has to show: where one does all the same, nothing in it is loaded or run. */
const NO_PAGE = { 'default-src': "'none'", 'frame-ancestors': "'none'" };

/**
 * The headers of every answer, by the kind of its route; what has no route, errors too, is of the kind `api`. `no-store`
 * because answers belong to one key; files that may be kept say so.
 * @param baseUrl where clients reach it; where that is https, they are told to come by it alone
 */
export function responseHeaders(baseUrl: string): ResponseHeaders {
  const everywhere = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }),
  };
  const under = (policy: Headers) => ({ ...everywhere, 'Content-Security-Policy': written(policy) });
  return { api: under(NO_PAGE), docs: under(DOCS), page: under(PAGE) };
}

function written(policy: Headers): string {
  return Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
}
