import { DOCUMENT_LABELS } from '../../documents/document-labels.ts';
import { type ResolvedBy, fieldLabel } from './rules.ts';

/** How codes of milestones are called; those that are not known as they are. */
export type CodeLabels = ReadonlyMap<string, string>;

/** What resolves an exception, in words. */
export function resolvedByLabel({ by, codes, fields, document_types }: ResolvedBy, labels: CodeLabels): string {
  const milestones = any(codes.map((code) => labels.get(code) ?? code));
  const types = document_types.map((type) => DOCUMENT_LABELS[type]).join(' and ');
  const sentences: Readonly<Record<ResolvedBy['by'], string>> = {
    milestone: `a milestone: ${milestones}`,
    correction: 'the correction or retraction of the milestone behind it',
    field_changed: `another ${any(fields.map(fieldLabel))}`,
    news: 'any news: a milestone, or another ETA',
    cancellation_taken_back: 'the shipment is reopened',
    container_taken_off: 'its container is taken off the shipment',
    document_uploaded: `a document is uploaded: ${types}`,
    document_approved: `a document is approved: ${types}`,
  };
  return sentences[by];
}

function any(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}
