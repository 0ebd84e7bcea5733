import type { ClientShipmentFields } from '@tracking/contracts';
import * as fc from 'fast-check';
import { journeyPlacesStub } from '../test/journey-places.ts';
import { CONTAINER_A, CONTAINER_B, createLegWithOtherFieldsNull, ShipmentScenario } from '../test/scenario.ts';
import { addMsToTime, createJanuaryTime } from '../test/time-driven.ts';
import { explainShipment, type MilestoneInput } from './index.ts';

/** A milestone of a case: code, day in January, and place. */
type Given = readonly [code: string, day: number, location: string | null, more?: Partial<MilestoneInput>];

interface Case {
  readonly name: string;
  readonly fields: Partial<ClientShipmentFields>;
  readonly given: readonly Given[];
  readonly expected: Readonly<Record<string, unknown>>;
  /** Exceptions that must be open, by type. */
  readonly open?: readonly string[];
  /** Rules of milestones that do not count with the status of their code, by code and day. */
  readonly rules?: Readonly<Record<string, string>>;
}

/** Equals `rounds` of the testing library, which the domain cannot import. */
const rounds = (all: number): number => (process.env['PROPERTY_ROUNDS'] === 'all' ? all : Math.ceil(all / 5));

const box = { container_number: CONTAINER_A };
const BOXED = { container_numbers: [CONTAINER_A] };
const estimate = { classifier: 'estimated' } as const;

