import { isDocumentPresent } from '@tracking/contracts';
import { createDocumentReplacementFinder } from '../documents.ts';
import { describeStatedTime } from '../local-time.ts';
import type { DocumentState } from '../state.ts';
import { type FindFindings, addHoursToTimestamp } from './rule.ts';
import { describeResolutionByFieldChange, createResolutionConditionsByDocuments } from './remedies.ts';

/**
 * Opens `missing_document` some hours before the ETA if a document type is missing that the workspace requires for the
 * mode.
 */
export const missingDocumentRule: FindFindings = ({ derived, documents, requiredDocuments }, { before_hours }) => {
  const { mode, eta } = derived.record;
  if (mode === null || eta === null) return [];
  const required = requiredDocuments[mode];
  const findReplacement = createDocumentReplacementFinder(documents);
  // A rejected document counts as present, because `document_rejected` reports it.
  const isThere = ({ document }: DocumentState) =>
    required.includes(document.type) && isDocumentPresent(document) && findReplacement(document) === undefined;
  const there = new Set(documents.filter(isThere).map(({ document }) => document.type));
  const missing = required.filter((type) => !there.has(type));
  if (missing.length === 0) return [];
  return [
    {
      container_number: null,
      milestone: null,
      opens_at: addHoursToTimestamp(eta, -(before_hours ?? 0)),
      due_at: eta,
      detail: `Missing: ${missing.join(', ')}. Expected to arrive ${describeStatedTime(derived.times.eta)}.`,
      metrics: { missing, eta },
      // A person who resolved the exception accepted only the documents that were missing at that time.
      isGraverThan: (resolved) => missing.some((type) => !isIncludedOrListMissing(resolved['missing'], type)),
      resolvedBy: () => [
        createResolutionConditionsByDocuments('document_uploaded', missing),
        describeResolutionByFieldChange('eta', 'mode'),
      ],
    },
  ];
};

/** Maximum number of rejections whose reasons the text lists, because each reason may be long. */
const MAX_LISTED_DOCUMENT_REJECTIONS = 3;

/**
 * Opens `document_rejected` for rejected documents. It resolves when a document of the same type or the replacement is
 * approved, or when the document is deleted.
 */
export const documentRejectedRule: FindFindings = ({ documents }) => {
  const findReplacement = createDocumentReplacementFinder(documents);
  const isMadeUpFor = (one: DocumentState) =>
    findReplacement(one.document)?.document.status === 'approved' || hasLaterApprovedDocument(one, documents);
  const rejected = documents
    .filter((one) => one.document.status === 'rejected' && !isMadeUpFor(one))
    .sort((one, other) => other.verdict - one.verdict)
    .map(({ document }) => document);
  if (rejected.length === 0) return [];
  const ids = rejected.map(({ id }) => id);
  const listed = rejected
    .slice(0, MAX_LISTED_DOCUMENT_REJECTIONS)
    .map(({ type, rejection_reason }) => `${type} (${rejection_reason})`);
  const others =
    rejected.length > MAX_LISTED_DOCUMENT_REJECTIONS
      ? [`${rejected.length - MAX_LISTED_DOCUMENT_REJECTIONS} more`]
      : [];
  return [
    {
      container_number: null,
      milestone: null,
      detail: `Rejected: ${[...listed, ...others].join('; ')}.`,
      metrics: { document_ids: ids },
      isGraverThan: (resolved) => ids.some((id) => !isIncludedOrListMissing(resolved['document_ids'], id)),
      resolvedBy: () => [
        createResolutionConditionsByDocuments('document_approved', [...new Set(rejected.map(({ type }) => type))]),
      ],
    },
  ];
};

function hasLaterApprovedDocument(
  { document: { type }, verdict }: DocumentState,
  documents: readonly DocumentState[],
): boolean {
  return documents.some(
    (other) => other.document.type === type && other.document.status === 'approved' && other.verdict > verdict,
  );
}

/**
 * Returns true if a list contains the item, or if the list is missing: exceptions that a person opened have no metrics
 * and cover everything.
 */
function isIncludedOrListMissing(all: unknown, one: string): boolean {
  return !Array.isArray(all) || all.includes(one);
}
