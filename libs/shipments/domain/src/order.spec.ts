import { DomainError, MILESTONE_CATALOG, type ShipmentRecord } from '@tracking/contracts';
import * as fc from 'fast-check';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  SHIPMENT_ID,
  ShipmentScenario,
  createDecideContext,
  createLegWithOtherFieldsNull,
  createTimeInJanuary2026,
  scenarioPlacesStub,
  addEventMetadata,
} from '../test/scenario.ts';
import { computeAnnouncedChanges } from './changes.ts';
import type { MilestoneInput } from './check-milestone.ts';
import { deriveShipment } from './derive.ts';
import { type ShipmentEventBody, decide, applyEventToState, evolveShipmentRecord, fold } from './index.ts';

/** Equals `rounds` of the testing library, which the domain cannot import. */
const rounds = (all: number): number => (process.env['PROPERTY_ROUNDS'] === 'all' ? all : Math.ceil(all / 5));

interface Post {
  readonly code: string;
  readonly occurred_at: string;
  readonly rest: Partial<MilestoneInput>;
}

const LOCATIONS = [null, 'CNSHA', 'SGSIN', 'USLAX', 'USNYC', 'Pier 400'];
const codes = MILESTONE_CATALOG.map(({ code }) => code);

const postOf = (classifiers: MilestoneInput['classifier'][], names: readonly string[]) =>
  fc.record({
    code: fc.constantFrom(...names),
    // Few days, so that milestones often share a time.
    occurred_at: fc.integer({ min: 1, max: 12 }).map((number) => createTimeInJanuary2026(number)),
    rest: fc.record({
      classifier: fc.constantFrom(...classifiers),
      container_number: fc.constantFrom(null, null, CONTAINER_A, CONTAINER_B),
      location: fc.constantFrom(...LOCATIONS),
      source: fc.constantFrom('manual' as const, 'carrier' as const),
      // Without a time, a milestone is reported when it is recorded.
      reported_at: fc.constantFrom(createTimeInJanuary2026(4), createTimeInJanuary2026(8), createTimeInJanuary2026(13)),
    }),
  });

const LEGS = [
  ['CNSHA', 'SGSIN'],
  ['SGSIN', 'USLAX'],
].map(([origin_port = '', destination_port = '']) => createLegWithOtherFieldsNull({ origin_port, destination_port }));
const ROUTES = [
  { mode: 'ocean' as const, origin_port: 'CNSHA', destination_port: 'USLAX' },
  { mode: 'road' as const },
  {
    mode: 'multimodal' as const,
    legs: LEGS,
  },
];
const fieldsOf = fc
  .record({
    route: fc.constantFrom(...ROUTES),
    container_numbers: fc.constantFrom([CONTAINER_A, CONTAINER_B], [CONTAINER_A, CONTAINER_B, CONTAINER_C]),
    load_type: fc.constantFrom('fcl' as const, 'lcl' as const),
  })
  .map(({ route, ...rest }) => ({ ...route, ...rest, external_id: 'PO-1', eta: createTimeInJanuary2026(11) }));

function announcedLast(
  fields: Parameters<ShipmentScenario['upsertShipment']>[0],
  posts: readonly Post[],
): ShipmentScenario {
  const scenario = new ShipmentScenario();
  scenario.upsertShipment(fields);
  for (const { code, occurred_at, rest } of posts) scenario.postMilestoneInScenario(code, occurred_at, rest);
  return scenario;
}

/** Ids depend on the order of arrival, so milestones are identified by their content. */
function nameOf(scenario: ShipmentScenario, id: string | null): string | null {
  const entry = scenario.state?.timeline.find(({ milestone }) => milestone.id === id);
  if (entry === undefined) return null;
  const { code, occurred_at, container_number } = entry.milestone;
  return `${code} ${occurred_at} ${container_number}`;
}

