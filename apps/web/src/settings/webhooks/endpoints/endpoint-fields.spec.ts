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

  describe('what a person enters of an endpoint', () => {
    it('changes nothing as it was read', () => {
      const values = valuesOf(ENDPOINT);
      expect(changesOf(ENDPOINT, values)).toEqual({});
      expect(changesOf(ENDPOINT, { ...values, event_types: ['milestone.recorded', 'shipment.created'] })).toEqual({});
    });

    it('is sent where it differs', () => {
      const values = { ...valuesOf(ENDPOINT), description: ' Our TMS ', max_concurrency: 4 };
      expect(changesOf(ENDPOINT, values)).toEqual({ description: 'Our TMS', max_concurrency: 4 });
    });

    it('keeps the values of headers that it does not know', () => {
      const { headers } = valuesOf(ENDPOINT);
      const more = { ...valuesOf(ENDPOINT), headers: [...headers, header('X-Site', 'RTM')] };
      expect(changesOf(ENDPOINT, more)).toEqual({ headers: { Authorization: MASK, 'X-Site': 'RTM' } });
      expect(changesOf(ENDPOINT, { ...valuesOf(ENDPOINT), headers: [header('Authorization', 'new', true)] })).toEqual({
        headers: { Authorization: 'new' },
      });
      expect(changesOf(ENDPOINT, { ...valuesOf(ENDPOINT), headers: [] })).toEqual({ headers: {} });
    });

    it('clears a description with nothing', () =>
      expect(bodyOf({ ...NEW_ENDPOINT, description: '  ' }).description).toBeNull());

    it.each([
      [{ url: ' ' }, 'url'],
      [{ event_types: [] }, 'event_types'],
      [{ headers: [header(' ', 'x')] }, 'headers'],
      [{ headers: [header('X-A', '')] }, 'headers'],
      [{ headers: [header('X-A', '1'), header('x-a ', '2')] }, 'headers'],
    ])('is told what is wrong with it, %j', (wrong, field) => {
      expect(Object.keys(faultsOf({ ...NEW_ENDPOINT, url: 'https://a.example', ...wrong }))).toEqual([field]);
    });

    it('is right otherwise', () =>
      expect(faultsOf({ ...valuesOf(ENDPOINT), headers: [header('Authorization', '', true)] })).toEqual({}));
  });
});

describe('event type choice', () => {
  describe('the types that an endpoint gets', () => {
    it('are the standard ones for a star', () => {
      expect(isChosen(['*'], 'shipment.created')).toBe(true);
      expect(isChosen(['*'], 'document.rejected')).toBe(false);
    });

    it('are chosen beside a star where they are no standard ones', () => {
      expect(choose(['*'], ['document.rejected', 'shipment.created'], true)).toEqual(['*', 'document.rejected']);
      expect(choose(['*', 'document.rejected'], ['document.rejected'], false)).toEqual(['*']);
    });

    it('stand for themselves once a standard one is left out', () => {
      const left = choose(['*', 'document.rejected'], ['shipment.created'], false);
      expect([...left].sort()).toEqual(
        [...STANDARD_EVENT_TYPES.filter((type) => type !== 'shipment.created'), 'document.rejected'].sort(),
      );
    });

    it('are the same with a star and without, until a release adds one', () => {
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
    ] as const)('%j are called so', (types, label) => expect(eventTypesLabel([...types])).toBe(label));
  });
});
