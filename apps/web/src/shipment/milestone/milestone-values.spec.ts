import { buildSampleMilestone } from './build-milestone.ts';
import {
  createEmptyMilestoneValues,
  toMilestoneRequestBody,
  buildMilestoneCorrectionBody,
  toMilestoneFormValues,
} from './milestone-values.ts';

const ZONE = 'Asia/Shanghai';
const recorded = buildSampleMilestone({ location: 'CNSHA', timezone: ZONE, vessel: 'Maersk Honam' });

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
    expect(buildMilestoneCorrectionBody(recorded, toMilestoneFormValues(recorded, ZONE), ZONE)).toEqual({});
  });

  it('sends the changed fields of a correction, and null for cleared fields', () => {
    const values = {
      ...toMilestoneFormValues(recorded, ZONE),
      vessel: ' ',
      voyage: '412W',
      occurred_at: '2026-11-24T15:00',
    };
    expect(buildMilestoneCorrectionBody(recorded, values, ZONE)).toEqual({
      vessel: null,
      voyage: '412W',
      occurred_at: '2026-11-24T07:00:00.000Z',
    });
  });

  it.each(['', '20261-11-24T15:00'])(
    'sends an invalid time as it was typed, %j, so that the service rejects it',
    (typed) => {
      const values = { ...toMilestoneFormValues(recorded, ZONE), occurred_at: typed };
      expect(buildMilestoneCorrectionBody(recorded, values, ZONE)).toEqual({ occurred_at: typed });
      expect(toMilestoneRequestBody(values, ZONE).occurred_at ?? '').toBe(typed);
    },
  );

  it('sends position, terminal, IMO number, pieces and temperature, and their corrections', () => {
    const blank = createEmptyMilestoneValues('2026-11-24T06:00:00Z', ZONE);
    const typed = { terminal: ' Yangshan ', imo: '9321483', latitude: '31,3665', longitude: '121.6158', pieces: '12' };
    const sent = toMilestoneRequestBody({ ...blank, code: 'gated_in', ...typed, temperature_celsius: '-18.5' }, ZONE);
    const details = {
      terminal: 'Yangshan',
      imo: '9321483',
      latitude: 31.3665,
      longitude: 121.6158,
      pieces: 12,
      temperature_celsius: -18.5,
    };
    expect(sent).toMatchObject(details);

    const stored = buildSampleMilestone(details);
    const values = toMilestoneFormValues(stored, ZONE);
    expect(buildMilestoneCorrectionBody(stored, values, ZONE)).toEqual({});
    expect(
      buildMilestoneCorrectionBody(stored, { ...values, terminal: '', pieces: '0', latitude: 'north' }, ZONE),
    ).toEqual({
      terminal: null,
      pieces: 0,
      latitude: 'north',
    });
  });

  it('sends a whole day as its date, and keeps an unchanged one', () => {
    const blank = createEmptyMilestoneValues('2026-11-24T06:00:00Z', ZONE);
    const values = { ...blank, code: 'vessel_arrived', classifier: 'estimated' as const, occurred_at: '2026-12-09' };
    expect(toMilestoneRequestBody(values, ZONE).occurred_at).toBe('2026-12-09');
    const day = { occurred_at_precision: 'day', timezone: 'America/Los_Angeles' } as const;
    const expected = buildSampleMilestone({ classifier: 'estimated', occurred_at: '2026-12-10T07:59:59.999Z', ...day });
    expect(toMilestoneFormValues(expected, ZONE).occurred_at).toBe('2026-12-09');
    expect(buildMilestoneCorrectionBody(expected, toMilestoneFormValues(expected, ZONE), ZONE)).toEqual({});
    const moved = { ...toMilestoneFormValues(expected, ZONE), occurred_at: '2026-12-11' };
    expect(buildMilestoneCorrectionBody(expected, moved, ZONE)).toEqual({ occurred_at: '2026-12-11' });
  });
});
