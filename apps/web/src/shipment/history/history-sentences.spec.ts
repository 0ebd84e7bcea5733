import { findPortOfTime, listPortsOfHistoryEntries, listResourceDifferences } from './history-ports.ts';
import { type HistoryEntry, describeHistoryEntry, formatActor } from './history-sentences.ts';
import { formatFieldPathAsLabel, formatInstant, formatStoredValue } from './value-labels.ts';

const ANN = { type: 'user', id: 'usr_1', name: 'Ann' } as const;
const entry = (type: HistoryEntry['type'], changes: HistoryEntry['changes'], actor: HistoryEntry['actor'] = ANN) =>
  ({ id: 'evt_1', type, at: '2026-11-20T10:00:00.000Z', actor, changes, version: 2 }) satisfies HistoryEntry;
const EXCEPTION = { id: 'exc_1', title: 'Seal broken', severity: 'high', status: 'open', assignee: null };
const MILESTONE = {
  id: 'mst_1',
  label: 'Vessel departed',
  classifier: 'actual',
  occurred_at: '2026-11-03T10:00:00.000Z',
};
const DAY_AT_AUCKLAND = {
  occurred_at: '2026-12-09T10:59:59.999Z',
  occurred_at_precision: 'day',
  timezone: 'Pacific/Auckland',
};
const AT = formatInstant(MILESTONE.occurred_at);
const BY_SYSTEM = { code: 'auto_cleared', note: null, by: { type: 'system', id: 'system' } };

it.each<[string, HistoryEntry, string]>([
  ['a field', entry('shipment.updated', { carrier_scac: { from: null, to: 'MAEU' } }), 'changed Carrier to MAEU'],
  [
    'a container',
    entry('shipment.updated', {
      containers: {
        from: [{ number: 'CSQU3054383', last_free_day: '2026-12-01' }],
        to: [{ number: 'CSQU3054383', last_free_day: null }],
      },
    }),
    `changed Container CSQU3054383, last free day from ${formatStoredValue('2026-12-01')} to none`,
  ],
  [
    'many fields',
    entry('shipment.updated', {
      mode: { from: null, to: 'ocean' },
      eta: { from: null, to: '2026-12-01T00:00:00.000Z' },
      house_bill: { from: 'A', to: 'B' },
      master_bill: { from: 'A', to: 'B' },
    }),
    'changed Mode, ETA and 2 more',
  ],
  [
    'a milestone',
    entry('milestone.recorded', { milestone: { from: null, to: MILESTONE } }),
    `recorded “Vessel departed” for ${AT}`,
  ],
  [
    'an estimated milestone that was retracted',
    entry('milestone.retracted', {
      milestone: { from: { ...MILESTONE, classifier: 'estimated', location: 'CNSHA' }, to: null },
    }),
    `retracted “Vessel departed” (estimated) at CNSHA for ${AT}`,
  ],
  [
    'an estimated day',
    entry('milestone.recorded', {
      milestone: { from: null, to: { ...MILESTONE, classifier: 'estimated', ...DAY_AT_AUCKLAND } },
    }),
    `recorded “Vessel departed” (estimated) for ${formatStoredValue('2026-12-09')}`,
  ],
  [
    'an exception that a user opened',
    entry('exception.opened', { exception: { from: null, to: EXCEPTION } }),
    'opened “Seal broken”, high',
  ],
  [
    'an exception that a rule opened after a write',
    entry('exception.opened', { exception: { from: null, to: { ...EXCEPTION, detected_by: 'system' } } }),
    'triggered “Seal broken”, high',
  ],
  [
    'an exception that a rule resolved after a write',
    entry('exception.resolved', { exception: { from: EXCEPTION, to: { ...EXCEPTION, resolution: BY_SYSTEM } } }),
    'triggered the resolution of “Seal broken”',
  ],
  [
    'an exception that a user resolved',
    entry('exception.resolved', {
      exception: { from: EXCEPTION, to: { ...EXCEPTION, resolution: { code: 'waived', note: 'Agreed.', by: ANN } } },
    }),
    'resolved “Seal broken” as waived: “Agreed.”',
  ],
  [
    'an exception that was acknowledged and assigned',
    entry('exception.updated', {
      exception: { from: EXCEPTION, to: { ...EXCEPTION, status: 'acknowledged', assignee: 'kim@example.com' } },
    }),
    'acknowledged “Seal broken” and assigned it to kim@example.com',
  ],
  [
    'an exception that got a note',
    entry('exception.updated', { exception: { from: EXCEPTION, to: EXCEPTION }, note: { from: null, to: 'Called.' } }),
    'added a note to “Seal broken”',
  ],
  [
    'a document',
    entry('document.rejected', {
      document: {
        from: null,
        to: { type: 'photo', file_name: 'a.png', content_type: 'image/png', rejection_reason: 'Too dark' },
      },
    }),
    'rejected Photo “a.png” (PNG): “Too dark”',
  ],
])('describes %s in a sentence', (_what, one, did) => {
  expect(describeHistoryEntry(one).did).toBe(did);
});

