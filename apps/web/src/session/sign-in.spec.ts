import { isPathWithinApplication } from './sign-in.ts';

it.each(['/', '/shipments?q=1', '/shipments/shp_1#x'])('accepts %s as a path to open after signing in', (path) =>
  expect(isPathWithinApplication(path)).toBe(true),
);

it.each([undefined, '', 'https://example.com', '//example.com', '/\\example.com', 'javascript:alert(1)', '/sign-in'])(
  'rejects %s as a path to open after signing in',
  (path) => expect(isPathWithinApplication(path)).toBe(false),
);
