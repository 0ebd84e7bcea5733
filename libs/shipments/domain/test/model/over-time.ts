import {
  AUTOMATIC_EXCEPTION_TYPES,
  type AutomaticExceptionType,
  DEFAULT_RULE_SETTINGS,
  type DocumentType,
  type ExceptionSettings,
  type ExceptionType,
  type LegFields,
  TRANSPORT_MODES,
  type RuleSettings,
  SEVERITIES,
  type Severity,
  type ClientShipmentFields,
  type Timestamp,
} from '@tracking/contracts';
import * as fc from 'fast-check';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  createMilestoneInput,
} from '../scenario.ts';
import type { Step } from './journeys.ts';
import { LOCATION_SAMPLES } from './vocabulary.ts';

/** A step of a journey of a shipment that also changes because time passes. */
export type TimedStep =
  | Step
  /** The workspace decides otherwise, and its shipments are checked then. */
  | { readonly kind: 'settings'; readonly settings: RuleSettings }
  | DocumentActionStep
  | PersonStep;

/** An action on a document. `which` modulo the number of documents is the index of the document. */
export interface DocumentActionStep {
  readonly kind: 'document';
  readonly act: 'add' | 'request' | 'receive' | 'complete' | 'approve' | 'reject' | 'delete';
  readonly type: DocumentType;
  readonly which: number;
  /** True if a new document replaces the document with the index `which`. */
  readonly isInItsPlace: boolean;
}

/**
 * An action of a person on exceptions. `which` is an index, modulo the number of open exceptions or of containers plus
 * one.
 */
export type PersonStep =
  | {
      readonly kind: 'open';
      readonly type: ExceptionType;
      readonly severity: Severity;
      readonly which: number;
    }
  | { readonly kind: 'acknowledge' | 'resolve'; readonly which: number };

export interface TestJourneyWithTimedSteps {
  readonly created: Timestamp;
  readonly fields: Partial<ClientShipmentFields>;
  /** Initial settings of the workspace. */
  readonly settings: RuleSettings;
  /** Steps of the journey. Each follows some hours after the previous one; the hours are negative if clocks differ. */
  readonly steps: readonly { readonly after: number; readonly step: TimedStep }[];
  /** Hours for which the shipment is observed after the last step. */
  readonly then: number;
}

const HOUR_MS = 3_600_000;
/** The journeys begin before daylight saving time begins: a week later in Los Angeles, three weeks later in Berlin. */
const JOURNEY_START_MS = Date.UTC(2026, 2, 4);

export function addHoursToTime(time: Timestamp, hours: number): Timestamp {
  return new Date(Date.parse(time) + hours * HOUR_MS).toISOString();
}

/**
 * Times are multiples of twelve hours, so that deadlines, milestones and settings often coincide to the millisecond.
 */
const timeArbitrary = fc
  .oneof(
    { weight: 5, arbitrary: fc.integer({ min: -6, max: 30 }) },
    { weight: 2, arbitrary: fc.integer({ min: -100, max: 120 }) },
    // These dates are near the limit of 30 days, beyond which findings are ignored.
    { weight: 1, arbitrary: fc.integer({ min: -64, max: -58 }) },
  )
  .map((halfDays) => new Date(JOURNEY_START_MS + halfDays * 12 * HOUR_MS).toISOString());
const optionalTimeArbitrary = fc.option(timeArbitrary, { nil: null, freq: 4 });
const hoursBetweenStepsArbitrary = fc.constantFrom(
  -12,
  -12,
  -1,
  0,
  1,
  1,
  4,
  12,
  12,
  24,
  24,
  36,
  48,
  72,
  120,
  168,
  240,
  480,
  720,
);

const createLegArbitrary = (origin_port: string | null, destination_port: string | null) =>
  fc.record({
    mode: fc.constantFrom(null, null, 'ocean' as const, 'rail' as const),
    carrier_scac: fc.constant(null),
    vessel: fc.constant(null),
    voyage: fc.constant(null),
    origin_port: fc.constant(origin_port),
    destination_port: fc.constant(destination_port),
    etd: optionalTimeArbitrary,
    eta: optionalTimeArbitrary,
  });
const legsArbitrary: fc.Arbitrary<readonly LegFields[]> = fc.oneof(
  fc.constant([]),
  fc.tuple(createLegArbitrary('CNSHA', 'SGSIN'), createLegArbitrary('SGSIN', 'USLAX')),
  fc.tuple(createLegArbitrary('CNSHA', 'SGSIN'), createLegArbitrary('SGSIN', 'USLAX')),
  fc.tuple(createLegArbitrary('CNSHA', 'USLAX'), createLegArbitrary('USLAX', 'USCHI')),
  fc.tuple(
    createLegArbitrary('CNSHA', 'SGSIN'),
    createLegArbitrary('SGSIN', 'DEHAM'),
    createLegArbitrary('DEHAM', 'USLAX'),
  ),
);

