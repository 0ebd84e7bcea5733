import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ShipmentDocument } from '@tracking/client';

interface RejectDialogProps {
  readonly document: ShipmentDocument | undefined;
  readonly isPending: boolean;
  readonly onReject: (reason: string) => void;
  readonly onClose: () => void;
}

export function RejectDialog({ document, ...rest }: RejectDialogProps) {
  return (
    <Modal opened={document !== undefined} onClose={rest.onClose} title="Reject document">
      {document !== undefined && <RejectForm key={document.id} name={document.file_name} {...rest} />}
    </Modal>
  );
}

function RejectForm({
  name,
  isPending,
  onReject,
  onClose,
}: Omit<RejectDialogProps, 'document'> & { readonly name: string }) {
  const form = useForm({
    initialValues: { reason: '' },
    validate: { reason: (reason) => (reason.trim() === '' ? 'Enter a reason' : null) },
  });
  return (
    <form onSubmit={form.onSubmit(({ reason }) => onReject(reason.trim()))}>
      <Stack>
        <Text size="sm">
          {`“${name}” cannot be approved later. A new version can replace it. Everyone who can view the document sees the reason.`}
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
