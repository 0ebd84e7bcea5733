import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import type { WorkspaceSettings } from '@tracking/client';
import { Time } from '../../values/time.tsx';
import { useChangedBy } from './changed-by.ts';
import { type Rule, type RuleType, type RuleValues, differences, leavesOf } from './rule-changes.ts';
import { settingLabel, settingValue } from './rule-words.ts';

interface Props {
  readonly type: RuleType;
  /** As it was when the form was opened. */
  readonly known: Rule;
  readonly meanwhile: WorkspaceSettings;
  readonly mine: RuleValues;
  readonly isPending: boolean;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

/** Somebody changed the settings while the form was open: nothing was written. */
export function RuleConflict({ type, known, meanwhile, mine, isPending, onMine, onTheirs }: Props) {
  const by = useChangedBy(meanwhile);
  const theirs = meanwhile.exceptions[type];
  const changed = differences(known, theirs);
  const [now, wanted] = [leavesOf(theirs), leavesOf(ruleOf(mine))];
  return (
    <Stack>
      <Alert color="orange" role="alert" title="The settings were changed meanwhile">
        <Text size="sm">
          By {by}, <Time value={meanwhile.updated_at} />. Nothing of yours is written yet.
        </Text>
      </Alert>
      {changed.length === 0 ? (
        <Text size="sm">This rule is as it was: the change is about another one.</Text>
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Setting</Table.Th>
              <Table.Th>Theirs</Table.Th>
              <Table.Th>Yours</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changed.map((name) => (
              <Table.Tr key={name}>
                <Table.Td>{settingLabel(name)}</Table.Td>
                <Table.Td>{settingValue(now[name])}</Table.Td>
                <Table.Td>{settingValue(wanted[name])}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group justify="end">
        <Button variant="default" onClick={onTheirs}>
          Keep theirs
        </Button>
        <Button onClick={onMine} loading={isPending}>
          Keep mine
        </Button>
      </Group>
    </Stack>
  );
}

function ruleOf({ after_hours, before_hours, by_mode, ...rest }: RuleValues): Rule {
  const modes = Object.entries(by_mode).filter(([, hours]) => hours !== '');
  return {
    ...rest,
    after_hours: after_hours === '' ? null : after_hours,
    before_hours: before_hours === '' ? null : before_hours,
    by_mode: Object.fromEntries(modes) as Rule['by_mode'],
  };
}
