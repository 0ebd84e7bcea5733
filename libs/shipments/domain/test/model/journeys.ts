import { type LegFields, TRANSPORT_MODES, type ClientShipmentFields } from '@tracking/contracts';
import * as fc from 'fast-check';
import type { ClientContainerFields, MilestoneInput, MilestonePatch, ShipmentPatch } from '../../src/index.ts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  createLegWithOtherFieldsNull,
  createTimeInJanuary2026,
  createMilestoneInput,
} from '../scenario.ts';
import { type RandomJourneyTheme, journeyThemeArbitrary, replaceMilestoneValuesWithJourneyTheme } from './theme.ts';
import {
  CUSTOMS_CODES,
  ESTIMATED_CODES,
  LOCATION_SAMPLES,
  FREQUENTLY_GENERATED_MILESTONE_CODES,
  catalogMilestoneCodes,
} from './vocabulary.ts';

/** An action on a shipment. */
export type Step =
  | { readonly kind: 'cancel' | 'reopen' }
  | { readonly kind: 'upsert'; readonly fields: Partial<ClientShipmentFields> }
  | { readonly kind: 'patch'; readonly patch: ShipmentPatch }
  | { readonly kind: 'patch_container'; readonly number: string; readonly patch: Partial<ClientContainerFields> }
  | { readonly kind: 'post'; readonly milestone: MilestoneInput }
  /** A milestone that was posted before, once more, and perhaps something of it else. */
  | { readonly kind: 'repeat'; readonly which: number; readonly but: Partial<MilestoneInput> }
  | { readonly kind: 'correct'; readonly which: number; readonly patch: MilestonePatch }
  | { readonly kind: 'retract'; readonly which: number };

export interface GeneratedShipmentJourney {
  readonly fields: Partial<ClientShipmentFields>;
  readonly steps: readonly Step[];
}

const SAMPLE_LEG_LISTS: readonly (readonly LegFields[])[] = [
  [],
  [createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'USLAX', eta: createTimeInJanuary2026(9) })],
  [
    createLegWithOtherFieldsNull({
      origin_port: 'CNSHA',
      destination_port: 'SGSIN',
      etd: createTimeInJanuary2026(2),
      eta: createTimeInJanuary2026(5),
    }),
    createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX', eta: createTimeInJanuary2026(10) }),
  ],
  // The previous legs with another vessel, another time, and a preceding leg.
  [
    createLegWithOtherFieldsNull({
      origin_port: 'CNSHA',
      destination_port: 'SGSIN',
      etd: createTimeInJanuary2026(2),
      eta: createTimeInJanuary2026(5),
      vessel: 'OTHER',
    }),
    createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX', eta: createTimeInJanuary2026(10) }),
  ],
  [
    createLegWithOtherFieldsNull({
      origin_port: 'CNSHA',
      destination_port: 'SGSIN',
      etd: createTimeInJanuary2026(3),
      eta: '2026-01-05',
    }),
    createLegWithOtherFieldsNull({
      origin_port: 'SGSIN',
      destination_port: 'USLAX',
      eta: '2026-01-10',
      vessel: 'OTHER',
    }),
  ],
  [
    createLegWithOtherFieldsNull({ origin_port: null, destination_port: 'CNSHA', eta: createTimeInJanuary2026(1) }),
    createLegWithOtherFieldsNull({
      origin_port: 'CNSHA',
      destination_port: 'SGSIN',
      etd: createTimeInJanuary2026(2),
      eta: createTimeInJanuary2026(5),
    }),
    createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX', eta: createTimeInJanuary2026(10) }),
  ],
  [
    createLegWithOtherFieldsNull({ mode: 'ocean', origin_port: 'CNSHA', destination_port: 'USLAX' }),
    createLegWithOtherFieldsNull({
      mode: 'rail',
      origin_port: 'USLAX',
      destination_port: 'USCHI',
      etd: createTimeInJanuary2026(8),
    }),
  ],
  [
    createLegWithOtherFieldsNull({
      mode: 'air',
      origin_port: 'CNSHA',
      destination_port: 'LON',
      eta: createTimeInJanuary2026(5),
    }),
    createLegWithOtherFieldsNull({
      mode: 'air',
      origin_port: 'LON',
      destination_port: 'USLAX',
      etd: createTimeInJanuary2026(6),
    }),
  ],
  [
    createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'SGSIN', eta: createTimeInJanuary2026(3) }),
    createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'CNSHA' }),
    createLegWithOtherFieldsNull({
      mode: 'road',
      origin_port: 'CNSHA',
      destination_port: 'SGSIN',
      etd: createTimeInJanuary2026(5),
      eta: createTimeInJanuary2026(7),
    }),
    createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX', etd: createTimeInJanuary2026(8) }),
  ],
  [
    createLegWithOtherFieldsNull({ vessel: 'EVER GIVEN' }),
    createLegWithOtherFieldsNull({ mode: 'road', origin_port: 'USLAX' }),
  ],
];

