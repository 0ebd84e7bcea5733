import type { ShipmentException } from '@tracking/client';

export interface Measure {
  readonly label: string;
  readonly value: string;
  readonly isTime: boolean;
}

/** What rules measure; days by which something is due stand elsewhere. */
const LABELS: Readonly<Record<string, string>> = {
  slip_hours: 'Slipped by',
  eta: 'ETA',
  original_eta: 'Original ETA',
  etd: 'ETD',
  silent_since: 'Silent since',
  heard_at: 'Last news',
  location: 'Stopped at',
  arrived_at: 'There since',
  discharged_at: 'Discharged',
  gated_out_at: 'Left the terminal',
};

/** What the rule measured that opened it, as people read it. */
export function measured({ metrics }: Pick<ShipmentException, 'metrics'>): readonly Measure[] {
  return Object.entries(LABELS).flatMap(([name, label]): Measure[] => {
    const value = metrics[name];
    if (typeof value === 'number') return [{ label, value: `${value.toLocaleString()} h`, isTime: false }];
    return typeof value === 'string' ? [{ label, value, isTime: /^\d{4}-\d\d-\d\dT/.test(value) }] : [];
  });
}