const PATCHED_FIELD_ARBITRARIES = {
  mode: fc.constantFrom(...TRANSPORT_MODES, 'ocean' as const, 'ocean' as const, 'ocean' as const, null),
  load_type: fc.constantFrom('fcl' as const, 'fcl' as const, 'lcl' as const, null),
  origin_port: fc.constantFrom('CNSHA', null),
  destination_port: fc.constantFrom('USLAX', 'USLAX', 'USCHI', 'SGSIN', null),
  container_numbers: fc.constantFrom(
    [],
    [CONTAINER_A],
    [CONTAINER_A],
    [CONTAINER_A],
    [CONTAINER_A, CONTAINER_B],
    [CONTAINER_B, CONTAINER_A],
    [CONTAINER_A, CONTAINER_B, CONTAINER_C],
    [CONTAINER_A, CONTAINER_WITH_WRONG_CHECK_DIGIT],
  ),
  legs: legsArbitrary,
  etd: optionalTimeArbitrary,
  eta: optionalTimeArbitrary,
};

/** Codes that start times, end times or show progress. Other codes appear rarely, because they rarely matter. */
const FREQUENT_RANDOM_JOURNEY_CODES = [
  ...['vessel_departed', 'vessel_arrived', 'discharged', 'gated_out', 'delivered', 'empty_returned', 'picked_up'],
  ...['transshipment_arrived', 'transshipment_discharged', 'transshipment_loaded', 'transshipment_departed'],
  ...['loaded_on_vessel', 'rail_loaded', 'rail_departed', 'rail_arrived', 'rail_unloaded', 'flight_departed'],
  ...['available_for_pickup', 'unavailable_for_pickup', 'out_for_delivery', 'arrived_at_destination'],
  ...['customs_hold', 'import_customs_cleared', 'export_customs_cleared', 'delivery_attempted', 'gated_in'],
  ...['booking_confirmed', 'booking_cancelled', 'cargo_stripped', 'in_transit_checkpoint', 'returned_to_shipper'],
];
const SAMPLE_PLACES = [null, null, null, 'SGSIN', 'SGSIN', 'USLAX', ...LOCATION_SAMPLES];

const createMilestoneArbitrary = (
  codes: readonly string[],
  classifiers: readonly ('actual' | 'estimated' | 'planned')[],
) =>
  fc
    .record({
      code: fc.constantFrom(...codes),
      occurred_at: timeArbitrary,
      classifier: fc.constantFrom(...classifiers),
      container_number: fc.constantFrom(null, null, CONTAINER_A, CONTAINER_A, CONTAINER_B),
      location: fc.constantFrom(...SAMPLE_PLACES),
      source: fc.constantFrom('manual' as const, 'carrier' as const),
      external_id: fc.constantFrom(null, null, null, 'EV-1', 'EV-2'),
    })
    .map((fields) => createMilestoneInput(fields));
const ESTIMATE_CODES = ['vessel_arrived', 'vessel_arrived', 'arrived_at_destination', 'vessel_departed'];
const smallNumberArbitrary = fc.nat(20);
const WEIGHTED_DOCUMENT_ACTIONS = [
  'add',
  'add',
  'request',
  'receive',
  'complete',
  'approve',
  'reject',
  'reject',
  'delete',
] as const;
const MODEL_REQUIRED_DOCUMENT_TYPES: readonly DocumentType[] = ['bill_of_lading', 'packing_list'];

const optionalDayArbitrary = fc.option(
  fc
    .integer({ min: -10, max: 40 })
    .map((days) => new Date(JOURNEY_START_MS + days * 24 * HOUR_MS).toISOString().slice(0, 10)),
  { nil: null, freq: 3 },
);