it('describes the status of a container, not the milestone that set it', () => {
  const container = { number: 'CSQU3054383', status: 'in_transit', status_milestone_id: 'mst_1' };
  const containers = { from: [container], to: [{ ...container, status: 'arrived', status_milestone_id: 'mst_2' }] };
  expect(describeHistoryEntry(entry('shipment.updated', { containers })).did).toBe(
    'changed Container CSQU3054383, status from In transit to Arrived',
  );
});

it('describes the changes of a corrected milestone, without derived fields', () => {
  const to = { ...MILESTONE, revision: 2, recorded_at: 'later', location: 'NLRTM' };
  const { details } = describeHistoryEntry(
    entry('milestone.corrected', { milestone: { from: { ...MILESTONE, location: 'CNSHA' }, to } }),
  );
  expect(details).toEqual([{ path: ['location'], from: 'CNSHA', to: 'NLRTM' }]);
});

it('includes the note of the actor of the actor', () => {
  const said = entry('exception.updated', {
    exception: { from: EXCEPTION, to: EXCEPTION },
    note: { from: null, to: 'Hi' },
  });
  expect(describeHistoryEntry(said).note).toBe('Hi');
  expect(describeHistoryEntry(entry('shipment.cancelled', {})).note).toBeUndefined();
});

it.each([
  [ANN, 'Ann'],
  [{ type: 'user', id: 'usr_2', name: null } as const, 'A user'],
  [{ type: 'service_account', id: 'sva_1', name: 'feed' } as const, 'feed'],
  [{ type: 'system', id: 'clock', name: null } as const, 'Scheduled check'],
  [{ type: 'system', id: 'whatever', name: null } as const, 'System'],
])('formats the path %o as %s', (actor, name) => {
  expect(formatActor(actor)).toBe(name);
});

it('shows whole days as the dates at the ports, without their precision', () => {
  const { did } = describeHistoryEntry(
    entry('shipment.updated', {
      eta: { from: null, to: DAY_AT_AUCKLAND.occurred_at },
      eta_precision: { from: 'time', to: 'day' },
    }),
    ([field]) => (field === 'eta' ? 'Pacific/Auckland' : undefined),
  );
  expect(did).toBe(`changed ETA to ${formatStoredValue('2026-12-09')}`);
  const { details } = describeHistoryEntry(
    entry('milestone.corrected', { milestone: { from: MILESTONE, to: { ...MILESTONE, ...DAY_AT_AUCKLAND } } }),
  );
  expect(details.filter(({ path: [name] }) => name !== 'timezone')).toMatchObject([
    { path: ['occurred_at'], zone: 'Pacific/Auckland' },
  ]);
  expect(formatStoredValue(DAY_AT_AUCKLAND.occurred_at, 'occurred_at', 'Pacific/Auckland')).toBe(
    formatStoredValue('2026-12-09'),
  );
});

