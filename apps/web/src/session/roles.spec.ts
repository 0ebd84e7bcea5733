import { lacking } from './roles.ts';

it('says what the role lacks, in words, and who can change it', () => {
  expect(lacking('viewer', 'shipments:write', 'live')).toBe(
    'Your role, Viewer, does not include changing shipments. An administrator can change that.',
  );
});

it('tells developers of the environment in which they may', () => {
  expect(lacking('developer', 'documents:approve', 'live')).toMatch(/reviewing documents in live\. In test it does\.$/);
  expect(lacking('developer', 'workspace:admin', 'live')).toMatch(/An administrator can change that\.$/);
});
