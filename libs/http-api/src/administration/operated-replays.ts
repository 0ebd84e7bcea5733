import { Inject, Injectable } from '@nestjs/common';
import type { Scope } from '@tracking/contracts';
import type { CreateReplay, WebhookReplay } from '@tracking/webhooks';
import type { CommandIdentity } from '../server/command-identity.ts';
import { IDENTITY, WEBHOOKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import {
  type Operated,
  type Where,
  inOneOf,
  inScope,
  namesOf,
  newestOf,
  operated,
  scopesOf,
} from './operated-scopes.ts';

export type OperatedReplay = Operated<WebhookReplay>;
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
    const { items, next } = await newestOf(scopes, limit, (scope) =>
      this.webhooks.replays.list({ ...inScope(scope), ...of, limit }),
    );
    return { data: items, workspaces: namesOf(scopes), next_cursor: next && next.join(' ') };
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
    const create = (scope: Scope) => this.webhooks.replays.create({ ...identity, ...scope, endpoint_id, filter });
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

  private async inOne(
    where: Where,
    what: string,
    ask: (scope: Scope) => Promise<WebhookReplay>,
  ): Promise<OperatedReplay> {
    const scopes = await scopesOf(this.identity, where);
    const { scope, found } = await inOneOf(scopes, what, (each) => ask(inScope(each)));
    return operated(found, scope);
  }
}
