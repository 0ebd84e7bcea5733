import {
  ERROR_CODES,
  type ErrorCode,
  FIELD_ERROR_CODES,
  type FieldErrorCode,
  WARNING_CODES,
  type WarningCode,
} from '@tracking/contracts';
import type { ErrorOrWarningCodeDocumentation, FeatureDocs } from '../http-feature.ts';
import { CROSS_FEATURE_API_DOCS } from './server-docs.ts';

/** Documentation of the server and of all its features. */
export interface ApiDocumentationContent extends Required<
  Omit<FeatureDocs, 'errors' | 'fields' | 'warnings' | 'describe'>
> {
  readonly errors: Readonly<Record<ErrorCode, ErrorOrWarningCodeDocumentation>>;
  readonly fields: Readonly<Record<FieldErrorCode, ErrorOrWarningCodeDocumentation>>;
  readonly warnings: Readonly<Record<WarningCode, ErrorOrWarningCodeDocumentation>>;
  readonly describe: readonly NonNullable<FeatureDocs['describe']>[];
}

/**
 * Merges the documentation of the server and of all its features.
 * @throws Error if a code has no entry, or two features document the same name
 */
export function combineApiDocs(features: readonly { readonly docs?: FeatureDocs }[]): ApiDocumentationContent {
  const parts = [CROSS_FEATURE_API_DOCS, ...features.flatMap(({ docs }) => docs ?? [])];
  const join = <Part extends keyof FeatureDocs>(part: Part) =>
    mergeEntriesThrowingOnDuplicates(
      part,
      parts.map((docs) => docs[part] ?? {}),
    ) as Required<FeatureDocs>[Part];
  return {
    errors: requireDocsForEachCode(join('errors'), Object.keys(ERROR_CODES) as ErrorCode[]),
    fields: requireDocsForEachCode(join('fields'), FIELD_ERROR_CODES),
    warnings: requireDocsForEachCode(join('warnings'), WARNING_CODES),
    refusals: join('refusals'),
    resources: join('resources'),
    pathParameters: join('pathParameters'),
    samples: join('samples'),
    values: join('values'),
    pages: join('pages'),
    models: parts.flatMap(({ models = [] }) => models),
    describe: parts.flatMap(({ describe }) => describe ?? []),
  };
}

function mergeEntriesThrowingOnDuplicates(part: string, contributions: readonly object[]): object {
  const entries = contributions.flatMap((contribution) => Object.entries(contribution));
  const joined = Object.fromEntries(entries) as object;
  const names = entries.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`Two features document ${twice} in ${part}. Remove one of the entries.`);
  return joined;
}

function requireDocsForEachCode<Code extends string>(
  entries: Readonly<Partial<Record<Code, ErrorOrWarningCodeDocumentation>>>,
  codes: readonly Code[],
): Readonly<Record<Code, ErrorOrWarningCodeDocumentation>> {
  const missing = codes.filter((code) => entries[code] === undefined);
  if (missing.length > 0) throw new Error(`These error codes have no documentation: ${missing.join(', ')}.`);
  return entries as Readonly<Record<Code, ErrorOrWarningCodeDocumentation>>;
}
