import { type Member, membersFound, readTeamSearch } from './team.ts';

const member = (name: string | null, email: string, status: Member['status'] = 'active') =>
  ({ name, email, status }) as Member;
const ALL = [
  member('Zoë', 'zoe@example.com'),
  member(null, 'bob@example.com', 'invited'),
  member('Ann', 'ann@example.com'),
  member('Old', 'old@example.com', 'deactivated'),
];
const emails = (found: readonly Member[]) => found.map(({ email }) => email);

it('lists members by what they are called, those who were removed only when asked', () => {
  expect(emails(membersFound(ALL, {}))).toEqual(['ann@example.com', 'bob@example.com', 'zoe@example.com']);
  expect(emails(membersFound(ALL, { removed: true }))).toContain('old@example.com');
});

it('finds by part of a name or an e-mail, in any case', () => {
  expect(emails(membersFound(ALL, { q: ' ZOË ' }))).toEqual(['zoe@example.com']);
  expect(emails(membersFound(ALL, { q: 'bob@' }))).toEqual(['bob@example.com']);
});

it('reads from the address what it knows, and nothing else', () => {
  expect(readTeamSearch({ q: 7, removed: true, other: 'x' })).toEqual({ q: '7', removed: true });
  expect(readTeamSearch({ q: '', removed: 'yes' })).toEqual({});
});
