import { DomainError, type ExpectedVersions, PreconditionFailedError } from '@tracking/contracts';
import {
  SHIPMENT_ID,
  type ShipmentScenario,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  createDecideContext,
  createTimeInJanuary2026,
  createDocumentInput,
  createExceptionInputForTest,
  createMilestoneInput,
  createSampleReceivedObject,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { type CommandOf, type CommandType, decide } from './shipment-commands.ts';

/** One valid command of each type. */
const COMMANDS: { readonly [Type in CommandType]: (scenario: ShipmentScenario) => CommandOf<Type> } = {
  UpsertShipment: (scenario) => ({ ...about(scenario), type: 'UpsertShipment', fields: { house_bill: 'HB-9' } }),
  PatchShipment: (scenario) => ({ ...about(scenario), type: 'PatchShipment', patch: { house_bill: 'HB-9' } }),
  PatchContainer: (scenario) => ({
    ...about(scenario),
    type: 'PatchContainer',
    number: CONTAINER_WITH_WRONG_CHECK_DIGIT,
    patch: { seal_number: 'S-1' },
  }),
  RecordMilestone: (scenario) => ({
    ...about(scenario),
    type: 'RecordMilestone',
    milestone: createMilestoneInput({ code: 'gated_in', occurred_at: createTimeInJanuary2026(3) }),
  }),
  CorrectMilestone: (scenario) => ({
    ...about(scenario),
    type: 'CorrectMilestone',
    milestone_id: scenario.state?.timeline[0]?.milestone.id ?? '',
    patch: { note: 'by phone' },
  }),
  RetractMilestone: (scenario) => ({
    ...about(scenario),
    type: 'RetractMilestone',
    milestone_id: scenario.state?.timeline[0]?.milestone.id ?? '',
  }),
  CancelShipment: (scenario) => ({ ...about(scenario), type: 'CancelShipment' }),
  ReopenShipment: (scenario) => ({ ...about(scenario), type: 'ReopenShipment' }),
  CheckRules: (scenario) => ({ ...about(scenario), type: 'CheckRules' }),
  OpenException: (scenario) => ({
    ...about(scenario),
    type: 'OpenException',
    exception: createExceptionInputForTest({ type: 'shortage' }),
  }),
  AcknowledgeException: (scenario) => ({
    ...about(scenario),
    type: 'AcknowledgeException',
    exception_id: scenario.state?.exceptions[0]?.id ?? '',
    note: null,
  }),
  ResolveException: (scenario) => ({
    ...about(scenario),
    type: 'ResolveException',
    exception_id: scenario.state?.exceptions[0]?.id ?? '',
    code: 'fixed',
    note: null,
  }),
  AddDocument: (scenario) => ({
    ...about(scenario),
    type: 'AddDocument',
    document: createDocumentInput(),
    object: createSampleReceivedObject(),
  }),
  RequestUpload: (scenario) => ({
    ...about(scenario),
    type: 'RequestUpload',
    document: { ...createDocumentInput(), content_type: 'text/csv', size_bytes: 1, checksum_sha256: 'ab'.repeat(32) },
  }),
  ReceiveUpload: (scenario) => ({
    ...documentOf(scenario, 0),
    type: 'ReceiveUpload',
    object: createSampleReceivedObject(),
    kept_object_id: null,
  }),
  CompleteUpload: (scenario) => ({ ...documentOf(scenario, 0), type: 'CompleteUpload', lost_object_id: null }),
  ApproveDocument: (scenario) => ({ ...documentOf(scenario, 1), type: 'ApproveDocument' }),
  RejectDocument: (scenario) => ({ ...documentOf(scenario, 1), type: 'RejectDocument', reason: 'Not readable.' }),
  DeleteDocument: (scenario) => ({ ...documentOf(scenario, 1), type: 'DeleteDocument' }),
};
const about = (scenario: ShipmentScenario) => ({ ...scenario.createCommandContext(), shipment_id: SHIPMENT_ID });
const documentOf = (scenario: ShipmentScenario, n: number) => ({
  ...about(scenario),
  document_id: scenario.state?.documents[n]?.document.id ?? '',
});

const TYPES = Object.keys(COMMANDS) as CommandType[];

/** Decides on a shipment at version 6, or on none. Returns the version in the error. */
function outcome(type: CommandType, expected: ExpectedVersions | undefined, exists = true): unknown {
  const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
  scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(1), { classifier: 'planned' });
  scenario.receiveUpload(scenario.requestUpload().document);
  scenario.addDocument();
  expect(scenario.record.version).toBe(6);
  const command = { ...COMMANDS[type](scenario), ...(expected !== undefined && { expected_versions: expected }) };
  try {
    decide(command, exists ? scenario.state : undefined, createDecideContext(command.id));
    return 'decided';
  } catch (error) {
    if (error instanceof PreconditionFailedError) return { code: error.code, version: error.version };
    return error instanceof DomainError ? error.code : error;
  }
}

