export {
  SelectDeadLettersDto,
  GetDeadLetterSummaryDto,
  toDeadLettersFilter,
  convertToDeadLetterFilter,
} from './dead-letters.resource.ts';
export { toDeliveryFilter, ListDeliveriesDto } from './delivery.resource.ts';
export { ListReplaysDto, toReplayFilter, ReplayFilterDto } from './replay.resource.ts';
export { cancelOrResumeReplay, createReplay, replayOrDiscardDeadLetters } from './audited-commands.ts';
export { WebhooksHttpModule } from './webhooks-http.module.ts';