/** Returns the data that must not depend on the order of arrival. */
function outcome(scenario: ShipmentScenario): unknown {
  const { record } = scenario;
  return {
    status: record.status,
    atd: record.atd,
    ata: record.ata,
    legs: record.legs.map(({ atd, ata }) => ({ atd, ata })),
    containers: record.containers.map(({ last_milestone, status_milestone_id, ...container }) => ({
      ...container,
      last: last_milestone?.occurred_at,
      setAt: nameOf(scenario, status_milestone_id)?.split(' ')[1],
    })),
    setAt: nameOf(scenario, record.status_milestone_id)?.split(' ')[1],
    last: record.last_milestone?.occurred_at,
    open: scenario.state?.exceptions
      .filter(({ status }) => status === 'open')
      .map(({ type, container_number }) => `${type} ${container_number}`)
      .sort(),
  };
}

/** Cancellations are excluded, because the order of arrival decides their effect. */
const orderProof = codes.filter((code) => code !== 'booking_cancelled');
const inTwoOrders = fc
  .uniqueArray(postOf(['actual', 'planned'], orderProof), { selector: (post) => JSON.stringify(post), maxLength: 14 })
  .chain((posts) =>
    fc.tuple(fc.constant(posts), fc.shuffledSubarray(posts, { minLength: posts.length, maxLength: posts.length })),
  );

describe('status, times, containers and open exceptions', () => {
  it('do not depend on the order in which milestones arrive', () => {
    fc.assert(
      fc.property(fieldsOf, inTwoOrders, (fields, [one, other]) => {
        expect(outcome(announcedLast(fields, other))).toEqual(outcome(announcedLast(fields, one)));
      }),
      { numRuns: rounds(300) },
    );
  });

  it('do not depend on repetitions', () => {
    fc.assert(
      fc.property(fieldsOf, inTwoOrders, (fields, [one, other]) => {
        const twice = announcedLast(fields, [...one, ...other]);
        const once = announcedLast(fields, one);
        expect(outcome(twice)).toEqual(outcome(once));
        expect(twice.events).toHaveLength(once.events.length);
      }),
      { numRuns: rounds(100) },
    );
  });

  it('do not depend on when containers were added, and return when containers are added again', () => {
    fc.assert(
      fc.property(fieldsOf, inTwoOrders, (fields, [posts]) => {
        const scenario = announcedLast(fields, posts);
        const before = outcome(scenario);
        scenario.upsertShipment({ container_numbers: [CONTAINER_C] });
        expect(scenario.record.containers.map(({ number }) => number)).toEqual([CONTAINER_C]);
        scenario.upsertShipment({ container_numbers: fields.container_numbers });
        expect(outcome(scenario)).toEqual(before);
      }),
      { numRuns: rounds(100) },
    );
  });

  it('stay cancelled in any order if no delivery came before the cancellation', () => {
    const undelivered = orderProof.filter((code) => !/delivered|stripped|returned|booking_confirmed/.test(code));
    const posts = fc.array(postOf(['actual'], undelivered), { maxLength: 8 });
    fc.assert(
      fc.property(fieldsOf, posts, fc.nat(8), (fields, others, place) => {
        const cancellation: Post = { code: 'booking_cancelled', occurred_at: createTimeInJanuary2026(5), rest: {} };
        expect(
          announcedLast(fields, [...others.slice(0, place), cancellation, ...others.slice(place)]).record.status,
        ).toBe('cancelled');
      }),
      { numRuns: rounds(100) },
    );
  });
});

/** Creates a scenario with cancellations and reopenings in between. Refused ones have no effect. */
type Act = Post | 'cancel' | 'reopen';
function acted(fields: Parameters<ShipmentScenario['upsertShipment']>[0], acts: readonly Act[]): ShipmentScenario {
  const scenario = announcedLast(fields, []);
  for (const act of acts) {
    if (act === 'cancel') attempt(() => scenario.cancelShipment());
    else if (act === 'reopen') attempt(() => scenario.reopenShipment());
    else scenario.postMilestoneInScenario(act.code, act.occurred_at, act.rest);
  }
  return scenario;
}

