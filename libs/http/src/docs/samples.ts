import { ERROR_CODES } from '@tracking/contracts';
import type { ErrorCode, FieldError } from '@tracking/contracts';
import type { ErrorAnswer } from '../errors/error-answer.ts';
import { statusOf } from '../errors/error-status.ts';
import { problemDetails } from '../errors/problem-details.ts';
import type { FeatureDocs } from '../http-feature.ts';
import type { CodeEntry } from './code-entry.ts';
import { ERRORS } from './codes.ts';

const REQUEST_ID = 'req_5f6a2b8637ac4b5c9d535a0c4f1d2b11';
const FIELD = { param: 'legs[0].etd', code: 'invalid_timestamp', message: 'Has no offset: end it with Z for UTC.' };

/** Examples of schemas, by name. */
export const SAMPLES = {
  FieldError: FIELD,
} satisfies FeatureDocs['samples'];

/** Example values of fields by name, where neither their schema nor a sample has one. */
export const VALUES = {
  detail: ERRORS.not_found.message,
  id: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd',
  message: 'The receiver answered 500.',
  name: 'Acme Electronics Ltd',
  next_cursor: null,
  param: null,
  request_id: REQUEST_ID,
  warnings: [],
  workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd',
} satisfies FeatureDocs['values'];

/** The answer with an error, as an example of its code. */
export function errorExample(code: ErrorCode, entry: CodeEntry): object {
  const { message, details } = sampleError(code, entry);
  const param = details[0]?.param ?? null;
  const error = { type: ERROR_CODES[code], code, message, param, details, request_id: REQUEST_ID };
  return { summary: entry.means, value: { error } };
}

/** The same as problem details. */
export function problemExample(code: ErrorCode, entry: CodeEntry): object {
  const value = problemDetails(sampleError(code, entry), REQUEST_ID, 'https://api.example.com/docs');
  return { summary: entry.means, value };
}

function sampleError(code: ErrorCode, entry: CodeEntry): ErrorAnswer {
  const details = code === 'validation_failed' ? [FIELD] : [];
  const [field] = details;
  const message = field ? `${field.param}: ${field.message}` : entry.message;
  return {
    status: statusOf(code),
    code,
    message,
    details: details as readonly FieldError[],
    headers: {},
    unexpected: false,
  };
}
