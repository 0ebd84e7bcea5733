import { ActionBar, Button, Text } from '@mantine/core';
import type { Shipment } from '@tracking/client';
import { type Dispatch, type SetStateAction, useState } from 'react';
import { onDemand } from '../../app/lazy.tsx';
import { May } from '../../session/permissions.tsx';
import { useWrite } from '../../app/write.ts';
import { exportCsv } from './export-csv.ts';
import classes from './selection-bar.module.css';
import { NOTHING, type Selection, without } from './selection.ts';

const OpenExceptions = onDemand(async () => (await import('./open-exceptions.tsx')).OpenExceptions);

const CancelSeveral = onDemand(async () => (await import('./cancel-several.tsx')).CancelSeveral);

interface Props {
  readonly selected: readonly Shipment[];
  readonly onSelect: Dispatch<SetStateAction<Selection>>;
}

type Dialog = { readonly kind: 'cancel' | 'exceptions'; readonly shipments: readonly Shipment[] };

/** What can be done to those that are selected. It lies over the end of the list: no row moves. */
export function SelectionBar({ selected, onSelect }: Props) {
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const exporting = useWrite({ write: () => exportCsv([selected]), done: `${selected.length} exported.` });
  const onDone = (done: readonly Shipment[]) => onSelect((selection) => without(selection, done));
  const ask = (kind: Dialog['kind']) => setDialog({ kind, shipments: selected });
  return (
    <>
      <ActionBar
        opened={selected.length > 0 && dialog === undefined}
        aria-label="What to do with the selected shipments"
        className={classes['bar']}
      >
        <Text size="sm" fw={600} role="status" className={classes['count']}>
          {selected.length} selected
        </Text>
        <Button size="xs" variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
          Export CSV
        </Button>
        <May permission="exceptions:write">
          <Button size="xs" variant="default" onClick={() => ask('exceptions')}>
            Open an exception…
          </Button>
        </May>
        <May permission="shipments:write">
          <Button size="xs" variant="light" color="red" onClick={() => ask('cancel')}>
            Cancel…
          </Button>
        </May>
        <ActionBar.CloseButton aria-label="Select none" onClick={() => onSelect(NOTHING)} />
      </ActionBar>
      {dialog?.kind === 'cancel' && <CancelSeveral shipments={dialog.shipments} onDone={onDone} onClose={close} />}
      {dialog?.kind === 'exceptions' && <OpenExceptions shipments={dialog.shipments} onDone={onDone} onClose={close} />}
    </>
  );
}
