import type { WebhookEndpoint } from '@tracking/client';
import { STANDARD_EVENT_TYPES } from '../../../values/event-types.ts';
import {
  MASK,
  NEW_ENDPOINT,
  bodyOf,
  changesOf,
  choose,
  chooseStandard,
  eventTypesLabel,
  faultsOf,
  isChosen,
  valuesOf,
} from './endpoint-fields.ts';

describe('endpoint fields', () => {
  const ENDPOINT: WebhookEndpoint = {
    id: 'whe_1',
    url: 'https://tms.example.com/webhooks',
    event_types: ['shipment.created', 'milestone.recorded'],
    description: null,
    api_version: '2026-11-01',
    environment: 'live',
    status: 'enabled',
    disabled_reason: null,
    last_verification: null,
    headers: { Authorization: MASK },
    max_concurrency: 16,
    created_at: '2026-11-23T09:30:00.000Z',
    updated_at: '2026-11-23T09:30:00.000Z',
    version: 3,
  };
  const header = (name: string, value: string, kept = false) => ({ key: 7, name, value, kept });

  describe('the endpoint form', () => {
    it('changes nothing if nothing is entered', () => {
      const values = valuesOf(ENDPOINT);
      expect(changesOf(ENDPOINT, values)).toEqual({});
      expect(changesOf(ENDPOINT, { ...values, event_types: ['milestone.recorded', 'shipment.created'] })).toEqual({});
    });

    it('sends changed fields', () => {
      const values = { ...valuesOf(ENDPOINT), description: ' Our TMS ', max_concurrency: 4 };
      expect(changesOf(ENDPOINT, values)).toEqual({ description: 'Our TMS', max_concurrency: 4 });
    });

    it('keeps header values that it does not know', () => {
      const { headers } = valuesOf(ENDPOINT);
      const more = { ...valuesOf(ENDPOINT), headers: [...headers, header('X-Site', 'RTM')] };
      expect(changesOf(ENDPOINT, more)).toEqual({ headers: { Authorization: MASK, 'X-Site': 'RTM' } });
      expect(changesOf(ENDPOINT, { ...valuesOf(ENDPOINT), headers: [header('Authorization', 'new', true)] })).toEqual({
        headers: { Authorization: 'new' },
      });
      expect(changesOf(ENDPOINT, { ...valuesOf(ENDPOINT), headers: [] })).toEqual({ headers: {} });
    });

    it('clears an empty description', () =>
      expect(bodyOf({ ...NEW_ENDPOINT, description: '  ' }).description).toBeNull());

    it.each([
      [{ url: ' ' }, 'url'],
      [{ event_types: [] }, 'event_types'],
      [{ headers: [header(' ', 'x')] }, 'headers'],
      [{ headers: [header('X-A', '')] }, 'headers'],
      [{ headers: [header('X-A', '1'), header('x-a ', '2')] }, 'headers'],
    ])('finds the fault of %j', (wrong, field) => {
      expect(Object.keys(faultsOf({ ...NEW_ENDPOINT, url: 'https://a.example', ...wrong }))).toEqual([field]);
    });

    it('finds no fault otherwise', () =>
      expect(faultsOf({ ...valuesOf(ENDPOINT), headers: [header('Authorization', '', true)] })).toEqual({}));
  });
});

describe('event type choice', () => {
  describe('a subscription', () => {
    it('to a star is to the standard types', () => {
      expect(isChosen(['*'], 'shipment.created')).toBe(true);
      expect(isChosen(['*'], 'document.rejected')).toBe(false);
    });

    it('has other types beside the star', () => {
      expect(choose(['*'], ['document.rejected', 'shipment.created'], true)).toEqual(['*', 'document.rejected']);
      expect(choose(['*', 'document.rejected'], ['document.rejected'], false)).toEqual(['*']);
    });

    it('lists its types once a standard one is left out', () => {
      const left = choose(['*', 'document.rejected'], ['shipment.created'], false);
      expect([...left].sort()).toEqual(
        [...STANDARD_EVENT_TYPES.filter((type) => type !== 'shipment.created'), 'document.rejected'].sort(),
      );
    });

    it('is the same with a star and without, until a release adds a type', () => {
      const named = chooseStandard(['*', 'exception.updated'], false);
      expect(named).toEqual([...STANDARD_EVENT_TYPES, 'exception.updated']);
      expect(chooseStandard(named, true)).toEqual(['*', 'exception.updated']);
    });

    it.each([
      [['*'], 'All standard types'],
      [['*', 'exception.updated'], 'All standard types and 1 more'],
      [['shipment.created'], 'Shipment created'],
      [['shipment.created', 'shipment.updated', 'milestone.recorded'], 'Shipment created and 2 more'],
      [[], 'None'],
    ] as const)('%j is described', (types, label) => expect(eventTypesLabel([...types])).toBe(label));
  });
});
