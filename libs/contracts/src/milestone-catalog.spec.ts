import {
  MILESTONE_CATALOG,
  MILESTONE_REASON_CODES,
  parseMilestoneCode,
  convertForeignMilestoneCode,
} from './milestone-catalog.ts';
import { FOREIGN_CODES, MILESTONE_STANDARDS } from './foreign-codes.ts';
import { TRANSPORT_MODES } from './shipment.ts';

const { dcsa: DCSA, iftsta: IFTSTA } = MILESTONE_STANDARDS;

describe('milestone catalog', () => {
  it('has 48 codes in ascending sequence, each once', () => {
    expect(MILESTONE_CATALOG).toHaveLength(48);
    const sequences = MILESTONE_CATALOG.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    expect(new Set(MILESTONE_CATALOG.map(({ code }) => code)).size).toBe(48);
  });

  it('returns every field of a code', () => {
    expect(parseMilestoneCode('booking_cancelled')).toEqual({
      code: 'booking_cancelled',
      label: 'Booking cancelled',
      description: expect.any(String),
      sequence: 15,
      modes: TRANSPORT_MODES,
      status: 'cancelled',
      opens_exception: null,
      once_per_visit: false,
      dcsa: 'BKG CANC',
      x12_315: 'CA',
      x12_214: 'CA',
      rec24: '7',
      standards: {
        dcsa: ['BKG CANC', 'CANC BKG', 'VOID BKG', 'REJE CBR'],
        x12_315: ['CA'],
        x12_214: ['CA'],
        iftsta: ['7'],
        iata_fsu: [],
      },
    });
    expect(parseMilestoneCode('flight_departed')).toMatchObject({
      modes: ['air', 'courier', 'multimodal'],
      status: 'in_transit',
      dcsa: null,
      x12_315: null,
      x12_214: 'P1',
      rec24: '24',
    });
  });

  it('names the modes for which a code is usual; every code is usual for multimodal', () => {
    expect(parseMilestoneCode('gated_in')?.modes).toEqual(['ocean', 'rail', 'barge', 'multimodal']);
    expect(parseMilestoneCode('border_crossed')?.modes).toEqual(['road', 'rail', 'courier', 'multimodal']);
    for (const { modes } of MILESTONE_CATALOG) expect(modes).toContain('multimodal');
  });

  it('defines which codes do not affect the status and which open an exception', () => {
    const alone = MILESTONE_CATALOG.filter(({ status }) => status === null).map(({ sequence }) => sequence);
    expect(alone).toEqual([45, 65, 86, 115, 116, 117, 118, 120, 122, 123, 125, 128, 145, 172, 174]);
    const opening = MILESTONE_CATALOG.filter(({ opens_exception }) => opens_exception !== null);
    expect(opening.map(({ code, opens_exception }) => `${code} ${opens_exception}`)).toEqual([
      'customs_hold customs_hold',
      'customs_inspection customs_hold',
      'terminal_hold terminal_hold',
      'freight_hold freight_hold',
      'delivery_attempted delivery_failed',
      'return_started return_to_sender',
    ]);
  });

  it.each([
    ['status_note', TRANSPORT_MODES, null, false],
    ['terminal_hold', ['ocean', 'rail', 'barge', 'multimodal'], null, false],
    ['terminal_released', ['ocean', 'rail', 'barge', 'multimodal'], null, false],
    ['freight_hold', ['ocean', 'air', 'rail', 'multimodal'], null, false],
    ['freight_released', ['ocean', 'air', 'rail', 'multimodal'], null, false],
    ['return_started', TRANSPORT_MODES, 'in_transit', true],
    ['empty_loaded', ['ocean', 'rail', 'barge', 'multimodal'], null, true],
    ['empty_discharged', ['ocean', 'rail', 'barge', 'multimodal'], null, true],
  ])('names modes, status and repetition of %s', (code, modes, status, once_per_visit) => {
    const found = parseMilestoneCode(code);
    expect(found).toMatchObject({ status, once_per_visit });
    expect(found?.modes.toSorted()).toEqual([...modes].sort());
  });

  it('does not know other codes', () => {
    for (const code of ['', 'toString', '__proto__', 'DELIVERED']) expect(parseMilestoneCode(code)).toBeUndefined();
  });
});

describe('codes of other standards', () => {
  const rows = Object.entries(FOREIGN_CODES).flatMap(([standard, all]) =>
    all.map((row) => [standard, ...row] as const),
  );

  it('are mapped to codes of the catalog, each once', () => {
    const unknown = rows.flatMap(([, , codes]) => codes.split(' ').filter((code) => !parseMilestoneCode(code)));
    expect(unknown).toEqual([]);
    expect(new Set(rows.map(([standard, foreign]) => `${standard} ${foreign}`)).size).toBe(rows.length);
  });

  it.each([
    ['AG', 'X12 214', 'estimated', ['delivered']],
    ['AA', 'X12 315', 'planned', ['gated_out']],
    ['VD', 'X12 315', null, ['vessel_departed', 'transshipment_departed']],
  ])('%s of %s has its classifier', (text, standard, classifier, codes) => {
    expect(convertForeignMilestoneCode(text)).toContainEqual({ standard, classifier, codes });
  });

  it.each([
    ['BKG CONF', { [DCSA]: ['booking_confirmed'] }],
    ['CONF', { [DCSA]: ['booking_confirmed'] }],
    ['GTIN', { [DCSA]: ['gated_in', 'empty_returned'] }],
    ['gtin laden', { [DCSA]: ['gated_in'] }],
    ['DEPA', { [DCSA]: ['vessel_departed', 'rail_departed', 'transshipment_departed'] }],
    ['INSP', { [DCSA]: ['status_note', 'customs_inspection'] }],
    ['RSEA', { [DCSA]: ['status_note'] }],
    ['RMVD', { [DCSA]: ['status_note'] }],
    ['DISC', { [DCSA]: ['transshipment_discharged', 'discharged', 'rail_unloaded', 'empty_discharged'] }],
    ['PX', { 'X12 315': ['customs_hold', 'customs_inspection'] }],
    ['vd', { 'X12 315': ['vessel_departed', 'transshipment_departed'] }],
    ['X1', { 'X12 315': ['arrived_at_destination'], 'X12 214': ['arrived_at_destination'] }],
    ['X3', { 'X12 315': ['status_note'], 'X12 214': ['status_note'] }],
    ['CD', { 'X12 315': ['status_note'], 'X12 214': ['status_note'] }],
    ['AF', { 'X12 315': ['picked_up'], 'X12 214': ['picked_up'] }],
    ['CA', { 'X12 315': ['booking_cancelled'], 'X12 214': ['booking_cancelled'] }],
    ['99', { [IFTSTA]: ['gated_out'] }],
    ['40', { [IFTSTA]: ['transshipment_arrived', 'vessel_arrived'] }],
    ['RCS', { 'IATA FSU': ['received_at_origin'] }],
    ['nfd', { 'IATA FSU': ['arrival_notice_issued', 'available_for_pickup'] }],
    ['', {}],
    ['ZZ', {}],
    ['vessel_departed', {}],
    ['__proto__', {}],
  ])('%s', (text, meant) => {
    expect(
      Object.fromEntries(convertForeignMilestoneCode(text).map(({ standard, codes }) => [standard, codes])),
    ).toEqual(meant);
  });
});

it('reason codes are listed once each', () => {
  expect(new Set(MILESTONE_REASON_CODES).size).toBe(MILESTONE_REASON_CODES.length);
  expect(MILESTONE_REASON_CODES).toHaveLength(41);
});
