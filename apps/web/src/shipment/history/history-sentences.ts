import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import type { ItemOf } from '@tracking/client';
import { RESOLUTION_LABELS, SEVERITY_LABELS } from '../../exceptions/exception-labels.ts';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useEnvironment, useSession } from '../../session/session.ts';
import { formatDate, getDayAtPlace } from '../../values/zones.ts';
import { CONTENT_TYPE_LABELS, DOCUMENT_TYPE_LABELS } from '../labels.ts';
import {
  type ValueDifference,
  listDifferences,
  formatFieldPathAsLabel,
  formatInstant,
  formatStoredValue,
  toReadableLabel,
} from './value-labels.ts';

export type HistoryEntry = ItemOf<'listShipmentHistory'>;
type Fields = Readonly<Record<string, unknown>>;

/** A history entry as a sentence without the actor. */
interface HistorySentenceWithoutActor {
  /** Text that follows the name of the actor, such as "changed ETA". */
  readonly did: string;
  /** Changed values that the sentence does not mention. */
  readonly details: readonly ValueDifference[];
  /** Note that the actor added to the change. */
  readonly note?: string;
}

const HISTORY_SYSTEM_ACTOR_LABELS: Readonly<Record<string, string>> = {
  clock: 'Scheduled check',
  settings: 'Settings change',
  administration: 'Command line',
};

export function formatActor({ type, id, name }: HistoryEntry['actor']): string {
  if (type === 'system') return HISTORY_SYSTEM_ACTOR_LABELS[id] ?? 'System';
  return name ?? (type === 'user' ? 'A user' : 'A service account');
}

/** Resource kinds of a shipment whose history entries contain the state before and after the change. */
const HISTORY_RESOURCE_KINDS_WITH_STATES = ['milestone', 'exception', 'document'] as const;
/** Names of derived fields, which the history does not show. */
const FIELDS_HIDDEN_FROM_HISTORY: ReadonlySet<string> = new Set([
  'revision',
  'reported_at',
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
  'occurred_at_precision',
  'etd_precision',
  'eta_precision',
  'original_eta_precision',
]);

/**
 * Returns the time zone of the place of an expected time, by the path of the field, before or after the change.
 * Undefined if it is unknown.
 */
export type FindZone = (path: readonly string[], side: 'from' | 'to') => string | null | undefined;

/**
 * Describes a history entry.
 * @param findZone finds the time zones of the shipment's own expected times, which the entry does not contain
 */
export function describeHistoryEntry(
  entry: HistoryEntry,
  findZone: FindZone = () => undefined,
): HistorySentenceWithoutActor {
  const note = toNonEmptyText(entry.changes['note']?.to);
  const kind = HISTORY_RESOURCE_KINDS_WITH_STATES.find((one) => entry.changes[one] !== undefined);
  const sentenceOf =
    kind === undefined
      ? describeShipmentChange(entry, findZone)
      : describeChangeOfShipmentPart(entry, entry.changes[kind] ?? {});
  return note === undefined ? sentenceOf : { ...sentenceOf, note };
}

function describeShipmentChange({ type, changes }: HistoryEntry, findZone: FindZone): HistorySentenceWithoutActor {
  const details = Object.entries(changes)
    .filter(([name]) => !FIELDS_HIDDEN_FROM_HISTORY.has(name))
    .flatMap(([name, { from, to }]) => listDifferences(from, to, [name]))
    .filter(({ path }) => !FIELDS_HIDDEN_FROM_HISTORY.has(path.at(-1) ?? ''))
    .map((difference) => ({
      ...difference,
      zone: findZone(difference.path, 'to'),
      fromZone: findZone(difference.path, 'from'),
    }));
  if (type === 'shipment.created') return { did: 'created the shipment', details };
  if (type === 'shipment.cancelled') return { did: 'cancelled the shipment', details };
  if (type === 'shipment.reopened') return { did: 'reopened the shipment', details };
  const [only] = details;
  if (details.length === 1 && only !== undefined) return { did: `changed ${formatValueChange(only)}`, details: [] };
  const fields = [...new Set(details.map(({ path }) => formatFieldPathAsLabel(path.slice(0, 1))))];
  return { did: fields.length === 0 ? 'changed the shipment' : `changed ${joinFieldNames(fields)}`, details };
}

type Change = HistoryEntry['changes'][string];

