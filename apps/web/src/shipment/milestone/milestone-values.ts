import { queryOptions } from '@tanstack/react-query';
import type { BodyOf, ItemOf, Milestone, MilestoneFields, Shipment, components } from '@tracking/client';
import { type Environment, getApiClient } from '../../session/api.ts';
import { getDayAtPlace, isDateOnly, convertLocalTimeToUtc, toWallClock } from '../../values/zones.ts';
import {
  CLASSIFIER_LABELS,
  type Classifier,
  type Reason,
  DATA_SOURCE_LABELS,
  type Source,
  getReasonLabel,
} from '../labels.ts';
import type { VersionedResource } from '../concurrent-changes/guarded-write.ts';
import { parseVersionFromETag } from '../shipment-queries.ts';

/** Values of the milestone form. An empty string or null stands for a missing value. */
export interface MilestoneFormValues {
  readonly code: string;
  readonly classifier: Classifier;
  /** Local time in the time zone of the form, such as `2026-11-21T10:30`, or a date of a whole day at the place. */
  readonly occurred_at: string;
  readonly location: string;
  readonly container_number: string | null;
  readonly source: Source;
  readonly reason_code: Reason | null;
  readonly vessel: string;
  readonly voyage: string;
  readonly note: string;
  readonly external_id: string;
  readonly terminal: string;
  readonly imo: string;
  /** Numbers as the user typed them. */
  readonly latitude: string;
  readonly longitude: string;
  readonly pieces: string;
  readonly temperature_celsius: string;
}
export type MilestoneChanges = BodyOf<'correctMilestone'>;

const MILESTONE_NUMBER_FIELDS = ['latitude', 'longitude', 'pieces', 'temperature_celsius'] as const;

/** Milestone fields that a correction can change, except the time. */
const CORRECTABLE_FIELDS = [
  ...(['code', 'classifier', 'location', 'container_number', 'reason_code'] as const),
  ...(['vessel', 'voyage', 'note', 'external_id', 'terminal', 'imo'] as const),
  ...MILESTONE_NUMBER_FIELDS,
] as const;

export function createEmptyMilestoneValues(now: string, zone: string): MilestoneFormValues {
  const texts = { code: '', location: '', vessel: '', voyage: '', note: '', external_id: '', terminal: '', imo: '' };
  const numbers = { latitude: '', longitude: '', pieces: '', temperature_celsius: '' };
  const choices = { classifier: 'actual', source: 'manual', container_number: null, reason_code: null } as const;
  return { ...texts, ...numbers, ...choices, occurred_at: toWallClock(now, zone) };
}

export function toMilestoneFormValues(milestone: Milestone, zone: string): MilestoneFormValues {
  const { code, classifier, container_number, source, reason_code } = milestone;
  const text = (value: string | number | null) => String(value ?? '');
  return {
    ...{ code, classifier, container_number, source, reason_code },
    occurred_at: toFormTime(milestone, zone),
    location: text(milestone.location),
    vessel: text(milestone.vessel),
    voyage: text(milestone.voyage),
    note: text(milestone.note),
    external_id: text(milestone.external_id),
    terminal: text(milestone.terminal),
    imo: text(milestone.imo),
    latitude: text(milestone.latitude),
    longitude: text(milestone.longitude),
    pieces: text(milestone.pieces),
    temperature_celsius: text(milestone.temperature_celsius),
  };
}

/** Builds the request body that records the milestone. */
export function toMilestoneRequestBody(values: MilestoneFormValues, zone: string): MilestoneFields {
  const entries = Object.entries({ ...values, occurred_at: toInstantOrUnchanged(values.occurred_at, zone) });
  return Object.fromEntries(
    entries
      .filter(([, value]) => value !== '' && value !== null)
      .map(([name, value]) => [name, parseMilestoneFormValue(name, value)]),
  ) as unknown as MilestoneFields;
}

/**
 * Builds the request body of a correction. It contains only the changed fields, and null for a cleared field. If the
 * time is unchanged, its seconds are kept.
 */
export function buildMilestoneCorrectionBody(
  before: Milestone,
  values: MilestoneFormValues,
  zone: string,
): MilestoneChanges {
  const changed = CORRECTABLE_FIELDS.map((name) => [name, parseMilestoneFormValue(name, values[name])] as const).filter(
    ([name, value]) => value !== before[name],
  );
  const isSameTime = values.occurred_at === toFormTime(before, zone);
  const occurred_at = isSameTime ? undefined : toInstantOrUnchanged(values.occurred_at, zone);
  return { ...Object.fromEntries(changed), ...(occurred_at !== undefined && { occurred_at }) } as MilestoneChanges;
}

/**
 * Converts a form value to the value of the field; null if it is empty. Returns text that is not a number as it is, so
 * that the API reports the error.
 */
function parseMilestoneFormValue(name: string, value: string | null): string | number | null {
  const text = value?.trim() ?? '';
  if (text === '') return null;
  const number = isNumberField(name) ? Number(text.replace(',', '.')) : NaN;
  return Number.isNaN(number) ? text : number;
}

function isNumberField(name: string): boolean {
  return MILESTONE_NUMBER_FIELDS.some((field) => field === name);
}

/** Returns the time of a milestone as the form shows it: a local time, or the date of a whole day. */
function toFormTime({ occurred_at, occurred_at_precision, timezone }: Milestone, zone: string): string {
  return occurred_at_precision === 'day' ? getDayAtPlace(occurred_at, timezone) : toWallClock(occurred_at, zone);
}

