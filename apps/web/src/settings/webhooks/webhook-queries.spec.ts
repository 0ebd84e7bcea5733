import type { WebhookDelivery } from '@tracking/client';
import { updateListedDeliveries } from './webhook-queries.ts';

const delivery = (id: string, version: number, status: WebhookDelivery['status'] = 'pending') =>
  ({ id, version, status }) as WebhookDelivery;

describe('polled deliveries', () => {
  it('updates listed deliveries in place and counts new deliveries', () => {
    const read = [delivery('b', 1), delivery('a', 1)];
    const newest = [delivery('c', 1), delivery('b', 2, 'succeeded'), delivery('a', 1)];
    expect(updateListedDeliveries(read, newest)).toEqual({
      rows: [delivery('b', 2, 'succeeded'), delivery('a', 1)],
      newer: 1,
    });
  });

  it('never replaces a delivery with an older state', () => {
    const read = [delivery('a', 3, 'succeeded')];
    expect(updateListedDeliveries(read, [delivery('a', 2)])).toEqual({ rows: read, newer: 0 });
  });

  it('keeps listed deliveries that are not among the newest', () =>
    expect(updateListedDeliveries([delivery('a', 1)], [])).toEqual({ rows: [delivery('a', 1)], newer: 0 }));
});
