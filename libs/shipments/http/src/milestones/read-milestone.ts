import type { Places, Timestamp, Warning } from '@tracking/contracts';
import { ignored, invalidRequest, readDto, unknownFields } from '@tracking/http';
import { checkMilestone } from '@tracking/shipments';
import type { MilestoneInput } from '@tracking/shipments';
import { MilestoneWrittenResource, RecordMilestoneDto } from './milestone.resource.ts';

/** The milestone that a body describes, and which of the body's fields were ignored. */
export interface ReadMilestone {
  readonly milestone: MilestoneInput;
  readonly warnings: readonly Warning[];
}

/**
 * The milestone that a body describes, its times and types in their one form. What depends on its shipment the command
 * decides.
 * @param at the command's time: what happened cannot lie after it
 * @throws RequestError naming every faulty field, whether its type or its content is wrong
 */
export function readMilestone(
  body: unknown,
  { at, strict }: { readonly at: Timestamp; readonly strict: boolean },
  places: Places,
): ReadMilestone {
  const { value, faults } = readDto(RecordMilestoneDto, body);
  const unknown = unknownFields(RecordMilestoneDto, MilestoneWrittenResource, body);
  const faulty = new Set(faults.map((fault) => fault.param));
  /** A faulty field is checked as null, so that the rest is still checked. */
  const sound = <N extends keyof RecordMilestoneDto>(name: N) => (faulty.has(name) ? null : (value[name] ?? null));
  const input: MilestoneInput = {
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
  const checked = checkMilestone(input, places, at);
  const errors = [...faults, ...checked.errors.filter((error) => !faulty.has(error.param)), ...(strict ? unknown : [])];
  if (errors.length > 0) throw invalidRequest(errors);
  // As written: the command normalises it with the shipment's own ports in hand.
  return { milestone: input, warnings: ignored(unknown) };
}
