import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { MILESTONE_CATALOG } from '@tracking/contracts';
import type { Places, Warning } from '@tracking/contracts';
import { draftBody } from '@tracking/http';
import type { Sent } from '@tracking/http';
import { checkMilestone } from '@tracking/shipments';
import type { MilestoneInput, MilestonePatch } from '@tracking/shipments';
import { PLACES } from '../dependencies.ts';
import { CorrectMilestoneDto, MilestoneWrittenResource, RecordMilestoneDto } from './milestone.resource.ts';

/** The milestone that a body describes, and a warning for each field that was ignored. */
export interface ReadMilestone {
  readonly milestone: MilestoneInput;
  readonly warnings: readonly Warning[];
}

@Injectable()
export class MilestonePipe implements PipeTransform<Sent, ReadMilestone> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(sent: Sent): ReadMilestone {
    return readMilestone(sent, this.places);
  }
}

/** The request, and the time of its command: nothing can have happened after it. */
type TimedRequest = Pick<Sent, 'body' | 'strict' | 'at'>;

/**
 * Reads the milestone that a body describes. The command checks what depends on its shipment.
 * @throws RequestError naming every faulty field, whether its type or its content is wrong
 */
export function readMilestone(request: TimedRequest, places: Places): ReadMilestone {
  const { at } = request;
  const { value, faulty, accept } = draftBody(RecordMilestoneDto, MilestoneWrittenResource, request);
  /** A faulty field is checked as null, so that the others are still checked. */
  const sound = <N extends keyof RecordMilestoneDto>(name: N) => (faulty.has(name) ? null : (value[name] ?? null));
  const milestone: MilestoneInput = {
    code: sound('code') ?? '',
    occurred_at: sound('occurred_at') ?? at,
    source: sound('source') ?? 'manual',
    classifier: sound('classifier') ?? 'actual',
    reason_code: sound('reason_code'),
    location: sound('location'),
    timezone: sound('timezone'),
    external_id: sound('external_id'),
    container_number: sound('container_number'),
    vessel: sound('vessel'),
    voyage: sound('voyage'),
    note: sound('note'),
  };
  // Not the checked form is returned: the command normalises the milestone with the ports of the shipment.
  return { milestone, warnings: accept(checkMilestone(milestone, places, at).errors) };
}

/** The correction that a body describes, and a warning for each field that was ignored. */
export interface ReadMilestonePatch {
  readonly patch: MilestonePatch;
  readonly warnings: readonly Warning[];
}

@Injectable()
export class MilestonePatchPipe implements PipeTransform<Sent, ReadMilestonePatch> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(sent: Sent): ReadMilestonePatch {
    return readMilestonePatch(sent, this.places);
  }
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

/** Reads a correction. The command checks what depends on the milestone and its shipment. @throws RequestError likewise */
function readMilestonePatch(request: TimedRequest, places: Places): ReadMilestonePatch {
  const { at } = request;
  const { value, faulty, accept } = draftBody(CorrectMilestoneDto, MilestoneWrittenResource, request);
  const sound = Object.entries(value).filter(([field]) => !faulty.has(field));
  const sent = Object.fromEntries(sound) as Nullable<MilestonePatch>;
  const patch = { ...sent, ...(sent.classifier === null && { classifier: 'actual' }) } as MilestonePatch;
  const code = MILESTONE_CATALOG[0]?.code ?? '';
  const { errors } = checkMilestone({ ...SOUND_MILESTONE, code, occurred_at: at, ...patch }, places, at);
  return { patch, warnings: accept(errors) };
}

/** Values for the fields that a patch omits, so that those that it names can be checked. */
const SOUND_MILESTONE: Omit<MilestoneInput, 'code' | 'occurred_at'> = {
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
};
