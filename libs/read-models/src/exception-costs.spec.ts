import { EXCEPTION_TYPES } from '@tracking/contracts';
import { VisitCountingCollection } from '../test/counted-rows.ts';
import { createExceptionRow } from '../test/listed-exceptions.ts';
import { toTimeOfNthDay, createSeededRandom } from '../test/listed-shipments.ts';
import { ACME_LIVE_SCOPE, createSampleException, createNthTestShipmentToken } from '../test/shipment-events.ts';
import { type ExceptionListFilter, ExceptionQueries, exceptionsReadModel, type ExceptionSort } from './exceptions.ts';

const OPEN = 1_000;
const RESOLVED = 100_000;
const random = createSeededRandom(5);
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;

/**
 * Open exceptions are spread evenly among resolved ones, and a tenth is acknowledged. Acknowledged and resolved
 * exceptions belong to one of ten clerks, except those of type `eta_slip`. None is `lost`, and no resolved one was
 * critical.
 */
const ROWS = Array.from({ length: OPEN + RESOLVED }, (_, n) => {
  const isOpen = n % 101 === 0;
  const isAcknowledged = n % 1_010 === 0;
  const type = one(['eta_slip', 'no_update', 'customs_hold', 'demurrage_risk'] as const);
  return createExceptionRow(
    createSampleException(Math.floor(n / 10), `-${n}`, {
      status: !isOpen ? 'resolved' : isAcknowledged ? 'acknowledged' : 'open',
      type,
      severity: isOpen ? one(['low', 'medium', 'high', 'critical']) : one(['low', 'medium', 'high']),
      assignee: type === 'eta_slip' || (isOpen && !isAcknowledged) ? null : `clerk ${n % 10}`,
      opened_at: toTimeOfNthDay((300 * n) / (OPEN + RESOLVED)),
    }),
  );
});

const WORK: ExceptionListFilter = { status: ['open', 'acknowledged'] };

describe('rows visited per page, with 1,000 open among 100,000 resolved exceptions', () => {
  const rows = new VisitCountingCollection(ROWS, exceptionsReadModel.indexes);
  const queries = new ExceptionQueries({ openActiveGenerationRows: () => Promise.resolve(rows as never) });

  // A page of 50 reads 51 entries in each range.
  it.each<[string, ExceptionListFilter, ExceptionSort, number, number]>([
    ['nothing', {}, '-opened_at', 3 * 51, 50],
    ['nothing', {}, '-severity', 3 * 51, 50],
    ['what is to be done', WORK, '-opened_at', 2 * 51, 50],
    ['what is to be done', WORK, 'opened_at', 2 * 51, 50],
    ['what is to be done', WORK, '-severity', 2 * 51, 50],
    ['what is open', { status: ['open'] }, '-severity', 51, 50],
    ['the critical', { severity: ['critical'] }, '-opened_at', 3 * 51, 50],
    ['the critical', { severity: ['critical'] }, '-severity', 3 * 51, 50],
    ['the critical that are resolved', { status: ['resolved'], severity: ['critical'] }, '-opened_at', 0, 0],
    ['the gravest of what is to be done', { ...WORK, severity: ['high', 'critical'] }, '-opened_at', 4 * 51, 50],
    ['a type', { type: ['customs_hold'] }, '-opened_at', 3 * 51, 50],
    ['a type', { type: ['customs_hold'] }, '-severity', 3 * 51, 50],
    ['a type to do', { ...WORK, type: ['customs_hold'] }, '-severity', 2 * 51, 50],
    ['four types to do', { ...WORK, type: EXCEPTION_TYPES.slice(0, 4) }, '-opened_at', 8 * 51, 50],
    ['all types, more than ranges', { ...WORK, type: EXCEPTION_TYPES }, '-opened_at', 2 * 51, 50],
    ['a type that none has', { type: ['lost'] }, '-opened_at', 0, 0],
    ['a type that none has', { ...WORK, type: ['lost'] }, '-severity', 0, 0],
    ['a person’s', { assignee: 'clerk 0' }, '-opened_at', 3 * 51, 50],
    ['a person’s to do', { ...WORK, assignee: 'clerk 0' }, '-opened_at', 2 * 51, 50],
    ['a person’s to do', { ...WORK, assignee: 'clerk 0' }, '-severity', 2 * 51, 50],
    ['nobody’s to do', { ...WORK, unassigned: true }, '-severity', 2 * 51, 50],
    ['somebody’s to do', { ...WORK, unassigned: false }, '-opened_at', 1_000, 50],
    ['somebody who has none', { assignee: 'nobody' }, '-severity', 0, 0],
    ['a person’s of a type to do', { ...WORK, assignee: 'clerk 0', type: ['customs_hold'] }, '-severity', 100, 20],
    ['a person’s of a type', { assignee: 'clerk 0', type: ['customs_hold'] }, '-opened_at', 3 * 300, 50],
    ['a person’s of a type that nobody was given', { assignee: 'clerk 0', type: ['eta_slip'] }, '-opened_at', 4_000, 0],
    ['a person’s of a type that nobody was given', { assignee: 'clerk 0', type: ['eta_slip'] }, '-severity', 4_000, 0],
    ['a type that is mostly somebody’s', { type: ['no_update'], unassigned: true }, '-opened_at', 4_000, 10],
    ['a shipment’s', { shipment_id: `shp_${createNthTestShipmentToken(77)}` }, '-opened_at', 10, 10],
    ['a shipment’s', { shipment_id: `shp_${createNthTestShipmentToken(77)}` }, '-severity', 4 * 10, 10],
    [
      'a shipment’s to do of a type',
      { ...WORK, shipment_id: `shp_${createNthTestShipmentToken(77)}`, type: ['lost'] },
      'opened_at',
      10,
      0,
    ],
    ['a day', { opened_from: toTimeOfNthDay(10), opened_to: toTimeOfNthDay(11) }, '-opened_at', 3 * 51, 50],
    ['a time of which there are none', { opened_from: toTimeOfNthDay(400) }, '-severity', 0, 0],
  ])('filter %s: %j by %s visits at most %d', async (_title, filter, sort, most, found) => {
    rows.visits = 0;
    const page = await queries.listExceptions(ACME_LIVE_SCOPE, { filter, sort, limit: 50 });
    expect(rows.visits).toBeLessThanOrEqual(most);
    if (found > 0) expect(page.items.length).toBeGreaterThanOrEqual(found);
    else expect(page.items).toEqual([]);
  });

  it('continue after a page and end', async () => {
    const filter: ExceptionListFilter = { assignee: 'clerk 0', type: ['eta_slip'] };
    let pages = 0;
    for (let after: Parameters<typeof queries.listExceptions>[1]['after']; ;) {
      const { items, next } = await queries.listExceptions(ACME_LIVE_SCOPE, {
        filter,
        sort: 'opened_at',
        limit: 50,
        after,
      });
      expect(items).toEqual([]);
      pages += 1;
      if (next === undefined) break;
      after = next;
    }
    // Two of the three ranges hold few entries, but each can visit a third of the maximum.
    expect(pages).toBe(6);
  });
});
