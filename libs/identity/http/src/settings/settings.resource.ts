import { ApiSchema } from '@nestjs/swagger';
import { AUTOMATIC_EXCEPTION_TYPES, DOCUMENT_TYPES, RECHECK_STATES, SEVERITIES } from '@tracking/contracts';
import type {
  ExceptionSettings,
  RecheckState,
  RuleSettings,
  SettingsRecheck,
  Severity,
  Warning,
  WorkspaceSettings,
} from '@tracking/contracts';
import { ActorResource, Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'ExceptionSettings' })
class ExceptionSettingsResource implements ExceptionSettings {
  @Shown(Boolean, 'Whether exceptions of the type open by themselves.')
  readonly enabled!: boolean;
  @Shown(Number, 'After so many hours; null where the type has no such time.', { nullable: true, example: 24 })
  readonly after_hours!: number | null;
  @Shown('object', 'Instead of `after_hours` for shipments of these modes.', {
    additionalProperties: { type: 'number' },
    example: { air: 4, road: 4 },
  })
  readonly by_mode!: ExceptionSettings['by_mode'];
  @Shown(Number, 'So many hours before a day or time that was given; null where the type has no such time.', {
    nullable: true,
  })
  readonly before_hours!: number | null;
  @Shown(String, 'With which it opens.', { enum: [...SEVERITIES] })
  readonly severity!: Severity;
}

@ApiSchema({ name: 'ExceptionSettingsByType' })
class ExceptionSettingsByTypeResource {}
for (const type of AUTOMATIC_EXCEPTION_TYPES) {
  Shown(ExceptionSettingsResource, `Of \`${type}\`.`)(ExceptionSettingsByTypeResource.prototype, type);
}

@ApiSchema({ name: 'SettingsRecheck' })
class SettingsRecheckResource implements SettingsRecheck {
  @Shown(String, '`pending` until every replica knows the settings.', { enum: [...RECHECK_STATES] })
  readonly state!: RecheckState;
  @Shown('integer', 'Shipments so far, of live and test.')
  readonly checked!: number;
  @ShownTime('When it began.', { nullable: true })
  readonly started_at!: string | null;
  @ShownTime('When the last shipment was checked.', { nullable: true })
  readonly finished_at!: string | null;
}

const ShownRequired = () =>
  Shown('object', 'Which documents a shipment of the mode needs.', {
    additionalProperties: { type: 'array', items: { type: 'string', enum: [...DOCUMENT_TYPES] } },
    example: { ocean: ['bill_of_lading'], air: [] },
  });

@ApiSchema({ name: 'RequiredDocuments' })
export class RequiredDocumentsResource implements Pick<WorkspaceSettings, 'required_documents' | 'version'> {
  @ShownRequired()
  readonly required_documents!: WorkspaceSettings['required_documents'];
  @Shown('integer', 'Of the settings: grows with every change of them; 1 before the first.')
  readonly version!: number;
}

@ApiSchema({ name: 'DefaultSettings' })
class DefaultSettingsResource implements RuleSettings {
  @Shown(ExceptionSettingsByTypeResource, 'How exceptions open by themselves, by type.')
  readonly exceptions!: RuleSettings['exceptions'];
  @ShownRequired()
  readonly required_documents!: RuleSettings['required_documents'];
}

/** As clients see them: with what null brings back. */
export interface SettingsWithDefaults extends WorkspaceSettings {
  readonly defaults: RuleSettings;
}

@ApiSchema({ name: 'WorkspaceSettings' })
export class WorkspaceSettingsResource implements SettingsWithDefaults {
  @Shown(ExceptionSettingsByTypeResource, 'How exceptions open by themselves, by type.')
  readonly exceptions!: WorkspaceSettings['exceptions'];
  @ShownRequired()
  readonly required_documents!: WorkspaceSettings['required_documents'];
  @Shown('integer', 'Grows with every change; 1 before the first.')
  readonly version!: number;
  @ShownTime('When they last changed.', { nullable: true })
  readonly updated_at!: string | null;
  @Shown(ActorResource, 'Who changed them last.', { nullable: true })
  readonly updated_by!: ActorResource | null;
  @Shown(
    SettingsRecheckResource,
    'Every change has the open shipments checked by the rules again; null before the first. Moves neither `version` nor `ETag`.',
    { nullable: true },
  )
  readonly recheck!: SettingsRecheckResource | null;
  @Shown(DefaultSettingsResource, 'What holds where nothing is set: null brings it back.')
  readonly defaults!: DefaultSettingsResource;
}

@ApiSchema({ name: 'WorkspaceSettingsWritten' })
export class WorkspaceSettingsWrittenResource extends WorkspaceSettingsResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}
