import { ApiSchema } from '@nestjs/swagger';
import { EXCEPTION_TYPES, MANUAL_RESOLUTION_CODES, REASON_CODES, SEVERITIES } from '@tracking/contracts';
import type { ExceptionType, ManualResolutionCode, Severity } from '@tracking/contracts';
import { Id, OneOf, Text } from '@tracking/http';

@ApiSchema({ name: 'ExceptionFields' })
export class OpenExceptionDto {
  @OneOf(EXCEPTION_TYPES, { description: 'What is wrong.', example: 'container_damage', required: true })
  type!: ExceptionType;

  @OneOf(SEVERITIES, { description: 'How grave it is; `medium` unless told.', example: 'high' })
  severity?: Severity | null;

  @Text({ description: 'What it is called; by its type unless told.', example: 'Door bent' })
  title?: string | null;

  @Text({ description: 'What exactly is wrong, for people.', example: 'The left door does not close.' })
  detail?: string | null;

  @Text({ description: 'A container of the shipment; without one it is about the shipment.', example: 'CSQU3054383' })
  container_number?: string | null;

  @Id('mst', { description: 'A milestone of the shipment that shows it.' })
  milestone_id?: string | null;

  @OneOf(REASON_CODES, { description: 'Why.', example: 'equipment_shortage' })
  reason_code?: string | null;

  @Text({ description: 'Who is to deal with it, as you name people.', example: 'kim@example.com' })
  assignee?: string | null;
}

@ApiSchema({ name: 'ExceptionAcknowledgement' })
export class AcknowledgeExceptionDto {
  @Text({ description: 'Who deals with it; left out, it stays as it is.', example: 'kim@example.com' })
  assignee?: string | null;

  @Text({ description: 'A remark, for the history of the shipment.', example: 'The broker is on it.' })
  note?: string | null;
}

@ApiSchema({ name: 'ExceptionResolutionFields' })
export class ResolveExceptionDto {
  @OneOf(MANUAL_RESOLUTION_CODES, { description: '`fixed` unless told.', example: 'waived' })
  code?: ManualResolutionCode | null;

  @Text({ description: 'A remark.', example: 'Repaired at the depot.' })
  note?: string | null;
}
