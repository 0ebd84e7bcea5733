import { STANDARD_EVENT_TYPES } from '@tracking/contracts';
import { wants } from './matching.ts';

const enabled_periods = [{ from: '2026-01-03T00:00:00.000Z', to: null, places: { after: '10', up_to: null } }];
const event = (type: string, place = '11') => ({ type, created_at: '2026-01-04T00:00:00.000Z', place });

describe('an endpoint', () => {
  test('gets the types that it names', () => {
    const endpoint = { event_types: ['shipment.created', 'milestone.retracted'], enabled_periods };
    expect(wants(endpoint, event('shipment.created'))).toBe(true);
    expect(wants(endpoint, event('milestone.retracted'))).toBe(true);
    expect(wants(endpoint, event('shipment.updated'))).toBe(false);
  });

  test('gets the six standard types by "*", and no others', () => {
    const endpoint = { event_types: ['*'], enabled_periods };
    expect(STANDARD_EVENT_TYPES.every((type) => wants(endpoint, event(type)))).toBe(true);
    expect(wants(endpoint, event('milestone.retracted'))).toBe(false);
    expect(wants(endpoint, event('something.new'))).toBe(false);
    expect(wants({ ...endpoint, event_types: ['*', 'milestone.retracted'] }, event('milestone.retracted'))).toBe(true);
  });

  test('gets what is live for it', () => {
    const endpoint = { event_types: ['*'], enabled_periods };
    expect(wants(endpoint, event('shipment.created', '10'))).toBe(false);
    expect(wants({ ...endpoint, enabled_periods: [] }, event('shipment.created'))).toBe(false);
  });
});