/** Converts a local time to UTC. Returns a date and an invalid time as they are; the API reports errors. */
function toInstantOrUnchanged(wallClock: string, zone: string): string {
  return isDateOnly(wallClock) ? wallClock : (convertLocalTimeToUtc(wallClock, zone) ?? wallClock);
}

/** Labels of the milestone fields that a correction can change. */
export const MILESTONE_FIELD_LABELS = {
  code: 'Milestone',
  classifier: 'Classifier',
  occurred_at: 'Time',
  location: 'Location',
  container_number: 'Container',
  reason_code: 'Reason',
  vessel: 'Vessel',
  voyage: 'Voyage',
  note: 'Note',
  external_id: 'Your milestone reference',
  timezone: 'Time zone',
  terminal: 'Terminal',
  imo: 'IMO number',
  latitude: 'Latitude',
  longitude: 'Longitude',
  pieces: 'Pieces',
  temperature_celsius: 'Temperature (°C)',
} as const satisfies Partial<Record<keyof Milestone, string>>;
export type MilestoneField = keyof typeof MILESTONE_FIELD_LABELS;
type CorrectableFields = Pick<Milestone, MilestoneField>;

const MILESTONE_FIELDS = Object.keys(MILESTONE_FIELD_LABELS) as MilestoneField[];

/** Lists the correctable fields in which two states of a milestone differ. */
export function listDifferingFields(from: CorrectableFields, to: CorrectableFields): MilestoneField[] {
  return MILESTONE_FIELDS.filter((field) => from[field] !== to[field]);
}

/** Formats the value of a milestone field other than the time. */
export function formatMilestoneField(
  milestone: CorrectableFields & Pick<Milestone, 'label'>,
  field: MilestoneField,
): string {
  const value = milestone[field];
  if (value === null) return '—';
  if (field === 'code') return milestone.label;
  if (field === 'classifier') return CLASSIFIER_LABELS[milestone.classifier];
  if (field === 'reason_code' && milestone.reason_code !== null) return getReasonLabel(milestone.reason_code);
  return String(value);
}

export function getSourceLabel({ source }: Pick<Milestone, 'source'>): string {
  return DATA_SOURCE_LABELS[source];
}

export function isSameMilestoneRevision(one: Milestone, other: Milestone): boolean {
  return one.revision === other.revision;
}

type MilestoneCode = components['schemas']['MilestoneCode'];

/** Query of the milestone codes. The codes change only with a release, so they are read once. */
export function milestoneCodesQuery(environment: Environment) {
  return queryOptions({
    queryKey: ['milestone-codes', environment],
    queryFn: async ({ signal }) => (await getApiClient(environment).milestones.codes({ signal })).data,
    staleTime: Infinity,
  });
}

/** Builds the options of the milestone field. The codes that are common for the shipment's mode come first. */
export function buildMilestoneCodeOptions(codes: readonly MilestoneCode[], mode: Shipment['mode']) {
  const isUsual = ({ modes }: MilestoneCode) => mode === null || modes.includes(mode);
  const items = (some: readonly MilestoneCode[]) => some.map(({ code, label }) => ({ value: code, label }));
  const unusual = codes.filter((code) => !isUsual(code));
  if (unusual.length === 0) return items(codes);
  return [
    { group: `Common for ${mode}`, items: items(codes.filter(isUsual)) },
    { group: 'Other milestones', items: items(unusual) },
  ];
}

export async function fetchMilestoneWithVersion(
  environment: Environment,
  { shipment_id, id }: Pick<Milestone, 'shipment_id' | 'id'>,
): Promise<VersionedResource<Milestone>> {
  const { data: thing, etag } = await getApiClient(environment).milestones.get(shipment_id, id).withResponse();
  return { thing, version: parseVersionFromETag(etag) };
}

type HistoryEntry = ItemOf<'listShipmentHistory'>;

/** Change of a milestone. For the recording of the milestone, `from` is null. For its retraction, `to` is null. */
export interface MilestoneChange {
  readonly at: string;
  readonly actor: HistoryEntry['actor'];
  readonly from: Milestone | null;
  readonly to: Milestone | null;
}

/**
 * Returns the change of a milestone that a history entry contains. Returns undefined if the entry does not concern the
 * milestone.
 */
function extractMilestoneChangeFromHistory(
  { at, actor, changes }: HistoryEntry,
  milestoneId: string,
): MilestoneChange | undefined {
  const { from = null, to = null } = (changes['milestone'] ?? {}) as { from?: Milestone | null; to?: Milestone | null };
  return [from?.id, to?.id].includes(milestoneId) ? { at, actor, from, to } : undefined;
}

/** Query of all corrections and of the retraction of a milestone, newest first. */
export function milestoneHistoryQuery(environment: Environment, shipmentId: string, { id, revision }: Milestone) {
  return queryOptions({
    queryKey: ['milestone-history', environment, shipmentId, id, revision],
    queryFn: async ({ signal }): Promise<MilestoneChange[]> => {
      const changes: MilestoneChange[] = [];
      for await (const entry of getApiClient(environment).shipments.history(shipmentId, { limit: 200 }, { signal })) {
        const change = extractMilestoneChangeFromHistory(entry, id);
        if (change?.from === null) break;
        if (change !== undefined) changes.push(change);
        if (changes.length >= revision - 1) break;
      }
      return changes;
    },
    enabled: revision > 1,
    staleTime: Infinity,
  });
}
