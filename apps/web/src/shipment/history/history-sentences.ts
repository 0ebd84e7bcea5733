import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import type { ItemOf } from '@tracking/client';
import { CONTENT_LABELS, DOCUMENT_LABELS } from '../labels.ts';
import { RESOLUTION_LABELS, SEVERITY_LABELS } from '../../exceptions/exception-labels.ts';
import { type Environment, api } from '../../session/api.ts';
import { useEnvironment, useSession } from '../../session/session.ts';
import { type Difference, differences, fieldWords, momentWords, valueWords, words } from './value-words.ts';

export type HistoryEntry = ItemOf<'listShipmentHistory'>;
type Fields = Readonly<Record<string, unknown>>;

/** An entry of the history in words. */
interface Told {
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
const SILENT: ReadonlySet<string> = new Set([
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

export function told(entry: HistoryEntry): Told {
  const note = textOf(entry.changes['note']?.to);
  const kind = KINDS.find((one) => entry.changes[one] !== undefined);
  const told = kind === undefined ? toldOfShipment(entry) : toldOfThing(entry, entry.changes[kind] ?? {});
  return note === undefined ? told : { ...told, note };
}

function toldOfShipment({ type, changes }: HistoryEntry): Told {
  const details = Object.entries(changes)
    .filter(([name]) => !SILENT.has(name))
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

function toldOfThing(entry: HistoryEntry, { from, to }: Change): Told {
  const [before, after] = [fieldsOf(from), fieldsOf(to)];
  const thing = after ?? before ?? {};
  const changed =
    before === undefined || after === undefined
      ? []
      : differences(before, after).filter(({ path: [name = ''] }) => !SILENT.has(name));
  if (entry.type.startsWith('milestone.')) return ofMilestone(entry, thing, changed);
  if (entry.type.startsWith('exception.')) return ofException(entry, thing, changed);
  return { did: ofDocument(entry.type, thing), details: [] };
}

type OfThing = (entry: HistoryEntry, thing: Fields, changed: readonly Difference[]) => Told;

const ofMilestone: OfThing = ({ type }, thing, changed) => {
  if (type === 'milestone.corrected') return { did: `corrected ${milestone(thing)}`, details: changed };
  const did = type === 'milestone.retracted' ? 'took back' : 'recorded';
  return { did: `${did} ${milestone(thing)}`, details: [] };
};

const ofException: OfThing = ({ type, actor, changes }, thing, changed) => {
  if (type === 'exception.updated') return updated(thing, changed, changes['note'] !== undefined);
  if (type === 'exception.opened') {
    return { did: `${opened(actor, thing)} ${exception(thing)}, ${severity(thing)}`, details: [] };
  }
  return { did: resolved(actor, thing), details: [] };
};

/** An exception that a rule opened is listed under whoever made the write. */
function opened({ type }: HistoryEntry['actor'], { detected_by }: Fields): string {
  return type === 'system' || detected_by !== 'system' ? 'opened' : 'thereby opened';
}

function resolved(actor: HistoryEntry['actor'], thing: Fields): string {
  const { by } = fieldsOf(thing['resolution']) ?? {};
  if (fieldsOf(by)?.['type'] === 'system')
    return `${actor.type === 'system' ? '' : 'thereby '}cleared ${exception(thing)}`;
  return `resolved ${exception(thing)}${resolution(thing)}`;
}

function updated(thing: Fields, changed: readonly Difference[], isSaid: boolean): Told {
  const about = exception(thing);
  const became = (name: string) => changed.find(({ path }) => path[0] === name);
  const [status, assignee] = [became('status'), became('assignee')];
  const rest = changed.filter(({ path: [name = ''] }) => !['status', 'assignee', 'metrics'].includes(name));
  const verbs = [
    ...(status?.to === 'acknowledged' ? [`acknowledged ${about}`] : []),
    ...(assignee === undefined ? [] : [assigned(assignee.to, status === undefined ? about : 'it')]),
  ];
  if (verbs.length > 0) return { did: verbs.join(' and '), details: rest };
  if (rest.length === 0 && isSaid) return { did: `remarked on ${about}`, details: [] };
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

function ofDocument(type: string, thing: Fields): string {
  const kind = DOCUMENT_LABELS[thing['type'] as keyof typeof DOCUMENT_LABELS] ?? 'Document';
  const content = CONTENT_LABELS[thing['content_type'] as keyof typeof CONTENT_LABELS];
  const what = `${kind} “${String(thing['file_name'])}”${content === undefined ? '' : ` (${content})`}`;
  const reason = textOf(thing['rejection_reason']);
  const why = type === 'document.rejected' && reason !== undefined ? `: “${reason}”` : '';
  return `${DOCUMENT_VERBS[type] ?? words(type)} ${what}${why}`;
}

function milestone(thing: Fields): string {
  const where = textOf(thing['location']);
  const container = textOf(thing['container_number']);
  const is = thing['classifier'] === 'actual' ? '' : ` (${String(thing['classifier'])})`;
  return [
    `“${String(thing['label'])}”${is}`,
    ...(container === undefined ? [] : [`of ${container}`]),
    ...(where === undefined ? [] : [`at ${where}`]),
    ...(typeof thing['occurred_at'] === 'string' ? [`for ${momentWords(thing['occurred_at'])}`] : []),
  ].join(' ');
}

function exception(thing: Fields): string {
  const container = textOf(thing['container_number']);
  return `“${String(thing['title'])}”${container === undefined ? '' : ` of ${container}`}`;
}

function severity(thing: Fields): string {
  return (SEVERITY_LABELS[thing['severity'] as keyof typeof SEVERITY_LABELS] ?? '').toLowerCase();
}

function resolution(thing: Fields): string {
  const { code, note } = fieldsOf(thing['resolution']) ?? {};
  const label = RESOLUTION_LABELS[code as keyof typeof RESOLUTION_LABELS];
  const said = textOf(note);
  return `${label === undefined ? '' : ` as ${label.toLowerCase()}`}${said === undefined ? '' : `: “${said}”`}`;
}

/** "ETA from 3 Nov to 5 Nov" */
function change({ path, from, to }: Difference): string {
  const field = path.at(-1);
  if (from === null || from === undefined) return `${fieldWords(path)} to ${valueWords(to, field)}`;
  return `${fieldWords(path)} from ${valueWords(from, field)} to ${valueWords(to, field)}`;
}

const MOST = 3;
function list(fields: readonly string[]): string {
  if (fields.length > MOST) return `${fields.slice(0, MOST - 1).join(', ')} and ${fields.length - MOST + 1} more`;
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
