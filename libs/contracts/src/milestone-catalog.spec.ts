import { MILESTONE_CATALOG, REASON_CODES, findMilestoneCode, convertMilestoneCode } from './milestone-catalog.ts';
import { MODES } from './shipment.ts';

describe('milestone catalog', () => {
  it('has 40 codes in ascending sequence, each once', () => {
    expect(MILESTONE_CATALOG).toHaveLength(40);
    const sequences = MILESTONE_CATALOG.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    expect(new Set(MILESTONE_CATALOG.map(({ code }) => code)).size).toBe(40);
  });

  it('returns every field of a code', () => {
    expect(findMilestoneCode('booking_cancelled')).toEqual({
      code: 'booking_cancelled',
      label: 'Booking cancelled',
      description: expect.any(String),
      sequence: 15,
      modes: MODES,
      status: 'cancelled',
      opens_exception: null,
      dcsa: 'BKG CANC',
      x12_315: 'CA',
      x12_214: 'CA',
      rec24: '7',
    });
    expect(findMilestoneCode('flight_departed')).toMatchObject({
      modes: ['air', 'courier', 'multimodal'],
      status: 'in_transit',
      dcsa: null,
      x12_315: null,
      x12_214: 'P1',
      rec24: '24',
    });
  });

  it('names the modes for which a code is usual; every code is usual for multimodal', () => {
    expect(findMilestoneCode('gated_in')?.modes).toEqual(['ocean', 'rail', 'barge', 'multimodal']);
    expect(findMilestoneCode('border_crossed')?.modes).toEqual(['road', 'rail', 'courier', 'multimodal']);
    for (const { modes } of MILESTONE_CATALOG) expect(modes).toContain('multimodal');
  });

  it('defines which codes do not affect the status and which open an exception', () => {
    const alone = MILESTONE_CATALOG.filter(({ status }) => status === null).map(({ sequence }) => sequence);
    expect(alone).toEqual([45, 65, 115, 116, 120, 125, 128, 145]);
    const opening = MILESTONE_CATALOG.filter(({ opens_exception }) => opens_exception !== null);
    expect(opening.map(({ code, opens_exception }) => `${code} ${opens_exception}`)).toEqual([
      'customs_hold customs_hold',
      'customs_inspection customs_hold',
      'delivery_attempted delivery_failed',
    ]);
  });

  it('does not know other codes', () => {
    for (const code of ['', 'toString', '__proto__', 'DELIVERED']) expect(findMilestoneCode(code)).toBeUndefined();
  });
});

describe('codes of other standards', () => {
  it.each([
    ['BKG CONF', { DCSA: ['booking_confirmed'] }],
    ['GTIN', { DCSA: ['gated_in', 'empty_returned'] }],
    ['gtin laden', { DCSA: ['gated_in'] }],
    ['DEPA', { DCSA: ['vessel_departed', 'rail_departed', 'transshipment_departed'] }],
    ['OA', { 'X12 315': ['gated_out'] }],
    ['vd', { 'X12 315': ['vessel_departed', 'transshipment_departed'] }],
    ['X4', { 'X12 214': ['flight_arrived', 'arrived_at_destination'] }],
    ['AF', { 'X12 315': ['picked_up'], 'X12 214': ['picked_up'] }],
    ['99', { 'UN/ECE Recommendation 24': ['gated_out'] }],
    ['', {}],
    ['G', {}],
    ['vessel_departed', {}],
    ['__proto__', {}],
  ])('%s', (text, meant) => {
    expect(Object.fromEntries(convertMilestoneCode(text).map(({ standard, codes }) => [standard, codes]))).toEqual(
      meant,
    );
  });
});

it('reason codes are listed once each', () => {
  expect(new Set(REASON_CODES).size).toBe(REASON_CODES.length);
  expect(REASON_CODES).toHaveLength(41);
});
