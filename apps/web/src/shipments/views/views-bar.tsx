import { ActionIcon, Button, Group, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { IconBookmarkPlus, IconDots } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { ShipmentSearchState } from '../search/filters.ts';
import { hasShipmentFilters } from '../search/shipment-search.ts';
import classes from './views-bar.module.css';
import {
  BUILT_IN_VIEWS,
  MAX_SAVED_VIEWS,
  type SavedView,
  isSearchOfSavedView,
  useSavedViews,
  addOrReplaceView,
  removeView,
} from './views.ts';

/** Links to the built-in views and the saved views. The link of the current view is highlighted. */
export function ViewsBar({ state: { search } }: { readonly state: ShipmentSearchState }) {
  const [saved, setSaved] = useSavedViews();
  const [isNaming, setNaming] = useState(false);
  const all = [...BUILT_IN_VIEWS, ...saved];
  const isKnown = all.some((view) => isSearchOfSavedView(view, search));
  const canSave =
    !isKnown && (hasShipmentFilters(search) || search.sort !== undefined) && saved.length < MAX_SAVED_VIEWS;
  return (
    <Group component="nav" gap={4} wrap="nowrap" className={classes['bar']} aria-label="Views">
      {BUILT_IN_VIEWS.map((view) => (
        <SavedViewLink key={view.name} view={view} isShown={isSearchOfSavedView(view, search)} />
      ))}
      {saved.map((view) => (
        <Group key={view.name} gap={0} wrap="nowrap">
          <SavedViewLink view={view} isShown={isSearchOfSavedView(view, search)} />
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Actions for view ${view.name}`}>
                <IconDots size={14} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setSaved((now) => [...addOrReplaceView(now, { ...view, search })])}>
                Replace with current filters
              </Menu.Item>
              <Menu.Item color="red" onClick={() => setSaved((now) => [...removeView(now, view.name)])}>
                Delete view
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
      ))}
      {canSave && (
        <Button
          size="compact-sm"
          variant="subtle"
          className={classes['view']}
          leftSection={<IconBookmarkPlus size={14} aria-hidden />}
          onClick={() => setNaming(true)}
        >
          Save view
        </Button>
      )}
      <Modal opened={isNaming} onClose={() => setNaming(false)} title="Save view">
        <ViewNameForm
          taken={BUILT_IN_VIEWS.map(({ name }) => name)}
          onName={(name) => {
            setSaved((now) => [...addOrReplaceView(now, { name, search })]);
            setNaming(false);
          }}
        />
      </Modal>
    </Group>
  );
}

function SavedViewLink({ view, isShown }: { readonly view: SavedView; readonly isShown: boolean }) {
  return (
    <Button
      size="compact-sm"
      variant={isShown ? 'light' : 'subtle'}
      color={isShown ? undefined : 'gray'}
      className={classes['view']}
      renderRoot={(props) => <Link {...props} to="/shipments" search={view.search} />}
      {...(isShown && { 'aria-current': 'true' as const })}
    >
      {view.name}
    </Button>
  );
}

interface ViewNameFormProps {
  readonly taken: readonly string[];
  readonly onName: (name: string) => void;
}

function ViewNameForm({ taken, onName }: ViewNameFormProps) {
  const [name, setName] = useState('');
  const isTaken = taken.some((each) => each.toLowerCase() === name.trim().toLowerCase());
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!isTaken) onName(name.trim());
  };
  return (
    <form onSubmit={save}>
      <Stack>
        <TextInput
          label="Name"
          description="Filters, sort order and columns are stored in this browser. To share them, share the page URL."
          required
          maxLength={60}
          pattern=".*\S.*"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={isTaken && 'This name belongs to a built-in view.'}
          data-autofocus
        />
        <Group justify="end">
          <Button type="submit">Save</Button>
        </Group>
      </Stack>
    </form>
  );
}
