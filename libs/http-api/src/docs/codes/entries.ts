import type { ErrorCode, FieldErrorCode, WarningCode } from '@tracking/contracts';
import type { CodeEntry } from './code-entry.ts';
import { OF_CONFLICTS } from './conflict-codes.ts';
import { OF_FIELDS } from './field-codes.ts';
import { OF_OTHERS } from './other-codes.ts';
import { OF_REQUESTS } from './request-codes.ts';
import { OF_WARNINGS } from './warning-codes.ts';

/** What each code means and what to do about it; one missing does not compile. */
export const ERROR_ENTRIES: Readonly<Record<ErrorCode, CodeEntry>> = { ...OF_REQUESTS, ...OF_OTHERS, ...OF_CONFLICTS };
export const FIELD_ENTRIES: Readonly<Record<FieldErrorCode, CodeEntry>> = OF_FIELDS;
export const WARNING_ENTRIES: Readonly<Record<WarningCode, CodeEntry>> = OF_WARNINGS;