const CASES: readonly Case[] = [
  {
    name: '1: an arrival at a port on the way to an inland destination',
    fields: { origin_port: 'CNSHA', destination_port: 'USCHI' },
    given: [
      ['vessel_departed', 1, 'CNSHA'],
      ['vessel_arrived', 15, 'USLAX'],
      ['arrived_at_destination', 24, 'USCHI', estimate],
    ],
    expected: { status: 'in_transit', ata: null, eta: createJanuaryTime(24) },
    rules: { 'vessel_arrived 15': 'not_at_destination' },
  },
  {
    name: '2: a call at another port in the country of the destination',
    fields: { origin_port: 'BRSSZ', destination_port: 'CNTXG' },
    given: [
      ['vessel_arrived', 10, 'CNSHA'],
      ['vessel_departed', 11, 'CNSHA'],
    ],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 10': 'not_at_destination' },
  },
  ...['New York', null, 'USEWR', 'USORF'].map((location) => ({
    name: `3: the ship sails on after the discharge, from ${location ?? 'an unknown place'}`,
    fields: { origin_port: 'CNSHA', destination_port: 'USNYC' },
    given: [
      ['discharged', 10, 'USNYC'],
      ['vessel_departed', 11, location],
    ] as readonly Given[],
    expected: { status: 'arrived', ata: createJanuaryTime(10), atd: null },
    rules: { 'vessel_departed 11': 'already_discharged' },
  })),
  {
    name: '6: an empty container goes out and comes back',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX', ...BOXED },
    given: [
      ['empty_picked_up', 2, 'CNSHA', box],
      ['empty_returned', 5, 'CNSHA', box],
    ],
    expected: { status: 'pending', status_milestone_id: null },
    rules: { 'empty_picked_up 2': 'container_not_used', 'empty_returned 5': 'container_not_used' },
  },
  {
    name: '7: a departure is repeated with a later date after the arrival',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'KUL' },
    given: [
      ['flight_departed', 2, 'PEK'],
      ['flight_arrived', 3, 'KUL'],
      ['flight_departed', 4, 'PEK'],
    ],
    expected: { status: 'arrived', atd: createJanuaryTime(2), ata: createJanuaryTime(3) },
    rules: { 'flight_departed 4': 'late_repeat' },
  },
  {
    name: '8: a parcel waits in a shop after a failed attempt',
    fields: { mode: 'courier' },
    given: [
      ['out_for_delivery', 2, null],
      ['delivery_attempted', 3, null],
      ['available_for_pickup', 4, null],
    ],
    expected: { status: 'available_for_pickup' },
    rules: { 'out_for_delivery 2': 'available_again' },
  },
  {
    name: '10: a train is unloaded at the port of origin',
    fields: { origin_port: 'USLAX', destination_port: 'CNSHA' },
    given: [['rail_unloaded', 2, 'LOS ANGELES, CA']],
    expected: { status: 'at_origin', ata: null },
    rules: { 'rail_unloaded 2': 'not_at_destination' },
  },
  {
    name: '14: an arrival and a departure at the same time',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'KUL' },
    given: [
      ['flight_arrived', 2, 'LHR'],
      ['flight_departed', 2, 'LHR'],
    ],
    expected: { status: 'in_transit', ata: null },
  },
  ...(['SGSIN', 'Pier 400'] as const).map((location) => ({
    name: `an arrival and a departure at the same time at ${location}, without a destination`,
    fields: {},
    given: [
      ['vessel_arrived', 2, location],
      ['vessel_departed', 2, location],
    ] as readonly Given[],
    expected: { status: 'in_transit', ata: null, atd: createJanuaryTime(2) },
    rules: { 'vessel_arrived 2': 'departed_again' },
  })),
  {
    name: 'an arrival and a departure at the same time at other places, without a destination',
    fields: {},
    given: [
      ['vessel_departed', 2, 'CNSHA'],
      ['vessel_arrived', 2, 'USLAX'],
      ['vessel_departed', 2, null],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(2) },
  },
  {
    name: 'an arrival and a departure at the same time at a place nobody knows',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX', ...BOXED },
    given: [
      ['vessel_departed', 1, 'CNSHA'],
      ['vessel_arrived', 5, 'Anchorage 3', box],
      ['vessel_departed', 5, 'ANCHORAGE-3'],
    ],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 5': 'departed_again' },
  },
  {
    name: '15: a container leaves a terminal in another country',
    fields: { origin_port: 'CNSHA', destination_port: 'NLRTM', ...BOXED },
    given: [
      ['discharged', 10, 'USNYC', box],
      ['gated_out', 11, 'USNYC', box],
    ],
    expected: { status: 'in_transit', ata: null },
    open: ['off_route'],
    rules: { 'gated_out 11': 'not_at_destination' },
  },
  {
    name: 'a container with a previous and a next trip',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX', etd: createJanuaryTime(10), ...BOXED },
    given: [
      ['vessel_departed', 1, 'CNSHA', box],
      ['vessel_arrived', 4, 'USLAX', box],
      ['empty_returned', 6, 'USLAX', box],
      ['gated_in', 9, 'CNSHA', box],
      ['vessel_departed', 10, 'CNSHA', box],
      ['gated_out', 16, 'USLAX', box],
      ['empty_returned', 18, 'USLAX', box],
      ['gated_in', 20, 'USLAX', box],
    ],
    expected: { status: 'completed', atd: createJanuaryTime(10) },
    rules: { 'vessel_departed 1': 'previous_trip', 'empty_returned 6': 'previous_trip', 'gated_in 20': 'next_trip' },
  },
  {
    name: 'a trip that ended before the ETD, and nothing else',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX', etd: createJanuaryTime(20), ...BOXED },
    given: [
      ['vessel_departed', 1, 'CNSHA', box],
      ['gated_out', 9, 'USLAX', box],
      ['empty_returned', 12, 'USLAX', box],
    ],
    expected: { status: 'pending', atd: null },
    rules: { 'empty_returned 12': 'previous_trip' },
  },
  {
    name: 'an arrival at a place nobody knows, before a departure elsewhere',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX' },
    given: [
      ['vessel_arrived', 5, 'Pier 400'],
      ['vessel_departed', 6, 'SGSIN'],
    ],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 5': 'not_at_destination' },
  },
  {
    name: 'an arrival at a place nobody knows',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX' },
    given: [
      ['vessel_departed', 1, 'CNSHA'],
      ['vessel_arrived', 15, 'Pier 400'],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(15) },
  },
  {
    name: 'a delivery by truck from another place, after the arrival at the destination',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX', ...BOXED },
    given: [
      ['discharged', 15, 'USLAX', box],
      ['rail_departed', 16, 'USLAX', box],
      ['gated_out', 20, 'USCHI', box],
    ],
    expected: { status: 'out_for_delivery', ata: createJanuaryTime(15) },
  },
  {
    name: 'a name of a place in another state',
    fields: { origin_port: 'CNSHA', destination_port: 'CAVAN' },
    given: [['vessel_arrived', 15, 'VANCOUVER, WA']],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 15': 'not_at_destination' },
  },
  {
    name: 'an airport of the city of the destination, and one of another city',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'MIL' },
    given: [
      ['flight_arrived', 2, 'LHR'],
      ['flight_arrived', 3, 'MXP'],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(3) },
  },
  {
    name: 'nearness does not join two places of the route',
    fields: { origin_port: 'JPTYO', destination_port: 'JPYOK' },
    given: [['vessel_arrived', 2, 'JPTYO']],
    expected: { status: 'at_origin', ata: null },
    rules: { 'vessel_arrived 2': 'not_at_destination' },
  },
];

const OCEAN = { origin_port: 'CNSHA', destination_port: 'USLAX' };
const LEGS = [
  createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'SGSIN' }),
  createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'NLRTM' }),
];

