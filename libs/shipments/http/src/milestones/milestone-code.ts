import { MILESTONE_CODES, findMilestoneCode, foreignMilestoneCodes } from '@tracking/contracts';
import { fault, field, text } from '@tracking/http';
import type { FieldCheck, FieldOptions } from '@tracking/http';

/** A code of the catalog, whatever its case. One of another standard is refused with those that it can mean. */
export const MilestoneCode = (options: FieldOptions): PropertyDecorator =>
  field(milestoneCode, options, { type: String, enum: [...MILESTONE_CODES] }, { normalise: inCatalogForm });

function inCatalogForm(value: unknown): unknown {
  return typeof value === 'string' ? (findMilestoneCode(value.trim().toLowerCase())?.code ?? value) : value;
}

const milestoneCode: FieldCheck = (value, param) => {
  const faults = text(value, param);
  if (faults.length > 0) return faults;
  const code = String(value);
  if (findMilestoneCode(code)) return [];
  const foreign = foreignMilestoneCodes(code).map(({ standard, codes }) => `${or(codes)} (${standard})`);
  const meant = foreign.length === 0 ? '' : ` Here ${code.trim()} is ${foreign.join(', or ')}.`;
  return fault(param, 'unknown_code', `Must be a code of GET /v1/milestone_codes.${meant}`);
};

function or(codes: readonly string[]): string {
  return codes.length < 2 ? codes.join() : `${codes.slice(0, -1).join(', ')} or ${codes.at(-1) ?? ''}`;
}
