import type { JsonObject } from '@tracking/contracts';
import { checkEndpointFields } from './endpoint-fields.ts';

const refuses = (url: string) => (url.startsWith('https://') ? undefined : 'The URL must begin with https://.');
const check = (input: JsonObject, required = false) => checkEndpointFields(input, required, refuses);
const faults = (input: JsonObject, required = false) =>
  check(input, required).errors.map(({ param, code }) => `${param} ${code}`);

describe('the fields of an endpoint', () => {
  test('requires url and event types to create an endpoint, nothing to change one', () => {
    expect(faults({}, true)).toEqual(['url required', 'event_types required']);
    expect(check({})).toEqual({ fields: {}, errors: [] });
  });

  test('are accepted as given, headers in lower case and types without duplicates', () => {
    const input = {
      url: 'https://example.com/hook',
      event_types: ['*', 'milestone.retracted', '*'],
      description: 'Ours',
      api_version: '2026-11-01',
      headers: { Authorization: 'Bearer x', 'X-Team': 'ocean freight' },
      payload: 'thin',
      max_concurrency: 4,
      unknown: 1,
    };
    expect(check(input, true)).toEqual({
      fields: {
        url: 'https://example.com/hook',
        event_types: ['*', 'milestone.retracted'],
        description: 'Ours',
        api_version: '2026-11-01',
        headers: { authorization: 'Bearer x', 'x-team': 'ocean freight' },
        payload: 'thin',
        max_concurrency: 4,
      },
      errors: [],
    });
  });

  test('reports all invalid fields together', () => {
    const input = {
      url: 'http://example.com',
      event_types: ['shipment.created', 'shipment.exploded', 7],
      description: 5,
      api_version: '2020-01-01',
      payload: 'slim',
      headers: [],
      max_concurrency: 0,
    };
    expect(faults(input, true)).toEqual([
      'url invalid_value',
      'event_types[1] invalid_value',
      'event_types[2] invalid_value',
      'description invalid_type',
      'api_version invalid_value',
      'payload invalid_value',
      'headers invalid_type',
      'max_concurrency invalid_value',
    ]);
  });

  test.each<[JsonObject, string]>([
    [{ url: 5 }, 'url invalid_type'],
    [{ url: null }, 'url invalid_type'],
    [{ url: ' https://example.com/hook' }, 'url invalid_value'],
    [{ url: 'https://example.com/hook\n' }, 'url invalid_value'],
    [{ url: 'https://exam\tple.com/hook' }, 'url invalid_value'],
    [{ url: 'https://example.com/a hook' }, 'url invalid_value'],
    [{ url: `https://example.com/${'a'.repeat(1_000)}` }, 'url too_long'],
    [{ event_types: '*' }, 'event_types invalid_type'],
    [{ event_types: [] }, 'event_types required'],
    [{ event_types: Array(101).fill('*') }, 'event_types too_many'],
    [{ description: 'x'.repeat(1_001) }, 'description too_long'],
    [{ url: 'https://example.com/\0' }, 'url invalid_value'],
    [{ url: 'https://example.com/\ud83d' }, 'url invalid_value'],
    [{ description: 'a\0b' }, 'description invalid_value'],
    [{ description: '\ude00' }, 'description invalid_value'],
    [{ max_concurrency: 1.5 }, 'max_concurrency invalid_value'],
    [{ max_concurrency: 101 }, 'max_concurrency invalid_value'],
    [{ max_concurrency: '4' }, 'max_concurrency invalid_value'],
  ])('%j is refused', (input, fault) => expect(faults(input)).toEqual([fault]));

  test.each([
    ['Host', 'example.com'],
    ['content-type', 'text/plain'],
    ['Service-Signature', 't=1'],
    ['service-event-id', 'evt_1'],
    ['Proxy-Authorization', 'x'],
    ['Transfer-Encoding', 'chunked'],
    ['bad name', 'x'],
    ['', 'x'],
    ['x-split', 'a\r\nservice-signature: t=1'],
    ['x-nul', 'a\u0000b'],
    ['x-empty', ''],
    ['x-space', ' a'],
    ['x-accent', 'é'],
  ])('a header %j: %j is refused', (name, value) => {
    expect(faults({ headers: { [name]: value } })).toEqual([`headers.${name} invalid_value`]);
  });

  // Headers that HTTP clients set themselves, and would drop silently.
  test.each(['connection', 'content-length', 'expect', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'])(
    'the header %s is refused',
    (name) => {
      expect(faults({ headers: { [name]: 'x' } })).toEqual([`headers.${name} invalid_value`]);
    },
  );

  test('headers are limited in number and size, and each may appear once', () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, 'v']));
    expect(faults({ headers: many })).toEqual(['headers too_many']);
    expect(faults({ headers: { 'x-long': 'v'.repeat(1_001) } })).toEqual(['headers.x-long too_long']);
    expect(faults({ headers: { 'x-a': 'v', 'X-A': 'w' } })).toEqual(['headers.X-A invalid_value']);
    expect(faults({ headers: { 'x-a': 5 } })).toEqual(['headers.x-a invalid_type']);
  });

  test('headers and description are cleared by null', () => {
    expect(check({ headers: null, description: null }).fields).toEqual({ headers: {}, description: null });
  });
});