/** Further journeys: of each rule that a short journey can show, in other modes, places and sources. */
const OTHER_JOURNEYS: readonly Case[] = [
  {
    name: '1.1: a port beside the destination is the destination',
    fields: OCEAN,
    given: [
      ['vessel_departed', 2, 'Shanghai'],
      ['vessel_arrived', 16, 'USLGB'],
    ],
    expected: { status: 'arrived', atd: createJanuaryTime(2), ata: createJanuaryTime(16) },
  },
  {
    name: '1.2: names without case and accents, with their state',
    fields: OCEAN,
    given: [
      ['vessel_departed', 2, 'shánghai'],
      ['discharged', 16, 'Los Ángeles, CA'],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(16) },
  },
  ...['USPDX', 'USPWM'].map((destination_port) => ({
    name: `1.2: a name of several places means ${destination_port} if it is the destination`,
    fields: { origin_port: 'CNSHA', destination_port },
    given: [['vessel_arrived', 16, 'PORTLAND']] as readonly Given[],
    expected: { status: 'arrived', ata: createJanuaryTime(16) },
  })),
  {
    name: '1.2: a name of several places means the port of a leg',
    fields: {
      legs: [
        createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'USPWM' }),
        createLegWithOtherFieldsNull({ origin_port: 'USPWM', destination_port: 'NLRTM' }),
      ],
    },
    given: [['vessel_arrived', 16, 'Portland']],
    expected: { status: 'in_transit', ata: null, legs: [{ ata: createJanuaryTime(16) }, { atd: null, ata: null }] },
  },
  {
    name: '1.2: a name of several places that are none of the shipment is elsewhere',
    fields: OCEAN,
    given: [['vessel_arrived', 16, 'Portland']],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 16': 'not_at_destination' },
  },
  {
    name: '2.1: goods are available at a place on the way',
    fields: OCEAN,
    given: [['available_for_pickup', 10, 'USCHI']],
    expected: { status: 'in_transit', ata: null },
    rules: { 'available_for_pickup 10': 'not_at_destination' },
  },
  {
    name: '2.1: an arrival without a place before a later loading elsewhere',
    fields: OCEAN,
    given: [
      ['vessel_arrived', 8, null],
      ['transshipment_loaded', 10, 'SGSIN'],
    ],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 8': 'not_at_destination' },
  },
  {
    name: '2.1: a container is delivered by truck in the country of the origin',
    fields: { ...OCEAN, ...BOXED },
    given: [
      ['gated_out', 1, 'CNSHA', box],
      ['gated_in', 2, 'CNSHA', box],
    ],
    expected: { status: 'at_origin', ata: null },
    rules: { 'gated_out 1': 'not_at_destination' },
  },
  {
    name: '2.2: an estimate moves the ETA after an arrival on the way',
    fields: { ...OCEAN, eta: createJanuaryTime(20) },
    given: [
      ['vessel_arrived', 12, 'SGSIN'],
      ['vessel_arrived', 24, 'USLAX', estimate],
    ],
    expected: { status: 'in_transit', ata: null, eta: createJanuaryTime(24), original_eta: createJanuaryTime(20) },
    open: ['eta_slip', 'arrival_overdue'],
  },
  {
    name: '2.3: a delivery counts wherever it is',
    fields: OCEAN,
    given: [
      ['discharged', 15, 'USLAX'],
      ['delivered', 18, 'USCHI'],
    ],
    expected: { status: 'delivered', ata: createJanuaryTime(15) },
  },
  {
    name: '2.4a: a later departure at the origin under its own external_id is a correction',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'KUL' },
    given: [
      ['flight_departed', 2, 'PEK', { external_id: 'EV-1', reported_at: createJanuaryTime(2) }],
      ['flight_departed', 4, 'PEK', { external_id: 'EV-1', reported_at: createJanuaryTime(4) }],
      ['flight_arrived', 3, 'LHR'],
    ],
    expected: { status: 'in_transit', atd: createJanuaryTime(4) },
  },
  {
    name: '2.4b: a train leaves the port after the discharge',
    fields: { origin_port: 'CNSHA', destination_port: 'USCHI' },
    given: [
      ['discharged', 10, 'USLAX'],
      ['vessel_departed', 11, 'USLAX'],
      ['rail_departed', 12, 'USLAX'],
      ['rail_arrived', 15, 'USCHI'],
      ['rail_unloaded', 16, 'USCHI'],
    ],
    expected: { status: 'arrived', atd: createJanuaryTime(12), ata: createJanuaryTime(16) },
    rules: { 'vessel_departed 11': 'already_discharged' },
  },
  {
    name: '2.4b: a flight leaves after the discharge',
    fields: { mode: 'multimodal', origin_port: 'CNSHA', destination_port: 'MIL', ...BOXED },
    given: [
      ['discharged', 10, 'SGSIN', box],
      ['vessel_departed', 11, 'SGSIN'],
      ['flight_departed', 12, 'SGSIN'],
    ],
    expected: { status: 'in_transit', atd: createJanuaryTime(12), containers: [{ status: 'in_transit' }] },
    rules: { 'vessel_departed 11': 'already_discharged' },
  },
  {
    name: '2.4b: a truck leaves after the discharge',
    fields: { mode: 'road', origin_port: 'USLAX', destination_port: 'USCHI' },
    given: [
      ['discharged', 10, 'USLAX'],
      ['vessel_departed', 11, 'USLAX'],
      ['picked_up', 12, 'USLAX'],
    ],
    expected: { status: 'in_transit', atd: createJanuaryTime(12), ata: null },
    rules: { 'vessel_departed 11': 'already_discharged' },
  },
  {
    name: '2.4c: a flight leaves the destination after the arrival',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'KUL' },
    given: [
      ['flight_arrived', 3, 'KUL'],
      ['flight_departed', 4, 'KUL'],
      ['flight_arrived', 5, 'LHR'],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(3) },
  },
  {
    name: '2.5: an ocean container goes out again after it was available',
    fields: { ...OCEAN, ...BOXED },
    given: [
      ['gated_out', 12, 'USLAX', box],
      ['available_for_pickup', 13, 'USLAX', box],
    ],
    expected: { status: 'out_for_delivery' },
  },
  {
    name: '2.5: a truck delivers in a second attempt',
    fields: { mode: 'road' },
    given: [
      ['out_for_delivery', 2, null],
      ['delivery_attempted', 3, null],
      ['available_for_pickup', 4, null],
      ['out_for_delivery', 5, null],
    ],
    expected: { status: 'out_for_delivery' },
    rules: { 'out_for_delivery 2': 'available_again' },
  },
  {
    name: '2.6: a container that was off its route is loaded again',
    fields: { origin_port: 'CNSHA', destination_port: 'NLRTM', ...BOXED },
    given: [
      ['gated_out', 11, 'USNYC', box],
      ['loaded_on_vessel', 14, 'USNYC', box],
      ['vessel_departed', 15, 'USNYC', box],
      ['discharged', 24, 'Rotterdam', box],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(24) },
  },
  {
    name: '2.7: a container misses its connection at the transshipment place of its legs',
    fields: { legs: LEGS, ...BOXED },
    given: [
      ['vessel_departed', 1, 'CNSHA', box],
      ['discharged', 5, 'SGSIN', box],
    ],
    expected: {
      status: 'in_transit',
      ata: null,
      legs: [{ atd: createJanuaryTime(1), ata: createJanuaryTime(5) }, { atd: null }],
    },
    open: ['missed_connection'],
  },
  {
    name: '2.8: free time runs after the unloading from the train, and no longer at the port',
    fields: { origin_port: 'CNSHA', destination_port: 'USCHI', ...BOXED },
    given: [
      ['discharged', 8, 'USLAX', box],
      ['rail_departed', 10, 'USLAX', box],
      ['rail_unloaded', 15, 'USCHI', box],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(15) },
    open: ['demurrage_risk'],
  },
  {
    name: '3.1: a second return without a loaded movement belongs to the same trip',
    fields: { ...OCEAN, etd: createJanuaryTime(2), ...BOXED },
    given: [
      ['vessel_departed', 2, 'CNSHA', box],
      ['gated_out', 14, 'USLAX', box],
      ['empty_returned', 16, 'USLAX', box],
      ['empty_returned', 18, 'USLAX', { ...box, source: 'terminal' }],
    ],
    expected: { status: 'completed', containers: [{ empty_returned_at: createJanuaryTime(16) }] },
  },
  {
    name: '3.3: an empty container is at the origin',
    fields: { ...OCEAN, ...BOXED },
    given: [['empty_picked_up', 2, 'CNSHA', box]],
    expected: { status: 'at_origin' },
  },
  {
    name: '3.5: one event of a carrier for two containers',
    fields: { ...OCEAN, container_numbers: [CONTAINER_A, CONTAINER_B] },
    given: [
      ['vessel_departed', 2, 'CNSHA', { ...box, external_id: 'EV-1' }],
      ['vessel_departed', 2, 'CNSHA', { container_number: CONTAINER_B, external_id: 'EV-1' }],
    ],
    expected: { status: 'in_transit', containers: [{ status: 'in_transit' }, { status: 'in_transit' }] },
  },
  {
    name: '5.1: a return to the sender that ends with a delivery',
    fields: { mode: 'courier' },
    given: [
      ['out_for_delivery', 2, null],
      ['delivery_attempted', 3, null],
      ['return_started', 5, null],
      ['delivered', 9, null],
    ],
    expected: { status: 'returned' },
    rules: { 'out_for_delivery 2': 'return_started' },
  },
  {
    name: '5.1: holds, notes and empty containers do not move the shipment',
    fields: OCEAN,
    given: [
      ['vessel_departed', 2, 'CNSHA'],
      ['terminal_hold', 10, 'SGSIN'],
      ['freight_hold', 11, null],
      ['status_note', 12, 'USLAX'],
      ['empty_discharged', 13, 'USLAX'],
    ],
    expected: { status: 'in_transit', ata: null },
    open: ['terminal_hold', 'freight_hold'],
  },
  {
    name: '1.1: a port of the same country, but more than 50 km away, is another place',
    fields: { origin_port: 'CNSHA', destination_port: 'USNYC' },
    given: [['vessel_arrived', 16, 'USORF']],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 16': 'not_at_destination' },
  },
  ...['CNSGH', 'CNSHG'].map((location) => ({
    name: `1.1: ${location} is another code of the port`,
    fields: { origin_port: 'USLAX', destination_port: 'CNSHA' },
    given: [['vessel_arrived', 16, location]] as readonly Given[],
    expected: { status: 'arrived', ata: createJanuaryTime(16) },
  })),
  {
    name: '1.1: a near port in another country is another place',
    fields: { origin_port: 'CNSHA', destination_port: 'SGSIN' },
    given: [['vessel_arrived', 16, 'MYJHB']],
    expected: { status: 'in_transit', ata: null },
    rules: { 'vessel_arrived 16': 'arrival_on_the_way' },
  },
  {
    name: '2.1: goods are out for delivery from another place, after the arrival at the destination',
    fields: OCEAN,
    given: [
      ['discharged', 15, 'USLAX'],
      ['out_for_delivery', 18, 'USCHI'],
    ],
    expected: { status: 'out_for_delivery', ata: createJanuaryTime(15) },
  },
  {
    name: '2.5: air freight waits again after a failed attempt',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'KUL' },
    given: [
      ['flight_arrived', 2, 'KUL'],
      ['out_for_delivery', 3, null],
      ['available_for_pickup', 4, 'KUL'],
    ],
    expected: { status: 'available_for_pickup' },
    rules: { 'out_for_delivery 3': 'available_again' },
  },
  {
    name: '2.1: an arrival at a place nobody knows before a departure without a place',
    fields: OCEAN,
    given: [
      ['vessel_arrived', 8, 'Pier 400'],
      ['vessel_departed', 9, null],
    ],
    expected: { status: 'in_transit', ata: null },
  },
  {
    name: '2.4b: a ship sails on after a transshipment discharge, and the next one after the loading does not',
    fields: { origin_port: 'CNSHA', destination_port: 'NLRTM', ...BOXED },
    given: [
      ['transshipment_discharged', 5, 'SGSIN', box],
      ['vessel_departed', 6, 'USLAX'],
      ['transshipment_loaded', 8, 'SGSIN', box],
      ['transshipment_departed', 9, 'SGSIN'],
    ],
    expected: { status: 'in_transit', atd: createJanuaryTime(9), ata: null },
    rules: { 'vessel_departed 6': 'already_discharged' },
  },
  {
    name: '3.2: without an ETD, a trip that ended before the creation and left the origin counts',
    fields: { ...OCEAN, ...BOXED },
    given: [
      ['vessel_departed', 2, 'CNSHA', box],
      ['gated_out', 14, 'USLAX', box],
      ['empty_returned', 16, 'USLAX', box],
    ],
    expected: { status: 'completed', atd: createJanuaryTime(2) },
  },
  {
    name: '3.2: without an ETD, a trip that ended before the creation on another route does not count',
    fields: { ...OCEAN, ...BOXED },
    given: [
      ['vessel_departed', 2, 'NLRTM', box],
      ['gated_out', 14, 'BRSSZ', box],
      ['empty_returned', 16, 'BRSSZ', box],
      ['empty_picked_up', 18, 'CNSHA', box],
    ],
    expected: { status: 'at_origin', atd: null },
    rules: { 'vessel_departed 2': 'previous_trip', 'empty_returned 16': 'previous_trip' },
  },
  {
    name: '3.2: the trip nearest to the ETD counts if none contains it',
    fields: { ...OCEAN, etd: createJanuaryTime(5), ...BOXED },
    given: [
      ['vessel_departed', 7, 'CNSHA', box],
      ['empty_returned', 14, 'USLAX', box],
      ['vessel_departed', 16, 'CNSHA', box],
    ],
    expected: { status: 'completed', atd: createJanuaryTime(7) },
    rules: { 'vessel_departed 16': 'next_trip' },
  },
  {
    name: 'a feeder and a mother vessel, with legs',
    fields: { legs: LEGS, ...BOXED },
    given: [
      ['gated_in', 1, 'Shanghai', box],
      ['vessel_departed', 2, 'CNSHA', box],
      ['transshipment_arrived', 6, 'SGSIN', box],
      ['transshipment_discharged', 6, 'SGSIN', box],
      ['transshipment_loaded', 8, 'SGSIN', box],
      ['vessel_departed', 8, 'SGSIN', box],
      ['vessel_arrived', 22, 'Rotterdam', box],
      ['discharged', 23, 'NLRTM', box],
      ['vessel_departed', 23, 'NLRTM', box],
    ],
    expected: {
      status: 'arrived',
      atd: createJanuaryTime(2),
      ata: createJanuaryTime(22),
      legs: [
        { atd: createJanuaryTime(2), ata: createJanuaryTime(6) },
        { atd: createJanuaryTime(8), ata: createJanuaryTime(22) },
      ],
    },
    rules: { 'vessel_departed 23': 'already_discharged' },
  },
  {
    name: 'an overcarried container comes back to its destination',
    fields: { origin_port: 'CNSHA', destination_port: 'USLAX', ...BOXED },
    given: [
      ['vessel_departed', 1, 'CNSHA', box],
      ['vessel_arrived', 14, 'USLAX'],
      ['vessel_departed', 15, 'USLAX'],
      ['discharged', 18, 'CAVAN', box],
      ['loaded_on_vessel', 20, 'CAVAN', box],
      ['vessel_departed', 20, 'CAVAN', box],
      ['discharged', 23, 'Los Angeles, CA', box],
    ],
    expected: { status: 'arrived', containers: [{ discharged_at: createJanuaryTime(23) }] },
  },
  {
    name: 'air freight with a relay, reported by two sources',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'MIL' },
    given: [
      ['received_at_origin', 1, 'PEK'],
      ['flight_departed', 2, 'PEK'],
      ['flight_arrived', 3, 'LHR'],
      ['flight_arrived', 3, 'LHR', { source: 'partner' }],
      ['flight_departed', 4, 'LHR'],
      ['flight_arrived', 5, 'MXP'],
      ['available_for_pickup', 6, 'MXP'],
    ],
    expected: { status: 'available_for_pickup', atd: createJanuaryTime(2), ata: createJanuaryTime(5) },
    rules: { 'flight_arrived 3': 'arrival_on_the_way' },
  },
  {
    name: 'part of an air shipment is offloaded and follows a day later',
    fields: { mode: 'air', origin_port: 'PEK', destination_port: 'KUL' },
    given: [
      ['flight_departed', 2, 'PEK', { pieces: 8 }],
      ['flight_departed', 3, 'PEK', { pieces: 2, source: 'partner' }],
      ['flight_arrived', 4, 'KUL', { pieces: 2 }],
    ],
    expected: { status: 'arrived', atd: createJanuaryTime(2), ata: createJanuaryTime(4) },
  },
  {
    name: 'a truckload without a destination passes a hub at midnight',
    fields: { mode: 'road' },
    given: [
      ['picked_up', 2, 'USORF'],
      ['rail_unloaded', 4, 'USNYC'],
      ['rail_departed', 4, 'USNYC'],
      ['arrived_at_destination', 6, 'USCHI'],
    ],
    expected: { status: 'arrived', atd: createJanuaryTime(2), ata: createJanuaryTime(6) },
  },
  {
    name: 'a part load is stripped at the destination',
    fields: { ...OCEAN, load_type: 'lcl', ...BOXED },
    given: [
      ['discharged', 12, 'USLAX', box],
      ['gated_out', 13, 'USLAX', box],
      ['cargo_stripped', 14, 'USLAX', box],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(12) },
  },
  {
    name: 'a terminal releases, takes back and releases again',
    fields: { ...OCEAN, ...BOXED },
    given: [
      ['discharged', 12, 'USLAX', box],
      ['available_for_pickup', 13, 'USLAX', { ...box, source: 'terminal' }],
      ['unavailable_for_pickup', 14, 'USLAX', { ...box, source: 'terminal' }],
      ['available_for_pickup', 16, 'USLAX', { ...box, source: 'terminal', external_id: 'T-2' }],
    ],
    expected: { status: 'available_for_pickup', containers: [{ available_at: createJanuaryTime(16) }] },
  },
  {
    name: 'a ship at anchor is late, and its position is no arrival',
    fields: { ...OCEAN, eta: createJanuaryTime(20) },
    given: [
      ['vessel_departed', 2, 'CNSHA', { source: 'ais' }],
      ['in_transit_checkpoint', 19, 'Anchorage 7', { source: 'ais' }],
    ],
    expected: { status: 'in_transit', ata: null, eta: createJanuaryTime(20) },
    open: ['arrival_overdue'],
  },
  {
    name: 'a round trip by ship passes its origin again',
    fields: {
      legs: [
        createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'SGSIN' }),
        createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'CNSHA' }),
        createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'USLAX' }),
      ],
    },
    given: [
      ['vessel_departed', 1, 'CNSHA'],
      ['vessel_arrived', 5, 'SGSIN'],
      ['vessel_departed', 6, 'SGSIN'],
      ['vessel_arrived', 10, 'CNSHA'],
      ['vessel_departed', 11, 'CNSHA'],
    ],
    expected: {
      status: 'in_transit',
      atd: createJanuaryTime(1),
      ata: null,
      legs: [{ ata: createJanuaryTime(5) }, { ata: createJanuaryTime(10) }, { atd: createJanuaryTime(11), ata: null }],
    },
  },
  {
    name: 'a container reused by the next shipper after it was stripped',
    fields: { ...OCEAN, etd: createJanuaryTime(2), ...BOXED },
    given: [
      ['vessel_departed', 2, 'CNSHA', box],
      ['discharged', 12, 'USLAX', box],
      ['gated_out', 13, 'USLAX', box],
      ['empty_returned', 16, 'USLAX', box],
      ['empty_picked_up', 19, 'USLAX', box],
      ['gated_in', 20, 'USLAX', box],
      ['vessel_departed', 22, 'USLAX', box],
    ],
    expected: { status: 'completed', containers: [{ status: 'completed' }] },
    rules: { 'gated_in 20': 'next_trip', 'vessel_departed 22': 'next_trip' },
  },
  {
    name: 'a cancelled booking that is confirmed again',
    fields: OCEAN,
    given: [
      ['booking_cancelled', 3, null],
      ['booking_confirmed', 4, null],
      ['vessel_departed', 8, 'CNSHA'],
    ],
    expected: { status: 'in_transit', atd: createJanuaryTime(8) },
  },
  {
    name: 'only a planned pickup is known',
    fields: { ...OCEAN, ...BOXED },
    given: [
      ['discharged', 12, 'USLAX', box],
      ['gated_out', 26, 'USLAX', { ...box, classifier: 'planned', source: 'terminal' }],
    ],
    expected: { status: 'arrived' },
  },
];

