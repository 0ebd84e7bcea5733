import { computeAuditFieldChanges, hasAuditedChanges } from './audit-trail.ts';

describe('changes of an audit entry', () => {
  it('lists only the fields that differ', () => {
    const before = { id: 'usr_1', name: 'Jo', role: 'viewer', tags: ['a'], status: 'active', version: 1 };
    const after = { id: 'usr_1', name: 'Jo', role: 'admin', tags: ['a', 'b'], status: 'active', version: 2 };
    expect(computeAuditFieldChanges({ before, after })).toEqual({
      role: { from: 'viewer', to: 'admin' },
      tags: { from: ['a'], to: ['a', 'b'] },
    });
  });

  it('lists every field if the resource is created or deleted', () => {
    const key = { id: 'key_1', name: 'TMS', environment: 'live', expires_at: null, created_at: '2026-03-01' };
    expect(computeAuditFieldChanges({ before: null, after: key })).toEqual({
      name: { from: null, to: 'TMS' },
      environment: { from: null, to: 'live' },
    });
    expect(computeAuditFieldChanges({ before: key, after: null })).toEqual({
      name: { from: 'TMS', to: null },
      environment: { from: 'live', to: null },
    });
  });

  it('never contains a secret, not even that one changed', () => {
    const after = {
      key: 'sk_live_x',
      secret: 'whsec_x',
      password: 'x',
      password_hash: 'x',
      current_password: 'x',
      token: 'x',
      hash: 'x',
      link_hash: 'x',
      invitation_url: 'https://app.example/invitation#x',
      reset_url: 'https://app.example/invitation#x',
      headers: { 'x-token': 'hidden', authorization: 'hidden' },
      url: 'https://tms.example/hook',
    };
    expect(computeAuditFieldChanges({ before: null, after })).toEqual({
      headers: { from: null, to: ['authorization', 'x-token'] },
      url: { from: null, to: 'https://tms.example/hook' },
    });
  });

  it('is empty if no field differs', () => {
    expect(hasAuditedChanges({ before: { id: 'a', version: 1 }, after: { id: 'a', version: 1 } })).toBe(false);
    // A change of a secret alone.
    expect(hasAuditedChanges({ before: { id: 'a', secret: 'x' }, after: { id: 'a', secret: 'y' } })).toBe(true);
    expect(hasAuditedChanges({ before: null, after: { id: 'a' } })).toBe(true);
  });
});
