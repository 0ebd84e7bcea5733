import { explainMissingPermission } from './roles.ts';

it('explains which permission the role lacks and who can change it', () => {
  expect(explainMissingPermission('viewer', 'shipments:write', 'live')).toBe(
    'Your role, Viewer, does not include changing shipments. An administrator can change that.',
  );
});

it('reports to developers in which environment they have the permission', () => {
  expect(explainMissingPermission('developer', 'documents:approve', 'live')).toMatch(
    /reviewing documents in live\. In test it does\.$/,
  );
  expect(explainMissingPermission('developer', 'workspace:admin', 'live')).toMatch(
    /An administrator can change that\.$/,
  );
});
