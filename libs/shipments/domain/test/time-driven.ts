import {
  AUTOMATIC_EXCEPTION_TYPES,
  type AutomaticExceptionType,
  DEFAULT_RULE_SETTINGS,
  type DocumentType,
  type ExceptionSettings,
  type LegFields,
  type RuleSettings,
  type ClientShipmentFields,
  type Timestamp,
} from '@tracking/contracts';
import { createLegWithOtherFieldsNull, ShipmentScenario } from './scenario.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const SAMPLE_CREATION_TIME = '2026-01-01T00:00:00.000Z';

export function addMsToTime(time: Timestamp, ms: number): Timestamp {
  return new Date(Date.parse(time) + ms).toISOString();
}

/** Returns a day in January 2026: `createJanuaryTime(5)` is 5 January at midnight UTC. */
export function createJanuaryTime(day: number, hour = 0): Timestamp {
  return new Date(Date.UTC(2026, 0, day, hour)).toISOString();
}

/** Returns rule settings with changes for one type. */
export function createRuleSettingsWithChanges(
  type: AutomaticExceptionType,
  changes: Partial<ExceptionSettings>,
): RuleSettings {
  const { exceptions } = DEFAULT_RULE_SETTINGS;
  return { ...DEFAULT_RULE_SETTINGS, exceptions: { ...exceptions, [type]: { ...exceptions[type], ...changes } } };
}

/** Returns rule settings with only one type enabled. */
export function createRuleSettingsForOneType(
  type: AutomaticExceptionType,
  changes: Partial<ExceptionSettings> = {},
): RuleSettings {
  const settings = createRuleSettingsWithChanges(type, changes);
  const exceptions = Object.fromEntries(
    AUTOMATIC_EXCEPTION_TYPES.map((each) => [
      each,
      each === type ? settings.exceptions[each] : { ...settings.exceptions[each], enabled: false },
    ]),
  ) as unknown as RuleSettings['exceptions'];
  return type === 'missing_document'
    ? replaceRequiredOceanDocuments(DOCUMENT_TYPES_REQUIRED_FOR_OCEAN, { ...settings, exceptions })
    : { ...settings, exceptions };
}

/** Document types that `createRuleSettingsForOneType` requires for ocean shipments. */
export const DOCUMENT_TYPES_REQUIRED_FOR_OCEAN = ['bill_of_lading', 'packing_list'] as const;

/** Returns the settings with the required documents for ocean shipments replaced. */
export function replaceRequiredOceanDocuments(ocean: readonly DocumentType[], settings: RuleSettings): RuleSettings {
  return { ...settings, required_documents: { ...settings.required_documents, ocean } };
}

/** Creates an ocean shipment from Shanghai to Los Angeles with only the rule of the type enabled. */
export function createScenarioWithRule(
  type: AutomaticExceptionType,
  fields: Partial<ClientShipmentFields> = {},
  created: Timestamp = SAMPLE_CREATION_TIME,
): ShipmentScenario {
  const scenario = new ShipmentScenario().setTimeOfNextCommand(created);
  scenario.settings = createRuleSettingsForOneType(type);
  scenario.upsertShipment({
    external_id: 'PO-1',
    mode: 'ocean',
    origin_port: 'CNSHA',
    destination_port: 'USLAX',
    ...fields,
  });
  return scenario;
}

export function createLeg(origin_port: string, destination_port: string, etd: Timestamp | null = null): LegFields {
  return createLegWithOtherFieldsNull({ origin_port, destination_port, etd });
}