function createShipment(fields: Partial<ClientShipmentFields>): ShipmentScenario {
  const scenario = new ShipmentScenario();
  scenario.places = journeyPlacesStub;
  scenario
    .setTimeOfNextCommand(createJanuaryTime(25))
    .upsertShipment({ external_id: 'PO-1', mode: 'ocean', ...fields });
  return scenario;
}

function post(scenario: ShipmentScenario, [code, day, location, more]: Given) {
  return scenario.postMilestoneInScenario(code, createJanuaryTime(day), { location, source: 'carrier', ...more });
}

/** Returns the milestones in five orders. */
function listOrders<T>(given: readonly T[]): readonly (readonly T[])[] {
  const [first, ...rest] = given;
  const rotated = first === undefined ? [] : [...rest, first];
  const interleaved = [...given.filter((_, index) => index % 2 === 1), ...given.filter((_, index) => index % 2 === 0)];
  return [given, given.toReversed(), rotated, rotated.toReversed(), interleaved];
}

/**
 * Returns the rule of each milestone by code and day, without the milestones that count with the status of their code.
 */
function listRules(scenario: ShipmentScenario): Readonly<Record<string, string>> {
  if (scenario.state === undefined) return {};
  const { milestones } = explainShipment(scenario.state, { places: journeyPlacesStub, settings: scenario.settings });
  return Object.fromEntries(
    milestones
      .filter(({ result, classifier }) => result !== 'counted' && classifier === 'actual')
      .map(({ code, occurred_at, rule }) => [`${code} ${Number(occurred_at.slice(8, 10))}`, rule]),
  );
}

