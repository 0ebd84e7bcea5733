import { ApiProperty, type ApiPropertyOptions, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  DOCUMENT_TYPES,
  type ExceptionSettings,
  TRANSPORT_MODES,
  RECHECK_STATES,
  type RecheckState,
  type RuleSettings,
  type SettingsRecheck,
  SEVERITIES,
  type Severity,
  type WorkspaceSettings,
} from '@tracking/contracts';
import {
  ActorResource,
  CheckedField,
  type FieldOptions,
  type FieldVariant,
  DeriveRequestClass,
  PlainBodyPipe,
  Resource,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';

/** Code generators do not read `exclusiveMinimum` as a number; 0 is refused all the same. */
const HOURS_SCHEMA: ApiPropertyOptions = { type: 'number', minimum: 0, maximum: 8_760 };

/**
 * Declares a field that the settings library checks, so that all faults are reported together. Null restores the
 * default.
 */
const SettingField = (schema: ApiPropertyOptions, options: FieldOptions, variant?: FieldVariant): PropertyDecorator =>
  CheckedField(() => [], options, schema, variant);

@ApiSchema({ name: 'ExceptionSettings' })
class ExceptionSettingsResource extends Resource implements ExceptionSettings {
  @SettingField({ type: Boolean }, { description: 'True if exceptions of this type open automatically.' })
  readonly enabled!: boolean;
  @SettingField(HOURS_SCHEMA, {
    description: 'Hours after which the exception opens; null if the type has no such time.',
    example: 24,
    nullable: true,
  })
  readonly after_hours!: number | null;
  @SettingField(
    {
      type: 'object',
      additionalProperties: { ...HOURS_SCHEMA, type: ['number', 'null'] },
    } as unknown as ApiPropertyOptions,
    {
      description: `Hours that replace \`after_hours\` for a transport mode: ${TRANSPORT_MODES.join(', ')}.`,
      example: { air: 4, road: 4 },
    },
    { answer: { additionalProperties: { type: 'number' } } as ApiPropertyOptions },
  )
  readonly by_mode!: ExceptionSettings['by_mode'];
  @SettingField(HOURS_SCHEMA, {
    description: 'Hours before a given day or time at which the exception opens; null if the type has no such time.',
    nullable: true,
  })
  readonly before_hours!: number | null;
  @SettingField({ type: String, enum: [...SEVERITIES] }, { description: 'Severity of the opened exception.' })
  readonly severity!: Severity;
}

@ApiSchema({ name: 'ExceptionSettingsChanges' })
class ExceptionSettingsDto extends DeriveRequestClass(ExceptionSettingsResource, {
  optional: ['enabled', 'after_hours', 'by_mode', 'before_hours', 'severity'],
}) {}

@ApiSchema({ name: 'ExceptionSettingsByType' })
class ExceptionSettingsByTypeResource {}
@ApiSchema({ name: 'ExceptionSettingsChangesByType' })
class ExceptionSettingsByTypeDto {}
for (const checkDocumentTypeValue of AUTOMATIC_EXCEPTION_TYPES) {
  const description = `Settings for exceptions of type \`${checkDocumentTypeValue}\`.`;
  ApiProperty({ type: ExceptionSettingsResource, description })(
    ExceptionSettingsByTypeResource.prototype,
    checkDocumentTypeValue,
  );
  const isChanged = SettingField(
    { type: ExceptionSettingsDto },
    { description, nullable: true },
    { nested: ExceptionSettingsDto },
  );
  isChanged(ExceptionSettingsByTypeDto.prototype, checkDocumentTypeValue);
}

@ApiSchema({ name: 'SettingsRecheck' })
class SettingsRecheckResource implements SettingsRecheck {
  @ApiProperty({
    description: 'State of the check. `pending` until every replica applies the settings.',
    enum: RECHECK_STATES,
  })
  readonly state!: RecheckState;
  @ApiProperty({ type: 'integer', description: 'Number of shipments checked so far, in both environments.' })
  readonly checked!: number;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Start of the check. UTC with milliseconds.' })
  readonly started_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which the last shipment was checked. UTC with milliseconds.',
  })
  readonly finished_at!: string | null;
}

