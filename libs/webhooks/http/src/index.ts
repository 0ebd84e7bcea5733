export { DeadLettersDto, DeadLetterSummaryDto, deadLettersFilter, summaryFilter } from './dead-letters.resource.ts';
export { deliveryFilter, ListDeliveriesDto } from './delivery.resource.ts';
export { ListReplaysDto, replayFilter, ReplayFilterDto } from './replay.resource.ts';
export { changeReplay, createReplay, replayOrDiscardDeadLetters } from './audited-commands.ts';
export { WebhooksHttpModule } from './webhooks-http.module.ts';
