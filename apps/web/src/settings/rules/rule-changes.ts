import type { WorkspaceSettings } from '@tracking/client';
import type { Mode } from '../../values/codes.ts';

export type Rules = WorkspaceSettings['exceptions'];
export type RuleType = keyof Rules;
export type Rule = Rules[RuleType];

/** As a form has it: hours that are left empty are the default's. */
export interface RuleValues {
  readonly enabled: boolean;
  readonly severity: Rule['severity'];
  readonly after_hours: number | '';
  readonly before_hours: number | '';
  readonly by_mode: Readonly<Partial<Record<Mode, number | ''>>>;
}

/** What a merge patch of a type holds; null brings back the default. */
export interface RulePatch {
  enabled?: boolean;
  severity?: Rule['severity'];
  after_hours?: number | null;
  before_hours?: number | null;
  by_mode?: Partial<Record<Mode, number | null>>;
}

const MOST_HOURS = 8_760;

export function valuesOf({ enabled, severity, after_hours, before_hours, by_mode }: Rule): RuleValues {
  return { enabled, severity, after_hours: after_hours ?? '', before_hours: before_hours ?? '', by_mode };
}

/** What differs; undefined where nothing does. */
export function patchOf(rule: Rule, values: RuleValues): RulePatch | undefined {
  const patch: RulePatch = {};
  if (values.enabled !== rule.enabled) patch.enabled = values.enabled;
  if (values.severity !== rule.severity) patch.severity = values.severity;
  for (const name of ['after_hours', 'before_hours'] as const) {
    if (rule[name] !== null && values[name] !== rule[name]) patch[name] = orDefault(values[name]);
  }
  const before = rule.by_mode as RuleValues['by_mode'];
  const modes = new Set([...Object.keys(before), ...Object.keys(values.by_mode)] as Mode[]);
  const changed = [...modes].filter((mode) => (before[mode] ?? '') !== (values.by_mode[mode] ?? ''));
  if (changed.length > 0)
    patch.by_mode = Object.fromEntries(changed.map((mode) => [mode, orDefault(values.by_mode[mode] ?? '')]));
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** What is wrong with hours; null where nothing is. */
export function hoursFault(hours: number | string): string | null {
  if (hours === '') return null;
  return typeof hours === 'number' && hours > 0 && hours <= MOST_HOURS ? null : `More than 0, at most ${MOST_HOURS}`;
}

/** Names of what is otherwise in one than in the other, `by_mode.air` each by itself. */
export function differences(one: Rule, other: Rule): readonly string[] {
  const [flat, otherFlat] = [leavesOf(one), leavesOf(other)];
  return [...new Set([...Object.keys(flat), ...Object.keys(otherFlat)])].filter(
    (name) => flat[name] !== otherFlat[name],
  );
}

export function leavesOf({ by_mode, ...plain }: Rule): Readonly<Record<string, unknown>> {
  const modes = Object.entries(by_mode).map(([mode, hours]) => [`by_mode.${mode}`, hours] as const);
  return { ...plain, ...Object.fromEntries(modes) };
}

const orDefault = (hours: number | '') => (hours === '' ? null : hours);
