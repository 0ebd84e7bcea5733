import { Inject, Injectable } from '@nestjs/common';
import type { Scope } from '@tracking/contracts';
import { AuditTrail, commandIdentityOf } from '@tracking/http';
import type { CreateReplay, WebhookReplay } from '@tracking/webhooks';
import { changeAudited, tellReplayed } from '@tracking/webhooks-http';
import type { FastifyRequest } from 'fastify';
import { auditedIn } from './audited-by-operator.ts';
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
    @Inject(AuditTrail) private readonly trail: AuditTrail,
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
  async get(where: Where, replay_id: string): Promise<OperatedReplay> {
    const { scope, found } = await this.inOne(where, 'replay', (each) =>
      this.webhooks.replays.get({ ...each, replay_id }),
    );
    return operated(found, scope);
  }

  /** @throws RequestError `not_found`, DomainError of webhooks */
  async create(
    where: Where,
    endpoint_id: string,
    filter: CreateReplay['filter'],
    request: FastifyRequest,
  ): Promise<OperatedReplay> {
    const { endpoints, replays } = this.webhooks;
    const { scope } = await this.inOne(where, 'endpoint', (each) => endpoints.get({ ...each, endpoint_id }));
    const create = async () => {
      const replay = await replays.create({ ...commandIdentityOf(request), ...inScope(scope), endpoint_id, filter });
      tellReplayed(request, replay, scope.environment);
      return replay;
    };
    const entry = { ...scope, type: 'webhook_endpoint.replayed', target: endpoint_id } as const;
    return operated(await auditedIn(this.trail, request, entry, create), scope);
  }

  /** @throws RequestError `not_found`, DomainError of webhooks */
  async change(
    how: 'cancel' | 'resume',
    where: Where,
    replay_id: string,
    request: FastifyRequest,
  ): Promise<OperatedReplay> {
    const { replays } = this.webhooks;
    const { scope } = await this.inOne(where, 'replay', (each) => replays.get({ ...each, replay_id }));
    const command = { ...commandIdentityOf(request), ...inScope(scope), replay_id };
    const type = how === 'cancel' ? 'webhook_replay.canceled' : 'webhook_replay.resumed';
    const change = () => changeAudited(request, replays, how, command);
    return operated(await auditedIn(this.trail, request, { ...scope, type, target: replay_id }, change), scope);
  }

  private async inOne<T extends object>(where: Where, what: string, ask: (scope: Scope) => Promise<T>) {
    return inOneOf(await scopesOf(this.identity, where), what, (each) => ask(inScope(each)));
  }
}