/** Some times are an hour later, so that code which compares only days fails. */
const journeyTimeArbitrary = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom(12, 12, 12, 13))
  .map(([number, hour]) => createTimeInJanuary2026(number, hour));
/** Dates and times, as clients state what they expect. */
const timeOrDayArbitrary = fc.oneof(
  { weight: 3, arbitrary: journeyTimeArbitrary },
  { weight: 1, arbitrary: journeyTimeArbitrary.map((time) => time.slice(0, 10)) },
);
const optionalTimeArbitrary = fc.option(timeOrDayArbitrary, { nil: null, freq: 3 });
const containersArbitrary = fc.constantFrom(
  [],
  [],
  [CONTAINER_A],
  [CONTAINER_A],
  [CONTAINER_A, CONTAINER_B],
  [CONTAINER_A, CONTAINER_B],
  [CONTAINER_B, CONTAINER_A],
  [CONTAINER_A, CONTAINER_B, CONTAINER_C],
  [CONTAINER_C],
  [CONTAINER_A, CONTAINER_WITH_WRONG_CHECK_DIGIT],
);

const SHIPMENT_FIELD_ARBITRARIES = {
  mode: fc.constantFrom(...TRANSPORT_MODES, 'ocean' as const, 'ocean' as const, 'road' as const, null),
  load_type: fc.constantFrom('fcl' as const, 'lcl' as const, null),
  origin_port: fc.constantFrom('CNSHA', 'SGSIN', null),
  destination_port: fc.constantFrom('USLAX', 'USLAX', 'USLAX', 'USCHI', 'DEHAM', 'CNSHA', null),
  container_numbers: containersArbitrary,
  legs: fc.constantFrom(...SAMPLE_LEG_LISTS),
  etd: optionalTimeArbitrary,
  eta: optionalTimeArbitrary,
  house_bill: fc.constantFrom('HB-1', null),
  incoterm: fc.constantFrom('FOB' as const, 'DAP' as const, null),
};

/** There are few days and ids, so that milestones often share a time, and many are sent again. */
const createMilestoneArbitrary = (
  names: readonly string[],
  classifiers: readonly MilestoneInput['classifier'][],
  locations: readonly (string | null)[] = LOCATION_SAMPLES,
) =>
  fc
    .record({
      code: fc.constantFrom(...names),
      occurred_at: classifiers.includes('actual') ? journeyTimeArbitrary : timeOrDayArbitrary,
      classifier: fc.constantFrom(...classifiers),
      container_number: fc.constantFrom(null, null, null, CONTAINER_A, CONTAINER_A, CONTAINER_B, CONTAINER_C),
      location: fc.constantFrom(...locations),
      source: fc.constantFrom('manual' as const, 'carrier' as const, 'carrier' as const, 'ais' as const),
      external_id: fc.constantFrom(null, null, null, 'EV-1', 'EV-2', 'EV-3'),
      note: fc.constantFrom(null, null, 'late'),
      reported_at: fc.constantFrom(
        null,
        null,
        null,
        createTimeInJanuary2026(1),
        createTimeInJanuary2026(5),
        createTimeInJanuary2026(9, 13),
        createTimeInJanuary2026(14),
      ),
    })
    .map((fields) => createMilestoneInput(fields));

