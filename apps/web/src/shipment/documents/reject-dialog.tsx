import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ShipmentDocument } from '@tracking/client';

interface Props {
  readonly document: ShipmentDocument | undefined;
  readonly isPending: boolean;
  readonly onReject: (reason: string) => void;
  readonly onClose: () => void;
}

export function RejectDialog({ document, ...rest }: Props) {
  return (
    <Modal opened={document !== undefined} onClose={rest.onClose} title="Reject the document">
      {document !== undefined && <RejectForm key={document.id} name={document.file_name} {...rest} />}
    </Modal>
  );
}

function RejectForm({ name, isPending, onReject, onClose }: Omit<Props, 'document'> & { readonly name: string }) {
  const form = useForm({
    initialValues: { reason: '' },
    validate: { reason: (reason) => (reason.trim() === '' ? 'Say what is wrong with it' : null) },
  });
  return (
    <form onSubmit={form.onSubmit(({ reason }) => onReject(reason.trim()))}>
      <Stack>
        <Text size="sm">
          “{name}” stays rejected: its sender replaces it by another. Whoever sees the document reads the reason.
        </Text>
        <Textarea {...form.getInputProps('reason')} label="Reason" autosize minRows={2} required data-autofocus />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={isPending}>
            Reject
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
