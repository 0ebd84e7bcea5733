import { readFileSync } from 'node:fs';
import type { ClientShipmentFields } from '@tracking/contracts';
import { explainShipment } from '../src/index.ts';
import { journeyPlacesStub } from './journey-places.ts';
import { createLegWithOtherFieldsNull, ShipmentScenario } from './scenario.ts';

const GUIDE = new URL('../../../../docs/guides/statuses-and-milestones.md', import.meta.url);
const COLUMNS = ['date', 'code', 'location', 'status', 'rule'] as const;
const CREATED = '2026-01-01T00:00:00.000Z';
const POSTED = '2026-01-31T00:00:00.000Z';

type Row = Readonly<Record<(typeof COLUMNS)[number], string>> & { readonly time: string };

/** A journey of the guide: the shipment as its JSON describes it, and the milestones of its table. */
interface Journey {
  readonly title: string;
  readonly fields: Partial<ClientShipmentFields>;
  readonly rows: readonly Row[];
}

/** Reads the journeys of the guide's section. @throws Error if a part of a journey is missing */
function parseJourneys(text: string): readonly Journey[] {
  const section = text.split('\n## ').find((part) => part.startsWith('Six journeys\n')) ?? '';
  return section
    .split('\n### ')
    .slice(1)
    .map((part) => {
      const [title = ''] = part.split('\n', 1);
      const json = /```json\n(.*?)```/s.exec(part)?.[1];
      const [head, , ...rows] = part.split('\n').filter((line) => line.startsWith('|'));
      if (json === undefined || head === undefined || rows.length === 0) throw new Error(`${title} is not complete`);
      expect(parseCells(head)).toEqual(COLUMNS);
      return { title, fields: JSON.parse(json) as Partial<ClientShipmentFields>, rows: rows.map(parseRow) };
    });
}

function parseRow(line: string, index: number): Row {
  const cells = parseCells(line);
  expect(cells).toHaveLength(COLUMNS.length);
  const row = Object.fromEntries(COLUMNS.map((column, place) => [column, cells[place]])) as Omit<Row, 'time'>;
  // Milestones of one date follow each other in the order of the table.
  return { ...row, time: new Date(Date.parse(`${row.date}T08:00:00Z`) + index * 60_000).toISOString() };
}

function parseCells(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''));
}

/** Creates the shipment and posts its milestones. Returns the shipment and the statuses after each milestone. */
function runJourney({ fields }: Journey, rows: readonly Row[]) {
  const scenario = new ShipmentScenario();
  scenario.places = journeyPlacesStub;
  const legs = fields.legs?.map(createLegWithOtherFieldsNull);
  scenario.setTimeOfNextCommand(CREATED).upsertShipment({ external_id: 'PO-1', ...fields, ...(legs && { legs }) });
  scenario.setTimeOfNextCommand(POSTED);
  const [container_number = null] = fields.container_numbers ?? [];
  const statuses = rows.map(({ code, location, time }) => {
    scenario.postMilestoneInScenario(code, time, { location: location || null, container_number, source: 'carrier' });
    return scenario.record.status;
  });
  return { scenario, statuses };
}

/** Returns the rule of each milestone by its time. */
function findRules({ state, settings }: ShipmentScenario): ReadonlyMap<string, string> {
  if (state === undefined) throw new Error('the shipment does not exist');
  const { milestones } = explainShipment(state, { places: journeyPlacesStub, settings });
  return new Map(milestones.map(({ occurred_at, rule }) => [occurred_at, rule]));
}

function listRules(scenario: ShipmentScenario, rows: readonly Row[]): readonly unknown[] {
  const rules = findRules(scenario);
  return rows.map(({ time }) => rules.get(time));
}

/** Returns the rows of a journey whose status or rule is not the one of the table, with the values that they have. */
function listWrongRows(journey: Journey): readonly unknown[] {
  const { rows } = journey;
  const { scenario, statuses } = runJourney(journey, rows);
  const rules = listRules(scenario, rows);
  return rows.flatMap(({ date, code, ...expected }, index) => {
    const [status, rule] = [statuses[index], rules[index]];
    return status === expected.status && rule === expected.rule ? [] : [{ date, code, status, rule }];
  });
}

const guide = readFileSync(GUIDE, 'utf8');
const journeys = parseJourneys(guide);

describe('the journeys of the guide to statuses and milestones', () => {
  it('are six', () => {
    expect(journeys.map(({ title }) => title)).toEqual([
      'Ocean, direct',
      'Ocean, with a transshipment to a feeder',
      'Ocean and rail to an inland destination',
      'Air, with a relay',
      'Parcel',
      'A reused container',
    ]);
  });

  it.each(journeys)('$title: has the statuses and rules of the table', (journey) => {
    expect(listWrongRows(journey)).toEqual([]);
  });

  it.each(journeys)('$title: ends with the same status and rules in other orders', (journey) => {
    const { rows } = journey;
    const rotated = [...rows.slice(3), ...rows.slice(0, 3)];
    for (const order of [rows.toReversed(), rotated, [...rotated, ...rows]]) {
      const { scenario, statuses } = runJourney(journey, order);
      expect(statuses.at(-1)).toBe(rows.at(-1)?.status);
      expect(listRules(scenario, rows)).toEqual(rows.map(({ rule }) => rule));
    }
  });

  it('are wrong if a table contains another status or rule', () => {
    const wrong = guide
      .replace(/(`vessel_departed` *\| `CNSHA` *\| `)in_transit/, '$1arrived')
      .replace(/`late_repeat`/, '`status_of_code`');
    expect(parseJourneys(wrong).flatMap(listWrongRows)).toEqual([
      { date: '2026-01-07', code: 'vessel_departed', status: 'in_transit', rule: 'status_of_code' },
      { date: '2026-01-06', code: 'flight_departed', status: 'arrived', rule: 'late_repeat' },
    ]);
  });
});