/** Returns the rule of every milestone, sorted. */
function listAllRules({ state, settings }: ShipmentScenario): readonly string[] {
  if (state === undefined) return [];
  const { milestones } = explainShipment(state, { places: journeyPlacesStub, settings });
  return milestones
    .map(({ code, occurred_at, location, container_number, rule }) =>
      [code, occurred_at, location, container_number, rule].join(' '),
    )
    .sort();
}

describe('journeys as carriers report them, in any order and reported twice', () => {
  it.each([...CASES, ...OTHER_JOURNEYS])('$name', ({ fields, given, expected, open = [], rules = {} }) => {
    for (const order of listOrders(given)) {
      const scenario = createShipment(fields);
      for (const each of order) post(scenario, each);
      expect(scenario.record).toMatchObject(expected);
      expect(listRules(scenario)).toMatchObject(rules);
      expect(scenario.open).toEqual(expect.arrayContaining([...open]));
      const { version } = scenario.record;
      for (const each of order) expect(post(scenario, each).outcome).toBe('existing');
      expect(scenario.record.version).toBe(version);
    }
  });
});

describe('reports of carriers', () => {
  it('4: many superseded estimates do not count towards the limit of milestones', () => {
    const scenario = createShipment({ origin_port: 'CNSHA', destination_port: 'USLAX' });
    for (let minute = 0; minute < 4_999; minute++) {
      const reported_at = addMsToTime(createJanuaryTime(1), minute * 60_000);
      const at = addMsToTime(createJanuaryTime(10), minute * 60_000);
      scenario.postEstimateInScenario('vessel_arrived', at, { location: 'USLAX', reported_at });
    }
    expect(scenario.state?.timeline).toHaveLength(52);
    const arrival = scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(12), {
      location: 'USLAX',
      source: 'carrier',
    });
    const delivery = scenario.postMilestoneInScenario('delivered', createJanuaryTime(13), { source: 'carrier' });
    expect([arrival.outcome, delivery.outcome]).toEqual(['recorded', 'recorded']);
    expect(scenario.record.status).toBe('delivered');
  });

  it('9: one event of a carrier for several containers makes a milestone of each', () => {
    const container_numbers = [CONTAINER_A, CONTAINER_B];
    const scenario = createShipment({ origin_port: 'CNSHA', destination_port: 'USLAX', container_numbers });
    const send = (container_number: string, day: number) =>
      scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(day), {
        container_number,
        external_id: 'EV-1',
        source: 'carrier',
      });
    const [first, second] = container_numbers.map((number) => send(number, 2));
    expect([first?.outcome, second?.outcome]).toEqual(['recorded', 'recorded']);
    expect(scenario.record.containers.map(({ status }) => status)).toEqual(['in_transit', 'in_transit']);
    const corrected = send(CONTAINER_B, 3);
    expect([corrected.outcome, corrected.milestoneId]).toEqual(['corrected', second?.milestoneId]);
    expect(scenario.getMilestone(first?.milestoneId ?? '').occurred_at).toBe(createJanuaryTime(2));
  });
});

