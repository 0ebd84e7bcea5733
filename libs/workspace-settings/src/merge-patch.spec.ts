import { DEFAULT_RULE_SETTINGS, DOCUMENT_TYPES, TRANSPORT_MODES } from '@tracking/contracts';
import type { JsonObject, JsonValue } from '@tracking/contracts';
import { applySettingsPatch } from './merge-patch.ts';
import { NO_CHANGED_SETTINGS, pickValuesThatDifferFromDefault, computeEffectiveSettings } from './settings-document.ts';

const patchedDefaults = (patch: JsonObject) => applySettingsPatch(DEFAULT_RULE_SETTINGS, patch);
const faults = (patch: JsonObject) => patchedDefaults(patch).faults.map(({ param, code }) => `${param} ${code}`);
/** Returns the settings after applying the patches in order. */
const set = (...patches: readonly JsonObject[]) =>
  pickValuesThatDifferFromDefault(
    patches.reduce((values, patch) => applySettingsPatch(values, patch).values, DEFAULT_RULE_SETTINGS),
  );
const exception = (type: string, fields: JsonValue): JsonObject => ({ exceptions: { [type]: fields } });

describe('a merge patch of settings', () => {
  it('changes only the settings that it names', () => {
    const { values, faults: none } = patchedDefaults({
      exceptions: { eta_slip: { after_hours: 36.5, by_mode: { rail: 12 } }, customs_hold: { enabled: false } },
      required_documents: { ocean: ['bill_of_lading', 'packing_list'] },
    });
    expect(none).toEqual([]);
    expect(values).toEqual({
      exceptions: {
        ...DEFAULT_RULE_SETTINGS.exceptions,
        eta_slip: {
          enabled: true,
          after_hours: 36.5,
          by_mode: { air: 4, road: 4, rail: 12 },
          before_hours: null,
          severity: 'medium',
        },
        customs_hold: { enabled: false, after_hours: null, by_mode: {}, before_hours: null, severity: 'high' },
      },
      required_documents: { ...DEFAULT_RULE_SETTINGS.required_documents, ocean: ['bill_of_lading', 'packing_list'] },
    });
  });

  it('stores only values that differ from the defaults', () => {
    expect(set({})).toEqual(NO_CHANGED_SETTINGS);
    const everything = { ...DEFAULT_RULE_SETTINGS } as unknown as JsonObject;
    expect(set(everything)).toEqual(NO_CHANGED_SETTINGS);
    expect(set(exception('eta_slip', { by_mode: { air: 6, road: 4 } }))).toEqual({
      exceptions: { eta_slip: { by_mode: { air: 6 } } },
      required_documents: {},
    });
    const some = set(exception('demurrage_risk', { before_hours: 72 }), { required_documents: { air: ['photo'] } });
    expect(pickValuesThatDifferFromDefault(computeEffectiveSettings(some))).toEqual(some);
  });

  it.each<[string, JsonObject]>([
    [
      'a value',
      exception('eta_slip', { after_hours: null, severity: null, enabled: null, by_mode: { air: null, sea: 1 } }),
    ],
    [
      'a mode’s hours and another value',
      exception('eta_slip', { by_mode: null, after_hours: null, severity: null, enabled: null }),
    ],
    ['a type', exception('eta_slip', null)],
    ['all types', { exceptions: null }],
  ])('restores the default of %s with null', (_what, patch) => {
    const changes = { enabled: false, after_hours: 48, by_mode: { air: 8 }, severity: 'low' };
    expect(set(exception('eta_slip', changes), patch)).toEqual(NO_CHANGED_SETTINGS);
  });

  it('restores the documents of a mode, or of all modes, with null', () => {
    const before = { required_documents: { ocean: ['photo'], air: ['photo'] } };
    expect(set(before, { required_documents: { ocean: null } }).required_documents).toEqual({ air: ['photo'] });
    expect(set(before, { required_documents: null }).required_documents).toEqual({});
    expect(set(before, { required_documents: { ocean: [] } }).required_documents).toEqual({ air: ['photo'] });
  });

  it('removes the hours of a mode without a default with null', () => {
    const before = exception('arrival_overdue', { by_mode: { rail: 24 } });
    expect(set(before, exception('arrival_overdue', { by_mode: { rail: null } }))).toEqual(NO_CHANGED_SETTINGS);
  });

  it('accepts enumeration values in any case, and stores each document once', () => {
    const patch = {
      exceptions: { no_update: { severity: 'HIGH' } },
      required_documents: { ocean: ['Packing_List', 'packing_list', 'PHOTO'] },
    };
    expect(set(patch)).toEqual({
      exceptions: { no_update: { severity: 'high' } },
      required_documents: { ocean: ['packing_list', 'photo'] },
    });
  });

  it('reports all invalid fields together', () => {
    expect(
      faults({
        exceptions: {
          eta_slip: { after_hours: 0, by_mode: { air: '4', sea: 4 }, severity: 'urgent', enabled: 'yes' },
          customs_hold: { after_hours: 5, by_mode: { air: 4 }, before_hours: 1 },
          missing_document: { after_hours: 5, before_hours: 8_761 },
          cargo_damage: { enabled: false },
          no_update: 5,
        },
        required_documents: { ocean: ['bill_of_lading', 'novel', 7], ship: [], air: 'photo' },
      }),
    ).toEqual([
      'exceptions.eta_slip.enabled invalid_type',
      'exceptions.eta_slip.after_hours invalid_value',
      'exceptions.eta_slip.by_mode.air invalid_type',
      'exceptions.eta_slip.by_mode.sea invalid_value',
      'exceptions.eta_slip.severity invalid_value',
      'exceptions.customs_hold.after_hours invalid_value',
      'exceptions.customs_hold.by_mode.air invalid_value',
      'exceptions.customs_hold.before_hours invalid_value',
      'exceptions.missing_document.after_hours invalid_value',
      'exceptions.missing_document.before_hours invalid_value',
      'exceptions.cargo_damage invalid_value',
      'exceptions.no_update invalid_type',
      'required_documents.ocean[1] invalid_value',
      'required_documents.ocean[2] invalid_type',
      'required_documents.ship invalid_value',
      'required_documents.air invalid_type',
    ]);
  });

  it.each([0, -1, 8_760.1, 1e308])('refuses %d hours', (hours) => {
    expect(faults(exception('eta_slip', { after_hours: hours }))).toEqual([
      'exceptions.eta_slip.after_hours invalid_value',
    ]);
  });

  it.each([0.25, 1, 8_760])('accepts %d hours', (hours) => {
    expect(faults(exception('eta_slip', { after_hours: hours, by_mode: { air: hours } }))).toEqual([]);
  });

  it.each<JsonValue>(['x', 5, false, []])('refuses %j as exception settings and as required documents', (value) => {
    expect(faults({ exceptions: value, required_documents: value })).toEqual([
      'exceptions invalid_type',
      'required_documents invalid_type',
    ]);
  });

  it('refuses property names of JavaScript objects as unknown names', () => {
    const hostile = JSON.parse('{"exceptions": {"__proto__": {"enabled": false}, "constructor": null}}') as JsonObject;
    expect(faults(hostile)).toEqual(['exceptions.__proto__ invalid_value', 'exceptions.constructor invalid_value']);
  });

  it('reports at most a hundred faults, and shortens long names', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`${at}${'x'.repeat(1_000)}`, {}]));
    const { faults: told } = patchedDefaults({ exceptions: many });
    expect(told).toHaveLength(100);
    expect(Math.max(...told.map(({ param }) => param.length))).toBeLessThan(120);
  });

  it('ignores unknown fields', () => {
    expect(set({ colour: 'red', exceptions: { eta_slip: { colour: 'red' } } })).toEqual(NO_CHANGED_SETTINGS);
  });
});

it('accepts every mode and every document type in the required documents', () => {
  const patch = { required_documents: Object.fromEntries(TRANSPORT_MODES.map((mode) => [mode, [...DOCUMENT_TYPES]])) };
  expect(faults(patch)).toEqual([]);
  expect(computeEffectiveSettings(set(patch)).required_documents).toEqual(patch.required_documents);
});
