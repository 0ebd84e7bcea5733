import type { WebhookEndpoint } from '@tracking/client';
import { STANDARD_EVENT_TYPES } from '../../../values/event-types.ts';
import {
  MASKED_HEADER_VALUE,
  listHeadersDroppedByUrlChange,
  NEW_ENDPOINT_VALUES,
  toEndpointRequestBody,
  toEndpointPatch,
  addOrRemoveEventTypes,
  toggleFutureStandardEventTypes,
  describeSubscribedEventTypes,
  validateEndpointForm,
  isSubscribedTo,
  toEndpointFormValues,
} from './endpoint-fields.ts';

describe('endpoint fields', () => {
  const ENDPOINT: WebhookEndpoint = {
    id: 'whe_1',
    url: 'https://tms.example.com/webhooks',
    event_types: ['shipment.created', 'milestone.recorded'],
    description: null,
    api_version: '2026-11-01',
    payload: 'full',
    environment: 'live',
    status: 'enabled',
    disabled_reason: null,
    last_verification: null,
    headers: { Authorization: MASKED_HEADER_VALUE },
    max_concurrency: 16,
    created_at: '2026-11-23T09:30:00.000Z',
    updated_at: '2026-11-23T09:30:00.000Z',
    version: 3,
  };
  const header = (name: string, value: string, hasStoredValue = false) => ({ key: 7, name, value, hasStoredValue });

  describe('the endpoint form', () => {
    it('sends no fields if the user has changed nothing', () => {
      const values = toEndpointFormValues(ENDPOINT);
      expect(toEndpointPatch(ENDPOINT, values)).toEqual({});
      expect(toEndpointPatch(ENDPOINT, { ...values, event_types: ['milestone.recorded', 'shipment.created'] })).toEqual(
        {},
      );
    });

    it('sends changed fields', () => {
      const values = {
        ...toEndpointFormValues(ENDPOINT),
        description: ' Our TMS ',
        payload: 'thin' as const,
        max_concurrency: 4,
      };
      expect(toEndpointPatch(ENDPOINT, values)).toEqual({
        description: 'Our TMS',
        payload: 'thin',
        max_concurrency: 4,
      });
    });

    it('lists the stored headers that are removed by a URL with another scheme, host or port', () => {
      const dropped = (url: string, value = '') =>
        listHeadersDroppedByUrlChange(ENDPOINT, {
          ...toEndpointFormValues(ENDPOINT),
          url,
          headers: [header('Authorization', value, true), header('X-Site', 'RTM')],
        });
      expect(dropped('https://tms.example.com/other')).toEqual([]);
      expect(dropped('https://other.example.com/webhooks')).toEqual(['Authorization']);
      expect(dropped('https://tms.example.com:8443/webhooks')).toEqual(['Authorization']);
      expect(dropped('https://other.example.com/webhooks', 'new')).toEqual([]);
      expect(dropped('https:')).toEqual([]);
    });

    it('keeps stored header values', () => {
      const { headers } = toEndpointFormValues(ENDPOINT);
      const more = { ...toEndpointFormValues(ENDPOINT), headers: [...headers, header('X-Site', 'RTM')] };
      expect(toEndpointPatch(ENDPOINT, more)).toEqual({
        headers: { Authorization: MASKED_HEADER_VALUE, 'X-Site': 'RTM' },
      });
      expect(
        toEndpointPatch(ENDPOINT, {
          ...toEndpointFormValues(ENDPOINT),
          headers: [header('Authorization', 'new', true)],
        }),
      ).toEqual({
        headers: { Authorization: 'new' },
      });
      expect(toEndpointPatch(ENDPOINT, { ...toEndpointFormValues(ENDPOINT), headers: [] })).toEqual({ headers: {} });
    });

    it('clears an empty description', () =>
      expect(toEndpointRequestBody({ ...NEW_ENDPOINT_VALUES, description: '  ' }).description).toBeNull());

    it.each([
      [{ url: ' ' }, 'url'],
      [{ event_types: [] }, 'event_types'],
      [{ headers: [header(' ', 'x')] }, 'headers'],
      [{ headers: [header('X-A', '')] }, 'headers'],
      [{ headers: [header('X-A', '1'), header('x-a ', '2')] }, 'headers'],
    ])('finds an error in %j', (wrong, field) => {
      expect(Object.keys(validateEndpointForm({ ...NEW_ENDPOINT_VALUES, url: 'https://a.example', ...wrong }))).toEqual(
        [field],
      );
    });

    it('finds no error in valid values', () =>
      expect(
        validateEndpointForm({ ...toEndpointFormValues(ENDPOINT), headers: [header('Authorization', '', true)] }),
      ).toEqual({}));
  });
});

describe('event type choice', () => {
  describe('a subscription', () => {
    it('with `*` contains all standard types', () => {
      expect(isSubscribedTo(['*'], 'shipment.created')).toBe(true);
      expect(isSubscribedTo(['*'], 'document.rejected')).toBe(false);
    });

    it('can contain further types besides `*`', () => {
      expect(addOrRemoveEventTypes(['*'], ['document.rejected', 'shipment.created'], true)).toEqual([
        '*',
        'document.rejected',
      ]);
      expect(addOrRemoveEventTypes(['*', 'document.rejected'], ['document.rejected'], false)).toEqual(['*']);
    });

    it('lists the remaining standard types after one was removed from `*`', () => {
      const left = addOrRemoveEventTypes(['*', 'document.rejected'], ['shipment.created'], false);
      expect([...left].sort()).toEqual(
        [...STANDARD_EVENT_TYPES.filter((type) => type !== 'shipment.created'), 'document.rejected'].sort(),
      );
    });

    it('contains the same types with `*` and with all standard types', () => {
      const named = toggleFutureStandardEventTypes(['*', 'exception.updated'], false);
      expect(named).toEqual([...STANDARD_EVENT_TYPES, 'exception.updated']);
      expect(toggleFutureStandardEventTypes(named, true)).toEqual(['*', 'exception.updated']);
    });

    it.each([
      [['*'], 'All standard types'],
      [['*', 'exception.updated'], 'All standard types and 1 more'],
      [['shipment.created'], 'Shipment created'],
      [['shipment.created', 'shipment.updated', 'milestone.recorded'], 'Shipment created and 2 more'],
      [[], 'None'],
    ] as const)('describes %j in words', (types, label) =>
      expect(describeSubscribedEventTypes([...types])).toBe(label),
    );
  });
});
