import { useLocalStorage } from '@mantine/hooks';
import { useSession } from '../../session/session.ts';
import { type ShipmentUrlParameters, readShipmentUrlParameters } from '../search/shipment-search.ts';

/** A view of the shipment list: its filters, sort order and, optionally, columns. */
export interface SavedView {
  readonly name: string;
  readonly search: ShipmentUrlParameters;
}

/** Views of the shipment list that every user has. */
export const BUILT_IN_VIEWS: readonly SavedView[] = [
  { name: 'All shipments', search: {} },
  { name: 'Active', search: { active: true } },
  { name: 'With exceptions', search: { has_open_exceptions: true, sort: '-updated_at' } },
  { name: 'Arriving in 7 days', search: { active: true, eta_from: 'today', eta_to: 'today+7', sort: 'eta' } },
  {
    name: 'Overdue',
    search: { status: 'pending,booked,at_origin,in_transit', eta_to: 'today-1', sort: 'eta' },
  },
];

/** Maximum number of views that a user can save. */
export const MAX_SAVED_VIEWS = 50;

/** Checks if the current search is that of the view. Columns are compared only if the view contains columns. */
export function isSearchOfSavedView(view: SavedView, search: ShipmentUrlParameters): boolean {
  const { columns: _columns, ...others } = search;
  return (
    serializeSearchForComparison(view.search) ===
    serializeSearchForComparison(view.search.columns === undefined ? others : search)
  );
}

/** Adds a view to the saved views. An existing view with the same name is replaced. */
export function addOrReplaceView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name);
  return others.length === views.length ? [...views, view] : views.map((one) => (one.name === view.name ? view : one));
}

export function removeView(views: readonly SavedView[], name: string): readonly SavedView[] {
  return views.filter((view) => view.name !== name);
}

/** Parses the stored views. An invalid view, which an older release may have stored, is ignored. */
export function parseStoredViews(text: string | undefined): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(kept) ? kept.flatMap(parseStoredView).slice(0, MAX_SAVED_VIEWS) : [];
  } catch {
    return [];
  }
}

function parseStoredView(kept: unknown): SavedView[] {
  if (typeof kept !== 'object' || kept === null || !('name' in kept) || !('search' in kept)) return [];
  const { name, search } = kept;
  if (typeof name !== 'string' || name === '' || typeof search !== 'object' || search === null) return [];
  return [{ name, search: readShipmentUrlParameters(search as Record<string, unknown>) }];
}

function serializeSearchForComparison(search: ShipmentUrlParameters): string {
  return JSON.stringify(Object.entries(search).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns the saved views of the user in this workspace. The browser stores them. */
export function useSavedViews() {
  const { workspace, user } = useSession();
  return useLocalStorage<readonly SavedView[]>({
    key: `shipment-views:${workspace.id}:${user?.id}`,
    defaultValue: [],
    serialize: JSON.stringify,
    deserialize: parseStoredViews,
  });
}
