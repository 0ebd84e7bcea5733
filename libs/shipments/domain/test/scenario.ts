import type {
  Container,
  DocumentRecord,
  ExceptionType,
  LegFields,
  Milestone,
  Place,
  PlaceLookup,
  RuleSettings,
  ShipmentException,
  ClientShipmentFields,
  ShipmentRecord,
  Timestamp,
} from '@tracking/contracts';
import { DEFAULT_RULE_SETTINGS, DomainError, EMPTY_MILESTONE_DETAILS } from '@tracking/contracts';
import type {
  AcknowledgeException,
  CancelShipmentCommand,
  CancellationDecision,
  CheckRulesCommand,
  ContainerPatchDecision,
  CorrectMilestoneCommand,
  DecideContext,
  Decision,
  DocumentInput,
  DocumentResult,
  ExceptionInput,
  AnnouncedFileProperties,
  ClientContainerFields,
  MilestoneDecision,
  MilestoneInput,
  MilestonePatch,
  OpenExceptionCommand,
  PatchContainerCommand,
  PatchDecision,
  PatchShipmentCommand,
  RecordMilestoneCommand,
  ReceivedDocumentFile,
  ReopenCancelledShipmentCommand,
  ResolveExceptionCommand,
  RetractMilestoneCommand,
  ShipmentCommand,
  ShipmentEvent,
  ShipmentEventBody,
  StoredEventType,
  ShipmentPatch,
  ShipmentState,
  UpsertDecision,
  UpsertShipment,
} from '../src/index.ts';
import { decide, applyEventToState, findMilestone } from '../src/index.ts';

type DocumentCommand = Extract<ShipmentCommand, { readonly type: `${string}Document` | `${string}Upload` }>;

/** Container numbers with valid check digits. */
export const CONTAINER_A = 'MSCU1234566';
export const CONTAINER_B = 'CSQU3054383';
export const CONTAINER_C = 'TGHU9876542';
export const CONTAINER_WITH_WRONG_CHECK_DIGIT = 'MSCU1234567';

/** Returns a leg of which only the given fields are set. */
export function createLegWithOtherFieldsNull(fields: Partial<LegFields>): LegFields {
  return {
    mode: null,
    carrier_scac: null,
    vessel: null,
    voyage: null,
    origin_port: null,
    destination_port: null,
    etd: null,
    eta: null,
    ...fields,
  };
}

const KNOWN_PLACES: Readonly<Record<string, Partial<Place>>> = {
  CNSHA: { timezone: 'Asia/Shanghai' },
  CNNGB: {},
  SGSIN: { timezone: 'Asia/Singapore' },
  USLAX: { timezone: 'America/Los_Angeles' },
  USCHI: {},
  USNYC: {},
  DEHAM: {},
  FRA: { country: 'DE', timezone: 'Europe/Berlin' },
  LAX: { country: 'US' },
  ICN: { country: 'KR' },
};
const SAMPLE_COUNTRIES = new Set(['CN', 'SG', 'US', 'DE', 'GB', 'KR', 'IT', 'PA']);

export const scenarioPlacesStub: PlaceLookup = {
  find(code) {
    const knownPlace = KNOWN_PLACES[code];
    if (knownPlace === undefined) return undefined;
    return {
      code,
      name: null,
      country: code.slice(0, 2),
      latitude: null,
      longitude: null,
      timezone: null,
      ...knownPlace,
    };
  },
  isUnknownLocationCode: (code) => !SAMPLE_COUNTRIES.has(code.slice(0, 2)),
  isWordOfPlaceName: (code) => code === 'ITALY',
  lookUpPlaceCodesByName: () => undefined,
  listAliases: () => [],
};

export const SHIPMENT_ID = 'shp_abcdefghijklmnopqrstuvwxya';

/** Returns a time in January 2026: `createTimeInJanuary2026(5, 13)` is 5 January at 13:00 UTC. */
export function createTimeInJanuary2026(number: number, hour = 12): Timestamp {
  return new Date(Date.UTC(2026, 0, number, hour)).toISOString();
}

