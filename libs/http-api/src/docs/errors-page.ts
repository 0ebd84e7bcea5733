import { ERROR_CODES, FIELD_ERROR_CODES, WARNING_CODES } from '@tracking/contracts';
import type { ErrorCode, ErrorType, FieldErrorCode, WarningCode } from '@tracking/contracts';
import { statusOf } from '../errors/error-status.ts';
import type { CodeEntry } from './codes/code-entry.ts';
import { ERROR_ENTRIES, FIELD_ENTRIES, WARNING_ENTRIES } from './codes/entries.ts';
import { code, documentationPage, escaped, paragraph, prose } from './html.ts';

const TYPES: Readonly<Record<ErrorType, string>> = {
  invalid_request: 'The request is at fault. Do not repeat it as it is.',
  authentication: 'The key or session is at fault. Stop until there is another one.',
  permission: 'The key or user may not. Stop until they may.',
  not_found: 'There is nothing there.',
  conflict: 'What is there already forbids it. Read it again, and decide again.',
  rate_limit: 'Too fast. Wait for Retry-After, then send the same again.',
  internal: 'A fault of ours, mostly for a while. Wait for Retry-After, then send the same again.',
};

/** Every code has an anchor: an error its code, a faulty field `field-<code>`, a warning `warning-<code>`. */
export function errorsPage(): string {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const errors = (Object.keys(TYPES) as ErrorType[]).map((type) => {
    const articles = codes.filter((each) => ERROR_CODES[each] === type).map(errorArticle);
    return `<h2 id="type-${type}"><code>${type}</code></h2>${paragraph(TYPES[type])}${articles.join('\n')}`;
  });
  const fields = FIELD_ERROR_CODES.map(fieldArticle);
  const warnings = WARNING_CODES.map(warningArticle);
  return documentationPage(
    'Error codes',
    `${INTRODUCTION}
<ul class="index">${codes.map((each) => `<li><a href="#${each}">${each}</a></li>`).join('\n')}
<li><a href="#fields">codes of faulty fields</a></li><li><a href="#warnings">codes of warnings</a></li></ul>
${errors.join('\n')}
<h2 id="fields">Faulty fields</h2>
${paragraph('Codes in `details`, of each faulty field by itself. The error’s own code is `validation_failed` then, or that of the fields where all of them have the same.')}
${fields.join('\n')}
<h2 id="warnings">Warnings</h2>
${paragraph('Codes in `warnings`, which every answer to a write has. The write was carried out.')}
${warnings.join('\n')}`,
  );
}

const INTRODUCTION = [
  'Errors answer `{"error": {"type", "code", "message", "param", "details", "request_id"}}`. Decide by `type`, and by `code` where it matters which; codes are never renamed or reused. `message` is for people. `details` names every faulty field at once.',
  'With `Accept: application/problem+json` the same comes as problem details (RFC 9457), whose `type` is the address of the entry here.',
]
  .map(paragraph)
  .join('\n');

function errorArticle(each: ErrorCode): string {
  const entry = ERROR_ENTRIES[each];
  const { message } = entry;
  const error = { type: ERROR_CODES[each], code: each, message, param: null, details: [], request_id: 'req_…' };
  return article(each, { name: each, status: statusOf(each), entry, answer: { error } });
}

function fieldArticle(each: FieldErrorCode): string {
  const entry = FIELD_ENTRIES[each];
  const answer = { param: '…', code: each, message: entry.message };
  return article(`field-${each}`, { name: each, entry, answer });
}

function warningArticle(each: WarningCode): string {
  const entry = WARNING_ENTRIES[each];
  const answer = { code: each, param: '…', message: entry.message };
  return article(`warning-${each}`, { name: each, entry, answer });
}

interface Shown {
  readonly name: string;
  readonly status?: number;
  readonly entry: CodeEntry;
  /** With the example's message. */
  readonly answer: object;
}

function article(id: string, { name, status, entry, answer }: Shown): string {
  return `<article id="${id}">
<h3><a href="#${id}"><code>${name}</code></a>${status === undefined ? '' : `<small>${status}</small>`}</h3>
${paragraph(entry.means)}
<p><strong>What to do:</strong> ${prose(entry.action)}</p>
<details><summary>Example: ${escaped(entry.asked)}</summary>${code(JSON.stringify(answer, null, 2))}</details>
</article>`;
}
