import { createHash } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS } from '@tracking/contracts';
import type { EventStore, Position } from '@tracking/ports';
import type { ReadModelsReached } from '../publisher/read-models-first.ts';
import type { RequestedRechecks } from './rechecks.ts';

/** Raise it in a release that changes rules of exceptions. */
const RULES_REVISION = 1;
const DEFAULTS = createHash('sha256').update(JSON.stringify(DEFAULT_RULE_SETTINGS)).digest('hex');
/** Names the rules and default settings of this release. */
export const RULES = `${RULES_REVISION} ${DEFAULTS}`;

export interface ReleaseRecheckParts {
  readonly rechecks: RequestedRechecks;
  readonly workspaces: {
    /** The first workspace with a shipment after another one, by id; undefined after the last. @throws Unavailable */
    nextWorkspace(after: string | undefined): Promise<string | undefined>;
  };
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Of the read model by which workspaces are found. */
  readonly readModelsReached: ReadModelsReached;
  /** Defaults to those of this release. */
  readonly rules?: string;
}

/** Requests re-checks of all workspaces once after a release whose rules or defaults differ. A crash repeats all of them. */
export class ReleaseRecheck {
  /** The end of the log when that was noticed. */
  private noticed: { readonly head: Position | undefined } | undefined;
  private isDone = false;

  constructor(private readonly parts: ReleaseRecheckParts) {}

  /** Does nothing until the read model shows what was stored before. @throws Unavailable */
  async request(ending: AbortSignal): Promise<void> {
    const { rechecks, rules = RULES } = this.parts;
    if (this.isDone) return;
    if ((await rechecks.rules()) !== rules) {
      if (!(await this.isShown()) || !(await this.requestAll(ending))) return;
      await rechecks.setRules(rules);
    }
    this.isDone = true;
  }

  private async isShown(): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const { head } = (this.noticed ??= { head: await eventStore.head() });
    return head === undefined || (await readModelsReached(head, 0));
  }

  /** Answers whether it came to the end. */
  private async requestAll(ending: AbortSignal): Promise<boolean> {
    const { rechecks, workspaces } = this.parts;
    let workspace = await workspaces.nextWorkspace(undefined);
    while (workspace !== undefined && !ending.aborted) {
      await rechecks.request(workspace);
      workspace = await workspaces.nextWorkspace(workspace);
    }
    return workspace === undefined;
  }
}