const SCENARIO_START_MS = Date.UTC(2026, 5, 1);

/** A shipment and its commands, one after another, with default times long after all milestones. */
export class ShipmentScenario {
  state: ShipmentState | undefined;
  readonly events: ShipmentEvent[] = [];
  /** Rule settings, from the next command on. */
  settings: RuleSettings = DEFAULT_RULE_SETTINGS;
  /** Known places, from the next command on. */
  places: PlaceLookup = scenarioPlacesStub;
  private commands = 0;
  private now: Timestamp | undefined;
  /** Time of the last command. */
  time: Timestamp = '';

  /** Sets the time of the following commands. Without it, each comes a minute after the previous one. */
  setTimeOfNextCommand(time: Timestamp): this {
    this.now = time;
    return this;
  }

  /** Creates the shipment, or changes it. */
  upsertShipment(fields: Partial<ClientShipmentFields>, options: { strict?: boolean } = {}): UpsertDecision {
    return this.decideAndApplyShipmentCommand({
      ...this.createCommandContext(),
      ...options,
      type: 'UpsertShipment',
      shipment_id: SHIPMENT_ID,
      fields,
    });
  }

  /** Patches fields of the shipment. */
  patchShipment(patch: ShipmentPatch, options: { strict?: boolean } = {}): PatchDecision {
    return this.decideAndApplyShipmentCommand({
      ...this.createCommandContext(),
      ...options,
      type: 'PatchShipment',
      shipment_id: SHIPMENT_ID,
      patch,
    });
  }

  patchContainer(number: string, patch: Partial<ClientContainerFields>): ContainerPatchDecision {
    return this.decideAndApplyShipmentCommand({
      ...this.createCommandContext(),
      type: 'PatchContainer',
      shipment_id: SHIPMENT_ID,
      number,
      patch,
    });
  }

  /** Posts a milestone. @param when defaults to the command's time */
  postMilestoneInScenario(
    code: string,
    when?: Timestamp,
    rest: Partial<MilestoneInput> = {},
  ): MilestoneDecision & { milestone: Milestone } {
    const context = this.createCommandContext();
    const milestone = createMilestoneInput({ code, occurred_at: when ?? context.at, ...rest });
    const decision = this.decideAndApplyShipmentCommand({
      ...context,
      type: 'RecordMilestone',
      shipment_id: SHIPMENT_ID,
      milestone,
    });
    return { ...decision, milestone: decision.droppedMilestone ?? this.getMilestone(decision.milestoneId) };
  }

  postEstimateInScenario(
    code: string,
    when: Timestamp,
    rest: Partial<MilestoneInput> = {},
  ): MilestoneDecision & { milestone: Milestone } {
    return this.postMilestoneInScenario(code, when, { classifier: 'estimated', source: 'carrier', ...rest });
  }

  /** Corrects a milestone by hand. */
  correctMilestone(
    { id }: Pick<Milestone, 'id'>,
    patch: MilestonePatch,
  ): Decision<{ outcome: string }> & { milestone: Milestone } {
    const command = { type: 'CorrectMilestone', shipment_id: SHIPMENT_ID, milestone_id: id, patch } as const;
    return {
      ...this.decideAndApplyShipmentCommand({ ...this.createCommandContext(), ...command }),
      milestone: this.getMilestone(id),
    };
  }

  retractMilestone({ id }: Pick<Milestone, 'id'>): Decision<{ outcome: string }> & { milestone: Milestone } {
    const command = { type: 'RetractMilestone', shipment_id: SHIPMENT_ID, milestone_id: id } as const;
    return {
      ...this.decideAndApplyShipmentCommand({ ...this.createCommandContext(), ...command }),
      milestone: this.getMilestone(id),
    };
  }

