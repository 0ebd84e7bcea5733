import type { Milestone } from '@tracking/client';

/** Builds a milestone for specs. Fields that are not given have default values. */
export function buildSampleMilestone(fields: Partial<Milestone> = {}): Milestone {
  const empty = {
    location: null,
    timezone: null,
    reason_code: null,
    external_id: null,
    container_number: null,
    vessel: null,
    voyage: null,
    note: null,
    latitude: null,
    longitude: null,
    terminal: null,
    imo: null,
    pieces: null,
    temperature_celsius: null,
    retracted_at: null,
    superseded_at: null,
  };
  return {
    ...empty,
    id: 'mil_1',
    shipment_id: 'shp_1',
    code: 'vessel_departed',
    label: 'Vessel departed',
    sequence: 60,
    classifier: 'actual',
    occurred_at: '2026-11-24T06:00:42.000Z',
    occurred_at_precision: 'time',
    source: 'carrier',
    reported_at: '2026-11-01T00:00:00.000Z',
    recorded_at: '2026-11-24T06:10:00.000Z',
    recorded_by: { type: 'system', id: 'system' },
    revision: 1,
    ...fields,
  };
}