export const actualMilestoneArbitrary = fc.oneof(
  { weight: 3, arbitrary: createMilestoneArbitrary(FREQUENTLY_GENERATED_MILESTONE_CODES, ['actual']) },
  { weight: 1, arbitrary: createMilestoneArbitrary(catalogMilestoneCodes, ['actual']) },
  { weight: 1, arbitrary: createMilestoneArbitrary(CUSTOMS_CODES, ['actual']) },
);
const postMilestoneStepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('post' as const),
  milestone: fc.oneof(
    { weight: 5, arbitrary: actualMilestoneArbitrary },
    {
      weight: 2,
      arbitrary: createMilestoneArbitrary(ESTIMATED_CODES, ['estimated', 'estimated', 'estimated', 'planned']),
    },
    {
      weight: 3,
      arbitrary: createMilestoneArbitrary(['vessel_arrived', 'vessel_departed'], ['estimated'], [null, 'USLAX']),
    },
  ),
});

const MILESTONE_CONTENT_ARBITRARIES = {
  code: fc.constantFrom(...FREQUENTLY_GENERATED_MILESTONE_CODES),
  occurred_at: timeOrDayArbitrary,
  classifier: fc.constantFrom('actual' as const, 'estimated' as const),
  container_number: fc.constantFrom(null, CONTAINER_A, CONTAINER_B),
  location: fc.constantFrom(...LOCATION_SAMPLES),
  external_id: fc.constantFrom(null, 'EV-1', 'EV-2'),
  note: fc.constantFrom(null, 'late'),
};
const REPORT_TIME_ARBITRARIES = {
  reported_at: fc.constantFrom(
    null,
    createTimeInJanuary2026(1),
    createTimeInJanuary2026(5),
    createTimeInJanuary2026(14),
  ),
};
const indexArbitrary = fc.nat(20);
const repeatMilestoneStepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('repeat' as const), which: indexArbitrary, but: fc.constant({}) }),
  fc.record({
    kind: fc.constant('repeat' as const),
    which: indexArbitrary,
    but: fc.record(
      { ...MILESTONE_CONTENT_ARBITRARIES, ...REPORT_TIME_ARBITRARIES, source: fc.constantFrom('carrier' as const) },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    kind: fc.constant('correct' as const),
    which: indexArbitrary,
    patch: fc.record(MILESTONE_CONTENT_ARBITRARIES, { requiredKeys: [] }),
  }),
  fc.record({ kind: fc.constant('retract' as const), which: indexArbitrary }),
);

const upsertStepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('upsert' as const),
  fields: fc.record(SHIPMENT_FIELD_ARBITRARIES, { requiredKeys: [] }),
});
const PARTY_ARBITRARY = fc.option(
  fc.record({ name: fc.constantFrom('Acme', null), external_id: fc.constantFrom('C-1', null) }, { requiredKeys: [] }),
  { nil: null },
);
const PATCH_ARBITRARIES = {
  ...SHIPMENT_FIELD_ARBITRARIES,
  original_eta: optionalTimeArbitrary,
  shipper: PARTY_ARBITRARY,
  consignee: PARTY_ARBITRARY,
  metadata: fc.option(
    fc.record({ cost_centre: fc.constantFrom('7', null), desk: fc.constantFrom('A', null) }, { requiredKeys: [] }),
    { nil: null },
  ),
};
const optionalDayArbitrary = fc.constantFrom('2026-01-20', '2026-02-01', null);
const patchStepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('patch' as const), patch: fc.record(PATCH_ARBITRARIES, { requiredKeys: [] }) }),
  fc.record({ kind: fc.constant('patch' as const), patch: fc.record({ eta: optionalTimeArbitrary }) }),
  fc.record({
    kind: fc.constant('patch_container' as const),
    number: fc.constantFrom(CONTAINER_A, CONTAINER_B, CONTAINER_C),
    patch: fc.record(
      {
        size_type: fc.constantFrom('45G1', null),
        seal_number: fc.constantFrom('S-1', null),
        last_free_day: optionalDayArbitrary,
        empty_return_by: optionalDayArbitrary,
      },
      { requiredKeys: [] },
    ),
  }),
);
const cancellationStepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('cancel' as const, 'reopen' as const),
});

