import type { DocumentType } from './documents.ts';
import { type AutomaticExceptionType, DEFAULT_EXCEPTION_SETTINGS, type ExceptionSettings } from './exceptions.ts';
import type { Actor } from './milestone.ts';
import { MODES, type Mode, type Timestamp } from './shipment.ts';

/** What a workspace decides for its shipments, live and test alike; defaults where it decided nothing. */
export interface WorkspaceSettings {
  readonly exceptions: Readonly<Record<AutomaticExceptionType, ExceptionSettings>>;
  /** Which documents a shipment of the mode needs; `missing_document` opens where one is absent. */
  readonly required_documents: Readonly<Record<Mode, readonly DocumentType[]>>;
  /** 1 as long as nobody changed them; plus one at each change. */
  readonly version: number;
  readonly updated_at: Timestamp | null;
  readonly updated_by: Actor | null;
  /** Of open shipments, by what changed last; null where nothing did. Its progress is no change: `version` stays. */
  readonly recheck: SettingsRecheck | null;
}

/** Waits until every replica goes by the new settings, runs, is over. */
export const RECHECK_STATES = ['pending', 'running', 'done'] as const;
export type RecheckState = (typeof RECHECK_STATES)[number];

/** How far the workspace's open shipments are checked by the rules again, since the settings changed. */
export interface SettingsRecheck {
  readonly state: RecheckState;
  /** Shipments so far. */
  readonly checked: number;
  readonly started_at: Timestamp | null;
  readonly finished_at: Timestamp | null;
}

/** By which exceptions open by themselves. */
export type RuleSettings = Pick<WorkspaceSettings, 'exceptions' | 'required_documents'>;

/** Of a workspace that decided nothing. */
export const DEFAULT_RULE_SETTINGS: RuleSettings = {
  exceptions: DEFAULT_EXCEPTION_SETTINGS,
  required_documents: Object.fromEntries(
    MODES.map((mode) => [mode, []]),
  ) as unknown as RuleSettings['required_documents'],
};
