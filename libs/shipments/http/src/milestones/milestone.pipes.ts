import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { EMPTY_MILESTONE_DETAILS, MILESTONE_CLASSIFIER_VALUES, MILESTONE_CATALOG } from '@tracking/contracts';
import type { PlaceLookup, Timestamp, Warning } from '@tracking/contracts';
import { CLOCK_INJECTION_TOKEN, parseBodyAndCollectFaults, createInvalidRequestError } from '@tracking/http';
import type { RequestBodyToCheck } from '@tracking/http';
import type { Clock } from '@tracking/ports';
import type { MilestoneListQuery } from '@tracking/read-models';
import { checkMilestone, checkShipmentFields } from '@tracking/shipments';
import type { MilestoneInput, MilestonePatch } from '@tracking/shipments';
import { PLACES_INJECTION_TOKEN } from '../dependencies.ts';
import { parseShipmentIdOrThrow } from '../shipments/shipment-reader.ts';
import { requirePastTime } from '../shipments/shipment.pipes.ts';
import { CorrectMilestoneDto, MilestoneWrittenResource, RecordMilestoneDto } from './milestone.resource.ts';
import type { ListMilestonesDto } from './milestone.resource.ts';

/** Ids of the shipment and the milestone in a path. */
export interface MilestonePathIds {
  readonly shipment_id: string;
  readonly milestone_id: string;
}

/** @throws RequestError `not_found` if the id of the shipment is malformed */
export const MILESTONE_IDS_PIPE: PipeTransform<
  { readonly id: string; readonly milestone_id: string },
  MilestonePathIds
> = {
  transform: ({ id, milestone_id }) => ({ shipment_id: parseShipmentIdOrThrow(id), milestone_id }),
};

export interface MilestoneFilter extends Omit<MilestoneListQuery, 'limit' | 'after'> {
  /** The time as of which milestones are listed; undefined for the present. */
  readonly as_of?: Timestamp | undefined;
}

/**
 * Normalizes the filters of a milestone list. By default, a list contains actual milestones that are neither superseded
 * nor retracted.
 */
@Injectable()
export class MilestoneFilterPipe implements PipeTransform<ListMilestonesDto, MilestoneFilter> {
  constructor(
    @Inject(PLACES_INJECTION_TOKEN) private readonly places: PlaceLookup,
    @Inject(CLOCK_INJECTION_TOKEN) private readonly clock: Clock,
  ) {}

  transform(query: ListMilestonesDto): MilestoneFilter {
    const names = query.classifier?.split(',') ?? ['actual'];
    return {
      classifiers: MILESTONE_CLASSIFIER_VALUES.filter(
        (classifier) => names.includes(classifier) || names.includes('all'),
      ),
      include_superseded: query.include_superseded === 'true',
      include_retracted: query.include_retracted === 'true',
      container_number: query.container_number && this.readContainerNumber(query.container_number),
      as_of: requirePastTime(query.as_of, this.clock()),
    };
  }

  /** @throws RequestError */
  private readContainerNumber(text: string): string | undefined {
    const { fields, errors } = checkShipmentFields({ container_numbers: [text] }, undefined, this.places);
    if (errors.length > 0)
      throw createInvalidRequestError(errors.map((error) => ({ ...error, param: 'container_number' })));
    return fields.container_numbers?.[0];
  }
}

/**
 * The milestone that a body contains, and the time of the command. The milestone cannot have happened after that time.
 */
type TimedBody = Pick<RequestBodyToCheck, 'body' | 'strict' | 'at'>;

/** The milestone that a body contains, with a warning for each ignored field. */
export interface ParsedMilestone {
  readonly milestone: MilestoneInput;
  /** Time of the milestone in UTC, as far as it is known without the shipment. */
  readonly occurred_at: Timestamp;
  readonly warnings: readonly Warning[];
}

@Injectable()
export class MilestoneBodyPipe implements PipeTransform<RequestBodyToCheck, ParsedMilestone> {
  constructor(@Inject(PLACES_INJECTION_TOKEN) private readonly places: PlaceLookup) {}

