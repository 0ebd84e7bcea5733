import { lacking } from './roles.ts';

it('explains what the role lacks and who can change it', () => {
  expect(lacking('viewer', 'shipments:write', 'live')).toBe(
    'Your role, Viewer, does not include changing shipments. An administrator can change that.',
  );
});

it('tells developers in which environment they have the permission', () => {
  expect(lacking('developer', 'documents:approve', 'live')).toMatch(/reviewing documents in live\. In test it does\.$/);
  expect(lacking('developer', 'workspace:admin', 'live')).toMatch(/An administrator can change that\.$/);
});