const stepArbitrary = fc.oneof(
  { weight: 12, arbitrary: postMilestoneStepArbitrary },
  { weight: 5, arbitrary: repeatMilestoneStepArbitrary },
  { weight: 2, arbitrary: upsertStepArbitrary },
  { weight: 3, arbitrary: patchStepArbitrary },
  { weight: 1, arbitrary: cancellationStepArbitrary },
);

export const shipmentFieldsArbitrary = fc
  .record(SHIPMENT_FIELD_ARBITRARIES, { requiredKeys: ['mode'] })
  .map((fields) => ({ ...fields, external_id: 'PO-1' }));

function restrictJourneyStepToThemeValues(theme: RandomJourneyTheme, step: Step): Step {
  if (step.kind === 'post')
    return { ...step, milestone: replaceMilestoneValuesWithJourneyTheme(theme, step.milestone) };
  if (step.kind === 'repeat') return { ...step, but: replaceMilestoneValuesWithJourneyTheme(theme, step.but) };
  if (step.kind === 'correct') return { ...step, patch: replaceMilestoneValuesWithJourneyTheme(theme, step.patch) };
  return step;
}

export const journeysArbitrary: fc.Arbitrary<GeneratedShipmentJourney> = fc
  .record({
    fields: shipmentFieldsArbitrary,
    steps: fc.array(stepArbitrary, { maxLength: 24, size: 'max' }),
    about: fc.option(journeyThemeArbitrary, { freq: 4 }),
  })
  .map(({ fields, steps, about }) => ({
    fields,
    steps: about === null ? steps : steps.map((each) => restrictJourneyStepToThemeValues(about, each)),
  }));

/** Generates steps that post a milestone. */
const createPostStepArbitrary = (...of: Parameters<typeof createMilestoneArbitrary>): fc.Arbitrary<Step> =>
  fc.record({ kind: fc.constant('post' as const), milestone: createMilestoneArbitrary(...of) });
/** Estimates of few times by several sources, with and without containers, and client values for the same times. */
const estimateStepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: createPostStepArbitrary(
      ['vessel_arrived'],
      ['estimated'],
      [null, null, 'USLAX', 'USLAX', 'SGSIN', 'DEHAM'],
    ),
  },
  {
    weight: 3,
    arbitrary: createPostStepArbitrary(['arrived_at_destination'], ['estimated'], [null, 'USLAX', 'SGSIN']),
  },
  {
    weight: 3,
    arbitrary: createPostStepArbitrary(['vessel_departed', 'rail_departed'], ['estimated'], [null, 'CNSHA', 'SGSIN']),
  },
  { weight: 1, arbitrary: createPostStepArbitrary(['gated_out'], ['estimated']) },
  {
    weight: 1,
    arbitrary: createPostStepArbitrary(
      ['vessel_arrived', 'vessel_departed'],
      ['actual'],
      [null, 'USLAX', 'SGSIN', 'CNSHA'],
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('patch' as const),
      patch: fc.record(
        { eta: optionalTimeArbitrary, etd: optionalTimeArbitrary, legs: SHIPMENT_FIELD_ARBITRARIES.legs },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 1, arbitrary: repeatMilestoneStepArbitrary },
);

/** Journeys with many estimates and few actual milestones. */
export const journeysWithManyEstimatesArbitrary: fc.Arbitrary<GeneratedShipmentJourney> = fc.record({
  fields: shipmentFieldsArbitrary.map((fields) => ({
    ...fields,
    mode: 'ocean' as const,
    container_numbers: [CONTAINER_A, CONTAINER_B],
  })),
  steps: fc.array(estimateStepArbitrary, { minLength: 4, maxLength: 14, size: 'max' }),
});
