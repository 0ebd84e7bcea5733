import type { DocumentType } from './documents.ts';
import type { AutomaticExceptionType, ExceptionSettings } from './exceptions.ts';
import type { Actor } from './milestone.ts';
import type { Mode, Timestamp } from './shipment.ts';

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
