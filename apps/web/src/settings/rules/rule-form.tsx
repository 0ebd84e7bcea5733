import { Button, Fieldset, Group, NumberInput, Select, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { WorkspaceSettings } from '@tracking/client';
import { useState } from 'react';
import { EXCEPTION_LABELS, SEVERITY_LABELS } from '../../exceptions/exception-labels.ts';
import { TRANSPORT_MODE_LABELS, type Mode } from '../../values/codes.ts';
import {
  RULE_DESCRIPTIONS,
  type Rule,
  type RuleType,
  type RuleFormValues,
  listRuleDifferences,
  validateHours,
  flattenRuleHoursByMode,
  toRulePatch,
  getRuleSettingLabel,
  formatSettingValue,
  toRuleFormValues,
} from './rule-changes.ts';
import { SaveErrorAlert, SettingsConflictPanel, useSettingsWrite } from './settings-change.tsx';

interface RuleFormProps {
  readonly type: RuleType;
  /** Workspace settings that were read when the form was opened. */
  readonly settings: WorkspaceSettings;
  readonly onClose: () => void;
}

const TRANSPORT_MODES = Object.keys(TRANSPORT_MODE_LABELS) as readonly Mode[];

/** Form for one exception rule. An empty field stands for the default. */
export function RuleForm({ type, settings, onClose }: RuleFormProps) {
  const [rule, defaultRule] = [settings.exceptions[type], settings.defaults.exceptions[type]];
  const write = useSettingsWrite(settings, `Rule “${EXCEPTION_LABELS[type]}” saved.`, onClose);
  const form = useForm<RuleFormValues>({
    initialValues: toRuleFormValues(rule),
    validate: {
      after_hours: validateHours,
      before_hours: validateHours,
      by_mode: (modes) =>
        Object.values(modes)
          .map(validateHours)
          .find((message) => message !== null) ?? null,
    },
  });
  const [isReset, setIsReset] = useState(false);
  const words = RULE_DESCRIPTIONS[type];
  const save = (values: RuleFormValues) => {
    setIsReset(false);
    const patch = toRulePatch(rule, values);
    if (patch === undefined) onClose();
    else write.save({ exceptions: { [type]: patch } });
  };
  if (write.concurrentSettings !== undefined) {
    const { concurrentSettings } = write;
    const mine = isReset ? null : toRulePatch(concurrentSettings.exceptions[type], form.values);
    return (
      <RuleConflictPanel
        type={type}
        known={rule}
        concurrentSettings={concurrentSettings}
        mine={isReset ? toRuleFormValues(defaultRule) : form.values}
        isPending={write.isPending}
        error={write.error}
        onKeepMine={() =>
          mine === undefined ? onClose() : write.save({ exceptions: { [type]: mine } }, concurrentSettings)
        }
        onKeepTheirs={onClose}
      />
    );
  }
  const isDefault = listRuleDifferences(rule, defaultRule).length === 0;
  return (
    <form onSubmit={form.onSubmit(save)}>
      <Stack>
        <Text size="sm">{words.description}</Text>
        <SaveErrorAlert error={write.error} />
        <Switch {...form.getInputProps('enabled', { type: 'checkbox' })} label="Opens automatically" />
        <Select
          {...form.getInputProps('severity')}
          label="Severity"
          description={`Default: ${SEVERITY_LABELS[defaultRule.severity]}`}
          data={Object.entries(SEVERITY_LABELS).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
        />
        {defaultRule.before_hours !== null && (
          <HoursField
            form={form.getInputProps('before_hours')}
            label={words.before}
            standard={defaultRule.before_hours}
          />
        )}
        {defaultRule.after_hours !== null && (
          <>
            <HoursField
              form={form.getInputProps('after_hours')}
              label={words.after}
              standard={defaultRule.after_hours}
            />
            <Fieldset legend="Different hours for each mode" variant="unstyled">
              <Text size="xs" c="dimmed" mb="xs">
                Empty fields use the default.
              </Text>
              {form.errors['by_mode'] !== undefined && (
                <Text size="xs" c="red" role="alert">
                  {form.errors['by_mode']}
                </Text>
              )}
              <Group gap="xs">
                {TRANSPORT_MODES.map((mode) => (
                  <NumberInput
                    key={mode}
                    label={TRANSPORT_MODE_LABELS[mode]}
                    value={form.values.by_mode[mode] ?? ''}
                    onChange={(hours) =>
                      form.setFieldValue('by_mode', { ...form.values.by_mode, [mode]: hours as number | '' })
                    }
                    placeholder={formatDefaultHoursOfMode(defaultRule.by_mode, mode)}
                    suffix=" h"
                    min={0}
                    w={110}
                  />
                ))}
              </Group>
            </Fieldset>
          </>
        )}
        <Group justify="space-between">
          <Button
            variant="subtle"
            color="red"
            disabled={isDefault}
            onClick={() => {
              setIsReset(true);
              write.save({ exceptions: { [type]: null } });
            }}
          >
            Reset to default
          </Button>
          <Group gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={write.isPending}>
              Save
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

interface HoursFieldProps {
  readonly form: object;
  readonly label: string | undefined;
  readonly standard: number;
}

function HoursField({ form, label = '', standard }: HoursFieldProps) {
  return (
    <NumberInput
      {...form}
      label={`Hours ${label}`}
      description={`Default: ${standard} h`}
      placeholder={`${standard} h`}
      suffix=" h"
      min={0}
    />
  );
}

function formatDefaultHoursOfMode(byMode: Readonly<Record<string, number>>, mode: Mode): string {
  return byMode[mode] === undefined ? '' : `${byMode[mode]} h`;
}

interface RuleConflictProps {
  readonly type: RuleType;
  /** Exception rule that was read when the form was opened. */
  readonly known: Rule;
  readonly concurrentSettings: WorkspaceSettings;
  readonly mine: RuleFormValues;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onKeepMine: () => void;
  readonly onKeepTheirs: () => void;
}

function RuleConflictPanel({ type, known, concurrentSettings, mine, ...rest }: RuleConflictProps) {
  const theirs = concurrentSettings.exceptions[type];
  const [now, wanted] = [flattenRuleHoursByMode(theirs), flattenRuleHoursByMode(convertFormValuesToRule(mine))];
  const differing = listRuleDifferences(known, theirs).map((name) => ({
    name: getRuleSettingLabel(name),
    theirs: formatSettingValue(now[name]),
    mine: formatSettingValue(wanted[name]),
  }));
  return (
    <SettingsConflictPanel
      {...rest}
      concurrentSettings={concurrentSettings}
      of="Setting"
      differences={differing}
      unrelatedNote="The other change affects only other rules. This rule is unchanged."
    />
  );
}

function convertFormValuesToRule({ after_hours, before_hours, by_mode, ...rest }: RuleFormValues): Rule {
  const modes = Object.entries(by_mode).filter(([, hours]) => hours !== '');
  return {
    ...rest,
    after_hours: after_hours === '' ? null : after_hours,
    before_hours: before_hours === '' ? null : before_hours,
    by_mode: Object.fromEntries(modes) as Rule['by_mode'],
  };
}
