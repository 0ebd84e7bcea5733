import type { AutomaticExceptionType, DocumentRecord, DocumentType, RuleSettings } from '@tracking/contracts';
import { type ShipmentScenario, SAMPLE_DECISION_INPUTS, getTypesOfDecidedEvents } from '../../test/scenario.ts';
import {
  DOCUMENT_TYPES_REQUIRED_FOR_OCEAN,
  addMsToTime,
  createScenarioWithRule,
  createJanuaryTime,
  createRuleSettingsForOneType,
  replaceRequiredOceanDocuments,
} from '../../test/time-driven.ts';
import { explainShipment } from '../explanation.ts';

const [BILL, LIST] = DOCUMENT_TYPES_REQUIRED_FOR_OCEAN;
const FIRST = createJanuaryTime(2);

type Act = (scenario: ShipmentScenario) => unknown;
const document = ({ state }: ShipmentScenario, n: number) => state!.documents[n]!.document;
const last = ({ state }: ShipmentScenario) => state?.exceptions.at(-1);
const detailOf = (scenario: ShipmentScenario) => last(scenario)?.detail;

function explained(scenario: ShipmentScenario, type: AutomaticExceptionType) {
  const { exceptions } = explainShipment(scenario.state!, { ...SAMPLE_DECISION_INPUTS, settings: scenario.settings });
  return exceptions.filter((exception) => exception.type === type);
}

/** Document types that resolve the exception according to the explanation. */
function typesNamed(scenario: ShipmentScenario, type: AutomaticExceptionType) {
  const [first] = explained(scenario, type);
  return first?.resolved_by.flatMap(({ by, document_types }) => document_types.map((each) => [by, each] as const));
}

