import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { RequestError } from '@tracking/http';
import type {
  DeadLetterCount,
  DeadLetterSummary,
  ReplayOrDiscardCommand,
  DeadLetterReplayResult,
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
import { WEBHOOKS_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import {
  OperatorPrincipalFactory,
  addScopeToResource,
  toScopeWithoutWorkspaceName,
  returnUndefinedIfNotFound,
} from './operator.ts';
import type { ResultsOfSearchedWorkspaces, ScopeWithWorkspaceName, OperatorPrincipal, Owned } from './operator.ts';
import { OperatorBodyPipe, DeclareQueryAndBodyLimit, ScopeQueryDto } from './routes.ts';

class DeadLetterSummaryQueryDto extends IntersectionType(GetDeadLetterSummaryDto, ScopeQueryDto) {}
class DeadLettersSelectionDto extends IntersectionType(SelectDeadLettersDto, ScopeQueryDto) {}

interface DeadLetterSummaryForOperator extends Omit<DeadLetterSummary, 'by_endpoint'> {
  readonly by_endpoint: readonly Owned<DeadLetterSummary['by_endpoint'][number]>[];
  /** Names of the searched workspaces. */
  readonly workspaces: readonly string[];
}
interface DeadLetterReplayResults extends ResultsOfSearchedWorkspaces<WebhookReplay> {
  readonly refused: readonly Owned<DeadLetterReplayResult['refused'][number]>[];
}
type Filter = ReplayOrDiscardCommand['filter'];

/** Webhook dead letters of all workspaces. */
@Controller('administration/dead_letters')
export class DeadLettersController {
  constructor(
    @Inject(OperatorPrincipalFactory) private readonly operators: OperatorPrincipalFactory,
    @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  @Get('summary')
  @DeclareQueryAndBodyLimit({ query: DeadLetterSummaryQueryDto })
  async summarizeDeadLetters(@Query() query: DeadLetterSummaryQueryDto): Promise<DeadLetterSummaryForOperator> {
    const filter = convertToDeadLetterFilter(query);
    const { scopes, workspaces } = await this.operators.createOperatorPrincipal(query);
    const summaries: DeadLetterSummary[] = [];
    const by_endpoint: DeadLetterSummaryForOperator['by_endpoint'][number][] = [];
    for (const scope of scopes) {
      const summary = await this.webhooks.deadLetters.summary({ ...toScopeWithoutWorkspaceName(scope), filter });
      summaries.push(summary);
      by_endpoint.push(...summary.by_endpoint.map((each) => addScopeToResource(each, scope)));
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
  @DeclareQueryAndBodyLimit()
  @HttpCode(202)
  replayDeadLetters(
    @Body(new OperatorBodyPipe(DeadLettersSelectionDto)) input: DeadLettersSelectionDto,
    @Req() request: FastifyRequest,
  ): Promise<DeadLetterReplayResults> {
    return this.startDeadLetterJobs('replay', input, request);
  }

  @Post('discard')
  @DeclareQueryAndBodyLimit()
  @HttpCode(202)
  discardDeadLetters(
    @Body(new OperatorBodyPipe(DeadLettersSelectionDto)) input: DeadLettersSelectionDto,
    @Req() request: FastifyRequest,
  ): Promise<DeadLetterReplayResults> {
    return this.startDeadLetterJobs('discard', input, request);
  }

  private async startDeadLetterJobs(
    action: 'replay' | 'discard',
    input: DeadLettersSelectionDto,
    request: FastifyRequest,
  ): Promise<DeadLetterReplayResults> {
    const filter = toDeadLettersFilter(input);
    const principal = await this.operators.createOperatorPrincipal(input);
    const { workspaces, place } = principal;
    const type = action === 'replay' ? 'webhook_dead_letters.replayed' : 'webhook_dead_letters.discarded';
    const data: DeadLetterReplayResults['data'][number][] = [];
    const refused: DeadLetterReplayResults['refused'][number][] = [];
    let isFound = false;
    for (const { scope, filter: part } of await this.createDeadLetterFilterPerScope(principal, filter)) {
      // Ignore a missing endpoint in other scopes: an endpoint exists in only one scope.
      const settled = await returnUndefinedIfNotFound(
        principal.runAudited(request, scope, { type, target: null }, (command) =>
          replayOrDiscardDeadLetters(request, this.webhooks.deadLetters, action, { ...command, filter: part }),
        ),
      );
      if (settled === undefined) continue;
      isFound = true;
      data.push(...settled.replays.map((replay) => addScopeToResource(replay, scope)));
      refused.push(...settled.refused.map((each) => addScopeToResource(each, scope)));
    }
    if (!isFound && filter.endpoint_id !== undefined)
      throw new RequestError('not_found', `No such endpoint in ${place}.`);
    return { data, refused, workspaces };
  }

  /** Returns the filter for each scope. Delivery ids in the filter are divided among their scopes. */
  private async createDeadLetterFilterPerScope(
    principal: OperatorPrincipal,
    filter: Filter,
  ): Promise<readonly { readonly scope: ScopeWithWorkspaceName; readonly filter: Filter }[]> {
    if (filter.delivery_ids === undefined) return principal.scopes.map((scope) => ({ scope, filter }));
    const idsByScope = new Map<ScopeWithWorkspaceName, string[]>();
    for (const delivery_id of new Set(filter.delivery_ids)) {
      const { scope } = await principal.findResourceInAllScopes('delivery', (each) =>
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
