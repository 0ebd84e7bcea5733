import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, commandIdentityOf, RequestError } from '@tracking/http';
import type {
  DeadLetterCount,
  DeadLetterFilter,
  DeadLetterSummary,
  SettleDeadLetters,
  SettledDeadLetters,
  WebhookReplay,
} from '@tracking/webhooks';
import { settleAudited } from '@tracking/webhooks-http';
import type { FastifyRequest } from 'fastify';
import { auditedIn } from './audited-by-operator.ts';
import { IDENTITY, WEBHOOKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { OperatedDeliveries } from './operated-deliveries.ts';
import {
  type NamedScope,
  type Operated,
  type Where,
  inScope,
  lookedAt,
  namesOf,
  operated,
  scopesOf,
  unlessElsewhere,
} from './operated-scopes.ts';

export interface OperatedSummary extends Omit<DeadLetterSummary, 'by_endpoint'> {
  readonly by_endpoint: readonly Operated<DeadLetterSummary['by_endpoint'][number]>[];
  /** Names of the workspaces looked at. */
  readonly workspaces: readonly string[];
}
export interface OperatedSettlement {
  readonly data: readonly Operated<WebhookReplay>[];
  readonly refused: readonly Operated<SettledDeadLetters['refused'][number]>[];
  readonly workspaces: readonly string[];
}

/** The dead letters of several workspaces, for operators. */
@Injectable()
export class OperatedDeadLetters {
  constructor(
    @Inject(IDENTITY) private readonly identity: AdministrationDependencies['identity'],
    @Inject(WEBHOOKS) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
    @Inject(OperatedDeliveries) private readonly deliveries: OperatedDeliveries,
    @Inject(AuditTrail) private readonly trail: AuditTrail,
  ) {}

  async summary(where: Where, filter: DeadLetterFilter): Promise<OperatedSummary> {
    const scopes = await scopesOf(this.identity, where);
    const found: [NamedScope, DeadLetterSummary][] = [];
    for (const scope of scopes)
      found.push([scope, await this.webhooks.deadLetters.summary({ ...inScope(scope), filter })]);
    const summaries = found.map(([, summary]) => summary);
    const by_endpoint = found.flatMap(([scope, summary]) => summary.by_endpoint.map((each) => operated(each, scope)));
    return {
      ...sum(summaries),
      by_reason: summed(
        summaries.flatMap(({ by_reason }) => by_reason),
        'reason',
      ),
      by_endpoint: by_endpoint.sort(largestFirst),
      by_event_type: summed(
        summaries.flatMap(({ by_event_type }) => by_event_type),
        'event_type',
      ),
      workspaces: namesOf(scopes),
    };
  }

  /** Delivers dead letters again, or gives them up. @throws RequestError `not_found`, DomainError of webhooks */
  async settle(
    how: 'replay' | 'discard',
    where: Where,
    filter: SettleDeadLetters['filter'],
    request: FastifyRequest,
  ): Promise<OperatedSettlement> {
    const type = how === 'replay' ? 'webhook_dead_letters.replayed' : 'webhook_dead_letters.discarded';
    const scopes = await scopesOf(this.identity, where);
    const parts =
      filter.delivery_ids === undefined ? scopes.map((scope) => ({ scope, filter })) : await this.parted(where, filter);
    const settled: OperatedSettlement[] = [];
    for (const part of parts) {
      const command = { ...commandIdentityOf(request), ...inScope(part.scope), filter: part.filter };
      const settle = () => settleAudited(request, this.webhooks.deadLetters, how, command);
      // The endpoint that is asked for is of one scope only.
      const answer = await unlessElsewhere(
        auditedIn(this.trail, request, { ...part.scope, type, target: null }, settle),
      );
      if (answer === undefined) continue;
      const { replays, refused } = answer;
      settled.push({
        data: replays.map((replay) => operated(replay, part.scope)),
        refused: refused.map((each) => operated(each, part.scope)),
        workspaces: [],
      });
    }
    if (settled.length === 0 && filter.endpoint_id !== undefined) {
      throw new RequestError('not_found', `No such endpoint in ${lookedAt(scopes)}.`);
    }
    return {
      data: settled.flatMap(({ data }) => data),
      refused: settled.flatMap(({ refused }) => refused),
      workspaces: namesOf(scopes),
    };
  }

  /** The deliveries that are named, by whose they are. */
  private async parted(where: Where, filter: SettleDeadLetters['filter']) {
    const found: { readonly scope: NamedScope; readonly id: string }[] = [];
    for (const id of new Set(filter.delivery_ids))
      found.push({ scope: (await this.deliveries.find(where, id)).scope, id });
    const parts = Map.groupBy(found, ({ scope }) => `${scope.workspace_id} ${scope.environment}`);
    return [...parts.values()].flatMap((some) => {
      const scope = some[0]?.scope;
      return scope === undefined ? [] : [{ scope, filter: { ...filter, delivery_ids: some.map(({ id }) => id) } }];
    });
  }
}

function sum(counts: readonly DeadLetterCount[]): DeadLetterCount {
  const count = counts.reduce((total, each) => total + each.count, 0);
  return { count, is_exact: counts.every(({ is_exact }) => is_exact) };
}

function summed<T extends DeadLetterCount>(counts: readonly T[], key: keyof T): readonly T[] {
  const parts = [...Map.groupBy(counts, (each) => each[key]).values()];
  return parts
    .flatMap(([first, ...others]) => (first ? [{ ...first, ...sum([first, ...others]) }] : []))
    .sort(largestFirst);
}

function largestFirst(one: DeadLetterCount, other: DeadLetterCount): number {
  return other.count - one.count;
}