/** Returns undefined if the command is refused. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof DomainError && /already_delivered|cancelled_by_milestone/.test(error.code)) return undefined;
    throw error;
  }
}

const withActs = (posts: fc.Arbitrary<readonly Post[]>, ...acts: Act[]) =>
  posts.chain((some) =>
    fc
      .array(fc.nat(some.length), { minLength: acts.length, maxLength: acts.length })
      .map((places) => ({ some, all: inserted(some, acts, places) })),
  );

/** Inserts each action at its index; actions with the same index keep their order. */
function inserted(posts: readonly Post[], acts: readonly Act[], places: readonly number[]): readonly Act[] {
  const sorted = places.toSorted((a, b) => a - b);
  return [...posts, undefined].flatMap((post, index) => [
    ...acts.filter((_, n) => sorted[n] === index),
    ...(post === undefined ? [] : [post]),
  ]);
}

describe('cancelling and reopening by the client', () => {
  const posts = inTwoOrders.map(([one]) => one);

  it('leaves no trace in derived fields, at any point between milestones', () => {
    fc.assert(
      fc.property(fieldsOf, withActs(posts, 'cancel', 'reopen', 'cancel', 'reopen'), (fields, { some, all }) => {
        expect(outcome(acted(fields, all))).toEqual(outcome(announcedLast(fields, some)));
      }),
      { numRuns: rounds(100) },
    );
  });

  it('keeps the shipment cancelled with any later milestone; only movements open an exception, and containers continue', () => {
    const undelivered = orderProof.filter((code) => !/delivered|stripped|returned/.test(code));
    const some = fc.array(postOf(['actual'], undelivered), { maxLength: 10 });
    fc.assert(
      fc.property(fieldsOf, withActs(some, 'cancel'), (fields, { some, all }) => {
        const scenario = acted(fields, all);
        expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
        expect(new Set(scenario.open)).toEqual(new Set(scenario.open.length === 0 ? [] : ['movement_after_cancel']));
        const { status: _status, setAt: _setAt, open: _open, ...rest } = outcome(scenario) as Record<string, unknown>;
        expect(outcome(announcedLast(fields, some))).toMatchObject(rest);
      }),
      { numRuns: rounds(100) },
    );
  });

  it('gives the same result with a cancellation by a milestone, in either order', () => {
    const undelivered = orderProof.filter((code) => !/delivered|stripped|returned|booking_confirmed/.test(code));
    const some = fc.array(postOf(['actual'], undelivered), { maxLength: 8 });
    const cancellation: Post = { code: 'booking_cancelled', occurred_at: createTimeInJanuary2026(5), rest: {} };
    fc.assert(
      fc.property(
        fieldsOf,
        withActs(some, 'cancel', cancellation),
        withActs(some, cancellation, 'cancel'),
        (fields, a, b) => {
          for (const { all } of [a, b]) {
            const scenario = acted(fields, all);
            expect(scenario.record.status).toBe('cancelled');
            expect(nameOf(scenario, scenario.record.status_milestone_id)).toContain('booking_cancelled');
            scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(6));
            expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
            scenario.reopenShipment();
            expect(scenario.record.status).not.toBe('cancelled');
          }
        },
      ),
      { numRuns: rounds(100) },
    );
  });
});

type Step =
  | { readonly kind: 'cancel' | 'reopen' }
  | { readonly kind: 'post'; readonly post: Post; readonly external_id: string | null }
  | { readonly kind: 'upsert'; readonly fields: Parameters<ShipmentScenario['upsertShipment']>[0] };

const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('post' as const),
      post: postOf(['actual', 'estimated', 'estimated', 'planned'], codes),
      external_id: fc.constantFrom(null, null, 'EV-1', 'EV-2'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('cancel' as const, 'reopen' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('upsert' as const),
      fields: fc.record(
        {
          container_numbers: fc.constantFrom(
            [CONTAINER_A, CONTAINER_B],
            [CONTAINER_B, CONTAINER_A],
            [CONTAINER_A, CONTAINER_B, CONTAINER_C, 'MSCU1234567'],
          ),
          eta: fc.constantFrom(null, createTimeInJanuary2026(10), createTimeInJanuary2026(12)),
          etd: fc.constantFrom(null, createTimeInJanuary2026(2)),
          mode: fc.constantFrom('ocean' as const, 'road' as const, null),
          load_type: fc.constantFrom('lcl' as const, null),
          destination_port: fc.constantFrom('USLAX', 'SGSIN', null),
          house_bill: fc.constantFrom('HB', null),
          legs: fc.constantFrom(
            [],
            LEGS,
            LEGS.map((leg) => ({ ...leg, eta: createTimeInJanuary2026(9) })),
          ),
        },
        { requiredKeys: [] },
      ),
    }),
  },
);

