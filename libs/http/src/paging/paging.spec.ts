import { TokenSigner } from '../server/seal.ts';
import { PageCursorCodec, type CursorScope } from './paging.ts';

const cursors = new PageCursorCodec(new TokenSigner(Buffer.alloc(32, 7)));
const listing: CursorScope = {
  list: 'shipments',
  scope: { workspace_id: 'wsp_1', environment: 'live' },
  filter: { status: ['in_transit'], external_id: 'A' },
  sort: '-created_at',
};

describe('Cursors', () => {
  it('reads the values that the cursor was issued for', () => {
    const after = ['2026-11-21T09:30:00.000Z', 'shp_1', 7];
    expect(cursors.parsePageCursor(cursors.createCursor(after, listing), listing)).toEqual(after);
  });

  it('ignores the order of the filters, and absent filters', () => {
    const cursor = cursors.createCursor(['a'], listing);
    const same = { ...listing, filter: { external_id: 'A', mode: undefined, status: ['in_transit'] } };
    expect(cursors.parsePageCursor(cursor, same)).toEqual(['a']);
  });

  it.each<[string, Partial<CursorScope>]>([
    ['list', { list: 'milestones of shp_1' }],
    ['workspace', { scope: { workspace_id: 'wsp_2', environment: 'live' } }],
    ['environment', { scope: { workspace_id: 'wsp_1', environment: 'test' } }],
    ['filter value', { filter: { status: ['delivered'], external_id: 'A' } }],
    ['set of filters', { filter: { status: ['in_transit'] } }],
    ['sort', { sort: 'created_at' }],
  ])('refuses a cursor with another %s', (_what, other) => {
    const cursor = cursors.createCursor(['a'], listing);
    expect(() => cursors.parsePageCursor(cursor, { ...listing, ...other })).toThrow(
      expect.objectContaining({ code: 'invalid_cursor', details: [expect.objectContaining({ param: 'cursor' })] }),
    );
  });

  it.each(['', 'x', '%00', '\u{1f6a2}', 'AAAA'.repeat(100), 'e30', '../../etc/passwd'])('refuses %j', (cursor) => {
    expect(() => cursors.parsePageCursor(cursor, listing)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
  });
});