  transform(sent: RequestBodyToCheck): ParsedMilestone {
    return parseMilestoneBody(sent, this.places);
  }
}

/**
 * Reads the milestone in a body. The command checks values that depend on the shipment.
 * @throws RequestError with every field whose type or content is invalid
 */
export function parseMilestoneBody(sent: TimedBody, places: PlaceLookup): ParsedMilestone {
  const { at } = sent;
  const {
    value,
    faulty,
    throwRequestBodyErrorsOrListWarnings: accept,
  } = parseBodyAndCollectFaults(RecordMilestoneDto, MilestoneWrittenResource, sent);
  /** An invalid field is set to null, so that the other fields are still checked. */
  const valid = <N extends keyof RecordMilestoneDto>(name: N) => (faulty.has(name) ? null : (value[name] ?? null));
  const milestone: MilestoneInput = {
    code: valid('code') ?? '',
    occurred_at: valid('occurred_at') ?? at,
    occurred_at_precision: 'time',
    source: valid('source') ?? 'manual',
    classifier: valid('classifier') ?? 'actual',
    reason_code: valid('reason_code'),
    location: valid('location'),
    timezone: valid('timezone'),
    external_id: valid('external_id'),
    container_number: valid('container_number'),
    vessel: valid('vessel'),
    voyage: valid('voyage'),
    note: valid('note'),
    latitude: valid('latitude'),
    longitude: valid('longitude'),
    terminal: valid('terminal'),
    imo: valid('imo'),
    pieces: valid('pieces'),
    temperature_celsius: valid('temperature_celsius'),
    reported_at: valid('reported_at'),
  };
  // The location is not normalized here but by the command, because it depends on the ports of the shipment.
  const checked = checkMilestone(milestone, places, at);
  const errors = checked.errors.filter(({ code }) => code !== 'unknown_timezone');
  return { milestone, occurred_at: checked.milestone.occurred_at, warnings: accept(errors) };
}

/** The correction that a body contains, with a warning for each ignored field. */
export interface ParsedMilestonePatch {
  readonly patch: MilestonePatch;
  readonly warnings: readonly Warning[];
}

/** Reads the correction in a body. The command checks values that depend on the milestone and its shipment. */
@Injectable()
export class MilestonePatchPipe implements PipeTransform<RequestBodyToCheck, ParsedMilestonePatch> {
  constructor(@Inject(PLACES_INJECTION_TOKEN) private readonly places: PlaceLookup) {}

  /** @throws RequestError with every invalid field */
  transform(sent: TimedBody): ParsedMilestonePatch {
    const { at } = sent;
    const {
      value,
      faulty,
      throwRequestBodyErrorsOrListWarnings: accept,
    } = parseBodyAndCollectFaults(CorrectMilestoneDto, MilestoneWrittenResource, sent);
    const valid = Object.entries(value).filter(([field]) => !faulty.has(field));
    const given = Object.fromEntries(valid) as Nullable<MilestonePatch>;
    const patch = { ...given, ...(given.classifier === null && { classifier: 'actual' }) } as MilestonePatch;
    const code = MILESTONE_CATALOG[0]?.code ?? '';
    // The command checks whether a corrected coordinate has its counterpart.
    const counterparts = { latitude: patch.longitude ?? null, longitude: patch.latitude ?? null };
    const whole = { ...VALID_VALUES_FOR_OMITTED_FIELDS, ...counterparts, code, occurred_at: at, ...patch };
    const { errors } = checkMilestone(whole, this.places, at);
    // The command checks the time zone of a location, which may be the present one.
    return { patch, warnings: accept(errors.filter(({ code }) => code !== 'unknown_timezone')) };
  }
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

/** Valid values for the fields that a patch omits, so that its other fields can be checked. */
const VALID_VALUES_FOR_OMITTED_FIELDS: Omit<MilestoneInput, 'code' | 'occurred_at'> = {
  source: 'manual',
  classifier: 'planned',
  reason_code: null,
  location: null,
  timezone: null,
  external_id: null,
  container_number: null,
  vessel: null,
  voyage: null,
  note: null,
  ...EMPTY_MILESTONE_DETAILS,
  reported_at: null,
};
