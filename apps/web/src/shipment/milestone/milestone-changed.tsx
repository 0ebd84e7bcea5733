import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Milestone } from '@tracking/client';
import { useEnvironment } from '../../session/session.ts';
import { OWN_ZONE, momentIn } from '../../values/zones.ts';
import { useShipment } from '../current-shipment.ts';
import { ChangedFields } from '../meanwhile/changed-fields.tsx';
import { FIELD_LABELS, type MilestoneField, differences, sayingOf } from './differences.ts';
import { milestoneHistoryQuery } from './milestone-history.ts';
import type { MilestoneChanges } from './milestone-values.ts';

interface Props {
  readonly before: Milestone;
  readonly theirs: Milestone;
  readonly mine: MilestoneChanges;
  readonly isPending: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
  readonly onClose: () => void;
}

/** Somebody else corrected or retracted the milestone while one corrected it. */
export function MilestoneChanged({ before, theirs, mine, onClose, ...choice }: Props) {
  const history = useQuery(milestoneHistoryQuery(useEnvironment(), useShipment().id, theirs));
  const who = history.data?.[0]?.actor.name;
  if (theirs.retracted_at !== null) {
    return (
      <Stack>
        <Alert color="yellow" role="alert" title="It was retracted meanwhile">
          {who ?? 'Somebody else'} took this milestone back: it can no longer be corrected.
        </Alert>
        <Group justify="end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    );
  }
  const changed = new Set([...differences(before, theirs), ...(Object.keys(mine) as MilestoneField[])]);
  const fields = [...changed].map((field) => ({
    label: FIELD_LABELS[field],
    before: shown(before, field),
    now: shown(theirs, field),
    yours:
      field in mine ? shown({ ...theirs, ...mine, label: mine.code ?? theirs.label } as Milestone, field) : undefined,
  }));
  return <ChangedFields what="The milestone" who={who} fields={fields} {...choice} />;
}

function shown(milestone: Milestone, field: MilestoneField): string {
  return field === 'occurred_at' ? momentIn(milestone.occurred_at, OWN_ZONE) : sayingOf(milestone, field);
}
