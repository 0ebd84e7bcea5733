import type { Shipment } from '@tracking/client';
import { type ShipmentNews, withNews } from '../../live/live-news.ts';
import { aShipment } from '../a-shipment.ts';
import { listNews, newsText } from './list-news.ts';

const READ_AT = 10_000;
const NONE: ShipmentNews = { shipments: new Map(), missed: false };
const rows = [
  aShipment({ id: 'b', created_at: '2026-11-02T00:00:00.000Z', status: 'booked' }),
  aShipment({ id: 'a', created_at: '2026-11-01T00:00:00.000Z' }),
];
const list = { rows, more: false, readAt: READ_AT, query: {} };
const told = (...shipments: Shipment[]) => withNews(NONE, shipments, READ_AT + 1);
const created = (id: string, created_at: string) => aShipment({ id, created_at });

it('counts those that would come in', () => {
  const news = listNews(list, told(created('c', '2026-11-03T00:00:00.000Z'), aShipment({ id: 'a', version: 2 })));
  expect(news.fresh).toBe(1);
  expect(newsText(news)).toBe('1 new');
});

it('leaves out what does not match, and what would come behind those that were read', () => {
  const early = created('z', '2026-10-01T00:00:00.000Z');
  const late = created('c', '2026-11-03T00:00:00.000Z');
  expect(listNews({ ...list, query: { mode: 'air' } }, told(late)).fresh).toBe(0);
  expect(listNews({ ...list, more: true }, told(early, late)).fresh).toBe(1);
  expect(listNews(list, told(early)).fresh).toBe(1);
});

it('knows nothing of what was told long before the list was read', () => {
  expect(listNews(list, withNews(NONE, [created('c', '2026-11-03T00:00:00.000Z')], READ_AT - 5_000)).fresh).toBe(0);
});

it('names rows that changed and match no more', () => {
  const pending = { ...list, query: { status: ['pending'] as const } };
  const news = listNews(pending, told(aShipment({ id: 'b', version: 2, status: 'booked' })));
  expect([...news.gone]).toEqual(['b']);
  expect(newsText(news)).toBe('1 no longer matches');
});

it('tells that something may be missing', () => {
  expect(newsText(listNews(list, { ...NONE, missed: true }))).toBe('the connection was away');
  expect(newsText(listNews(list, NONE))).toBeUndefined();
});
