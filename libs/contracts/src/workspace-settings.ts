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
