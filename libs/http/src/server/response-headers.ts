/** Kinds of routes, by the headers of their responses. */
type ResponseKind = 'api' | 'docs' | 'page';

export type Headers = Readonly<Record<string, string>>;
type ResponseHeaders = Readonly<Record<ResponseKind, Headers>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Kind of response headers that the route sends; `api` by default. */
    answers?: ResponseKind;
  }
}

/**
 * The content security policy of a page: only files of this server, and no inline scripts or styles. `blob:` is for
 * pictures that the page has downloaded: document files are sent as attachments, and only to requests with the
 * environment in a header.
 */
const PAGE_CONTENT_SECURITY_POLICY = {
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
/** `data:` allows the icons inside Swagger UI's style sheet. */
const DOCS_CONTENT_SECURITY_POLICY = {
  ...PAGE_CONTENT_SECURITY_POLICY,
  'img-src': "'self' data:",
  'form-action': "'none'",
};
/**
 * The content security policy of responses that are not pages: a browser that shows one loads and runs nothing in it.
 */
const NON_PAGE_SECURITY_POLICY = { 'default-src': "'none'", 'frame-ancestors': "'none'" };

/**
 * Returns the headers of every response, by the kind of its route. Requests without a route, and errors, are of the
 * kind `api`. `no-store` is set because a response belongs to one key; files that may be cached override it.
 * @param baseUrl URL of the server for its clients. If it is https, responses require https (HSTS).
 */
export function createResponseHeadersByRouteKind(baseUrl: string): ResponseHeaders {
  const everywhere = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }),
  };
  const under = (policy: Headers) => ({
    ...everywhere,
    'Content-Security-Policy': formatContentSecurityPolicy(policy),
  });
  return {
    api: under(NON_PAGE_SECURITY_POLICY),
    docs: under(DOCS_CONTENT_SECURITY_POLICY),
    page: under(PAGE_CONTENT_SECURITY_POLICY),
  };
}

function formatContentSecurityPolicy(policy: Headers): string {
  return Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
}