/** Required documents by mode. In a change, null restores the default of a mode. */
const RequiredDocuments = (): PropertyDecorator =>
  SettingField(
    {
      type: 'object',
      additionalProperties: { type: ['array', 'null'], items: DOCUMENT_TYPE },
    } as unknown as ApiPropertyOptions,
    {
      description: 'Required document types by transport mode. A change replaces the whole list of a mode.',
      example: { ocean: ['bill_of_lading', 'packing_list'], air: [] },
    },
    { answer: { additionalProperties: { type: 'array', items: DOCUMENT_TYPE } } as ApiPropertyOptions },
  );
const DOCUMENT_TYPE = { type: 'string', enum: [...DOCUMENT_TYPES] };

@ApiSchema({ name: 'RequiredDocuments' })
export class RequiredDocumentsResource
  extends Resource
  implements Pick<WorkspaceSettings, 'required_documents' | 'version'>
{
  @RequiredDocuments()
  readonly required_documents!: WorkspaceSettings['required_documents'];
  @ApiProperty({
    type: 'integer',
    description: 'Version number of the settings, which grows with every change; 1 before the first change.',
  })
  readonly version!: number;
}

@ApiSchema({ name: 'DefaultSettings' })
class DefaultSettingsResource extends Resource implements RuleSettings {
  @ApiProperty({
    type: ExceptionSettingsByTypeResource,
    description: 'Rules for opening exceptions automatically, by exception type.',
  })
  readonly exceptions!: RuleSettings['exceptions'];
  @RequiredDocuments()
  readonly required_documents!: RuleSettings['required_documents'];
}

/** The settings, with the defaults that null restores. */
export interface SettingsWithDefaults extends WorkspaceSettings {
  readonly defaults: RuleSettings;
}

@ApiSchema({ name: 'WorkspaceSettings' })
export class WorkspaceSettingsResource extends Resource implements SettingsWithDefaults {
  @SettingField(
    { type: ExceptionSettingsByTypeDto },
    { description: 'Rules for opening exceptions automatically, by exception type.' },
    { nested: ExceptionSettingsByTypeDto, answer: { type: ExceptionSettingsByTypeResource } },
  )
  readonly exceptions!: WorkspaceSettings['exceptions'];
  @RequiredDocuments()
  readonly required_documents!: WorkspaceSettings['required_documents'];
  @ApiProperty({
    type: 'integer',
    description: 'Version number, which grows with every change; 1 before the first change.',
  })
  readonly version!: number;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the last change. UTC with milliseconds.',
  })
  readonly updated_at!: string | null;
  @ApiProperty({ type: ActorResource, nullable: true, description: 'Actor of the last change.' })
  readonly updated_by!: ActorResource | null;
  @ApiProperty({
    type: SettingsRecheckResource,
    nullable: true,
    description:
      'Check of all open shipments with the latest settings; null before the first change. Does not affect `version` or `ETag`.',
  })
  readonly recheck!: SettingsRecheckResource | null;
  @ApiProperty({
    type: DefaultSettingsResource,
    description: 'Default values of the settings. Setting a field to null restores its default.',
  })
  readonly defaults!: DefaultSettingsResource;
}

/** Fields of a change. Omitted fields keep their value; null restores the default. */
@ApiSchema({ name: 'WorkspaceSettingsChanges' })
export class WorkspaceSettingsChangesDto extends DeriveRequestClass(WorkspaceSettingsResource, {
  optional: ['exceptions', 'required_documents'],
}) {}

@ApiSchema({ name: 'WorkspaceSettingsWritten' })
export class WorkspaceSettingsWrittenResource extends IntersectionType(WorkspaceSettingsResource, WithWarnings) {}

export const SETTINGS_PATCH = new PlainBodyPipe(WorkspaceSettingsChangesDto, WorkspaceSettingsWrittenResource);
