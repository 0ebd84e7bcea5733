import { requireVersion } from '@tracking/contracts';
import type { WebhookCommand } from './requests-and-answers.ts';

/** A document that commands change, by its revision. */
interface Changed {
  readonly revision: number;
  /** Id of the last command that changed it; absent where none did. */
  readonly changed_by?: string;
}

/**
 * Whether the command has changed the document already, so that it is answered as it is. Else the document must be at a
 * version that the command expects.
 * @throws PreconditionFailed
 */
export function isRepeated({ revision, changed_by }: Changed, { id, expected_versions }: WebhookCommand): boolean {
  if (changed_by === id) return true;
  requireVersion(revision, expected_versions);
  return false;
}
