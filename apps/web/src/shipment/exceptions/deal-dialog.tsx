import { Autocomplete, Button, Group, Modal, Select, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ShipmentException } from '@tracking/client';
import { MANUAL_RESOLUTIONS, RESOLUTION_LABELS } from '../../exceptions/exception-labels.ts';
import { useSession } from '../../session/session.ts';
import { withTimes } from '../../values/time.tsx';
import type { Dealing } from './exception-queries.ts';

const TITLES: Readonly<Record<Dealing['kind'], string>> = {
  acknowledge: 'Acknowledge',
  assign: 'Assign',
  remark: 'Add a note',
  resolve: 'Resolve',
};

interface Props {
  readonly exception: ShipmentException;
  readonly kind: Dealing['kind'];
  /** Assignees of other exceptions of the shipment. */
  readonly known: readonly string[];
  readonly isPending: boolean;
  readonly onDeal: (dealing: Dealing) => void;
  readonly onClose: () => void;
}

export function DealDialog(props: Props) {
  return (
    <Modal opened onClose={props.onClose} title={`${TITLES[props.kind]}: ${props.exception.title}`}>
      <Words {...props} />
    </Modal>
  );
}

function Words({ exception, kind, known, isPending, onDeal, onClose }: Props) {
  const me = useSession().user?.email ?? '';
  const form = useForm({
    initialValues: {
      assignee: exception.assignee ?? (kind === 'acknowledge' ? me : ''),
      code: 'fixed' as (typeof MANUAL_RESOLUTIONS)[number],
      note: '',
    },
    validate: { note: (note) => (kind === 'remark' && note.trim() === '' ? 'Say something' : null) },
  });
  const others = [...new Set(known)].filter((one) => one !== me);
  const submit = ({ assignee, code, note }: typeof form.values) => {
    const noteField = note.trim() === '' ? {} : { note: note.trim() };
    if (kind === 'remark') onDeal({ kind, note: note.trim() });
    else if (kind === 'resolve') onDeal({ kind, code, ...noteField });
    else onDeal({ kind, assignee: assignee.trim() === '' ? null : assignee.trim(), ...noteField });
  };
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack>
        {exception.detail !== null && <Text size="sm">{withTimes(exception.detail)}</Text>}
        {(kind === 'acknowledge' || kind === 'assign') && (
          <Autocomplete
            {...form.getInputProps('assignee')}
            label="Assignee"
            description="An e-mail, or what other systems call them; empty for nobody"
            data={[
              { group: 'You', items: [me] },
              { group: 'Others', items: others },
            ]}
            clearable
            data-autofocus
          />
        )}
        {kind === 'resolve' && (
          <Select
            {...form.getInputProps('code')}
            label="How"
            data={MANUAL_RESOLUTIONS.map((value) => ({ value, label: RESOLUTION_LABELS[value] }))}
            allowDeselect={false}
            data-autofocus
          />
        )}
        <Textarea
          {...form.getInputProps('note')}
          label="Note"
          description="For the history of the shipment"
          autosize
          minRows={2}
          required={kind === 'remark'}
          data-autofocus={kind === 'remark' || undefined}
        />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            {TITLES[kind]}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
