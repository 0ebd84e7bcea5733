import type { PipeTransform } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { AUTOMATIC_EXCEPTION_TYPES, DOCUMENT_TYPES, MODES, SEVERITIES } from '@tracking/contracts';
import type { JsonObject, JsonValue } from '@tracking/contracts';
import { BodyPipe, field } from '@tracking/http';
import type { DtoClass, ReadBody, Sent } from '@tracking/http';
import { WorkspaceSettingsWrittenResource } from './settings.resource.ts';

const HOURS = { type: 'number', exclusiveMinimum: 0, maximum: 8_760 } as const;

/** The settings themselves judge what is sent, so that all its faults come together. */
const Settable = (schema: object, description: string, nested?: DtoClass): PropertyDecorator =>
  field(() => [], { description }, { nullable: true, ...schema } as ApiPropertyOptions, { nested });

@ApiSchema({ name: 'ExceptionSettingsChanges' })
class ExceptionSettingsDto {
  @Settable({ type: Boolean }, 'Whether exceptions of the type open by themselves.')
  enabled?: JsonValue;
  @Settable(HOURS, 'After so many hours; of types that have it.')
  after_hours?: JsonValue;
  @Settable(
    { type: 'object', additionalProperties: { ...HOURS, type: ['number', 'null'] }, example: { air: 4 } },
    `Instead of \`after_hours\` by mode: ${MODES.join(', ')}.`,
  )
  by_mode?: JsonValue;
  @Settable(HOURS, 'So many hours before a day or time that was given; of types that have it.')
  before_hours?: JsonValue;
  @Settable({ type: String, enum: [...SEVERITIES] }, 'With which it opens.')
  severity?: JsonValue;
}

@ApiSchema({ name: 'ExceptionSettingsChangesByType' })
class ExceptionSettingsByTypeDto {}
for (const type of AUTOMATIC_EXCEPTION_TYPES) {
  const isOne = Settable({ type: ExceptionSettingsDto }, `Of \`${type}\`.`, ExceptionSettingsDto);
  isOne(ExceptionSettingsByTypeDto.prototype, type);
}

/** What is left out stays as it is; null brings back the default. */
@ApiSchema({ name: 'WorkspaceSettingsChanges' })
export class WorkspaceSettingsChangesDto {
  @Settable({ type: ExceptionSettingsByTypeDto }, 'How exceptions open, by type.', ExceptionSettingsByTypeDto)
  exceptions?: JsonValue;
  @Settable(
    {
      type: 'object',
      additionalProperties: { type: ['array', 'null'], items: { type: 'string', enum: [...DOCUMENT_TYPES] } },
      example: { ocean: ['bill_of_lading', 'packing_list'] },
    },
    'Which documents a shipment of a mode needs; a list is replaced whole.',
  )
  required_documents?: JsonValue;
}

const body = new BodyPipe(WorkspaceSettingsChangesDto, WorkspaceSettingsWrittenResource);

/** The merge patch as it was sent. */
export const SETTINGS_PATCH: PipeTransform<Sent, ReadBody<JsonObject>> = {
  transform(sent) {
    const { value, warnings } = body.transform(sent);
    const fields = Object.entries(value).filter(([, setting]) => setting !== undefined);
    return { value: Object.fromEntries(fields) as JsonObject, warnings };
  },
};
