import {
  ERROR_CODES,
  type ErrorCode,
  type ErrorType,
  FIELD_ERROR_CODES,
  type FieldErrorCode,
  WARNING_CODES,
  type WarningCode,
} from '@tracking/contracts';
import { createErrorBody, getErrorStatus } from '../errors/error-response.ts';
import type { ErrorOrWarningCodeDocumentation } from '../http-feature.ts';
import type { ApiDocumentationContent } from './api-docs.ts';
import { escapeHtml, renderDocumentationPage, renderJsonBlock } from './documentation-page.ts';

const ERROR_TYPE_DESCRIPTIONS: Readonly<Record<ErrorType, string>> = {
  invalid_request: 'The request is invalid. Do not repeat it unchanged.',
  authentication: 'The key or session is not valid. Stop until you have a valid key or session.',
  permission: 'The key or user lacks the permission. Stop until the permission is granted.',
  not_found: 'The resource does not exist.',
  conflict: 'The present state does not allow the request. Read the resource again, then decide again.',
  rate_limit: 'Too many requests. Wait for `Retry-After`, then send the same request again.',
  internal: 'The service failed, usually for a short time. Wait for `Retry-After`, then send the same request again.',
};

/**
 * The page `/docs/errors`. Each code has an anchor: an error its code, an invalid field `field-<code>`, a warning
 * `warning-<code>`.
 */
export function renderErrorsPage({ errors, fields, warnings }: ApiDocumentationContent): string {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  return renderDocumentationPage(
    'Error codes',
    [
      ERRORS_INTRODUCTION,
      renderErrorCodeIndex(codes),
      ...(Object.keys(ERROR_TYPE_DESCRIPTIONS) as ErrorType[]).flatMap((type) => [
        `<h2 id="type-${type}"><code>${type}</code></h2>`,
        ERROR_TYPE_DESCRIPTIONS[type],
        ...codes.filter((code) => ERROR_CODES[code] === type).map((code) => renderErrorArticle(code, errors[code])),
      ]),
      '<h2 id="fields">Invalid fields</h2>',
      'Each entry of `details` has the code of one invalid field. The code of the error itself is `validation_failed`, or the code of the fields if all fields have the same code.',
      ...FIELD_ERROR_CODES.map((code) => renderFieldErrorArticle(code, fields[code])),
      '<h2 id="warnings">Warnings</h2>',
      'Codes in `warnings`, a member of the response to every write. The write was carried out.',
      ...WARNING_CODES.map((code) => renderWarningArticle(code, warnings[code])),
    ].join('\n\n'),
  );
}

const ERRORS_INTRODUCTION = `An error response is \`{"error": {"type", "code", "message", "param", "details", "request_id"}}\`. Handle errors by \`type\`, and by \`code\` where you need more detail; codes are never renamed or reused. \`message\` is for people. \`details\` lists all invalid fields.\n\nWith \`Accept: application/problem+json\` the same error is sent as problem details (RFC 9457), whose \`type\` is the URL of its entry on this page.`;

function renderErrorCodeIndex(codes: readonly ErrorCode[]): string {
  return `<ul class="index">${codes.map((code) => `<li><a href="#${code}">${code}</a></li>`).join('\n')}\n<li><a href="#fields">codes of invalid fields</a></li><li><a href="#warnings">codes of warnings</a></li></ul>`;
}

function renderErrorArticle(code: ErrorCode, entry: ErrorOrWarningCodeDocumentation): string {
  const { message, details = [] } = entry;
  const answer = createErrorBody({ code, message, details }, 'req_…');
  return renderErrorCodeArticle({ id: code, code, status: getErrorStatus(code), entry, answer });
}

function renderFieldErrorArticle(code: FieldErrorCode, entry: ErrorOrWarningCodeDocumentation): string {
  return renderErrorCodeArticle({
    id: `field-${code}`,
    code,
    entry,
    answer: { param: entry.param ?? '…', code, message: entry.message },
  });
}

function renderWarningArticle(code: WarningCode, entry: ErrorOrWarningCodeDocumentation): string {
  return renderErrorCodeArticle({
    id: `warning-${code}`,
    code,
    entry,
    answer: { code, param: entry.param ?? null, message: entry.message },
  });
}

/** Codes of errors that only faults or load of the service cause. */
const ERROR_CODES_OF_SERVICE_FAULTS: ReadonlySet<string> = new Set<ErrorCode>([
  'busy',
  'document_damaged',
  'internal_error',
  'read_model_behind',
  'secret_unreadable',
  'storage_full',
  'unavailable',
]);

interface ErrorCodeArticleContent {
  readonly id: string;
  readonly code: string;
  readonly status?: number;
  readonly entry: ErrorOrWarningCodeDocumentation;
  /** The error response, with the message of the entry. */
  readonly answer: object;
}

function renderErrorCodeArticle({ id, code, status, entry, answer }: ErrorCodeArticleContent): string {
  return `<article id="${id}">

<h3><a href="#${id}"><code>${code}</code></a>${status === undefined ? '' : ` <small>${status}</small>`}</h3>

${entry.meaning}

**Solution:** ${entry.action}${ERROR_CODES_OF_SERVICE_FAULTS.has(code) ? ' No request provokes this error: it depends on the state of the service.' : ''}

<details><summary>Example: <code>${escapeHtml(entry.exampleRequest)}</code></summary>

${renderJsonBlock(answer)}

</details>

</article>`;
}
