import { toOtherEnvironmentPath } from './api.ts';

it.each([
  ['/settings/team', '/settings/team'],
  ['/settings/api-keys', '/settings/api-keys'],
  ['/shipments', '/shipments'],
  ['/shipments/shp_01jz9v/timeline', '/shipments'],
  ['/settings/webhooks/whe_01jz9v/deliveries/del_1', '/settings/webhooks'],
])('maps %s to %s', (from, to) => expect(toOtherEnvironmentPath(from)).toBe(to));