/** @param papers weight of steps about documents; all other steps together have the weight 42 */
const createStepArbitrary = (codes: readonly string[], papers: number): fc.Arbitrary<TimedStep> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('post' as const),
        milestone: createMilestoneArbitrary(codes, ['actual']),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('post' as const),
        milestone: createMilestoneArbitrary(ESTIMATE_CODES, ['estimated', 'estimated', 'planned']),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('repeat' as const),
        which: smallNumberArbitrary,
        but: fc.record({ external_id: fc.constantFrom(null, 'EV-1', 'EV-3') }, { requiredKeys: [] }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('retract' as const), which: smallNumberArbitrary }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('correct' as const),
        which: smallNumberArbitrary,
        patch: fc.record(
          {
            code: fc.constantFrom(...codes),
            occurred_at: timeArbitrary,
            location: fc.constantFrom(...SAMPLE_PLACES),
            container_number: fc.constantFrom(null, CONTAINER_A, CONTAINER_B),
            note: fc.constantFrom(null, 'late'),
          },
          { requiredKeys: [] },
        ),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('patch' as const),
        patch: fc.record(
          { ...PATCHED_FIELD_ARBITRARIES, original_eta: optionalTimeArbitrary },
          { requiredKeys: [], noNullPrototype: true },
        ),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('patch' as const), patch: fc.record({ eta: timeArbitrary }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('patch' as const), patch: fc.record({ etd: timeArbitrary }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('upsert' as const),
        fields: fc.record(PATCHED_FIELD_ARBITRARIES, { requiredKeys: [], noNullPrototype: true }),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('patch_container' as const),
        number: fc.constantFrom(CONTAINER_A, CONTAINER_A, CONTAINER_B),
        patch: fc.record(
          { last_free_day: optionalDayArbitrary, empty_return_by: optionalDayArbitrary },
          { requiredKeys: [] },
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('cancel' as const, 'reopen' as const) }) },
    {
      weight: papers,
      arbitrary: fc.record({
        kind: fc.constant('document' as const),
        act: fc.constantFrom(...WEIGHTED_DOCUMENT_ACTIONS),
        type: fc.constantFrom(...MODEL_REQUIRED_DOCUMENT_TYPES),
        which: smallNumberArbitrary,
        isInItsPlace: fc.constantFrom(false, false, true),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('open' as const),
        type: fc.constantFrom(...AUTOMATIC_EXCEPTION_TYPES, 'other' as const),
        severity: fc.constantFrom(...SEVERITIES),
        which: smallNumberArbitrary,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom('resolve' as const, 'resolve' as const, 'acknowledge' as const),
        which: smallNumberArbitrary,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('settings' as const), settings: createRuleSettingsArbitrary() }),
    },
  );

/** Generates rule settings that change up to three exception types and the required documents. */
function createRuleSettingsArbitrary(): fc.Arbitrary<RuleSettings> {
  const hours = fc.constantFrom(1, 4, 12, 24, 48, 60, 96, 240, 2_160);
  const change = fc.record({
    type: fc.constantFrom(...AUTOMATIC_EXCEPTION_TYPES),
    enabled: fc.constantFrom(true, true, true, false),
    hours,
    severity: fc.constantFrom(...SEVERITIES),
  });
  const required = fc.constantFrom(
    [],
    [],
    MODEL_REQUIRED_DOCUMENT_TYPES,
    MODEL_REQUIRED_DOCUMENT_TYPES.slice(0, 1),
    MODEL_REQUIRED_DOCUMENT_TYPES.slice(1),
  );
  return fc.tuple(fc.array(change, { maxLength: 3 }), required).map(([changes, papers]) => ({
    required_documents: {
      ...DEFAULT_RULE_SETTINGS.required_documents,
      ocean: papers,
      rail: MODEL_REQUIRED_DOCUMENT_TYPES,
      air: papers,
    },
    exceptions: {
      ...DEFAULT_RULE_SETTINGS.exceptions,
      ...Object.fromEntries(changes.map(({ type, ...to }) => [type, createChangedExceptionSettings(type, to)])),
    },
  }));
}

function createChangedExceptionSettings(
  type: AutomaticExceptionType,
  { hours, ...to }: Pick<ExceptionSettings, 'enabled' | 'severity'> & { readonly hours: number },
): ExceptionSettings {
  const old: ExceptionSettings = DEFAULT_RULE_SETTINGS.exceptions[type];
  return {
    ...old,
    ...to,
    after_hours: old.after_hours === null ? null : hours,
    before_hours: old.before_hours === null ? null : hours / 2,
  };
}

/** Returns the journey without steps back in time: a negative time since the previous step becomes 0. */
export function clampNegativeStepTimesToZero({
  steps,
  ...journey
}: TestJourneyWithTimedSteps): TestJourneyWithTimedSteps {
  return { ...journey, steps: steps.map(({ after, step }) => ({ after: Math.max(0, after), step })) };
}

export const timedJourneysArbitrary: fc.Arbitrary<TestJourneyWithTimedSteps> = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...FREQUENT_RANDOM_JOURNEY_CODES), { minLength: 2, maxLength: 7, size: 'max' }),
    fc.constantFrom(4, 4, 80),
  )
  .chain(([codes, papers]) =>
    fc.record({
      created: fc.constant(new Date(JOURNEY_START_MS).toISOString()),
      fields: fc
        .record(PATCHED_FIELD_ARBITRARIES, { requiredKeys: ['mode'], noNullPrototype: true })
        .map((fields) => ({ ...fields, external_id: 'PO-1' })),
      steps: fc.array(fc.record({ after: hoursBetweenStepsArbitrary, step: createStepArbitrary(codes, papers) }), {
        maxLength: 14,
        size: 'max',
      }),
      settings: createRuleSettingsArbitrary(),
      then: fc.constantFrom(0, 24, 240, 1_000, 9_000),
    }),
  );
