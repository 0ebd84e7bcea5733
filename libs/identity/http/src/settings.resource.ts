import { ApiProperty, type ApiPropertyOptions, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  DOCUMENT_TYPES,
  type ExceptionSettings,
  TRANSPORT_MODES,
  RECHECK_STATES,
  type RecheckState,
  type RuleSettings,
  type SettingsRecheckStatus,
  SEVERITIES,
  type Severity,
  type WorkspaceSettings,
} from '@tracking/contracts';
import {
  ActorResource,
  CheckedProperty,
  type FieldDecoratorOptions,
  type OpenApiFieldOverrides,
  DeriveRequestClassFromResource,
  DeclaredBodyFieldsAsJsonPipe,
  ResponseSchemaBase,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';

/** Code generators do not read `exclusiveMinimum` as a number; 0 is refused all the same. */
const HOURS_SCHEMA: ApiPropertyOptions = { type: 'number', minimum: 0, maximum: 8_760 };

/**
 * Declares a field that the settings library checks, so that all faults are reported together. Null restores the
 * default.
 */
const SettingProperty = (
  schema: ApiPropertyOptions,
  options: FieldDecoratorOptions,
  variant?: OpenApiFieldOverrides,
): PropertyDecorator => CheckedProperty(() => [], options, schema, variant);

@ApiSchema({ name: 'ExceptionSettings' })
class ExceptionSettingsResource extends ResponseSchemaBase implements ExceptionSettings {
  @SettingProperty({ type: Boolean }, { description: 'True if exceptions of this type open automatically.' })
  readonly enabled!: boolean;
  @SettingProperty(HOURS_SCHEMA, {
    description: 'Hours after which the exception opens; null if the type has no such time.',
    example: 24,
    nullable: true,
  })
  readonly after_hours!: number | null;
  @SettingProperty(
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
  @SettingProperty(HOURS_SCHEMA, {
    description: 'Hours before a given day or time at which the exception opens; null if the type has no such time.',
    nullable: true,
  })
  readonly before_hours!: number | null;
  @SettingProperty({ type: String, enum: [...SEVERITIES] }, { description: 'Severity of the opened exception.' })
  readonly severity!: Severity;
}

@ApiSchema({ name: 'ExceptionSettingsChanges' })
class ExceptionSettingsDto extends DeriveRequestClassFromResource(ExceptionSettingsResource, {
  optional: ['enabled', 'after_hours', 'by_mode', 'before_hours', 'severity'],
}) {}

@ApiSchema({ name: 'ExceptionSettingsByType' })
class ExceptionSettingsByTypeResource {}
@ApiSchema({ name: 'ExceptionSettingsChangesByType' })
class ExceptionSettingsByTypeDto {}
for (const exceptionType of AUTOMATIC_EXCEPTION_TYPES) {
  const description = `Settings for exceptions of type \`${exceptionType}\`.`;
  ApiProperty({ type: ExceptionSettingsResource, description })(
    ExceptionSettingsByTypeResource.prototype,
    exceptionType,
  );
  const isChanged = SettingProperty(
    { type: ExceptionSettingsDto },
    { description, nullable: true },
    { nested: ExceptionSettingsDto },
  );
  isChanged(ExceptionSettingsByTypeDto.prototype, exceptionType);
}

@ApiSchema({ name: 'SettingsRecheck' })
class SettingsRecheckResource implements SettingsRecheckStatus {
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
const RequiredDocumentsProperty = (): PropertyDecorator =>
  SettingProperty(
    {
      type: 'object',
      additionalProperties: { type: ['array', 'null'], items: DOCUMENT_TYPE_SCHEMA },
    } as unknown as ApiPropertyOptions,
    {
      description: 'Required document types by transport mode. A change replaces the whole list of a mode.',
      example: { ocean: ['bill_of_lading', 'packing_list'], air: [] },
    },
    { answer: { additionalProperties: { type: 'array', items: DOCUMENT_TYPE_SCHEMA } } as ApiPropertyOptions },
  );
const DOCUMENT_TYPE_SCHEMA = { type: 'string', enum: [...DOCUMENT_TYPES] };

@ApiSchema({ name: 'RequiredDocuments' })
export class RequiredDocumentsResource
  extends ResponseSchemaBase
  implements Pick<WorkspaceSettings, 'required_documents' | 'version'>
{
  @RequiredDocumentsProperty()
  readonly required_documents!: WorkspaceSettings['required_documents'];
  @ApiProperty({
    type: 'integer',
    description: 'Version number of the settings, which grows with every change; 1 before the first change.',
  })
  readonly version!: number;
}

@ApiSchema({ name: 'DefaultSettings' })
class DefaultSettingsResource extends ResponseSchemaBase implements RuleSettings {
  @ApiProperty({
    type: ExceptionSettingsByTypeResource,
    description: 'Rules for opening exceptions automatically, by exception type.',
  })
  readonly exceptions!: RuleSettings['exceptions'];
  @RequiredDocumentsProperty()
  readonly required_documents!: RuleSettings['required_documents'];
}

/** The settings, with the defaults that null restores. */
export interface WorkspaceSettingsAndDefaults extends WorkspaceSettings {
  readonly defaults: RuleSettings;
}

@ApiSchema({ name: 'WorkspaceSettings' })
export class WorkspaceSettingsResource extends ResponseSchemaBase implements WorkspaceSettingsAndDefaults {
  @SettingProperty(
    { type: ExceptionSettingsByTypeDto },
    { description: 'Rules for opening exceptions automatically, by exception type.' },
    { nested: ExceptionSettingsByTypeDto, answer: { type: ExceptionSettingsByTypeResource } },
  )
  readonly exceptions!: WorkspaceSettings['exceptions'];
  @RequiredDocumentsProperty()
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
export class WorkspaceSettingsChangesDto extends DeriveRequestClassFromResource(WorkspaceSettingsResource, {
  optional: ['exceptions', 'required_documents'],
}) {}

@ApiSchema({ name: 'WorkspaceSettingsWritten' })
export class WorkspaceSettingsWrittenResource extends IntersectionType(WorkspaceSettingsResource, WithWarnings) {}

export const SETTINGS_PATCH_PIPE = new DeclaredBodyFieldsAsJsonPipe(
  WorkspaceSettingsChangesDto,
  WorkspaceSettingsWrittenResource,
);
