import { MILESTONE_CATALOG } from '@tracking/contracts';
import type { Places, Timestamp, Warning } from '@tracking/contracts';
import { ignored, invalidRequest, readDto, unknownFields } from '@tracking/http';
import { checkMilestone } from '@tracking/shipments';
import type { MilestoneInput, MilestonePatch } from '@tracking/shipments';
import { CorrectMilestoneDto, MilestoneWrittenResource } from './milestone.resource.ts';

/** What a body corrects of a milestone, and which of its fields were ignored. */
export interface ReadMilestonePatch {
  readonly patch: MilestonePatch;
  readonly warnings: readonly Warning[];
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

/** Stands in for what a patch leaves out, so that what it names is checked. */
const NOTHING_WRONG: Omit<MilestoneInput, 'code' | 'occurred_at'> = {
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

/**
 * The correction that a body describes, its times and types in their one form. What depends on the milestone and its
 * shipment the command decides.
 * @param at the command's time: what happened cannot lie after it
 * @throws RequestError naming every faulty field, whether its type or its content is wrong
 */
export function readMilestonePatch(
  body: unknown,
  { at, strict }: { readonly at: Timestamp; readonly strict: boolean },
  places: Places,
): ReadMilestonePatch {
  const { value, faults } = readDto(CorrectMilestoneDto, body);
  const unknown = unknownFields(CorrectMilestoneDto, MilestoneWrittenResource, body);
  const faulty = new Set(faults.map((fault) => fault.param));
  const sound = Object.entries(value).filter(([field]) => !faulty.has(field));
  const sent = Object.fromEntries(sound) as Nullable<MilestonePatch>;
  const patch = { ...sent, ...(sent.classifier === null && { classifier: 'actual' }) } as MilestonePatch;
  const code = MILESTONE_CATALOG[0]?.code ?? '';
  const { errors: wrong } = checkMilestone({ ...NOTHING_WRONG, code, occurred_at: at, ...patch }, places, at);
  const errors = [...faults, ...wrong, ...(strict ? unknown : [])];
  if (errors.length > 0) throw invalidRequest(errors);
  return { patch, warnings: ignored(unknown) };
}
