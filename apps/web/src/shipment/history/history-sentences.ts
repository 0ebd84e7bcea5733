import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import type { ItemOf } from '@tracking/client';
import { RESOLUTION_LABELS, SEVERITY_LABELS } from '../../exceptions/exception-labels.ts';
import { type Environment, api } from '../../session/api.ts';
import { useEnvironment, useSession } from '../../session/session.ts';
import { CONTENT_LABELS, DOCUMENT_LABELS } from '../labels.ts';
import { type Difference, differences, fieldWords, momentWords, valueWords, words } from './value-words.ts';

export type HistoryEntry = ItemOf<'listShipmentHistory'>;
type Fields = Readonly<Record<string, unknown>>;

/** An entry of the history in words. */
interface Sentence {
  /** Follows the name of the actor: "changed ETA". */
  readonly did: string;
  /** The changed values that the sentence does not mention. */
  readonly details: readonly Difference[];
  /** The actor's note. */
  readonly note?: string;
}

const SYSTEMS: Readonly<Record<string, string>> = {
  clock: 'The clock',
  settings: 'A change of settings',
  administration: 'The command line',
};

export function whoOf({ type, id, name }: HistoryEntry['actor']): string {
  if (type === 'system') return SYSTEMS[id] ?? 'The service';
  return name ?? (type === 'user' ? 'A person' : 'A service account');
}

/** The kinds of resources that change as a whole. */
const KINDS = ['milestone', 'exception', 'document'] as const;
/** Derived fields, which readers of the history do not need. */
const DERIVED_FIELDS: ReadonlySet<string> = new Set([
  'revision',
  'recorded_at',
  'recorded_by',
  'superseded_at',
  'acknowledged_at',
  'resolved_at',
  'uploaded_at',
  'reviewed_at',
  'reviewed_by',
  'download_url',
  'status_milestone_id',
  'sequence',
]);

export function sentenceOf(entry: HistoryEntry): Sentence {
  const note = textOf(entry.changes['note']?.to);
  const kind = KINDS.find((one) => entry.changes[one] !== undefined);
  const sentenceOf = kind === undefined ? shipmentSentence(entry) : partSentence(entry, entry.changes[kind] ?? {});
  return note === undefined ? sentenceOf : { ...sentenceOf, note };
}

function shipmentSentence({ type, changes }: HistoryEntry): Sentence {
  const details = Object.entries(changes)
    .filter(([name]) => !DERIVED_FIELDS.has(name))
    .flatMap(([name, { from, to }]) => differences(from, to, [name]))
    .filter(({ path }) => path.at(-1) !== 'status_milestone_id');
  if (type === 'shipment.created') return { did: 'created the shipment', details };
  if (type === 'shipment.cancelled') return { did: 'cancelled the shipment', details };
  if (type === 'shipment.reopened') return { did: 'reopened the shipment', details };
  const [only] = details;
  if (details.length === 1 && only !== undefined) return { did: `changed ${change(only)}`, details: [] };
  const fields = [...new Set(details.map(({ path }) => fieldWords(path.slice(0, 1))))];
  return { did: fields.length === 0 ? 'changed the shipment' : `changed ${list(fields)}`, details };
}

type Change = HistoryEntry['changes'][string];

function partSentence(entry: HistoryEntry, { from, to }: Change): Sentence {
  const [before, after] = [fieldsOf(from), fieldsOf(to)];
  const part = after ?? before ?? {};
  const changed =
    before === undefined || after === undefined
      ? []
      : differences(before, after).filter(({ path: [name = ''] }) => !DERIVED_FIELDS.has(name));
  if (entry.type.startsWith('milestone.')) return milestoneSentence(entry, part, changed);
  if (entry.type.startsWith('exception.')) return exceptionSentence(entry, part, changed);
  return { did: documentSentence(entry.type, part), details: [] };
}

type PartSentence = (entry: HistoryEntry, part: Fields, changed: readonly Difference[]) => Sentence;

const milestoneSentence: PartSentence = ({ type }, part, changed) => {
  if (type === 'milestone.corrected') return { did: `corrected ${milestone(part)}`, details: changed };
  const did = type === 'milestone.retracted' ? 'took back' : 'recorded';
  return { did: `${did} ${milestone(part)}`, details: [] };
};

const exceptionSentence: PartSentence = ({ type, actor, changes }, part, changed) => {
  if (type === 'exception.updated') return updated(part, changed, changes['note'] !== undefined);
  if (type === 'exception.opened') {
    return { did: `${opened(actor, part)} ${exception(part)}, ${severity(part)}`, details: [] };
  }
  return { did: resolved(actor, part), details: [] };
};

/** The history lists an exception that a rule opened under the author of the write that caused it. */
function opened({ type }: HistoryEntry['actor'], { detected_by }: Fields): string {
  return type === 'system' || detected_by !== 'system' ? 'opened' : 'thereby opened';
}

function resolved(actor: HistoryEntry['actor'], part: Fields): string {
  const { by } = fieldsOf(part['resolution']) ?? {};
  if (fieldsOf(by)?.['type'] === 'system')
    return `${actor.type === 'system' ? '' : 'thereby '}cleared ${exception(part)}`;
  return `resolved ${exception(part)}${resolution(part)}`;
}

