import type { RuleType } from './rule-changes.ts';

interface RuleWords {
  /** When it opens. */
  readonly about: string;
  /** What the hours count from, where it has such. */
  readonly after?: string;
  readonly before?: string;
}

export const RULE_WORDS: Readonly<Record<RuleType, RuleWords>> = {
  eta_slip: { about: 'The ETA is later than the original one, before the arrival.', after: 'past the original ETA' },
  departure_overdue: { about: 'No departure is known after the ETD.', after: 'past the ETD' },
  arrival_overdue: { about: 'No arrival is known after the ETA.', after: 'past the ETA' },
  no_update: { about: 'Nothing was heard of the shipment.', after: 'without any news' },
  missed_connection: {
    about: 'A container waits on the way after its next leg was to leave.',
    after: 'past the ETD of the next leg',
  },
  customs_hold: { about: 'Customs holds or inspects, and no clearance is known.' },
  demurrage_risk: {
    about: 'A container is still at the terminal when its free days run out.',
    after: 'past the discharge, where no last free day is known',
    before: 'before the last free day',
  },
  detention_risk: {
    about: 'A container is not returned when its free days run out.',
    after: 'since it left, where no day of return is known',
    before: 'before it is to be returned',
  },
  missing_document: { about: 'A required document is absent as the arrival comes near.', before: 'before the ETA' },
  document_rejected: { about: 'A document was rejected, and none came instead.' },
  delivery_failed: { about: 'A delivery was attempted in vain.' },
  milestone_conflict: { about: 'Milestones contradict each other.' },
  movement_after_cancel: { about: 'Something moved after the cancellation.' },
  invalid_container_number: { about: 'The check digit of a container number is wrong.' },
};

/** Of one value of a rule, as people read it. */
export function settingLabel(name: string): string {
  const labels: Readonly<Record<string, string>> = {
    enabled: 'Opens by itself',
    severity: 'Severity',
    after_hours: 'Hours after',
    before_hours: 'Hours before',
  };
  return labels[name] ?? `Hours by ${name.slice('by_mode.'.length)}`;
}

export function settingValue(value: unknown): string {
  if (value === undefined) return 'as other modes';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? `${value} h` : String(value);
}
