export { DeadLettersDto, DeadLetterSummaryDto, settleFilter, summaryFilter } from './dead-letters.dto.ts';
export { deliveryFilter, ListDeliveriesDto } from './list-deliveries.dto.ts';
export { ListReplaysDto, replayFilter, ReplayFilterDto } from './replay.dto.ts';
export { changeAudited, settleAudited, tellReplayed } from './settlement-audit.ts';
export { WebhooksHttpModule } from './webhooks-http.module.ts';