it('formats a whole day at a former port by the calendar of that port', () => {
  const moved = entry('shipment.updated', {
    destination_port: { from: 'NZAKL', to: 'NLRTM' },
    eta: { from: DAY_AT_AUCKLAND.occurred_at, to: '2026-12-20T22:59:59.999Z' },
  });
  const before = entry('shipment.updated', { eta: { from: null, to: DAY_AT_AUCKLAND.occurred_at } });
  const legs = entry('shipment.updated', {
    legs: {
      from: [{ origin_port: 'CNSHA', destination_port: 'NZAKL', eta: DAY_AT_AUCKLAND.occurred_at }],
      to: [{ origin_port: 'CNSHA', destination_port: 'NLRTM', eta: '2026-12-20T22:59:59.999Z' }],
    },
  });
  const zones: Readonly<Record<string, string>> = { NZAKL: 'Pacific/Auckland', NLRTM: 'Europe/Amsterdam' };
  const entries = [legs, moved, before];
  const ports = listPortsOfHistoryEntries(entries, { origin_port: 'CNSHA', destination_port: 'NLRTM', legs: [] });
  const told = entries.map((each, index) =>
    describeHistoryEntry(each, (path, side) => zones[findPortOfTime(ports[index]![side], path) ?? '']),
  );
  const [former, current] = [formatStoredValue('2026-12-09'), formatStoredValue('2026-12-20')];
  const formatDetails = (at: number) =>
    told[at]?.details.map(({ path, from, to, zone, fromZone }) => [
      path.join('.'),
      formatStoredValue(from, path.at(-1), fromZone),
      formatStoredValue(to, path.at(-1), zone),
    ]);
  expect(formatDetails(0)).toContainEqual(['legs.1.eta', former, current]);
  expect(formatDetails(1)).toContainEqual(['eta', former, current]);
  expect(told[2]?.did).toBe(`changed ETA to ${former}`);
});

const PORT_ZONES = new Map([
  ['NZAKL', { timezone: 'Pacific/Auckland' }],
  ['USLAX', { timezone: 'America/Los_Angeles' }],
]);

it.each([
  ['NZAKL', 'UTC+13', '2027-01-09T10:59:59.999Z', '2027-01-20T10:59:59.999Z'],
  ['USLAX', 'UTC-8', '2027-01-10T07:59:59.999Z', '2027-01-21T07:59:59.999Z'],
])('compares whole days of two states by the calendar of %s (%s)', (port, _, before, after) => {
  const shipmentOf = (eta: string) => ({ origin_port: null, destination_port: port, eta, legs: [{ ...ROUTE, eta }] });
  const ROUTE = { origin_port: null, destination_port: port };
  const milestoneOf = (occurred_at: string) => ({ occurred_at, timezone: PORT_ZONES.get(port)?.timezone });
  const differences = [
    ...listResourceDifferences([shipmentOf(before), shipmentOf(after)], ['eta', 'legs'], PORT_ZONES),
    ...listResourceDifferences([milestoneOf(before), milestoneOf(after)], ['occurred_at'], PORT_ZONES),
  ];
  const dates = ['2027-01-09', '2027-01-20'].map((date) => formatStoredValue(date));
  expect(
    differences.map(({ path, from, to, zone, fromZone }) => [
      path.join('.'),
      formatStoredValue(from, path.at(-1), fromZone),
      formatStoredValue(to, path.at(-1), zone),
    ]),
  ).toEqual(['eta', 'legs.1.eta', 'occurred_at'].map((path) => [path, ...dates]));
});

it('formats values with labels for codes, and “none” for empty values', () => {
  expect(formatStoredValue('false_positive', 'code')).toBe('False positive');
  expect(formatStoredValue('some_unknown_value', 'status')).toBe('Some unknown value');
  expect(formatStoredValue('as_sent', 'external_id')).toBe('as_sent');
  expect([null, '', [], undefined].map((value) => formatStoredValue(value))).toEqual(['none', 'none', 'none', 'none']);
  expect(formatFieldPathAsLabel(['legs', '2', 'eta'])).toBe('Leg 2, ETA');
});