function describeChangeOfShipmentPart(entry: HistoryEntry, { from, to }: Change): HistorySentenceWithoutActor {
  const [before, after] = [toObjectOrUndefined(from), toObjectOrUndefined(to)];
  const part = after ?? before ?? {};
  const changed =
    before === undefined || after === undefined
      ? []
      : listDifferences(before, after).filter(({ path: [name = ''] }) => !FIELDS_HIDDEN_FROM_HISTORY.has(name));
  if (entry.type.startsWith('milestone.')) {
    const fromZone = toNonEmptyText(before?.['timezone']);
    return describeMilestoneChange(
      entry,
      part,
      changed.map((difference) => ({ ...difference, fromZone })),
    );
  }
  if (entry.type.startsWith('exception.')) return describeExceptionChange(entry, part, changed);
  return { did: describeDocumentChange(entry.type, part), details: [] };
}

type PartSentence = (
  entry: HistoryEntry,
  part: Fields,
  changed: readonly ValueDifference[],
) => HistorySentenceWithoutActor;

const describeMilestoneChange: PartSentence = ({ type }, part, changed) => {
  const zone = toNonEmptyText(part['timezone']);
  const details = changed.map((difference) => ({ ...difference, zone }));
  if (type === 'milestone.corrected') return { did: `corrected ${formatMilestone(part)}`, details };
  const did = type === 'milestone.retracted' ? 'retracted' : 'recorded';
  return { did: `${did} ${formatMilestone(part)}`, details: [] };
};

const describeExceptionChange: PartSentence = ({ type, actor, changes }, part, changed) => {
  if (type === 'exception.updated') return describeExceptionUpdate(part, changed, changes['note'] !== undefined);
  if (type === 'exception.opened') {
    return {
      did: `${chooseExceptionOpeningVerb(actor, part)} ${formatException(part)}, ${formatSeverity(part)}`,
      details: [],
    };
  }
  return { did: describeResolution(actor, part), details: [] };
};

/**
 * Returns the verb for the opening of an exception. If a rule opened the exception after a write, the history names the
 * author of the write as actor. The verb is then "triggered" instead of "opened".
 */
function chooseExceptionOpeningVerb({ type }: HistoryEntry['actor'], { detected_by }: Fields): string {
  return type === 'system' || detected_by !== 'system' ? 'opened' : 'triggered';
}

function describeResolution(actor: HistoryEntry['actor'], part: Fields): string {
  const { by } = toObjectOrUndefined(part['resolution']) ?? {};
  if (toObjectOrUndefined(by)?.['type'] === 'system')
    return `${actor.type === 'system' ? 'resolved' : 'triggered the resolution of'} ${formatException(part)}`;
  return `resolved ${formatException(part)}${formatResolution(part)}`;
}

function describeExceptionUpdate(
  part: Fields,
  changed: readonly ValueDifference[],
  hasNote: boolean,
): HistorySentenceWithoutActor {
  const about = formatException(part);
  const changeOf = (name: string) => changed.find(({ path }) => path[0] === name);
  const [status, assignee] = [changeOf('status'), changeOf('assignee')];
  const rest = changed.filter(({ path: [name = ''] }) => !['status', 'assignee', 'metrics'].includes(name));
  const verbs = [
    ...(status?.to === 'acknowledged' ? [`acknowledged ${about}`] : []),
    ...(assignee === undefined
      ? []
      : [describeExceptionAssigneeChange(assignee.to, status === undefined ? about : 'it')]),
  ];
  if (verbs.length > 0) return { did: verbs.join(' and '), details: rest };
  if (rest.length === 0 && hasNote) return { did: `added a note to ${about}`, details: [] };
  return { did: `updated ${about}`, details: rest.length > 0 ? rest : changed };
}

function describeExceptionAssigneeChange(to: unknown, about: string): string {
  return to === null ? `unassigned ${about}` : `assigned ${about} to ${String(to)}`;
}

const DOCUMENT_VERBS: Readonly<Record<string, string>> = {
  'document.requested': 'requested an upload URL for',
  'document.uploaded': 'uploaded',
  'document.approved': 'approved',
  'document.rejected': 'rejected',
  'document.expired': 'stopped waiting for the file of',
  'document.deleted': 'deleted',
};

function describeDocumentChange(type: string, part: Fields): string {
  const kind = DOCUMENT_TYPE_LABELS[part['type'] as keyof typeof DOCUMENT_TYPE_LABELS] ?? 'Document';
  const content = CONTENT_TYPE_LABELS[part['content_type'] as keyof typeof CONTENT_TYPE_LABELS];
  const what = `${kind} “${String(part['file_name'])}”${content === undefined ? '' : ` (${content})`}`;
  const reason = toNonEmptyText(part['rejection_reason']);
  const why = type === 'document.rejected' && reason !== undefined ? `: “${reason}”` : '';
  return `${DOCUMENT_VERBS[type] ?? toReadableLabel(type)} ${what}${why}`;
}

