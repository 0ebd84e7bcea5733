import { ActionBar, Button, List, Select, Text, TextInput, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import type { Shipment } from '@tracking/client';
import { type Dispatch, type SetStateAction, useState } from 'react';
import { BulkActionDialog } from '../../app/bulk-action-dialog.tsx';
import { useApiWrite } from '../../app/write.ts';
import {
  EXCEPTION_LABELS,
  type ExceptionType,
  SEVERITY_LABELS,
  type Severity,
} from '../../exceptions/exception-labels.ts';
import { updateCachedShipments } from '../../live/live-updates.ts';
import { PermissionGuardedButton } from '../../session/permissions.tsx';
import { useApi, useEnvironment } from '../../session/session.ts';
import { getShipmentName } from '../../values/codes.ts';
import { SearchableSelectField } from '../../values/search-select.tsx';
import { NO_SELECTED_SHIPMENTS, type Selection, deselectShipments } from '../rows/selection.ts';
import { exportShipmentsAsCsv } from './export-csv.ts';
import classes from './selection-bar.module.css';

interface SelectionBarProps {
  readonly selected: readonly Shipment[];
  readonly onSelect: Dispatch<SetStateAction<Selection>>;
}

type Dialog = { readonly kind: 'cancel' | 'exceptions'; readonly shipments: readonly Shipment[] };

/**
 * Toolbar with the actions on the selected shipments. The toolbar covers the end of the list instead of moving the
 * rows.
 */
export function SelectionBar({ selected, onSelect }: SelectionBarProps) {
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const environment = useEnvironment();
  const exporting = useApiWrite({
    write: () => exportShipmentsAsCsv(environment, [selected]),
    done: `${selected.length} exported.`,
  });
  const onDone = (done: readonly Shipment[]) => onSelect((selection) => deselectShipments(selection, done));
  const ask = (kind: Dialog['kind']) => setDialog({ kind, shipments: selected });
  return (
    <>
      <ActionBar
        opened={selected.length > 0 && dialog === undefined}
        aria-label="Actions for selected shipments"
        className={classes['bar']}
      >
        <Text size="sm" fw={600} role="status" className={classes['count']}>
          {`${selected.length} selected`}
        </Text>
        <Button size="xs" variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
          Export CSV
        </Button>
        <PermissionGuardedButton permission="exceptions:write">
          <Button size="xs" variant="default" onClick={() => ask('exceptions')}>
            Open exception…
          </Button>
        </PermissionGuardedButton>
        <PermissionGuardedButton permission="shipments:write">
          <Button size="xs" variant="light" color="red" onClick={() => ask('cancel')}>
            Cancel shipments…
          </Button>
        </PermissionGuardedButton>
        <ActionBar.CloseButton aria-label="Clear selection" onClick={() => onSelect(NO_SELECTED_SHIPMENTS)} />
      </ActionBar>
      {dialog?.kind === 'cancel' && (
        <CancelShipmentsDialog shipments={dialog.shipments} onDone={onDone} onClose={close} />
      )}
      {dialog?.kind === 'exceptions' && (
        <BulkExceptionCreationDialog shipments={dialog.shipments} onDone={onDone} onClose={close} />
      )}
    </>
  );
}

/** Maximum number of shipments that a dialog lists by name. */
const MAX_NAMED_SHIPMENTS = 5;

interface BulkDialogProps {
  readonly shipments: readonly Shipment[];
  readonly onDone: (done: readonly Shipment[]) => void;
  readonly onClose: () => void;
}

function CancelShipmentsDialog({ shipments, ...props }: BulkDialogProps) {
  const [client, environment, queries] = [useApi(), useEnvironment(), useQueryClient()];
  const cancel = async ({ id }: Shipment) => {
    const { warnings: _, ...cancelled } = await client.shipments.cancel(id);
    updateCachedShipments(queries, environment, [cancelled]);
  };
  const label = shipments.length === 1 ? 'Cancel shipment' : `Cancel ${shipments.length} shipments`;
  return (
    <BulkActionDialog
      title="Cancel shipments"
      items={shipments}
      nameOf={getShipmentName}
      action={{ label, color: 'red' }}
      cancel="Keep shipments"
      write={cancel}
      done="cancelled"
      {...props}
    >
      <Text size="sm">Delivered shipments are not changed. You can reopen a cancelled shipment on its page.</Text>
      <ShipmentNameList shipments={shipments} />
    </BulkActionDialog>
  );
}

function ShipmentNameList({ shipments }: { readonly shipments: readonly Shipment[] }) {
  const others = shipments.length - MAX_NAMED_SHIPMENTS;
  return (
    <List size="sm">
      {shipments.slice(0, MAX_NAMED_SHIPMENTS).map((shipment) => (
        <List.Item key={shipment.id}>{getShipmentName(shipment)}</List.Item>
      ))}
      {others > 0 && <List.Item>{`and ${others} more`}</List.Item>}
    </List>
  );
}

const toOptions = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));
const EXCEPTION_TYPE_OPTIONS = toOptions(EXCEPTION_LABELS);
const SEVERITY_OPTIONS = toOptions(SEVERITY_LABELS);

interface ExceptionFormValues {
  readonly type: ExceptionType;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  readonly assignee: string;
}

/** Dialog that opens an exception of the same type on each selected shipment. */
function BulkExceptionCreationDialog({ shipments, ...props }: BulkDialogProps) {
  const client = useApi();
  const form = useForm<ExceptionFormValues>({
    initialValues: { type: 'other', severity: 'medium', title: '', detail: '', assignee: '' },
  });
  const open = ({ id }: Shipment) => {
    const { type, severity, title, detail, assignee } = form.values;
    const texts = { title: title.trim() || null, detail: detail.trim() || null, assignee: assignee.trim() || null };
    return client.exceptions.open(id, { type, severity, ...texts });
  };
  const label = shipments.length === 1 ? 'Open exception' : `Open ${shipments.length} exceptions`;
  return (
    <BulkActionDialog
      title="Open exception"
      items={shipments}
      nameOf={getShipmentName}
      action={{ label }}
      cancel="Cancel"
      write={open}
      done="opened"
      {...props}
    >
      <ShipmentNameList shipments={shipments} />
      <SearchableSelectField
        {...form.getInputProps('type')}
        value={form.values.type}
        label="Type"
        data={EXCEPTION_TYPE_OPTIONS}
        allowDeselect={false}
      />
      <Select label="Severity" data={SEVERITY_OPTIONS} allowDeselect={false} {...form.getInputProps('severity')} />
      <TextInput
        label="Title"
        description="The default is the name of the exception type."
        maxLength={1000}
        {...form.getInputProps('title')}
      />
      <Textarea label="Description" maxLength={1000} autosize {...form.getInputProps('detail')} />
      <TextInput label="Assignee" maxLength={1000} {...form.getInputProps('assignee')} />
      <Text size="xs" c="dimmed">
        Shipments that already have an open exception of this type are not changed.
      </Text>
    </BulkActionDialog>
  );
}
