import type { PageOf } from '@tracking/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { CommandIdentity } from '@tracking/http';
import type { DeliveryFilter, WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
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

/** Newest first. */
export interface OperatedPage extends PageOf<Operated<WebhookDelivery>> {
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

  /** @param after `next` of the page before */
  async list(
    where: Where,
    filter: DeliveryFilter,
    limit: number,
    after: readonly string[] | undefined,
  ): Promise<OperatedPage> {
    const scopes = await scopesOf(this.identity, where);
    const resume = after && { after };
    const page = await newestOf(scopes, limit, (scope) =>
      this.webhooks.deliveries.list({ scopes: [scope], filter, limit, ...resume }),
    );
    return { ...page, workspaces: namesOf(scopes) };
  }

  /** @throws RequestError `not_found` */
  async get(where: Where, id: string): Promise<Operated<WebhookDeliveryDetail>> {
    const { scope, found } = await this.find(where, id);
    return operated(found, scope);
  }

  /** @throws RequestError `not_found`, DomainError of webhooks */
  async retry(where: Where, delivery_id: string, identity: CommandIdentity): Promise<Operated<WebhookDelivery>> {
    const { scope } = await this.find(where, delivery_id);
    const command = { ...identity, ...inScope(scope), delivery_id };
    return operated(await this.webhooks.deliveries.retry(command), scope);
  }

  /** @throws RequestError `not_found` */
  async find(where: Where, delivery_id: string) {
    return inOneOf(await scopesOf(this.identity, where), 'delivery', (scope) =>
      this.webhooks.deliveries.get({ scopes: [scope], delivery_id }),
    );
  }
}
