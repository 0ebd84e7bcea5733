import { MILESTONE_CODES, convertForeignMilestoneCode, parseMilestoneCode } from '@tracking/contracts';
import { CheckedProperty, createFieldError, checkText } from '@tracking/http';
import type { FieldCheck, FieldDecoratorOptions } from '@tracking/http';

/**
 * Checks a milestone code, ignoring case. For a code of another standard, the error names the matching catalog codes.
 */
export const MilestoneCodeProperty = (options: FieldDecoratorOptions): PropertyDecorator =>
  CheckedProperty(
    checkMilestoneCode,
    options,
    { type: String, enum: [...MILESTONE_CODES] },
    { normalise: normalizeMilestoneCode },
  );

function normalizeMilestoneCode(value: unknown): unknown {
  return typeof value === 'string' ? (parseMilestoneCode(value.trim().toLowerCase())?.code ?? value) : value;
}

const checkMilestoneCode: FieldCheck = (value, param) => {
  const faults = checkText(value, param);
  if (faults.length > 0) return faults;
  const code = String(value);
  if (parseMilestoneCode(code)) return [];
  const foreign = convertForeignMilestoneCode(code).map(
    ({ standard, codes, classifier }) =>
      `${joinWithOr(codes)}${classifier === null ? '' : ` with the classifier ${classifier}`} (${standard})`,
  );
  const meant = foreign.length === 0 ? '' : ` Here ${code.trim()} is ${foreign.join(', or ')}.`;
  return createFieldError(param, 'unknown_code', `Must be a milestone code, see GET /v1/milestone_codes.${meant}`);
};

function joinWithOr(codes: readonly string[]): string {
  return codes.length < 2 ? codes.join() : `${codes.slice(0, -1).join(', ')} or ${codes.at(-1) ?? ''}`;
}