function formatMilestone(part: Fields): string {
  const where = toNonEmptyText(part['location']);
  const container = toNonEmptyText(part['container_number']);
  const is = part['classifier'] === 'actual' ? '' : ` (${String(part['classifier'])})`;
  return [
    `“${String(part['label'])}”${is}`,
    ...(container === undefined ? [] : [`of ${container}`]),
    ...(where === undefined ? [] : [`at ${where}`]),
    ...(typeof part['occurred_at'] === 'string' ? [`for ${formatMilestoneTime(part['occurred_at'], part)}`] : []),
  ].join(' ');
}

function formatMilestoneTime(occurred_at: string, { occurred_at_precision, timezone }: Fields): string {
  if (occurred_at_precision !== 'day') return formatInstant(occurred_at);
  return formatDate(getDayAtPlace(occurred_at, toNonEmptyText(timezone)));
}

function formatException(part: Fields): string {
  const container = toNonEmptyText(part['container_number']);
  return `“${String(part['title'])}”${container === undefined ? '' : ` of ${container}`}`;
}

function formatSeverity(part: Fields): string {
  return (SEVERITY_LABELS[part['severity'] as keyof typeof SEVERITY_LABELS] ?? '').toLowerCase();
}

function formatResolution(part: Fields): string {
  const { code, note } = toObjectOrUndefined(part['resolution']) ?? {};
  const label = RESOLUTION_LABELS[code as keyof typeof RESOLUTION_LABELS];
  const noteText = toNonEmptyText(note);
  return `${label === undefined ? '' : ` as ${label.toLowerCase()}`}${noteText === undefined ? '' : `: “${noteText}”`}`;
}

/** Formats a changed value, such as "ETA from 3 Nov to 5 Nov". */
function formatValueChange({ path, from, to, zone, fromZone }: ValueDifference): string {
  const [field, name] = [formatFieldPathAsLabel(path), path.at(-1)];
  const change = `to ${formatStoredValue(to, name, zone)}`;
  if (from === null || from === undefined) return `${field} ${change}`;
  return `${field} from ${formatStoredValue(from, name, fromZone)} ${change}`;
}

const MAX_LISTED_FIELDS = 3;
function joinFieldNames(fields: readonly string[]): string {
  if (fields.length > MAX_LISTED_FIELDS)
    return `${fields.slice(0, MAX_LISTED_FIELDS - 1).join(', ')} and ${fields.length - MAX_LISTED_FIELDS + 1} more`;
  return fields.length < 2 ? fields.join('') : `${fields.slice(0, -1).join(', ')} and ${fields.at(-1) ?? ''}`;
}

function toObjectOrUndefined(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
}

function toNonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const PAGE_SIZE = 50;

/** Query of the history of a shipment, page by page, newest entry first. */
export function shipmentHistoryQuery(environment: Environment, id: string) {
  return infiniteQueryOptions({
    queryKey: ['history', environment, id],
    queryFn: ({ pageParam, signal }) =>
      getApiClient(environment).shipments.history(id, { limit: PAGE_SIZE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

/** Reads the history entries that are newer than the given shipment version, newest first. */
export async function readHistoryAfterVersion(
  environment: Environment,
  id: string,
  version: number,
): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const entry of getApiClient(environment).shipments.history(id, { limit: PAGE_SIZE })) {
    if (entry.version <= version) break;
    entries.push(entry);
  }
  return entries;
}

/**
 * Returns a function that returns the name of an actor. The names come from the loaded history. The name of the current
 * user is "you".
 */
export function useActorNameLookup(shipmentId: string): (actor: Pick<HistoryEntry['actor'], 'type' | 'id'>) => string {
  const { user } = useSession();
  const { data } = useInfiniteQuery(shipmentHistoryQuery(useEnvironment(), shipmentId));
  const entries = data?.pages.flatMap((page) => page.data) ?? [];
  const names = new Map(entries.map(({ actor }) => [actor.id, actor.name]));
  return ({ type, id }) => {
    if (id === user?.id) return 'you';
    if (type === 'system') return 'the system';
    return names.get(id) ?? (type === 'user' ? 'a user' : 'a service account');
  };
}
