import { type Member, findTeamMembers, readTeamUrlParameters } from './team.ts';

const member = (name: string | null, email: string, status: Member['status'] = 'active') =>
  ({ name, email, status }) as Member;
const ALL = [
  member('Zoë', 'zoe@example.com'),
  member(null, 'bob@example.com', 'invited'),
  member('Ann', 'ann@example.com'),
  member('Old', 'old@example.com', 'deactivated'),
];
const emails = (found: readonly Member[]) => found.map(({ email }) => email);

it('lists members by name, and removed members only on request', () => {
  expect(emails(findTeamMembers(ALL, {}))).toEqual(['ann@example.com', 'bob@example.com', 'zoe@example.com']);
  expect(emails(findTeamMembers(ALL, { removed: true }))).toContain('old@example.com');
});

it('finds members by part of a name or e-mail address, regardless of case', () => {
  expect(emails(findTeamMembers(ALL, { q: ' ZOË ' }))).toEqual(['zoe@example.com']);
  expect(emails(findTeamMembers(ALL, { q: 'bob@' }))).toEqual(['bob@example.com']);
});

it('ignores unknown parameters of the page URL', () => {
  expect(readTeamUrlParameters({ q: 7, removed: true, other: 'x' })).toEqual({ q: '7', removed: true });
  expect(readTeamUrlParameters({ q: '', removed: 'yes' })).toEqual({});
});
