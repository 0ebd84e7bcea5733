export { DeadLettersDto, DeadLetterSummaryDto, settleFilter, summaryFilter } from './dead-letters.resource.ts';
export { deliveryFilter, ListDeliveriesDto } from './delivery.resource.ts';
export { ListReplaysDto, replayFilter, ReplayFilterDto } from './replay.resource.ts';
export { changeAudited, settleAudited, tellReplayed } from './settlement-audit.ts';
export { WebhooksHttpModule } from './webhooks-http.module.ts';
