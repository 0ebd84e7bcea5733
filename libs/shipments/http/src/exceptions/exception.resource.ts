import { ApiSchema } from '@nestjs/swagger';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  EXCEPTION_DETECTORS,
  EXCEPTION_STATUSES,
  EXCEPTION_TYPES,
  REASON_CODES,
  RESOLUTION_CODES,
  SEVERITIES,
} from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { ActorResource, Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'ExceptionResolution' })
class ResolutionResource {
  @Shown(String, 'Why it is resolved.', { enum: [...RESOLUTION_CODES] })
  readonly code!: wire.ResolutionCode;
  @Shown(String, 'A remark.', { nullable: true })
  readonly note!: string | null;
  @Shown(ActorResource, 'Who resolved it; `system`: it resolved by itself.')
  readonly by!: ActorResource;
}

@ApiSchema({ name: 'Exception' })
export class ExceptionResource implements wire.ShipmentException {
  @Shown(String, 'Service-assigned identifier.')
  readonly id!: string;
  @Shown(String, 'The shipment it belongs to.')
  readonly shipment_id!: string;
  @Shown(String, 'The container it is about; null for the shipment.', { nullable: true })
  readonly container_number!: string | null;
  @Shown(String, 'What is wrong.', { enum: [...EXCEPTION_TYPES] })
  readonly type!: wire.ExceptionType;
  @Shown(String, 'How grave it is.', { enum: [...SEVERITIES] })
  readonly severity!: wire.Severity;
  @Shown(String, 'Whether somebody deals with it.', { enum: [...EXCEPTION_STATUSES] })
  readonly status!: wire.ExceptionStatus;
  @Shown(String, 'What it is called.')
  readonly title!: string;
  @Shown(String, 'What exactly is wrong, for people.', { nullable: true })
  readonly detail!: string | null;
  @Shown(String, 'Who found it.', { enum: [...EXCEPTION_DETECTORS] })
  readonly detected_by!: wire.ShipmentException['detected_by'];
  @Shown(String, 'The rule that opened it; null where a person did.', {
    nullable: true,
    enum: [...AUTOMATIC_EXCEPTION_TYPES],
  })
  readonly rule!: wire.AutomaticExceptionType | null;
  @Shown(String, 'The milestone that showed it.', { nullable: true })
  readonly milestone_id!: string | null;
  @Shown(String, 'Why, by that milestone or whoever opened it.', { nullable: true, enum: [...REASON_CODES] })
  readonly reason_code!: string | null;
  @Shown(String, 'Who is to deal with it, as you name people.', { nullable: true })
  readonly assignee!: string | null;
  @Shown('object', 'What the rule measured.', { additionalProperties: true })
  readonly metrics!: wire.ShipmentException['metrics'];
  @Shown(ResolutionResource, 'How it was resolved; null until then.', { nullable: true })
  readonly resolution!: ResolutionResource | null;
  @ShownTime('When it was opened.')
  readonly opened_at!: string;
  @ShownTime('When it was first acknowledged.', { nullable: true })
  readonly acknowledged_at!: string | null;
  @ShownTime('When it was resolved.', { nullable: true })
  readonly resolved_at!: string | null;
}

@ApiSchema({ name: 'ExceptionWritten' })
export class ExceptionWrittenResource extends ExceptionResource {
  @ShownWarnings()
  readonly warnings!: wire.Warning[];
}

@ApiSchema({ name: 'ExceptionPage' })
export class ExceptionPageResource implements wire.Page<wire.ShipmentException> {
  @Shown([ExceptionResource], 'The exceptions of this page.')
  readonly data!: ExceptionResource[];
  @Shown(String, 'Send it as `cursor` for the next page, with the same filters and sort.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
