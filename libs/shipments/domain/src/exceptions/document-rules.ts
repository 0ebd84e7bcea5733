import { isPresent } from '@tracking/contracts';
import { replacementsAmong } from '../documents.ts';
import type { DocumentInHand } from '../state.ts';
import { type Find, hoursAfter } from './rule.ts';
import { byChangeOf, byDocuments } from './remedies.ts';

/** Types that the workspace requires for the shipment's mode and that it has none of, from some time before its ETA on. */
export const missingDocument: Find = ({ derived, documents, requiredDocuments }, { before_hours }) => {
  const { mode, eta } = derived.record;
  if (mode === null || eta === null) return [];
  const required = requiredDocuments[mode];
  const findReplacement = replacementsAmong(documents);
  // A rejected one is there: that it was rejected is another exception.
  const isThere = ({ document }: DocumentInHand) =>
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
      // What a person did without was those.
      isGraverThan: (resolved) => missing.some((type) => !isAmong(resolved['missing'], type)),
      resolvedBy: () => [byDocuments('document_uploaded', missing), byChangeOf('eta', 'mode')],
    },
  ];
};

/** Most rejections whose reasons are told: each may be long. */
const TOLD = 3;

/** Documents that were rejected, until one of their type or their replacement is approved, or they are deleted. */
export const documentRejected: Find = ({ documents }) => {
  const findReplacement = replacementsAmong(documents);
  const isMadeUpFor = (one: DocumentInHand) =>
    findReplacement(one.document)?.document.status === 'approved' || hasLaterApproval(one, documents);
  const rejected = documents
    .filter((one) => one.document.status === 'rejected' && !isMadeUpFor(one))
    .sort((one, other) => other.verdict - one.verdict)
    .map(({ document }) => document);
  if (rejected.length === 0) return [];
  const ids = rejected.map(({ id }) => id);
  const told = rejected.slice(0, TOLD).map(({ type, rejection_reason }) => `${type} (${rejection_reason})`);
  const others = rejected.length > TOLD ? [`${rejected.length - TOLD} more`] : [];
  return [
    {
      container_number: null,
      milestone: null,
      detail: `Rejected: ${[...told, ...others].join('; ')}.`,
      metrics: { document_ids: ids },
      isGraverThan: (resolved) => ids.some((id) => !isAmong(resolved['document_ids'], id)),
      resolvedBy: () => [byDocuments('document_approved', [...new Set(rejected.map(({ type }) => type))])],
    },
  ];
};

function hasLaterApproval(
  { document: { type }, verdict }: DocumentInHand,
  documents: readonly DocumentInHand[],
): boolean {
  return documents.some(
    (other) => other.document.type === type && other.document.status === 'approved' && other.verdict > verdict,
  );
}

/** Of what a person opened nothing was measured: their word stands for all. */
function isAmong(all: unknown, one: string): boolean {
  return !Array.isArray(all) || all.includes(one);
}
