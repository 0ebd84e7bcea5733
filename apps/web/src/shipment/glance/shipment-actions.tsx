import { ActionIcon, Button, Loader, Menu, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDots, IconPencil, IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import { askFirst } from '../../app/ask-first.tsx';
import { useWrite } from '../../app/write.ts';
import { May } from '../../session/may.tsx';
import { useApi, useMay } from '../../session/session.ts';
import { nameOf, tagOf, useShipment } from '../current-shipment.ts';
import { useShipmentTouches } from '../meanwhile/use-guarded-write.ts';
import { late } from '../../app/late.tsx';

/** Forms are loaded when somebody opens one. */
const RecordMilestone = late(() => import('../milestone/record-milestone.tsx'));

/** Of these a cancellation is refused: the service says so too. */
const DELIVERED: readonly string[] = ['delivered', 'completed', 'returned'];

/** What one may do with the shipment as a whole. */
export function ShipmentActions() {
  const [records, { open, close }] = useDisclosure(false);
  return (
    <>
      <EditLink />
      <May permission="milestones:write">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          Record a milestone
        </Button>
      </May>
      <More />
      <Modal opened={records} onClose={close} title="Record a milestone" size="lg" closeOnClickOutside={false}>
        <Suspense fallback={<Loader aria-label="Loading the form" />}>
          <RecordMilestone onClose={close} />
        </Suspense>
      </Modal>
    </>
  );
}

function EditLink() {
  const { id } = useShipment();
  if (!useMay('shipments:write')) return null;
  return (
    <Button
      variant="default"
      leftSection={<IconPencil size={16} aria-hidden />}
      renderRoot={(props) => <Link {...props} to="/shipments/$id/edit" params={{ id }} />}
    >
      Edit
    </Button>
  );
}

function More() {
  const [shipment, client] = [useShipment(), useApi()];
  const { id, status, status_milestone_id } = shipment;
  const mayWrite = useMay('shipments:write');
  const touches = useShipmentTouches();
  const cancel = useWrite({
    write: () => client.shipments.cancel(id, { ifMatch: tagOf(shipment) }),
    done: 'The shipment is cancelled.',
    touches,
  });
  const reopen = useWrite({
    write: () => client.shipments.reopen(id, { ifMatch: tagOf(shipment) }),
    done: 'The shipment is open again.',
    touches,
  });
  const ask = () =>
    askFirst({
      title: `Cancel ${nameOf(shipment)}?`,
      children: (
        <Text size="sm">
          Its open exceptions are resolved, and milestones that come later leave its status alone. It can be reopened.
        </Text>
      ),
      labels: { confirm: 'Cancel the shipment', cancel: 'Keep it' },
      confirmProps: { color: 'red' },
      onConfirm: () => cancel.mutate(),
    });
  // What a milestone cancelled is opened by retracting or correcting that.
  const mayReopen = status === 'cancelled' && status_milestone_id === null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size={36} variant="default" aria-label="More to do with the shipment">
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {!mayWrite && <Menu.Label>Your role does not include shipments:write.</Menu.Label>}
        {status === 'cancelled' ? (
          <Menu.Item disabled={!mayWrite || !mayReopen} onClick={() => reopen.mutate()}>
            {mayReopen ? 'Reopen' : 'Reopen: retract the milestone that cancelled it'}
          </Menu.Item>
        ) : (
          <Menu.Item color="red" disabled={!mayWrite || DELIVERED.includes(status)} onClick={ask}>
            {DELIVERED.includes(status) ? 'Cancel: it is delivered already' : 'Cancel…'}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
