import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import type { DeliveryFilter, WebhookCommand, WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
import { RequestError } from '../errors/request-error.ts';
import type { CommandIdentity } from '../server/command-identity.ts';
import { IDENTITY, WEBHOOKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { type NamedScope, type Where, lookedAt, namesOf, scopesOf } from './operated-scopes.ts';

/** A delivery, and whose it is. */
export type Operated<D extends WebhookDelivery = WebhookDelivery> = D & {
  /** Name of the workspace. */
  readonly workspace: string;
  readonly environment: Environment;
};

export interface OperatedPage {
  /** Newest first. */
  readonly items: readonly Operated[];
  /** Begin of the next page; null after the last. */
  readonly next: readonly string[] | null;
  /** Names of the workspaces looked at. */
  readonly workspaces: readonly string[];
}

/** The deliveries of several workspaces, for operators. */
@Injectable()
export class OperatedDeliveries {
  constructor(
    @Inject(IDENTITY) private readonly identity: AdministrationDependencies['identity'],
    @Inject(WEBHOOKS) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  /**
   * Asks one scope after the other: a delivery does not tell whose it is, and together they could be too many at once.
   * @param after `next` of the page before
   */
  async list(
    where: Where,
    filter: DeliveryFilter,
    limit: number,
    after: readonly string[] | undefined,
  ): Promise<OperatedPage> {
    const scopes = await scopesOf(this.identity, where);
    let items: readonly Operated[] = [];
    let isMore = false;
    for (const scope of scopes) {
      const found = await this.webhooks.deliveries.list({ scopes: [scope], filter, limit, ...(after && { after }) });
      const all = [...items, ...found.items.map((delivery) => operated(delivery, scope))].sort(newestFirst);
      items = all.slice(0, limit);
      isMore ||= found.next !== null || all.length > limit;
    }
    const last = items.at(-1);
    return { items, next: isMore && last ? [last.created_at, last.id] : null, workspaces: namesOf(scopes) };
  }

  /** @throws RequestError `not_found` */
  async get(where: Where, id: string): Promise<Operated<WebhookDeliveryDetail>> {
    const { scope, delivery } = await this.find(where, id);
    return operated(delivery, scope);
  }

  /** @throws RequestError `not_found`, DomainError of webhooks */
  async retry(where: Where, delivery_id: string, identity: CommandIdentity): Promise<Operated> {
    const { scope } = await this.find(where, delivery_id);
    const { workspace_id, environment } = scope;
    const command: WebhookCommand = { ...identity, workspace_id, environment };
    return operated(await this.webhooks.deliveries.retry({ ...command, delivery_id }), scope);
  }

  /** @throws RequestError `not_found` */
  async find(
    where: Where,
    delivery_id: string,
  ): Promise<{ readonly scope: NamedScope; readonly delivery: WebhookDeliveryDetail }> {
    const scopes = await scopesOf(this.identity, where);
    for (const scope of scopes) {
      try {
        return { scope, delivery: await this.webhooks.deliveries.get({ scopes: [scope], delivery_id }) };
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
      }
    }
    throw new RequestError('not_found', `No such delivery in ${lookedAt(scopes)}.`);
  }
}

function operated<D extends WebhookDelivery>(delivery: D, { workspace, environment }: NamedScope): Operated<D> {
  return { ...delivery, workspace, environment };
}

function newestFirst(one: WebhookDelivery, other: WebhookDelivery): number {
  const [left, right] = [`${one.created_at} ${one.id}`, `${other.created_at} ${other.id}`];
  return left < right ? 1 : left > right ? -1 : 0;
}
