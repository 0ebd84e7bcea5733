import type { WorkspaceSettings } from '@tracking/client';
import type { Mode } from '../../values/codes.ts';

type Rules = WorkspaceSettings['exceptions'];
export type RuleType = keyof Rules;
export type Rule = Rules[RuleType];

/** Values of the rule form. An empty number of hours stands for the default. */
export interface RuleFormValues {
  readonly enabled: boolean;
  readonly severity: Rule['severity'];
  readonly after_hours: number | '';
  readonly before_hours: number | '';
  readonly by_mode: Readonly<Partial<Record<Mode, number | ''>>>;
}

/** Merge patch of one exception rule. Null restores the default of a setting. */
interface RulePatch {
  enabled?: boolean;
  severity?: Rule['severity'];
  after_hours?: number | null;
  before_hours?: number | null;
  by_mode?: Partial<Record<Mode, number | null>>;
}

const MAX_RULE_HOURS = 8_760;

export function toRuleFormValues({ enabled, severity, after_hours, before_hours, by_mode }: Rule): RuleFormValues {
  return { enabled, severity, after_hours: after_hours ?? '', before_hours: before_hours ?? '', by_mode };
}

/** Builds the merge patch that changes a rule to the values of the form. Returns undefined if nothing differs. */
export function toRulePatch(rule: Rule, values: RuleFormValues): RulePatch | undefined {
  const patch: RulePatch = {};
  if (values.enabled !== rule.enabled) patch.enabled = values.enabled;
  if (values.severity !== rule.severity) patch.severity = values.severity;
  for (const name of ['after_hours', 'before_hours'] as const) {
    if (rule[name] !== null && values[name] !== rule[name]) patch[name] = convertEmptyToNull(values[name]);
  }
  const before = rule.by_mode as RuleFormValues['by_mode'];
  const modes = new Set([...Object.keys(before), ...Object.keys(values.by_mode)] as Mode[]);
  const changed = [...modes].filter((mode) => (before[mode] ?? '') !== (values.by_mode[mode] ?? ''));
  if (changed.length > 0)
    patch.by_mode = Object.fromEntries(changed.map((mode) => [mode, convertEmptyToNull(values.by_mode[mode] ?? '')]));
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Returns the error message for an invalid number of hours, or null if the number is valid. */
export function validateHours(hours: number | string): string | null {
  if (hours === '') return null;
  return typeof hours === 'number' && hours > 0 && hours <= MAX_RULE_HOURS
    ? null
    : `More than 0, at most ${MAX_RULE_HOURS}`;
}

/**
 * Lists the names of the settings in which two rules differ. Each mode is a separate setting, such as `by_mode.air`.
 */
export function listRuleDifferences(one: Rule, other: Rule): readonly string[] {
  const [flat, otherFlat] = [flattenRuleHoursByMode(one), flattenRuleHoursByMode(other)];
  return [...new Set([...Object.keys(flat), ...Object.keys(otherFlat)])].filter(
    (name) => flat[name] !== otherFlat[name],
  );
}

export function flattenRuleHoursByMode({ by_mode, ...plain }: Rule): Readonly<Record<string, unknown>> {
  const modes = Object.entries(by_mode).map(([mode, hours]) => [`by_mode.${mode}`, hours] as const);
  return { ...plain, ...Object.fromEntries(modes) };
}

const convertEmptyToNull = (hours: number | '') => (hours === '' ? null : hours);

interface ExceptionRuleDescriptionTexts {
  /** Sentence that states when the rule opens an exception. */
  readonly description: string;
  /**
   * Words that follow "24 h" or "Hours" in the label of `after_hours`. Undefined if the rule does not use
   * `after_hours`.
   */
  readonly after?: string;
  readonly before?: string;
}

export const RULE_DESCRIPTIONS: Readonly<Record<RuleType, ExceptionRuleDescriptionTexts>> = {
  eta_slip: {
    description: 'The ETA is later than the original ETA, and the shipment has not arrived.',
    after: 'after the original ETA',
  },
  departure_overdue: { description: 'The ETD has passed and no departure is recorded.', after: 'past the ETD' },
  arrival_overdue: { description: 'The ETA has passed and no arrival is recorded.', after: 'past the ETA' },
  no_update: { description: 'No update was received for the shipment.', after: 'without an update' },
  missed_connection: {
    description: 'A container is still waiting after the planned departure of its next leg.',
    after: 'after the ETD of the next leg',
  },
  customs_hold: { description: 'Customs placed a hold or an inspection, and no clearance is recorded.' },
  terminal_hold: { description: 'The terminal placed a hold, and no release is recorded.' },
  freight_hold: { description: 'The carrier placed a hold, and no release is recorded.' },
  off_route: { description: 'A container left a terminal in another country, far from its destination.' },
  demurrage_risk: {
    description: 'A container is still at the terminal near the end of its free days.',
    after: 'after discharge, if the last free day is unknown',
    before: 'before the last free day',
  },
  detention_risk: {
    description: 'A container has not been returned near the end of its free days.',
    after: 'after gate-out, if the return date is unknown',
    before: 'before the return date',
  },
  missing_document: {
    description: 'A required document is missing shortly before arrival.',
    before: 'before the ETA',
  },
  document_rejected: { description: 'A document was rejected and has not been replaced.' },
  delivery_failed: { description: 'A delivery attempt failed.' },
  return_to_sender: { description: 'The goods are on their way back to the shipper.' },
  milestone_conflict: { description: 'Milestones contradict each other.' },
  movement_after_cancel: { description: 'A movement was recorded after the cancellation.' },
  invalid_container_number: { description: 'The check digit of a container number is wrong.' },
};

/** Returns the label of a rule's setting. */
export function getRuleSettingLabel(name: string): string {
  const labels: Readonly<Record<string, string>> = {
    enabled: 'Opens automatically',
    severity: 'Severity',
    after_hours: 'Hours after',
    before_hours: 'Hours before',
  };
  return labels[name] ?? `Hours for ${name.slice('by_mode.'.length)}`;
}

export function formatSettingValue(value: unknown): string {
  if (value === undefined) return 'same as other modes';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? `${value} h` : String(value);
}

export type RequiredTypes = WorkspaceSettings['required_documents'];
type Types = readonly string[];

/** Lists the modes whose required documents differ between two settings. */
export function listModesWithChangedDocuments(before: RequiredTypes, after: RequiredTypes): readonly Mode[] {
  const modes = [...new Set([...Object.keys(before), ...Object.keys(after)])] as Mode[];
  return modes.filter((mode) => !haveSameDocumentTypes(before[mode] ?? [], after[mode] ?? []));
}

/**
 * Builds the merge patch for required documents. A mode is null if its documents are the default again. Returns
 * undefined if nothing differs.
 */
export function buildRequiredDocumentsPatch(
  before: RequiredTypes,
  after: RequiredTypes,
  defaults: RequiredTypes,
): Record<string, RequiredTypes[string] | null> | undefined {
  const changed = listModesWithChangedDocuments(before, after);
  if (changed.length === 0) return undefined;
  return Object.fromEntries(
    changed.map((mode) => [
      mode,
      haveSameDocumentTypes(after[mode] ?? [], defaults[mode] ?? []) ? null : (after[mode] ?? []),
    ]),
  );
}

/** Checks if two lists contain the same document types, in any order. */
function haveSameDocumentTypes(one: Types, other: Types): boolean {
  return one.length === other.length && one.every((type) => other.includes(type));
}
