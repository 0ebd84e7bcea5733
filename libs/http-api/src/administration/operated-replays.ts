import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import type { CreateReplay, WebhookReplay } from '@tracking/webhooks';
import { RequestError } from '../errors/request-error.ts';
import type { CommandIdentity } from '../server/command-identity.ts';
import { IDENTITY, WEBHOOKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { type NamedScope, type Where, lookedAt, namesOf, scopesOf } from './operated-scopes.ts';

/** A replay, and whose it is. */
export type OperatedReplay = WebhookReplay & {
  /** Name of the workspace. */
  readonly workspace: string;
  readonly environment: Environment;
};
export interface OperatedReplays {
  /** Newest first. */
  readonly data: readonly OperatedReplay[];
  /** Names of the workspaces looked at. */
  readonly workspaces: readonly string[];
  /** Begin of the next page; null after the last. */
  readonly next_cursor: string | null;
}

/** The replays of several workspaces, for operators. */
@Injectable()
export class ReplayOperations {
  constructor(
    @Inject(IDENTITY) private readonly identity: AdministrationDependencies['identity'],
    @Inject(WEBHOOKS) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  /** @param after `next_cursor` of the page before */
  async list(
    where: Where,
    { endpoint_id, limit, after }: { endpoint_id?: string | undefined; limit: number; after?: string[] | undefined },
  ): Promise<OperatedReplays> {
    const scopes = await scopesOf(this.identity, where);
    const of = { ...(endpoint_id !== undefined && { endpoint_id }), ...(after && { after }) };
    let data: readonly OperatedReplay[] = [];
    let isMore = false;
    for (const scope of scopes) {
      const found = await this.webhooks.replays.list({ ...inScope(scope), ...of, limit });
      const all = [...data, ...found.items.map((replay) => operated(replay, scope))].sort(newestFirst);
      data = all.slice(0, limit);
      isMore ||= found.next !== null || all.length > limit;
    }
    const last = data.at(-1);
    return { data, workspaces: namesOf(scopes), next_cursor: isMore && last ? keyOf(last) : null };
  }

  /** @throws RequestError `not_found` */
  get(where: Where, replay_id: string): Promise<OperatedReplay> {
    return this.inOne(where, 'replay', (scope) => this.webhooks.replays.get({ ...scope, replay_id }));
  }

  /** @throws RequestError `not_found`, DomainError of webhooks */
  create(
    where: Where,
    endpoint_id: string,
    filter: CreateReplay['filter'],
    identity: CommandIdentity,
  ): Promise<OperatedReplay> {
    const create = (scope: ReturnType<typeof inScope>) =>
      this.webhooks.replays.create({ ...identity, ...scope, endpoint_id, filter });
    return this.inOne(where, 'endpoint', create);
  }

  /** @throws RequestError `not_found`, DomainError of webhooks */
  change(
    how: 'cancel' | 'resume',
    where: Where,
    replay_id: string,
    identity: CommandIdentity,
  ): Promise<OperatedReplay> {
    return this.inOne(where, 'replay', (scope) => this.webhooks.replays[how]({ ...identity, ...scope, replay_id }));
  }

  /** Of whichever scope it is: an id tells of no workspace. */
  private async inOne(
    where: Where,
    what: string,
    ask: (scope: ReturnType<typeof inScope>) => Promise<WebhookReplay>,
  ): Promise<OperatedReplay> {
    const scopes = await scopesOf(this.identity, where);
    for (const scope of scopes) {
      try {
        return operated(await ask(inScope(scope)), scope);
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
      }
    }
    throw new RequestError('not_found', `No such ${what} in ${lookedAt(scopes)}.`);
  }
}

function inScope({ workspace_id, environment }: NamedScope) {
  return { workspace_id, environment };
}

function operated(replay: WebhookReplay, { workspace, environment }: NamedScope): OperatedReplay {
  return { ...replay, workspace, environment };
}

function keyOf({ created_at, id }: WebhookReplay): string {
  return `${created_at} ${id}`;
}

function newestFirst(one: WebhookReplay, other: WebhookReplay): number {
  return keyOf(one) < keyOf(other) ? 1 : -1;
}
