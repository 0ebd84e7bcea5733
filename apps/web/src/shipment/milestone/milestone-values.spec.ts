import type { Milestone } from '@tracking/client';
import {
  createEmptyMilestoneValues,
  toMilestoneRequestBody,
  buildCorrections,
  toMilestoneFormValues,
} from './milestone-values.ts';

const ZONE = 'Asia/Shanghai';
const recorded: Milestone = {
  id: 'mil_1',
  shipment_id: 'shp_1',
  code: 'vessel_departed',
  label: 'Vessel departed',
  sequence: 60,
  classifier: 'actual',
  occurred_at: '2026-11-24T06:00:42.000Z',
  location: 'CNSHA',
  timezone: ZONE,
  source: 'carrier',
  reason_code: null,
  external_id: null,
  container_number: null,
  vessel: 'Maersk Honam',
  voyage: null,
  note: null,
  recorded_at: '2026-11-24T06:10:00.000Z',
  recorded_by: { type: 'system', id: 'system' },
  retracted_at: null,
  superseded_at: null,
  revision: 1,
};

describe('the milestone form', () => {
  it('sends the filled fields, with the time in UTC', () => {
    const blank = createEmptyMilestoneValues('2026-11-24T06:00:00Z', ZONE);
    const values = { ...blank, code: 'vessel_departed', location: ' CNSHA ', occurred_at: '2026-11-24T14:30' };
    expect(toMilestoneRequestBody(values, ZONE)).toEqual({
      code: 'vessel_departed',
      classifier: 'actual',
      source: 'manual',
      location: 'CNSHA',
      occurred_at: '2026-11-24T06:30:00.000Z',
    });
  });

  it('sends nothing for an unchanged correction, although the form does not show seconds', () => {
    expect(buildCorrections(recorded, toMilestoneFormValues(recorded, ZONE), ZONE)).toEqual({});
  });

  it('sends the changed fields of a correction, and null for cleared fields', () => {
    const values = {
      ...toMilestoneFormValues(recorded, ZONE),
      vessel: ' ',
      voyage: '412W',
      occurred_at: '2026-11-24T15:00',
    };
    expect(buildCorrections(recorded, values, ZONE)).toEqual({
      vessel: null,
      voyage: '412W',
      occurred_at: '2026-11-24T07:00:00.000Z',
    });
  });

  it.each(['', '20261-11-24T15:00'])(
    'sends an invalid time as it was typed, %j, so that the service rejects it',
    (typed) => {
      const values = { ...toMilestoneFormValues(recorded, ZONE), occurred_at: typed };
      expect(buildCorrections(recorded, values, ZONE)).toEqual({ occurred_at: typed });
      expect(toMilestoneRequestBody(values, ZONE).occurred_at ?? '').toBe(typed);
    },
  );
});
