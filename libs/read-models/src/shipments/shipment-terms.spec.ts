import { readFileSync, readdirSync } from 'node:fs';
import type { JsonObject, ShipmentRecord } from '@tracking/contracts';
import { upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import { createRandomShipmentRecord, createSeededRandom } from '../../test/listed-shipments.ts';
import {
  ACME_LIVE_SCOPE,
  createShipmentEventForTest,
  createSampleShipmentRecord,
  createNthTestShipmentToken,
} from '../../test/shipment-events.ts';
import { type ShipmentReadModelRow, shipmentsReadModel } from './shipment-rows.ts';
import { MAX_INDEXED_WORDS, listShipmentSearchTerms } from './shipment-terms.ts';

type StoredBody = { readonly revision: number; readonly type: string; readonly data: JsonObject };

const GOLDEN = new URL('../../../shipments/domain/src/golden/', import.meta.url);
const golden = readdirSync(GOLDEN)
  .filter((name) => name !== 'outcome.json')
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8')) as StoredBody[])
  .sort((one, other) => one.revision - other.revision);

/** Rows after each event, each built from the previous row. */
function rowsAfter(bodies: readonly StoredBody[], throughStore: boolean): readonly ShipmentReadModelRow[] {
  const rows: ShipmentReadModelRow[] = [];
  for (const body of bodies) {
    const stored = {
      ...createShipmentEventForTest(body),
      ...body,
      stream: `shipment-${createNthTestShipmentToken(1)}`,
      position: String(body.revision),
    };
    const last = rows.at(-1);
    const before =
      throughStore && last !== undefined ? (JSON.parse(JSON.stringify(last)) as ShipmentReadModelRow) : last;
    const projected = { id: stored.id, stream: stored.stream, position: stored.position, scope: undefined };
    rows.push(
      ...shipmentsReadModel.applyEventToRows({ ...projected, event: upcastStoredShipmentEvent(stored) }, () => before),
    );
  }
  return rows;
}

describe('terms of shipments', () => {
  it('equal those built from the record alone, after every event version, from memory and from a store', () => {
    const rows = rowsAfter(golden, false);
    expect(rows).toHaveLength(golden.length);
    for (const { record, terms } of rows) expect(terms).toEqual(listShipmentSearchTerms(record));
    expect(rowsAfter(golden, true).map(({ terms }) => terms)).toEqual(rows.map(({ terms }) => terms));
  });

  it('equal those built from the record alone, whatever changed since the previous row', () => {
    const random = createSeededRandom(3);
    const created = {
      ...ACME_LIVE_SCOPE,
      shipment: createSampleShipmentRecord(1),
      sent: { etd: null, eta: null, legs: [] },
    };
    const bodies: StoredBody[] = [{ revision: 0, type: 'shipment.created.v1', data: created as unknown as JsonObject }];
    for (let revision = 1; revision < 300; revision += 1) {
      const some = Object.entries(createRandomShipmentRecord(1, random)).filter(
        ([field]) => !['id', 'external_id', 'created_at', 'updated_at', 'version'].includes(field) && random() < 0.1,
      );
      const changes = Object.fromEntries(
        some.map(([field, to]) => [field, { from: field === 'legs' ? [] : null, to }]),
      );
      bodies.push({ revision, type: 'shipment.changed.v1', data: { changes } as unknown as JsonObject });
    }
    const rows = rowsAfter(bodies, false);
    for (const { record, terms } of rows) expect(terms).toEqual(listShipmentSearchTerms(record));
    expect(rowsAfter(bodies, true).map(({ terms }) => terms)).toEqual(rows.map(({ terms }) => terms));
    expect(new Set(rows.map(({ terms }) => terms.length)).size).toBeGreaterThan(10);
  });

  it('are unique and match the stored form', () => {
    const record = createSampleShipmentRecord(1, {
      external_id: 'A b:c',
      house_bill: 'word:x',
      references: [
        { type: 'po', value: 'same' },
        { type: 'so', value: 'same' },
      ],
      shipper: { name: 'Same', external_id: 'same' },
    });
    const terms = listShipmentSearchTerms(record);
    expect(new Set(terms).size).toBe(terms.length);
    expect(terms).toEqual(
      expect.arrayContaining([
        'word:ab external_id:ab:c',
        'word:b',
        'word:word house_bill:word:x',
        'word:same reference:same',
        'shipper:same',
      ]),
    );
    expect(terms.filter((one) => /^word:(x|same)/.test(one)).sort()).toEqual(['word:same reference:same', 'word:x']);
  });

  it('are limited; words of references and containers come first', () => {
    const many = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n));
    const sentence = (n: number) =>
      many(160, (word) => `w${n}x${word}`)
        .join(' ')
        .slice(0, 1_000);
    const record: Partial<ShipmentRecord> = {
      external_id: sentence(1),
      container_numbers: many(200, (n) => `MSKU${String(n).padStart(7, '0')}`),
      references: many(50, (n) => sentence(n + 100)).map((value) => ({ type: 'po', value })),
      consignee: { name: 'Unseen', external_id: 'C' },
    };
    const terms = listShipmentSearchTerms(createSampleShipmentRecord(1, record));
    expect(terms.filter((one) => /^word:\w+$/.test(one)).length).toBeLessThanOrEqual(MAX_INDEXED_WORDS);
    expect(terms.length).toBeLessThan(MAX_INDEXED_WORDS + 2 * 200 + 50 + 20);
    expect(terms).toEqual(expect.arrayContaining(['word:msku0000199 container_number:msku0000199']));
    expect(terms).not.toContain('word:unseen');
  });

  it('cover two hundred containers and fifty references', () => {
    const numbers = Array.from({ length: 200 }, (_, n) => `MSKU${String(n).padStart(7, '0')}`);
    const references = Array.from({ length: 50 }, (_, n) => ({ type: 'po', value: `PO-${n} part ${n}` }));
    const terms = new Set(
      listShipmentSearchTerms(createSampleShipmentRecord(1, { container_numbers: numbers, references })),
    );
    for (const number of numbers) {
      expect(terms.has(`word:${number.toLowerCase()} container_number:${number.toLowerCase()}`)).toBe(true);
    }
    for (let n = 0; n < 50; n += 1) expect(terms.has(`word:${n}`)).toBe(true);
  });
});
