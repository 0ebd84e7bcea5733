import { ApiProperty, type ApiPropertyOptions, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  DOCUMENT_TYPES,
  type ExceptionSettings,
  MODES,
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
  field,
  type FieldOptions,
  type FieldVariant,
  InputType,
  PlainBodyPipe,
  Resource,
  TIME,
  WithWarnings,
} from '@tracking/http';

const HOURS = { type: 'number', exclusiveMinimum: 0, maximum: 8_760 } as unknown as ApiPropertyOptions;

/** A field that the settings check, so that they report all faults together. Null restores the default. */
const Settable = (schema: ApiPropertyOptions, options: FieldOptions, variant?: FieldVariant): PropertyDecorator =>
  field(() => [], options, schema, variant);

@ApiSchema({ name: 'ExceptionSettings' })
class ExceptionSettingsResource extends Resource implements ExceptionSettings {
  @Settable({ type: Boolean }, { description: 'Whether exceptions of the type open by themselves.' })
  readonly enabled!: boolean;
  @Settable(HOURS, {
    description: 'After so many hours; null where the type has no such time.',
    example: 24,
    nullable: true,
  })
  readonly after_hours!: number | null;
  @Settable(
    { type: 'object', additionalProperties: { ...HOURS, type: ['number', 'null'] } } as unknown as ApiPropertyOptions,
    { description: `Instead of \`after_hours\` by mode: ${MODES.join(', ')}.`, example: { air: 4, road: 4 } },
    { answer: { additionalProperties: { type: 'number' } } as ApiPropertyOptions },
  )
  readonly by_mode!: ExceptionSettings['by_mode'];
  @Settable(HOURS, {
    description: 'So many hours before a day or time that was given; null where the type has no such time.',
    nullable: true,
  })
  readonly before_hours!: number | null;
  @Settable({ type: String, enum: [...SEVERITIES] }, { description: 'With which it opens.' })
  readonly severity!: Severity;
}

@ApiSchema({ name: 'ExceptionSettingsChanges' })
class ExceptionSettingsDto extends InputType(ExceptionSettingsResource, {
  optional: ['enabled', 'after_hours', 'by_mode', 'before_hours', 'severity'],
}) {}

@ApiSchema({ name: 'ExceptionSettingsByType' })
class ExceptionSettingsByTypeResource {}
@ApiSchema({ name: 'ExceptionSettingsChangesByType' })
class ExceptionSettingsByTypeDto {}
for (const type of AUTOMATIC_EXCEPTION_TYPES) {
  const description = `Of \`${type}\`.`;
  ApiProperty({ type: ExceptionSettingsResource, description })(ExceptionSettingsByTypeResource.prototype, type);
  const isChanged = Settable(
    { type: ExceptionSettingsDto },
    { description, nullable: true },
    { nested: ExceptionSettingsDto },
  );
  isChanged(ExceptionSettingsByTypeDto.prototype, type);
}

@ApiSchema({ name: 'SettingsRecheck' })
class SettingsRecheckResource implements SettingsRecheck {
  @ApiProperty({ description: '`pending` until every replica knows the settings.', enum: RECHECK_STATES })
  readonly state!: RecheckState;
  @ApiProperty({ type: 'integer', description: 'Shipments so far, of live and test.' })
  readonly checked!: number;
  @ApiProperty({ ...TIME, nullable: true, description: 'When it began. UTC with milliseconds.' })
  readonly started_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'When the last shipment was checked. UTC with milliseconds.' })
  readonly finished_at!: string | null;
}

/** Required documents by mode. In a change, null restores the default of a mode. */
const RequiredDocuments = (): PropertyDecorator =>
  Settable(
    {
      type: 'object',
      additionalProperties: { type: ['array', 'null'], items: DOCUMENT_TYPE },
    } as unknown as ApiPropertyOptions,
    {
      description: 'Which documents a shipment of a mode needs. A change replaces the list of a mode.',
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
    description: 'Of the settings: grows with every change of them; 1 before the first.',
  })
  readonly version!: number;
}

@ApiSchema({ name: 'DefaultSettings' })
class DefaultSettingsResource extends Resource implements RuleSettings {
  @ApiProperty({ type: ExceptionSettingsByTypeResource, description: 'How exceptions open by themselves, by type.' })
  readonly exceptions!: RuleSettings['exceptions'];
  @RequiredDocuments()
  readonly required_documents!: RuleSettings['required_documents'];
}

/** The settings with the defaults that null restores. */
export interface SettingsWithDefaults extends WorkspaceSettings {
  readonly defaults: RuleSettings;
}

@ApiSchema({ name: 'WorkspaceSettings' })
export class WorkspaceSettingsResource extends Resource implements SettingsWithDefaults {
  @Settable(
    { type: ExceptionSettingsByTypeDto },
    { description: 'How exceptions open by themselves, by type.' },
    { nested: ExceptionSettingsByTypeDto, answer: { type: ExceptionSettingsByTypeResource } },
  )
  readonly exceptions!: WorkspaceSettings['exceptions'];
  @RequiredDocuments()
  readonly required_documents!: WorkspaceSettings['required_documents'];
  @ApiProperty({ type: 'integer', description: 'Grows with every change; 1 before the first.' })
  readonly version!: number;
  @ApiProperty({ ...TIME, nullable: true, description: 'When they last changed. UTC with milliseconds.' })
  readonly updated_at!: string | null;
  @ApiProperty({ type: ActorResource, nullable: true, description: 'Who changed them last.' })
  readonly updated_by!: ActorResource | null;
  @ApiProperty({
    type: SettingsRecheckResource,
    nullable: true,
    description:
      'Every change has the open shipments checked by the rules again; null before the first. Moves neither `version` nor `ETag`.',
  })
  readonly recheck!: SettingsRecheckResource | null;
  @ApiProperty({ type: DefaultSettingsResource, description: 'What holds where nothing is set: null brings it back.' })
  readonly defaults!: DefaultSettingsResource;
}

/** Omitted fields stay as they are; null restores the default. */
@ApiSchema({ name: 'WorkspaceSettingsChanges' })
export class WorkspaceSettingsChangesDto extends InputType(WorkspaceSettingsResource, {
  optional: ['exceptions', 'required_documents'],
}) {}

@ApiSchema({ name: 'WorkspaceSettingsWritten' })
export class WorkspaceSettingsWrittenResource extends IntersectionType(WorkspaceSettingsResource, WithWarnings) {}

export const SETTINGS_PATCH = new PlainBodyPipe(WorkspaceSettingsChangesDto, WorkspaceSettingsWrittenResource);