describe('missing_document', () => {
  /** No document exists yet, and the ETA is near. */
  const missing = (settings: RuleSettings = createRuleSettingsForOneType('missing_document')) => {
    const scenario = createScenarioWithRule('missing_document', { eta: createJanuaryTime(20) });
    scenario.settings = settings;
    scenario.setTimeOfNextCommand(createJanuaryTime(18)).checkRules();
    expect(scenario.exceptions).toEqual(['missing_document open']);
    return scenario;
  };

  const uploads = (type: DocumentType): Act => {
    return (scenario) => scenario.addDocument({ type });
  };
  const pending: Act = (scenario) => scenario.requestUpload({ type: LIST });
  const received: Act = (scenario) => scenario.receiveUpload(scenario.requestUpload({ type: LIST }).document);
  const doing = (act: (scenario: ShipmentScenario, of: DocumentRecord) => unknown): Act => {
    return (scenario) => act(scenario, scenario.addDocument({ type: LIST }).document);
  };
  // True if the document satisfies the requirement.
  it.each<[string, Act, boolean]>([
    ['one of another type', uploads('photo'), false],
    ['one that is uploaded', uploads(LIST), true],
    ['one that is to come', pending, false],
    ['one whose bytes came, before it is complete', received, false],
    ['one that is complete', (scenario) => (received(scenario), scenario.completeUpload(document(scenario, 1))), true],
    ['one that is approved', doing((scenario, of) => scenario.approveDocument(of)), true],
    ['one that is rejected', doing((scenario, of) => scenario.rejectDocument(of)), true],
    ['one that is deleted', doing((scenario, of) => scenario.deleteDocument(of)), false],
    [
      'one that another of its type replaced',
      doing((scenario, { id }) => scenario.addDocument({ type: LIST, replaces_document_id: id })),
      true,
    ],
    [
      'one whose replacement is deleted',
      doing((scenario, { id }) =>
        scenario.deleteDocument(scenario.addDocument({ type: 'photo', replaces_document_id: id }).document),
      ),
      true,
    ],
    [
      'one that another of another type replaced',
      doing((scenario, { id }) => scenario.addDocument({ type: 'photo', replaces_document_id: id })),
      false,
    ],
  ])('%s', (title, act, satisfies) => {
    const scenario = missing();
    scenario.addDocument({ type: BILL });
    expect(scenario.open).toEqual(['missing_document']);
    act(scenario);
    expect([title, ...scenario.open]).toEqual(satisfies ? [title] : [title, 'missing_document']);
  });

  it('names the missing types at any time', () => {
    const scenario = missing();
    expect(detailOf(scenario)).toBe(
      `Missing: bill_of_lading, packing_list. Expected to arrive at ${createJanuaryTime(20)}.`,
    );
    expect(getTypesOfDecidedEvents(scenario.addDocument({ type: BILL }))).toEqual([
      'document.uploaded.v1',
      'exception.updated.v1',
    ]);
    expect(last(scenario)).toMatchObject({ status: 'open', metrics: { missing: [LIST], eta: createJanuaryTime(20) } });
    scenario.deleteDocument(document(scenario, 0));
    expect(last(scenario)).toMatchObject({ status: 'open', metrics: { missing: DOCUMENT_TYPES_REQUIRED_FOR_OCEAN } });
  });

  it('opens again if the document is deleted or expires', () => {
    const scenario = createScenarioWithRule('missing_document', { eta: createJanuaryTime(20) }).setTimeOfNextCommand(
      createJanuaryTime(18),
    );
    for (const type of DOCUMENT_TYPES_REQUIRED_FOR_OCEAN) scenario.addDocument({ type });
    expect([scenario.open, scenario.state?.nextCheckAt]).toEqual([[], null]);
    expect(getTypesOfDecidedEvents(scenario.deleteDocument(document(scenario, 0)))).toEqual([
      'document.deleted.v1',
      'exception.opened.v1',
    ]);
    expect(last(scenario)?.metrics).toMatchObject({ missing: [BILL] });
  });

  it('requires nothing by default, nor for other modes', () => {
    const scenario = createScenarioWithRule('missing_document', { eta: createJanuaryTime(20) });
    for (const required of [[], ['photo'] as const]) {
      scenario.settings = replaceRequiredOceanDocuments([], createRuleSettingsForOneType('missing_document'));
      const { required_documents } = scenario.settings;
      scenario.settings = { ...scenario.settings, required_documents: { ...required_documents, air: required } };
      scenario.setTimeOfNextCommand(createJanuaryTime(19)).checkRules();
      expect([scenario.exceptions, scenario.state?.nextCheckAt]).toEqual([[], null]);
    }
    scenario.patchShipment({ mode: 'air' });
    expect(last(scenario)).toMatchObject({ type: 'missing_document', metrics: { missing: ['photo'] } });
  });

  it('uses the present requirements of the workspace', () => {
    const scenario = missing();
    scenario.settings = replaceRequiredOceanDocuments([LIST], scenario.settings);
    scenario.checkRules();
    expect(last(scenario)).toMatchObject({ status: 'open', metrics: { missing: [LIST] } });
    scenario.settings = replaceRequiredOceanDocuments([], scenario.settings);
    scenario.checkRules();
    scenario.settings = replaceRequiredOceanDocuments(['photo'], scenario.settings);
    scenario.checkRules();
    expect(scenario.exceptions).toEqual(['missing_document resolved auto_cleared', 'missing_document open']);
    expect(last(scenario)?.metrics).toMatchObject({ missing: ['photo'] });
  });

  it.each([1, 100.5, 720])('opens %d hours before the ETA with that setting', (before_hours) => {
    const scenario = createScenarioWithRule('missing_document', { eta: createJanuaryTime(20) }, createJanuaryTime(-60));
    scenario.settings = createRuleSettingsForOneType('missing_document', { before_hours });
    const opens = addMsToTime(createJanuaryTime(20), -before_hours * 3_600_000);
    scenario.checkRules();
    expect(scenario.state?.nextCheckAt).toBe(opens);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(addMsToTime(opens, -1)).checkRules())).toEqual([]);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(opens).checkRules())).toEqual(['exception.opened.v1']);
  });

  it.each(['delivered', 'empty_returned', 'returned_to_shipper'])('%s neither resolves nor prevents it', (code) => {
    const scenario = missing();
    scenario.postMilestoneInScenario(code);
    expect(scenario.open).toEqual(['missing_document']);
    const over = createScenarioWithRule('missing_document', { eta: createJanuaryTime(20) }).setTimeOfNextCommand(
      createJanuaryTime(10),
    );
    over.postMilestoneInScenario(code);
    over.setTimeOfNextCommand(createJanuaryTime(17)).checkRules();
    expect(over.open).toEqual(['missing_document']);
  });

  it('stays resolved by a person until another type is missing', () => {
    const scenario = missing(replaceRequiredOceanDocuments([LIST], createRuleSettingsForOneType('missing_document')));
    scenario.resolveException(last(scenario)!, { code: 'waived' });
    scenario.patchShipment({ eta: createJanuaryTime(20, 1) });
    expect(scenario.exceptions).toEqual(['missing_document resolved waived']);
    expect(explained(scenario, 'missing_document')).toMatchObject([{ status: 'suppressed' }]);
    scenario.settings = replaceRequiredOceanDocuments([LIST, BILL], scenario.settings);
    scenario.checkRules();
    expect(scenario.exceptions).toEqual(['missing_document resolved waived', 'missing_document open']);
  });

  it('stays resolved if a person opened and resolved it, because it has no metrics', () => {
    const scenario = createScenarioWithRule('missing_document', { eta: createJanuaryTime(20) }).setTimeOfNextCommand(
      createJanuaryTime(10),
    );
    const { exception } = scenario.openException('missing_document');
    scenario.setTimeOfNextCommand(createJanuaryTime(18)).resolveException(exception, { code: 'waived' });
    scenario.checkRules();
    expect(scenario.exceptions).toEqual(['missing_document resolved waived']);
  });

  it('opens again if the document existed in the meantime', () => {
    const scenario = missing(replaceRequiredOceanDocuments([LIST], createRuleSettingsForOneType('missing_document')));
    scenario.resolveException(last(scenario)!, { code: 'waived' });
    scenario.deleteDocument(scenario.addDocument({ type: LIST }).document);
    expect(scenario.exceptions).toEqual(['missing_document resolved waived', 'missing_document open']);
  });

  it('names the types that resolve it in explanations, and they do', () => {
    const scenario = missing();
    scenario.addDocument({ type: LIST });
    expect(typesNamed(scenario, 'missing_document')).toEqual([['document_uploaded', BILL]]);
    const tried = missing();
    for (const [, type] of typesNamed(tried, 'missing_document') ?? []) tried.addDocument({ type });
    expect(tried.open).toEqual([]);
    const [, fields] = explained(missing(), 'missing_document')[0]!.resolved_by;
    expect(fields).toMatchObject({ by: 'field_changed', fields: ['eta', 'mode'] });
  });
});

