import {
  type AutomaticExceptionType,
  type ExceptionSettings,
  type RuleSettings,
  SEVERITIES,
  type Severity,
  type Timestamp,
} from '@tracking/contracts';
import type { Memory } from './memory.ts';

export const HOUR = 3_600_000;

/** All that conditions are worked out from. */
export interface World {
  readonly memory: Memory;
  readonly settings: RuleSettings;
  readonly created: number;
  /** When a milestone or another ETA was last heard of; null if never. */
  readonly heard: number | null;
}

/** Something that is wrong from a moment on. */
export interface Condition {
  readonly type: AutomaticExceptionType;
  readonly container: string | null;
  /** In ms. Null: it is so by what is recorded, whatever the time. */
  readonly due: number | null;
  /** In ms: the time or day it is about, which it precedes by the hours that are set. Null: that is when it is due. */
  readonly expected: number | null;
  readonly severity: Severity;
  /** From when it is worse. */
  readonly worse: { readonly from: number; readonly severity: Severity } | null;
  /** How late the shipment will be, in hours: of `eta_slip`. */
  readonly slip: number | null;
  /** What it is about, one by one: of documents. */
  readonly about: readonly string[];
}

export function condition(type: AutomaticExceptionType, container: string | null, due: number | null): Condition {
  return { type, container, due, expected: null, severity: 'low', worse: null, slip: null, about: [] };
}

export function hoursOf({ by_mode, after_hours }: ExceptionSettings, { fields: { mode } }: Memory): number {
  const hours = (mode === null ? undefined : by_mode[mode]) ?? after_hours;
  if (hours === null) throw new Error('this type knows no hours');
  return hours;
}

export function ms(time: Timestamp): number {
  return Date.parse(time);
}

export function graver(a: Severity, b: Severity): Severity {
  return SEVERITIES.indexOf(a) > SEVERITIES.indexOf(b) ? a : b;
}

/** Whether it is so at that moment. */
export function holdsAt({ due }: Condition, now: number): boolean {
  return due === null || due <= now;
}

export function severityAt({ severity, worse }: Condition, now: number): Severity {
  return worse !== null && worse.from <= now ? graver(severity, worse.severity) : severity;
}

/** The moments at which time alone changes something. */
export function momentsOf(conditions: readonly Condition[]): readonly number[] {
  return conditions.flatMap(({ due, worse }) => [
    ...(due === null ? [] : [due]),
    ...(worse === null ? [] : [worse.from]),
  ]);
}

export function keyOf({ type, container }: { readonly type: string; readonly container: string | null }): string {
  return `${type} ${container}`;
}