  /** Returns the current state of the milestone with the id. @throws Error if the scenario has no such milestone */
  getMilestone(id: string): Milestone {
    const found = this.state === undefined ? undefined : findMilestone(this.state, id);
    if (found === undefined) throw new Error(`the scenario has no milestone ${id}`);
    return found;
  }

  cancelShipment(): CancellationDecision {
    return this.decideAndApplyShipmentCommand({
      ...this.createCommandContext(),
      type: 'CancelShipment',
      shipment_id: SHIPMENT_ID,
    });
  }

  reopenShipment(): CancellationDecision {
    return this.decideAndApplyShipmentCommand({
      ...this.createCommandContext(),
      type: 'ReopenShipment',
      shipment_id: SHIPMENT_ID,
    });
  }

  /** Checks the rules, as the clock does. */
  checkRules(): Decision<{ outcome: string }> {
    return this.decideAndApplyShipmentCommand({
      ...this.createCommandContext(),
      type: 'CheckRules',
      shipment_id: SHIPMENT_ID,
    });
  }

  /** Opens an exception by hand. */
  openException(type: ExceptionType, rest: Partial<ExceptionInput> = {}) {
    const exception = createExceptionInputForTest({ type, ...rest });
    return this.runExceptionCommand({
      ...this.createCommandContext(),
      type: 'OpenException',
      shipment_id: SHIPMENT_ID,
      exception,
    });
  }

  acknowledgeException({ id }: Pick<ShipmentException, 'id'>, rest: Partial<AcknowledgeException> = {}) {
    const about = { shipment_id: SHIPMENT_ID, exception_id: id, note: null, ...rest };
    return this.runExceptionCommand({ ...this.createCommandContext(), type: 'AcknowledgeException', ...about });
  }

  resolveException({ id }: Pick<ShipmentException, 'id'>, rest: Partial<ResolveExceptionCommand> = {}) {
    const about = { shipment_id: SHIPMENT_ID, exception_id: id, code: 'fixed', note: null, ...rest } as const;
    return this.runExceptionCommand({ ...this.createCommandContext(), type: 'ResolveException', ...about });
  }

  /** Adds a document with its bytes. */
  addDocument(rest: Partial<DocumentInput> = {}, object: Partial<ReceivedDocumentFile> = {}) {
    const document = { ...createDocumentInput(rest) };
    return this.executeDocumentCommandInScenario({
      ...this.createCommonCommandFields(),
      type: 'AddDocument',
      document,
      object: createSampleReceivedObject(object),
    });
  }

  /** Creates a document whose bytes arrive later. */
  requestUpload(rest: Partial<DocumentInput & AnnouncedFileProperties> = {}) {
    const { content_type, size_bytes, sha256: checksum_sha256 } = createSampleReceivedObject();
    const document = { ...createDocumentInput(), content_type, size_bytes, checksum_sha256, ...rest };
    return this.executeDocumentCommandInScenario({
      ...this.createCommonCommandFields(),
      type: 'RequestUpload',
      document,
    });
  }

  receiveUpload(
    { id }: Pick<DocumentRecord, 'id'>,
    object: Partial<ReceivedDocumentFile> = {},
    kept_object_id: string | null = null,
  ) {
    const about = {
      ...this.createCommonCommandFields(),
      document_id: id,
      object: createSampleReceivedObject(object),
      kept_object_id,
    };
    return this.executeDocumentCommandInScenario({ ...about, type: 'ReceiveUpload' });
  }

  completeUpload({ id }: Pick<DocumentRecord, 'id'>, lost_object_id: string | null = null) {
    return this.executeDocumentCommandInScenario({
      ...this.createCommonCommandFields(),
      type: 'CompleteUpload',
      document_id: id,
      lost_object_id,
    });
  }

  approveDocument({ id }: Pick<DocumentRecord, 'id'>) {
    return this.executeDocumentCommandInScenario({
      ...this.createCommonCommandFields(),
      type: 'ApproveDocument',
      document_id: id,
    });
  }

