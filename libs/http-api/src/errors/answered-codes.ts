import { ERROR_CODES } from '@tracking/contracts';
import type { ErrorType } from '@tracking/contracts';

/** Every code that is answered, with its type: those of the contracts, and the conflicts that only webhooks know. */
export const ANSWERED_CODES = {
  ...ERROR_CODES,
  endpoint_not_verified: 'conflict',
  endpoint_not_enabled: 'conflict',
  delivery_succeeded: 'conflict',
} as const satisfies Record<string, ErrorType>;
export type AnsweredCode = keyof typeof ANSWERED_CODES;
