import { AUDIT_TYPES } from '@tracking/contracts';
import type { AuditType } from '@tracking/contracts';
import { PageDto, parseTimestamp, QueryOneOf, QueryText, QueryTime } from '@tracking/http';
import type { AuditFilter } from '@tracking/identity';

export class ListAuditLogDto extends PageDto {
  @QueryText({
    description: 'Only changes by this user or service account, by its id; `administration` is the command line.',
    example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd',
  })
  actor?: string;

  @QueryOneOf(AUDIT_TYPES, { description: 'Only changes of this type.', example: 'api_key.revoked' })
  type?: AuditType;

  @QueryTime({ description: 'Only changes at this time or later.' })
  from?: string;

  @QueryTime({ description: 'Only changes at this time or earlier.' })
  to?: string;
}

export function auditFilter({ actor, type, from, to }: ListAuditLogDto): AuditFilter {
  const [since, until] = [from && parseTimestamp(from), to && parseTimestamp(to)];
  return { ...(actor && { actor }), ...(type && { type }), ...(since && { from: since }), ...(until && { to: until }) };
}
