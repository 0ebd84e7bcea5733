import type { Milestone } from '@tracking/client';
import { type Container, freeTimeFacts, freeTimeLabel, freeTimeOf } from './free-time.ts';

const CONTAINER = {
  number: 'CSQU3054383',
  status: 'arrived',
  gated_out_at: null,
  empty_returned_at: null,
  last_free_day: '2026-11-26',
  empty_return_by: '2026-12-05',
} as const;
const SHIPMENT = { status: 'arrived', load_type: 'fcl' } as const;
const TODAY = '2026-11-24';

const attempt = (more: Partial<Milestone> = {}) =>
  ({
    ...{ code: 'delivery_attempted', classifier: 'actual', container_number: null },
    ...{ retracted_at: null, superseded_at: null, ...more },
  }) as Milestone;
const kindOf = (container: Partial<Container>, shipment: object = {}, milestones: readonly Milestone[] = []) =>
  freeTimeOf({ ...CONTAINER, ...container }, freeTimeFacts({ ...SHIPMENT, ...shipment }, milestones), TODAY)?.kind;

describe('free time of a container', () => {
  it('is that at the terminal until it leaves, then that until it is back', () => {
    const facts = freeTimeFacts(SHIPMENT, []);
    expect(freeTimeOf(CONTAINER, facts, TODAY)).toEqual({ kind: 'demurrage', until: '2026-11-26', daysLeft: 2 });
    expect(freeTimeOf({ ...CONTAINER, status: 'out_for_delivery' }, facts, '2026-11-25')).toEqual({
      kind: 'detention',
      until: '2026-12-05',
      daysLeft: 10,
    });
  });

  // The same statuses as in the domain's `demurrage_risk` and `detention_risk`.
  it.each([
    ['pending', 'demurrage'],
    ['in_transit', 'demurrage'],
    ['arrived', 'demurrage'],
    ['available_for_pickup', 'demurrage'],
    ['out_for_delivery', 'detention'],
    ['delivered', 'detention'],
    ['completed', undefined],
    ['returned', undefined],
  ] as const)('of a container with status %s is %s, whatever steps were not reported', (status, kind) => {
    expect(kindOf({ status })).toBe(kind);
  });

  it('is that until it is back once a delivery was attempted', () => {
    expect(kindOf({}, {}, [attempt()])).toBe('detention');
    expect(kindOf({}, {}, [attempt({ container_number: CONTAINER.number })])).toBe('detention');
    expect(kindOf({}, {}, [attempt({ container_number: 'MSKU1234565' })])).toBe('demurrage');
    expect(kindOf({}, {}, [attempt({ retracted_at: '2026-11-24T10:00:00.000Z' })])).toBe('demurrage');
    expect(kindOf({}, {}, [attempt({ classifier: 'planned' })])).toBe('demurrage');
  });

  it('is none of part loads and cancelled shipments', () => {
    expect(kindOf({}, { load_type: 'lcl' })).toBeUndefined();
    expect(kindOf({}, { status: 'cancelled' })).toBeUndefined();
  });

  it('is none where nobody said until when', () => {
    expect(kindOf({ last_free_day: null })).toBeUndefined();
    expect(kindOf({ status: 'delivered', empty_return_by: null })).toBeUndefined();
  });

  it.each([
    ['2026-11-24', '2 days left'],
    ['2026-11-25', '1 day left'],
    ['2026-11-26', 'last free day'],
    ['2026-11-27', '1 day over'],
  ])('on %s is called %s', (today, label) => {
    const free = freeTimeOf(CONTAINER, freeTimeFacts(SHIPMENT, []), today);
    expect(free && freeTimeLabel(free)).toBe(label);
  });
});
