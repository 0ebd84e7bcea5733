import { CONTAINER_A, createTimeInJanuary2026, createMilestoneInput, scenarioPlacesStub } from '../test/scenario.ts';
import { checkMilestone } from './check-milestone.ts';
import type { MilestoneInput } from './check-milestone.ts';

const AT = '2026-02-01T12:00:00.000Z';
const check = (fields: Partial<MilestoneInput>) =>
  checkMilestone(
    createMilestoneInput({ code: 'delivered', occurred_at: createTimeInJanuary2026(3), ...fields }),
    scenarioPlacesStub,
    AT,
  );

describe('checkMilestone', () => {
  it('reports every invalid field at once', () => {
    const { errors } = check({
      code: 'teleported',
      reason_code: 'because',
      occurred_at: '2027-01-01T00:00:00.000Z',
      container_number: 'NOPE',
    });
    expect(errors.map(({ param, code }) => `${param} ${code}`)).toEqual([
      'code unknown_code',
      'reason_code invalid_value',
      'occurred_at timestamp_in_future',
      'container_number invalid_container_number',
    ]);
  });

  it.each(['constructor', '__proto__', 'toString', ''])('accepts only codes of the catalog: %j', (code) => {
    expect(check({ code }).errors).toMatchObject([{ code: 'unknown_code' }]);
  });

  it('accepts an actual milestone at most 15 minutes in the future', () => {
    expect(check({ occurred_at: '2026-02-01T12:15:00.000Z' }).errors).toEqual([]);
    expect(check({ occurred_at: '2026-02-01T12:15:00.001Z' }).errors).toMatchObject([
      { param: 'occurred_at', code: 'timestamp_in_future' },
    ]);
  });

  it.each(['actual', 'estimated', 'planned'] as const)('refuses times before 2000, as %s', (classifier) => {
    expect(check({ occurred_at: '2000-01-01T00:00:00.000Z', classifier }).errors).toEqual([]);
    expect(check({ occurred_at: '1999-12-31T23:59:59.999Z', classifier }).errors).toMatchObject([
      { param: 'occurred_at', code: 'timestamp_out_of_range' },
    ]);
  });

  it.each(['estimated', 'planned'] as const)('accepts a milestone with classifier %s in the future', (classifier) => {
    expect(check({ occurred_at: '2027-01-01T00:00:00.000Z', classifier }).errors).toEqual([]);
  });

  it('normalises container and location', () => {
    expect(check({ container_number: 'mscu 123456-6', location: 'us lax' }).milestone).toMatchObject({
      container_number: CONTAINER_A,
      location: 'USLAX',
    });
    expect(check({ location: '  ' }).milestone.location).toBeNull();
  });

  it.each([
    ['9321483', []],
    ['IMO 9321483', []],
    ['imo9321483', []],
    ['9321484', ['imo invalid_value']],
    ['932148', ['imo invalid_value']],
    ['IMO', ['imo invalid_value']],
  ])('checks the IMO number %s', (imo, errors) => {
    const checked = check({ imo });
    expect(checked.errors.map(({ param, code }) => `${param} ${code}`)).toEqual(errors);
    if (errors.length === 0) expect(checked.milestone.imo).toBe('9321483');
  });

  it('requires both coordinates or none', () => {
    expect(check({ latitude: 0, longitude: 0 }).errors).toEqual([]);
    expect(check({ latitude: 51.9 }).errors).toMatchObject([{ param: 'longitude', code: 'required' }]);
    expect(check({ longitude: 4.4 }).errors).toMatchObject([{ param: 'latitude', code: 'required' }]);
  });

  it('uses the given time zone, otherwise that of the place, otherwise null', () => {
    expect(check({ location: 'USLAX', timezone: 'Europe/Berlin' }).milestone.timezone).toBe('Europe/Berlin');
    expect(check({ location: 'USLAX' }).milestone.timezone).toBe('America/Los_Angeles');
    expect(check({ location: 'FRA' }).milestone.timezone).toBe('Europe/Berlin');
    expect(check({ location: 'USNYC' }).milestone.timezone).toBeNull();
    expect(check({ location: 'at the gate' }).milestone.timezone).toBeNull();
    expect(check({}).milestone.timezone).toBeNull();
  });
});