describe('document_rejected', () => {
  const TYPE = 'document_rejected';
  const OPEN = 'document_rejected open';
  const CLEARED = 'document_rejected resolved auto_cleared';
  const rejected = () => {
    const scenario = createScenarioWithRule(TYPE).setTimeOfNextCommand(FIRST);
    scenario.rejectDocument(scenario.addDocument({ type: BILL }).document, 'Wrong consignee.');
    return scenario;
  };
  const approves = (type: DocumentType): Act => {
    return (scenario) => scenario.approveDocument(scenario.addDocument({ type }).document);
  };

  it('opens immediately with a rejection', () => {
    const scenario = createScenarioWithRule(TYPE).setTimeOfNextCommand(FIRST);
    const { document: bill } = scenario.addDocument({ type: BILL });
    expect(getTypesOfDecidedEvents(scenario.rejectDocument(bill, 'Wrong consignee.'))).toEqual([
      'document.rejected.v1',
      'exception.opened.v1',
    ]);
    expect(last(scenario)).toMatchObject({
      ...{ type: TYPE, rule: TYPE, status: 'open', severity: 'medium', detected_by: 'system', container_number: null },
      ...{ opened_at: FIRST, detail: 'Rejected: bill_of_lading (Wrong consignee.).' },
      metrics: { document_ids: [bill.id] },
    });
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(scenario.record.open_exceptions_count).toBe(1);
  });

  // True if the document resolves the exception.
  it.each<[string, Act, boolean]>([
    ['an approved one of its type', approves(BILL), true],
    ['an approved one of another type', approves(LIST), false],
    ['one of its type that waits for its review', (scenario) => scenario.addDocument({ type: BILL }), false],
    [
      'an approved one that replaces it',
      (scenario) => {
        const replaces_document_id = document(scenario, 0).id;
        scenario.approveDocument(scenario.addDocument({ type: BILL, replaces_document_id }).document);
      },
      true,
    ],
    [
      'one that replaces it, without a review',
      (scenario) => scenario.addDocument({ type: BILL, replaces_document_id: document(scenario, 0).id }),
      false,
    ],
    ['its deletion', (scenario) => scenario.deleteDocument(document(scenario, 0)), true],
    ['delivery', (scenario) => scenario.postMilestoneInScenario('delivered'), false],
    ['the return of the empty container', (scenario) => scenario.postMilestoneInScenario('empty_returned'), false],
  ])('%s', (title, act, resolves) => {
    const scenario = rejected().setTimeOfNextCommand(createJanuaryTime(3));
    act(scenario);
    expect([title, ...scenario.exceptions]).toEqual([title, resolves ? CLEARED : OPEN]);
  });

  it('uses the order of reviews, regardless of clocks: an earlier approval does not count', () => {
    for (const time of [FIRST, createJanuaryTime(1), createJanuaryTime(3)]) {
      const before = createScenarioWithRule(TYPE).setTimeOfNextCommand(FIRST);
      before.approveDocument(before.addDocument({ type: BILL }).document);
      const { document: other } = before.addDocument({ type: BILL });
      before.setTimeOfNextCommand(time).rejectDocument(other);
      expect(before.exceptions).toEqual([OPEN]);
      const scenario = rejected().setTimeOfNextCommand(time);
      scenario.approveDocument(scenario.addDocument({ type: BILL }).document);
      expect(scenario.exceptions).toEqual([CLEARED]);
    }
  });

  it.each([BILL, LIST])('does not open if the replacement, a %s, is approved', (type) => {
    const scenario = createScenarioWithRule(TYPE).setTimeOfNextCommand(FIRST);
    const { document: bill } = scenario.addDocument({ type: BILL });
    const { document: replacement } = scenario.addDocument({ type, replaces_document_id: bill.id });
    scenario.approveDocument(replacement);
    scenario.rejectDocument(bill);
    expect(scenario.exceptions).toEqual([]);
    scenario.deleteDocument(replacement);
    expect(scenario.exceptions).toEqual([OPEN]);
  });

  it('stays open until the replacement is approved, of any type', () => {
    const scenario = createScenarioWithRule(TYPE).setTimeOfNextCommand(FIRST);
    const { document: bill } = scenario.addDocument({ type: BILL });
    const { document: second } = scenario.addDocument({ type: LIST, replaces_document_id: bill.id });
    scenario.rejectDocument(bill);
    scenario.rejectDocument(second);
    const { document: third } = scenario.addDocument({ type: LIST, replaces_document_id: second.id });
    scenario.deleteDocument(second);
    expect(scenario.exceptions).toEqual([OPEN]);
    scenario.approveDocument(third);
    expect(scenario.exceptions).toEqual([CLEARED]);
  });

  it('opens again if the approved document is deleted', () => {
    const scenario = rejected();
    approves(BILL)(scenario);
    scenario.deleteDocument(document(scenario, 1));
    expect(scenario.exceptions).toEqual([CLEARED, OPEN]);
  });

  it('is one exception for all rejected documents, newest first, and lists three', () => {
    const scenario = createScenarioWithRule(TYPE).setTimeOfNextCommand(FIRST);
    const names = ['one', 'two', 'three', 'four', 'five'];
    for (const name of names)
      scenario.rejectDocument(scenario.addDocument({ type: LIST }).document, `Page ${name} is missing.`);
    expect(scenario.exceptions).toEqual([OPEN]);
    const [five, four, three] = ['five', 'four', 'three'].map((name) => `packing_list (Page ${name} is missing.)`);
    expect(detailOf(scenario)).toBe(`Rejected: ${five}; ${four}; ${three}; 2 more.`);
    const ids = scenario.state?.documents.map(({ document: { id } }) => id);
    expect(last(scenario)?.metrics).toEqual({ document_ids: ids?.toReversed() });
    scenario.deleteDocument(document(scenario, 4));
    expect(detailOf(scenario)).toMatch(/^Rejected: packing_list \(Page four is missing\.\); .*; 1 more\.$/);
    approves(LIST)(scenario);
    expect(scenario.exceptions).toEqual([CLEARED]);
  });

  it('stays resolved by a person until another one is rejected, or its condition has ended once', () => {
    const scenario = rejected();
    scenario.resolveException(last(scenario)!, { code: 'waived' });
    const waived = 'document_rejected resolved waived';
    scenario.setTimeOfNextCommand(createJanuaryTime(30)).checkRules();
    scenario.postMilestoneInScenario('delivered');
    expect(scenario.exceptions).toEqual([waived]);
    expect(explained(scenario, TYPE)).toMatchObject([{ status: 'suppressed', exception_id: last(scenario)?.id }]);
    scenario.rejectDocument(scenario.addDocument({ type: LIST }).document);
    expect(scenario.exceptions).toEqual([waived, OPEN]);
    scenario.resolveException(last(scenario)!);
    for (const type of [BILL, LIST]) approves(type)(scenario);
    scenario.deleteDocument(document(scenario, 2));
    expect(scenario.exceptions).toEqual([waived, 'document_rejected resolved fixed', OPEN]);
  });

  it('is off while disabled or cancelled, and has the severity of the settings', () => {
    const scenario = rejected();
    scenario.settings = createRuleSettingsForOneType(TYPE, { enabled: false });
    scenario.checkRules();
    expect(scenario.exceptions).toEqual([CLEARED]);
    scenario.settings = createRuleSettingsForOneType(TYPE, { severity: 'critical' });
    scenario.checkRules();
    expect(last(scenario)).toMatchObject({ status: 'open', severity: 'critical' });
    scenario.cancelShipment();
    scenario.rejectDocument(scenario.addDocument({ type: LIST }).document);
    expect(scenario.open).toEqual([]);
    scenario.reopenShipment();
    expect(last(scenario)).toMatchObject({ status: 'open', metrics: { document_ids: expect.any(Array) as unknown } });
  });

  it('names the types whose approval resolves it in explanations, and they do', () => {
    const scenario = rejected();
    scenario.rejectDocument(scenario.addDocument({ type: LIST }).document);
    const named = typesNamed(scenario, TYPE);
    expect(named?.toSorted()).toEqual([
      ['document_approved', BILL],
      ['document_approved', LIST],
    ]);
    for (const [, type] of named ?? []) approves(type)(scenario);
    expect(scenario.exceptions).toEqual([CLEARED]);
  });
});
