import {
  type RequiredTypes,
  type Rule,
  listModesWithChangedDocuments,
  listRuleDifferences,
  validateHours,
  toRulePatch,
  buildRequiredDocumentsPatch,
  toRuleFormValues,
} from './rule-changes.ts';

describe('rule changes', () => {
  const RULE: Rule = { enabled: true, severity: 'medium', after_hours: 24, before_hours: null, by_mode: { air: 4 } };
  const VALUES = toRuleFormValues(RULE);

  it('builds no patch if nothing differs', () => {
    expect(toRulePatch(RULE, VALUES)).toBeUndefined();
  });

  it.each([
    [{ enabled: false }, { enabled: false }],
    [{ severity: 'high' }, { severity: 'high' }],
    [{ after_hours: 36 }, { after_hours: 36 }],
    [{ after_hours: '' }, { after_hours: null }],
    [{ by_mode: { air: 6 } }, { by_mode: { air: 6 } }],
    [{ by_mode: { air: 4, rail: 12 } }, { by_mode: { rail: 12 } }],
    [{ by_mode: { air: '' } }, { by_mode: { air: null } }],
    [{ by_mode: { air: 4, rail: '' } }, undefined],
  ] as const)('converts %j to %j, where an empty field restores the default', (changes, expected) => {
    expect(toRulePatch(RULE, { ...VALUES, ...changes })).toEqual(expected);
  });

  it('never writes hours that a rule does not use', () => {
    expect(toRulePatch(RULE, { ...VALUES, before_hours: 12 })).toBeUndefined();
  });

  it('lists the name of each setting that differs', () => {
    const other: Rule = { ...RULE, after_hours: 12, by_mode: { rail: 12 } };
    expect(listRuleDifferences(RULE, other)).toEqual(['after_hours', 'by_mode.air', 'by_mode.rail']);
    expect(listRuleDifferences(RULE, { ...RULE })).toEqual([]);
  });

  it.each([
    ['', true],
    [0.5, true],
    [8_760, true],
    [0, false],
    [8_761, false],
    ['-', false],
  ] as const)('checks if %j hours are valid: %s', (hours, isFine) => {
    expect(validateHours(hours) === null).toBe(isFine);
  });
});

describe('changes to required documents', () => {
  const NONE = { ocean: [], air: [] } as unknown as RequiredTypes;
  const SOME = { ocean: ['bill_of_lading', 'packing_list'], air: [] } as unknown as RequiredTypes;

  it('ignores the order of required documents', () => {
    const turned = { ocean: ['packing_list', 'bill_of_lading'], air: [] } as unknown as RequiredTypes;
    expect(listModesWithChangedDocuments(SOME, turned)).toEqual([]);
    expect(buildRequiredDocumentsPatch(SOME, turned, NONE)).toBeUndefined();
  });

  it('writes only the modes whose documents have changed', () => {
    const air = { ...SOME, air: ['air_waybill'] } as unknown as RequiredTypes;
    expect(buildRequiredDocumentsPatch(SOME, air, NONE)).toEqual({ air: ['air_waybill'] });
  });

  it('writes null for a mode whose documents are the default again', () => {
    expect(buildRequiredDocumentsPatch(SOME, NONE, NONE)).toEqual({ ocean: null });
  });
});
