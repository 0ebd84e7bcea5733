import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { RequestError } from '@tracking/http';
import type {
  DeadLetterCount,
  DeadLetterSummary,
  DeadLettersCommand,
  DeadLettersResult,
  WebhookReplay,
} from '@tracking/webhooks';
import {
  GetDeadLetterSummaryDto,
  SelectDeadLettersDto,
  replayOrDiscardDeadLetters,
  toDeadLettersFilter,
  convertToDeadLetterFilter,
} from '@tracking/webhooks-http';
import type { FastifyRequest } from 'fastify';
import { WEBHOOKS_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { Operators, addWorkspaceAndEnvironment, createScopeOfNames, returnUndefinedIfNotFound } from './operator.ts';
import type { ScopeResults, NamedScope, OperatorPrincipal, Owned } from './operator.ts';
import { InputPipe, DeclareRouteInput, ScopeQueryDto } from './routes.ts';

class SummaryQueryDto extends IntersectionType(GetDeadLetterSummaryDto, ScopeQueryDto) {}
class DeadLettersSelectionDto extends IntersectionType(SelectDeadLettersDto, ScopeQueryDto) {}

interface OperatorDeadLetterSummary extends Omit<DeadLetterSummary, 'by_endpoint'> {
  readonly by_endpoint: readonly Owned<DeadLetterSummary['by_endpoint'][number]>[];
  /** Names of the searched workspaces. */
  readonly workspaces: readonly string[];
}
interface DeadLetterJobs extends ScopeResults<WebhookReplay> {
  readonly refused: readonly Owned<DeadLettersResult['refused'][number]>[];
}
type Filter = DeadLettersCommand['filter'];

/** Webhook dead letters of all workspaces. */
@Controller('administration/dead_letters')
export class DeadLettersController {
  constructor(
    @Inject(Operators) private readonly operators: Operators,
    @Inject(WEBHOOKS_TOKEN) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  @Get('summary')
  @DeclareRouteInput({ query: SummaryQueryDto })
  async summarizeDeadLetters(@Query() query: SummaryQueryDto): Promise<OperatorDeadLetterSummary> {
    const filter = convertToDeadLetterFilter(query);
    const { scopes, workspaces } = await this.operators.createPrincipal(query);
    const summaries: DeadLetterSummary[] = [];
    const by_endpoint: OperatorDeadLetterSummary['by_endpoint'][number][] = [];
    for (const scope of scopes) {
      const summary = await this.webhooks.deadLetters.summary({ ...createScopeOfNames(scope), filter });
      summaries.push(summary);
      by_endpoint.push(...summary.by_endpoint.map((each) => addWorkspaceAndEnvironment(each, scope)));
    }
    const by_reason = summaries.flatMap((summary) => summary.by_reason);
    const by_event_type = summaries.flatMap((summary) => summary.by_event_type);
    return {
      ...sumDeadLetterCounts(summaries),
      by_reason: sumDeadLetterCountsByField(by_reason, 'reason'),
      by_endpoint: by_endpoint.sort(compareLargestFirst),
      by_event_type: sumDeadLetterCountsByField(by_event_type, 'event_type'),
      workspaces,
    };
  }

  /** Starts a replay for each endpoint that has dead letters. */
  @Post('replay')
  @DeclareRouteInput()
  @HttpCode(202)
  replayDeadLetters(
    @Body(new InputPipe(DeadLettersSelectionDto)) input: DeadLettersSelectionDto,
    @Req() request: FastifyRequest,
  ): Promise<DeadLetterJobs> {
    return this.startJobs('replay', input, request);
  }

  @Post('discard')
  @DeclareRouteInput()
  @HttpCode(202)
  discardDeadLetters(
    @Body(new InputPipe(DeadLettersSelectionDto)) input: DeadLettersSelectionDto,
    @Req() request: FastifyRequest,
  ): Promise<DeadLetterJobs> {
    return this.startJobs('discard', input, request);
  }

  private async startJobs(
    action: 'replay' | 'discard',
    input: DeadLettersSelectionDto,
    request: FastifyRequest,
  ): Promise<DeadLetterJobs> {
    const filter = toDeadLettersFilter(input);
    const principal = await this.operators.createPrincipal(input);
    const { workspaces, place } = principal;
    const type = action === 'replay' ? 'webhook_dead_letters.replayed' : 'webhook_dead_letters.discarded';
    const data: DeadLetterJobs['data'][number][] = [];
    const refused: DeadLetterJobs['refused'][number][] = [];
    let isFound = false;
    for (const { scope, filter: part } of await this.createScopeFilters(principal, filter)) {
      // Ignore a missing endpoint in other scopes: an endpoint exists in only one scope.
      const settled = await returnUndefinedIfNotFound(
        principal.runAudited(request, scope, { type, target: null }, (command) =>
          replayOrDiscardDeadLetters(request, this.webhooks.deadLetters, action, { ...command, filter: part }),
        ),
      );
      if (settled === undefined) continue;
      isFound = true;
      data.push(...settled.replays.map((replay) => addWorkspaceAndEnvironment(replay, scope)));
      refused.push(...settled.refused.map((each) => addWorkspaceAndEnvironment(each, scope)));
    }
    if (!isFound && filter.endpoint_id !== undefined)
      throw new RequestError('not_found', `No such endpoint in ${place}.`);
    return { data, refused, workspaces };
  }

  /** Returns the filter for each scope. Delivery ids in the filter are divided among their scopes. */
  private async createScopeFilters(
    principal: OperatorPrincipal,
    filter: Filter,
  ): Promise<readonly { readonly scope: NamedScope; readonly filter: Filter }[]> {
    if (filter.delivery_ids === undefined) return principal.scopes.map((scope) => ({ scope, filter }));
    const idsByScope = new Map<NamedScope, string[]>();
    for (const delivery_id of new Set(filter.delivery_ids)) {
      const { scope } = await principal.findInAllScopes('delivery', (each) =>
        this.webhooks.deliveries.get({ scopes: [each], delivery_id }),
      );
      idsByScope.set(scope, [...(idsByScope.get(scope) ?? []), delivery_id]);
    }
    return [...idsByScope].map(([scope, delivery_ids]) => ({ scope, filter: { ...filter, delivery_ids } }));
  }
}

function sumDeadLetterCounts(counts: readonly DeadLetterCount[]): DeadLetterCount {
  const count = counts.reduce((total, each) => total + each.count, 0);
  return { count, is_exact: counts.every(({ is_exact }) => is_exact) };
}

/** Adds up the dead letter counts that have the same value of a field. */
function sumDeadLetterCountsByField<T extends DeadLetterCount>(counts: readonly T[], key: keyof T): readonly T[] {
  const parts = [...Map.groupBy(counts, (each) => each[key]).values()];
  return parts
    .flatMap(([first, ...others]) => (first ? [{ ...first, ...sumDeadLetterCounts([first, ...others]) }] : []))
    .sort(compareLargestFirst);
}

function compareLargestFirst(one: DeadLetterCount, other: DeadLetterCount): number {
  return other.count - one.count;
}