function updated(part: Fields, changed: readonly Difference[], hasNote: boolean): Sentence {
  const about = exception(part);
  const changeOf = (name: string) => changed.find(({ path }) => path[0] === name);
  const [status, assignee] = [changeOf('status'), changeOf('assignee')];
  const rest = changed.filter(({ path: [name = ''] }) => !['status', 'assignee', 'metrics'].includes(name));
  const verbs = [
    ...(status?.to === 'acknowledged' ? [`acknowledged ${about}`] : []),
    ...(assignee === undefined ? [] : [assigned(assignee.to, status === undefined ? about : 'it')]),
  ];
  if (verbs.length > 0) return { did: verbs.join(' and '), details: rest };
  if (rest.length === 0 && hasNote) return { did: `remarked on ${about}`, details: [] };
  return { did: `updated ${about}`, details: rest.length > 0 ? rest : changed };
}

function assigned(to: unknown, about: string): string {
  return to === null ? `took ${about} from who had it` : `gave ${about} to ${String(to)}`;
}

const DOCUMENT_VERBS: Readonly<Record<string, string>> = {
  'document.requested': 'is about to send',
  'document.uploaded': 'sent',
  'document.approved': 'approved',
  'document.rejected': 'rejected',
  'document.expired': 'gave up waiting for',
  'document.deleted': 'deleted',
};

function documentSentence(type: string, part: Fields): string {
  const kind = DOCUMENT_LABELS[part['type'] as keyof typeof DOCUMENT_LABELS] ?? 'Document';
  const content = CONTENT_LABELS[part['content_type'] as keyof typeof CONTENT_LABELS];
  const what = `${kind} “${String(part['file_name'])}”${content === undefined ? '' : ` (${content})`}`;
  const reason = textOf(part['rejection_reason']);
  const why = type === 'document.rejected' && reason !== undefined ? `: “${reason}”` : '';
  return `${DOCUMENT_VERBS[type] ?? words(type)} ${what}${why}`;
}

function milestone(part: Fields): string {
  const where = textOf(part['location']);
  const container = textOf(part['container_number']);
  const is = part['classifier'] === 'actual' ? '' : ` (${String(part['classifier'])})`;
  return [
    `“${String(part['label'])}”${is}`,
    ...(container === undefined ? [] : [`of ${container}`]),
    ...(where === undefined ? [] : [`at ${where}`]),
    ...(typeof part['occurred_at'] === 'string' ? [`for ${momentWords(part['occurred_at'])}`] : []),
  ].join(' ');
}

function exception(part: Fields): string {
  const container = textOf(part['container_number']);
  return `“${String(part['title'])}”${container === undefined ? '' : ` of ${container}`}`;
}

function severity(part: Fields): string {
  return (SEVERITY_LABELS[part['severity'] as keyof typeof SEVERITY_LABELS] ?? '').toLowerCase();
}

function resolution(part: Fields): string {
  const { code, note } = fieldsOf(part['resolution']) ?? {};
  const label = RESOLUTION_LABELS[code as keyof typeof RESOLUTION_LABELS];
  const noteText = textOf(note);
  return `${label === undefined ? '' : ` as ${label.toLowerCase()}`}${noteText === undefined ? '' : `: “${noteText}”`}`;
}

/** "ETA from 3 Nov to 5 Nov" */
function change({ path, from, to }: Difference): string {
  const field = path.at(-1);
  if (from === null || from === undefined) return `${fieldWords(path)} to ${valueWords(to, field)}`;
  return `${fieldWords(path)} from ${valueWords(from, field)} to ${valueWords(to, field)}`;
}

const MAX_FIELDS = 3;
function list(fields: readonly string[]): string {
  if (fields.length > MAX_FIELDS)
    return `${fields.slice(0, MAX_FIELDS - 1).join(', ')} and ${fields.length - MAX_FIELDS + 1} more`;
  return fields.length < 2 ? fields.join('') : `${fields.slice(0, -1).join(', ')} and ${fields.at(-1) ?? ''}`;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const PAGE = 50;

/** The history of a shipment in pages, the newest first. */
export function historyQuery(environment: Environment, id: string) {
  return infiniteQueryOptions({
    queryKey: ['history', environment, id],
    queryFn: ({ pageParam, signal }) =>
      api(environment).shipments.history(id, { limit: PAGE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

/** The history since a version, the newest first. */
export async function historySince(environment: Environment, id: string, version: number): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const entry of api(environment).shipments.history(id, { limit: PAGE })) {
    if (entry.version <= version) break;
    entries.push(entry);
  }
  return entries;
}

/** Returns the names of actors, as far as the history that was read has them; "you" for the user. */
export function useActorName(shipmentId: string): (actor: Pick<HistoryEntry['actor'], 'type' | 'id'>) => string {
  const { user } = useSession();
  const { data } = useInfiniteQuery(historyQuery(useEnvironment(), shipmentId));
  const entries = data?.pages.flatMap((page) => page.data) ?? [];
  const names = new Map(entries.map(({ actor }) => [actor.id, actor.name]));
  return ({ type, id }) => {
    if (id === user?.id) return 'you';
    if (type === 'system') return 'the service';
    return names.get(id) ?? (type === 'user' ? 'a person' : 'a service account');
  };
}
