import { ActionIcon, Button, Loader, Menu, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDots, IconPencil, IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Shipment } from '@tracking/client';
import { Suspense } from 'react';
import { createLazyComponentWithImportRetry, createOnDemandComponent } from '../app/lazy.tsx';
import { confirmAction } from '../app/overlays.tsx';
import { PermissionGuardedButton } from '../session/permissions.tsx';
import { useApi, useHasPermission } from '../session/session.ts';
import { PLAIN_SHIPMENT_FIELD_NAMES } from '../shipments/plain-fields.ts';
import { useGuardedWrite } from './concurrent-changes/guarded-write.ts';
import { getShipmentTitle, useShipmentOfPage } from './shipment-queries.ts';

/** The code of the form is loaded when the form is opened. */
const LazyRecordMilestone = createLazyComponentWithImportRetry(() => import('./milestone/record-milestone.tsx'));

/** Statuses of a shipment that the API refuses to cancel. */
const UNCANCELLABLE_STATUSES: readonly string[] = ['delivered', 'completed', 'returned'];

const LazyConflictDialog = createOnDemandComponent(
  async () => (await import('./concurrent-changes/conflict-dialog.tsx')).ConflictDialog<Shipment>,
  ({ conflict }) => conflict !== undefined,
);

/**
 * Fields that the conflict dialog compares if another user has changed the shipment before it is cancelled or reopened.
 */
const SHIPMENT_FIELDS_COMPARED_IN_CONFLICT_DIALOG = [
  ...(['status', 'external_id', 'mode', 'load_type'] as const),
  ...PLAIN_SHIPMENT_FIELD_NAMES,
  ...(['carrier_scac', 'origin_port', 'destination_port', 'etd', 'eta', 'atd', 'ata', 'shipper', 'consignee'] as const),
  ...(['container_numbers', 'legs', 'references', 'metadata'] as const),
] as const;

/** Buttons and menu with the actions on a shipment. */
export function ShipmentActions() {
  const [records, { open, close }] = useDisclosure(false);
  return (
    <>
      <EditShipmentButton />
      <PermissionGuardedButton permission="milestones:write">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          Record milestone
        </Button>
      </PermissionGuardedButton>
      <ShipmentMenu />
      <Modal opened={records} onClose={close} title="Record milestone" size="lg" closeOnClickOutside={false}>
        <Suspense fallback={<Loader aria-label="Loading the form" />}>
          <LazyRecordMilestone onClose={close} />
        </Suspense>
      </Modal>
    </>
  );
}

function EditShipmentButton() {
  const { id } = useShipmentOfPage();
  if (!useHasPermission('shipments:write')) return null;
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

type Act = 'cancel' | 'reopen';

function ShipmentMenu() {
  const [shipment, client] = [useShipmentOfPage(), useApi()];
  const { status } = shipment;
  const mayWrite = useHasPermission('shipments:write');
  const seen = { thing: shipment, version: shipment.version };
  const act = useGuardedWrite<Shipment, Act, Shipment>({
    kind: 'shipment',
    write: ({ id }, action, ifMatch) => client.shipments[action](id, { ifMatch }),
    read: async ({ id }) => {
      const thing = await client.shipments.get(id);
      return { thing, version: thing.version };
    },
    isSame: (one, other) => one.version === other.version,
    canStill: (now, action) => (action === 'cancel' ? canCancelShipment(now) : canReopenShipment(now)),
    done: (now) => (now.status === 'cancelled' ? 'Shipment cancelled.' : 'Shipment reopened.'),
  });
  const ask = () =>
    confirmAction({
      title: `Cancel ${getShipmentTitle(shipment)}?`,
      children: (
        <Text size="sm">
          Open exceptions are resolved. Later milestones no longer change the status. You can reopen the shipment.
        </Text>
      ),
      labels: { confirm: 'Cancel shipment', cancel: 'Keep shipment' },
      confirmProps: { color: 'red' },
      onConfirm: () => act.run(seen, 'cancel'),
    });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More actions for the shipment">
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!mayWrite && <Menu.Label>Your role does not include the permission shipments:write.</Menu.Label>}
          {status === 'cancelled' ? (
            <Menu.Item disabled={!mayWrite || !canReopenShipment(shipment)} onClick={() => act.run(seen, 'reopen')}>
              {canReopenShipment(shipment)
                ? 'Reopen shipment'
                : 'To reopen, retract the milestone that cancelled the shipment'}
            </Menu.Item>
          ) : (
            <Menu.Item color="red" disabled={!mayWrite || !canCancelShipment(shipment)} onClick={ask}>
              {canCancelShipment(shipment) ? 'Cancel shipment…' : 'A delivered shipment cannot be cancelled'}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <LazyConflictDialog
        conflict={act.conflict}
        what="the shipment"
        fields={SHIPMENT_FIELDS_COMPARED_IN_CONFLICT_DIALOG}
      />
    </>
  );
}

function canCancelShipment({ status }: Shipment): boolean {
  return status !== 'cancelled' && !UNCANCELLABLE_STATUSES.includes(status);
}

/**
 * Checks if a user can reopen the shipment. If a milestone has cancelled the shipment, the user must retract or correct
 * this milestone instead.
 */
function canReopenShipment({ status, status_milestone_id }: Shipment): boolean {
  return status === 'cancelled' && status_milestone_id === null;
}