const refused = (version: number | null) => ({ code: 'precondition_failed', version });

describe.each(TYPES)('%s with an expected version', (type) => {
  test.each<[ExpectedVersions | undefined, unknown]>([
    [undefined, 'decided'],
    [[6], 'decided'],
    [[7, 6], 'decided'],
    ['any', 'decided'],
    [[2], refused(6)],
    [[4, 2], refused(6)],
    [[], refused(6)],
    ['none', refused(6)],
  ])('on an existing shipment: %j', (expected, answer) => {
    expect(outcome(type, expected)).toEqual(answer);
  });
});

describe('without a shipment', () => {
  test.each<[ExpectedVersions | undefined, unknown]>([
    [undefined, 'decided'],
    ['none', 'decided'],
    ['any', refused(null)],
    [[1], refused(null)],
    [[], refused(null)],
  ])('an upsert that expects %j', (expected, answer) => {
    expect(outcome('UpsertShipment', expected, false)).toEqual(answer);
  });

  test.each(TYPES.filter((type) => type !== 'UpsertShipment'))(
    '%s is not found without a shipment, regardless of the expected version',
    (type) => {
      for (const expected of [undefined, [1], 'any', 'none'] as const) {
        expect(outcome(type, expected, false)).toBe('not_found');
      }
    },
  );
});

test.each<[CommandType, object]>([
  ['PatchContainer', { number: 'CSQU3054383' }],
  ['CorrectMilestone', { milestone_id: 'mst_none' }],
  ['RetractMilestone', { milestone_id: 'mst_none' }],
  ['AcknowledgeException', { exception_id: 'exc_none' }],
  ['ResolveException', { exception_id: 'exc_none' }],
  ['ReceiveUpload', { document_id: 'doc_none' }],
  ['CompleteUpload', { document_id: 'doc_none' }],
  ['ApproveDocument', { document_id: 'doc_none' }],
  ['RejectDocument', { document_id: 'doc_none' }],
  ['DeleteDocument', { document_id: 'doc_none' }],
])('%s does not find a missing part, regardless of the expected version', (type, target) => {
  const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] });
  for (const expected_versions of [undefined, [2], 'any', 'none'] as const) {
    const command = { ...COMMANDS[type](scenario), ...target, ...(expected_versions && { expected_versions }) };
    expect(() => decide(command, scenario.state, createDecideContext(command.id))).toThrow(
      expect.objectContaining({ code: 'not_found' }),
    );
  }
});

test('validation errors are not reported to a client that has not seen the version', () => {
  const scenario = createOceanShipmentScenario();
  scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
  const command = { ...COMMANDS.CancelShipment(scenario), expected_versions: [1] };
  expect(() => decide(command, scenario.state, createDecideContext(command.id))).toThrow(PreconditionFailedError);
});