describe('random journeys over several trips, places and sources', () => {
  const places = [null, 'CNSHA', 'SGSIN', 'USLAX', 'USLGB', 'Los Angeles', 'Pier 400', 'USCHI'];
  const codes = [
    ...['empty_picked_up', 'gated_in', 'loaded_on_vessel', 'vessel_departed', 'transshipment_discharged'],
    ...['transshipment_loaded', 'vessel_arrived', 'discharged', 'rail_departed', 'rail_unloaded', 'gated_out'],
    ...['available_for_pickup', 'unavailable_for_pickup', 'out_for_delivery', 'delivered', 'empty_returned'],
  ];
  const milestones = fc.uniqueArray(
    fc.record({
      code: fc.constantFrom(...codes),
      day: fc.integer({ min: 1, max: 20 }),
      location: fc.constantFrom(...places),
      container_number: fc.constantFrom(null, CONTAINER_A, CONTAINER_A, CONTAINER_B),
      source: fc.constantFrom('carrier' as const, 'carrier' as const, 'terminal' as const, 'manual' as const),
      // Few times, so that reports often have the same time. Without a time, a milestone is reported when it is recorded.
      reported_at: fc.constantFrom(createJanuaryTime(18), createJanuaryTime(21), createJanuaryTime(22)),
    }),
    { maxLength: 14, selector: (each) => Object.values(each).join() },
  );
  const journeys = fc.record({
    given: milestones.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
    etd: fc.constantFrom(null, createJanuaryTime(5), createJanuaryTime(12)),
    mode: fc.constantFrom('ocean' as const, 'courier' as const),
  });

  /** Equal reports that write their place differently. */
  const twoTexts = ['USLGB', 'Los Angeles'].map((location) => ({
    ...{ code: 'gated_in', day: 12, location, container_number: CONTAINER_A as typeof CONTAINER_A },
    ...{ source: 'carrier' as const, reported_at: createJanuaryTime(22) },
  }));

  it('give the same shipment in every order', () => {
    fc.assert(
      fc.property(journeys, ({ given, etd, mode }) => {
        const [one, other] = given.map((order) => {
          const scenario = createShipment({
            mode,
            etd,
            origin_port: 'CNSHA',
            destination_port: 'USLAX',
            container_numbers: [CONTAINER_A, CONTAINER_B],
          });
          for (const { code, day, ...rest } of order)
            scenario.postMilestoneInScenario(code, createJanuaryTime(day), rest);
          const { status, atd, ata, containers } = scenario.record;
          const ofContainers = containers.map(({ number, status: own, discharged_at, gated_out_at }) => {
            return [number, own, discharged_at, gated_out_at];
          });
          return { status, atd, ata, containers: ofContainers, rules: listAllRules(scenario) };
        });
        expect(one).toEqual(other);
      }),
      { numRuns: rounds(1_000), examples: [[{ given: [twoTexts, twoTexts.toReversed()], etd: null, mode: 'ocean' }]] },
    );
  });
});
