import { AUDIT_SENTENCE_TEMPLATES, getActorName, formatAuditFieldChanges, describeAuditEntry } from './audit-log.ts';
import { AUDIT_TYPE_LABELS, type AuditEntry, toAuditQuery, readAuditLogUrlParameters } from './audit-search.ts';

const entry = (fields: Partial<AuditEntry>): AuditEntry => ({
  id: 'aud_1',
  at: '2026-11-23T12:00:00.000Z',
  actor: { type: 'user', id: 'usr_ann', name: 'Ann Visser' },
  type: 'api_key.revoked',
  target: { type: 'api_key', id: 'key_1' },
  changes: {},
  outcome: 'done',
  request_id: 'req_1',
  address: '203.0.113.7',
  ...fields,
});
const nameOf = (id: string) => ({ key_1: 'Nightly import', usr_bob: 'Bob' })[id];

describe('describing an entry', () => {
  it('shows the current names of the actor and the target', () => {
    expect(getActorName(entry({}), nameOf)).toBe('Ann Visser');
    expect(describeAuditEntry(entry({}), nameOf)).toBe('revoked the key “Nightly import”');
  });

  it('shows a deleted target by the name in the recorded change, otherwise by its id', () => {
    const changes = { url: { from: 'https://tms.example.com/hooks', to: null } };
    const target = { type: 'webhook_endpoint', id: 'whe_9' };
    const deleted = entry({ type: 'webhook_endpoint.deleted', target, changes });
    expect(describeAuditEntry(deleted, nameOf)).toBe('deleted the endpoint “https://tms.example.com/hooks”');
    expect(describeAuditEntry({ ...deleted, changes: {} }, nameOf)).toBe('deleted the endpoint whe_9');
  });

  it('keeps replacement patterns such as $& in names', () => {
    expect(describeAuditEntry(entry({}), () => "$& and $'")).toBe("revoked the key “$& and $'”");
  });

  it('shows the command line by name, and an actor without a name by id', () => {
    expect(getActorName(entry({ actor: { type: 'system', id: 'administration', name: null } }), nameOf)).toBe(
      'Command line',
    );
    expect(getActorName(entry({ actor: { type: 'user', id: 'usr_x', name: null } }), nameOf)).toBe('usr_x');
  });

  it('lists changed fields with the labels of roles', () => {
    const changes = { role: { from: 'viewer', to: 'admin' }, event_types: { from: null, to: ['*'] } };
    expect(formatAuditFieldChanges(entry({ changes }))).toEqual([
      { field: 'Role', from: 'Viewer', to: 'Administrator' },
      { field: 'Event types', from: undefined, to: '["*"]' },
    ]);
  });

  it('has a sentence for each type of entry', () => {
    expect(Object.keys(AUDIT_SENTENCE_TEMPLATES)).toEqual(Object.keys(AUDIT_TYPE_LABELS));
  });
});

describe('the filters in the URL', () => {
  it('ignores invalid filters in the URL', () => {
    const search = { actor: 'usr_1', type: 'api_key.revoked', from: '2026-11-01', to: '2026-11-23' };
    expect(readAuditLogUrlParameters({ ...search, more: 1 })).toEqual(search);
    expect(readAuditLogUrlParameters({ actor: '', type: 'toString', from: 'yesterday', to: '2026-13-45' })).toEqual({});
  });

  it("converts days to periods that cover whole days in the user's time zone", () => {
    const { from, to } = toAuditQuery({ from: '2026-11-01', to: '2026-11-01' });
    expect(Date.parse(to ?? '') - Date.parse(from ?? '')).toBe(24 * 3_600_000 - 1);
    expect(new Date(from ?? '').getHours()).toBe(0);
  });
});