  rejectDocument({ id }: Pick<DocumentRecord, 'id'>, reason = 'A page is missing.') {
    return this.executeDocumentCommandInScenario({
      ...this.createCommonCommandFields(),
      type: 'RejectDocument',
      document_id: id,
      reason,
    });
  }

  deleteDocument({ id }: Pick<DocumentRecord, 'id'>) {
    return this.executeDocumentCommandInScenario({
      ...this.createCommonCommandFields(),
      type: 'DeleteDocument',
      document_id: id,
    });
  }

  private createCommonCommandFields() {
    return { ...this.createCommandContext(), shipment_id: SHIPMENT_ID };
  }

  /** Executes the command, and returns the decision with the document after it. */
  private executeDocumentCommandInScenario(command: DocumentCommand) {
    const decision = this.decideAndApplyShipmentCommand(command);
    const found = this.state?.documents.find(({ document }) => document.id === decision.documentId);
    if (found === undefined) throw new Error(`the scenario has no document ${decision.documentId}`);
    return { ...decision, document: found.document, object_id: found.object_id };
  }

  /** Executes the command, and returns the decision with the exception after it. */
  private runExceptionCommand(command: OpenExceptionCommand | AcknowledgeException | ResolveExceptionCommand) {
    const decision = this.decideAndApplyShipmentCommand(command);
    const exception = this.state?.exceptions.find(({ id }) => id === decision.exceptionId);
    if (exception === undefined) throw new Error(`the scenario has no exception ${decision.exceptionId}`);
    return { ...decision, exception };
  }

  decideAndApplyShipmentCommand(command: CancelShipmentCommand | ReopenCancelledShipmentCommand): CancellationDecision;
  decideAndApplyShipmentCommand(command: UpsertShipment): UpsertDecision;
  decideAndApplyShipmentCommand(command: PatchShipmentCommand): PatchDecision;
  decideAndApplyShipmentCommand(command: PatchContainerCommand): ContainerPatchDecision;
  decideAndApplyShipmentCommand(command: RecordMilestoneCommand): MilestoneDecision;
  decideAndApplyShipmentCommand(
    command: CorrectMilestoneCommand | RetractMilestoneCommand | CheckRulesCommand,
  ): Decision<{ outcome: string }>;
  decideAndApplyShipmentCommand(
    command: OpenExceptionCommand | AcknowledgeException | ResolveExceptionCommand,
  ): Decision<{ outcome: string; exceptionId: string }>;
  decideAndApplyShipmentCommand(command: DocumentCommand): Decision<DocumentResult>;
  decideAndApplyShipmentCommand(command: ShipmentCommand): Decision;
  decideAndApplyShipmentCommand(command: ShipmentCommand): Decision {
    const decision = decide(command, this.state, {
      ...createDecideContext(command.id),
      settings: this.settings,
      places: this.places,
    });
    for (const event of addEventMetadata(command, decision.events, this.events.length, decision.nextCheckAt)) {
      this.events.push(event);
      this.state = applyEventToState(this.state, event);
    }
    return decision;
  }

  createCommandContext(): Omit<UpsertShipment, 'type' | 'shipment_id' | 'fields'> {
    const number = ++this.commands;
    this.time = this.now ?? new Date(SCENARIO_START_MS + number * 60_000).toISOString();
    return {
      id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      at: this.time,
      workspace_id: 'wsp_1',
      environment: 'test',
      actor: { type: 'user', id: 'usr_1' },
      request_id: `req_${number}`,
      traceparent: null,
      strict: false,
    };
  }

  get record(): ShipmentRecord {
    if (this.state === undefined) throw new Error('the scenario has no shipment yet');
    return this.state.record;
  }

  getContainer(number: string): Container {
    const found = this.record.containers.find((container) => container.number === number);
    if (found === undefined) throw new Error(`${number} is not on the shipment`);
    return found;
  }

