import { isPresent } from '@tracking/contracts';
import { replacementFinder } from '../documents.ts';
import type { DocumentState } from '../state.ts';
import { type FindFindings, hoursAfter } from './rule.ts';
import { byChangeOf, byDocuments } from './remedies.ts';

/** Document types that the workspace requires for the mode and that are missing, from some hours before the ETA. */
export const missingDocument: FindFindings = ({ derived, documents, requiredDocuments }, { before_hours }) => {
  const { mode, eta } = derived.record;
  if (mode === null || eta === null) return [];
  const required = requiredDocuments[mode];
  const findReplacement = replacementFinder(documents);
  // A rejected document is present. `document_rejected` is the exception for it.
  const isThere = ({ document }: DocumentState) =>
    required.includes(document.type) && isPresent(document) && findReplacement(document) === undefined;
  const there = new Set(documents.filter(isThere).map(({ document }) => document.type));
  const missing = required.filter((type) => !there.has(type));
  if (missing.length === 0) return [];
  return [
    {
      container_number: null,
      milestone: null,
      opens_at: hoursAfter(eta, -(before_hours ?? 0)),
      due_at: eta,
      detail: `Missing: ${missing.join(', ')}. Expected to arrive at ${eta}.`,
      metrics: { missing, eta },
      // A person who resolved it accepted only that those were missing.
      isGraverThan: (resolved) => missing.some((type) => !includesOrUnknown(resolved['missing'], type)),
      resolvedBy: () => [byDocuments('document_uploaded', missing), byChangeOf('eta', 'mode')],
    },
  ];
};

/** Maximum number of rejections whose reasons are listed, because each may be long. */
const MAX_LISTED = 3;

/** Rejected documents, until one of their type or their replacement is approved, or they are deleted. */
export const documentRejected: FindFindings = ({ documents }) => {
  const findReplacement = replacementFinder(documents);
  const isMadeUpFor = (one: DocumentState) =>
    findReplacement(one.document)?.document.status === 'approved' || hasLaterApproval(one, documents);
  const rejected = documents
    .filter((one) => one.document.status === 'rejected' && !isMadeUpFor(one))
    .sort((one, other) => other.verdict - one.verdict)
    .map(({ document }) => document);
  if (rejected.length === 0) return [];
  const ids = rejected.map(({ id }) => id);
  const listed = rejected.slice(0, MAX_LISTED).map(({ type, rejection_reason }) => `${type} (${rejection_reason})`);
  const others = rejected.length > MAX_LISTED ? [`${rejected.length - MAX_LISTED} more`] : [];
  return [
    {
      container_number: null,
      milestone: null,
      detail: `Rejected: ${[...listed, ...others].join('; ')}.`,
      metrics: { document_ids: ids },
      isGraverThan: (resolved) => ids.some((id) => !includesOrUnknown(resolved['document_ids'], id)),
      resolvedBy: () => [byDocuments('document_approved', [...new Set(rejected.map(({ type }) => type))])],
    },
  ];
};

function hasLaterApproval(
  { document: { type }, verdict }: DocumentState,
  documents: readonly DocumentState[],
): boolean {
  return documents.some(
    (other) => other.document.type === type && other.document.status === 'approved' && other.verdict > verdict,
  );
}

/** True also without a list: exceptions that a person opened have no metrics and cover everything. */
function includesOrUnknown(all: unknown, one: string): boolean {
  return !Array.isArray(all) || all.includes(one);
}