/** Returns the events; none if refused. */
function take(scenario: ShipmentScenario, step: Step): readonly ShipmentEventBody[] {
  switch (step.kind) {
    case 'upsert':
      return scenario.upsertShipment(step.fields).events;
    case 'post': {
      const { code, occurred_at, rest } = step.post;
      return scenario.postMilestoneInScenario(code, occurred_at, { ...rest, external_id: step.external_id }).events;
    }
    case 'cancel':
    case 'reopen':
      return (
        attempt(() => (step.kind === 'cancel' ? scenario.cancelShipment() : scenario.reopenShipment()))?.events ?? []
      );
  }
}

/** Returns the announced fields without those that change with every event. */
const shown = ({ version: _v, updated_at: _u, open_exceptions_count: _o, ...rest }: ShipmentRecord) => rest;

describe('events', () => {
  const steps = fc.array(stepOf, { maxLength: 12 });

  it('fold to the values derived when decided', () => {
    fc.assert(
      fc.property(fieldsOf, steps, (fields, many) => {
        const scenario = announcedLast(fields, []);
        for (const step of many) {
          take(scenario, step);
          const { state } = scenario;
          if (state === undefined) throw new Error('no state');
          const again = deriveShipment(state, scenarioPlacesStub).record;
          expect(shown(again)).toEqual(shown(state.record));
        }
        expect(fold(scenario.events)).toEqual(scenario.state);
        expect(scenario.events.reduce<ShipmentRecord | undefined>(evolveShipmentRecord, undefined)).toEqual(
          scenario.record,
        );
        expect(scenario.record.version).toBe(scenario.events.length);
        const open = scenario.state?.exceptions.filter(({ status }) => status !== 'resolved') ?? [];
        expect(scenario.record.open_exceptions_count).toBe(open.length);
        expect(new Set(open.map(({ type, container_number }) => `${type} ${container_number}`)).size).toBe(open.length);
      }),
      { numRuns: rounds(300) },
    );
  });

  it('announce exactly the changes of a command', () => {
    fc.assert(
      fc.property(fieldsOf, steps, (fields, many) => {
        const scenario = announcedLast(fields, []);
        for (const step of many) {
          const before = scenario.record;
          const events = take(scenario, step);
          const announced = events.filter(({ type }) => type === 'shipment.changed.v1');
          expect(announced.length).toBeLessThanOrEqual(1);
          const [changed] = announced;
          const { milestone: _, ...changes } = changed?.type === 'shipment.changed.v1' ? changed.data.changes : {};
          expect(changes).toEqual(computeAnnouncedChanges(before, scenario.record) ?? {});
          if (events.length === 0) expect(scenario.record).toBe(before);
        }
      }),
      { numRuns: rounds(200) },
    );
  });

  it('decide a repeated command equally, and recognise a stored one', () => {
    fc.assert(
      fc.property(fieldsOf, steps, stepOf, (fields, many, last) => {
        const scenario = announcedLast(fields, []);
        for (const step of many) take(scenario, step);
        const command = {
          ...scenario.createCommandContext(),
          shipment_id: SHIPMENT_ID,
          ...(last.kind === 'upsert'
            ? ({ type: 'UpsertShipment', fields: last.fields } as const)
            : ({ type: last.kind === 'cancel' ? 'CancelShipment' : 'ReopenShipment' } as const)),
        };
        fc.pre(attempt(() => decide(command, scenario.state, createDecideContext(command.id))) !== undefined);
        const first = decide(command, scenario.state, createDecideContext(command.id));
        expect(decide(command, scenario.state, createDecideContext(command.id))).toEqual(first);
        let { state } = scenario;
        for (const event of addEventMetadata(command, first.events, scenario.events.length))
          state = applyEventToState(state, event);
        expect(decide(command, state, createDecideContext('another')).events).toEqual([]);
      }),
      { numRuns: rounds(100) },
    );
  });
});