  /** Returns `type container status [resolution]` of every exception, in the order in which they opened. */
  get exceptions(): string[] {
    return (this.state?.exceptions ?? []).map(describeException);
  }

  get open(): string[] {
    return (this.state?.exceptions ?? []).filter(({ status }) => status !== 'resolved').map(({ type }) => type);
  }
}

function describeException({ type, container_number, status, resolution }: ShipmentException): string {
  return [type, container_number, status, resolution?.code].filter((part) => part != null).join(' ');
}

/** Creates a shipment with these fields, and a reference if they have none. */
export function createShipmentScenario(fields: Partial<ClientShipmentFields> = {}): ShipmentScenario {
  const scenario = new ShipmentScenario();
  scenario.upsertShipment({ external_id: 'PO-1', ...fields });
  return scenario;
}

/** Creates an ocean shipment from Shanghai to Los Angeles. */
export function createOceanShipmentScenario(fields: Partial<ClientShipmentFields> = {}): ShipmentScenario {
  return createShipmentScenario({ mode: 'ocean', origin_port: 'CNSHA', destination_port: 'USLAX', ...fields });
}

export function createMilestoneInput(
  fields: Partial<MilestoneInput> & { code: string; occurred_at: Timestamp },
): MilestoneInput {
  return {
    source: 'manual',
    classifier: 'actual',
    reason_code: null,
    location: null,
    timezone: null,
    external_id: null,
    container_number: null,
    vessel: null,
    voyage: null,
    note: null,
    ...EMPTY_MILESTONE_DETAILS,
    reported_at: null,
    ...fields,
  };
}

export function createExceptionInputForTest(
  fields: Partial<ExceptionInput> & Pick<ExceptionInput, 'type'>,
): ExceptionInput {
  return {
    severity: 'medium',
    title: null,
    detail: null,
    container_number: null,
    milestone_id: null,
    reason_code: null,
    assignee: null,
    ...fields,
  };
}

export function createDocumentInput(fields: Partial<DocumentInput> = {}): DocumentInput {
  return { type: 'bill_of_lading', file_name: 'bill.pdf', replaces_document_id: null, ...fields };
}

export function createSampleReceivedObject(fields: Partial<ReceivedDocumentFile> = {}): ReceivedDocumentFile {
  return { id: 'object-1', size_bytes: 1_000, sha256: 'ab'.repeat(32), content_type: 'application/pdf', ...fields };
}

/** Inputs of decisions other than the shipment. */
export const SAMPLE_DECISION_INPUTS = { places: scenarioPlacesStub, settings: DEFAULT_RULE_SETTINGS };

export function createDecideContext(commandId: string): DecideContext {
  return { ...SAMPLE_DECISION_INPUTS, newId: (kind, n) => `${kind}_${commandId.slice(-6)}${n}` };
}

export function addEventMetadata(
  command: ShipmentCommand,
  events: readonly ShipmentEventBody[],
  revision: number,
  next_check_at: Timestamp | null = null,
): ShipmentEvent[] {
  return events.map((event, command_index) => ({
    ...event,
    revision: revision + command_index,
    metadata: {
      command_id: command.id,
      command_index,
      recorded_at: command.at,
      actor: command.actor,
      request_id: command.request_id,
      traceparent: command.traceparent,
      next_check_at,
    },
  }));
}

export const getTypesOfDecidedEvents = (decision: Decision): string[] => decision.events.map(({ type }) => type);

type DataOf = { readonly [Event in ShipmentEventBody as Event['type']]: Event['data'] };

/** Returns the data of a decision's event of a type; undefined if it has none. */
export function findDataOfDecidedEvent<T extends StoredEventType>(decision: Decision, type: T): DataOf[T] | undefined {
  return decision.events.find((event) => event.type === type)?.data as DataOf[T] | undefined;
}

/** Returns the error of an action that must be refused. */
export function captureRefusal(act: () => unknown): DomainError {
  try {
    act();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('the action was not refused');
}
