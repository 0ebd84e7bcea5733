import { Link } from '@tanstack/react-router';
import { useShipment } from '../current-shipment.ts';

/** To where a milestone can be looked at. */
export function MilestoneLink({ id, label }: { readonly id: string; readonly label: string }) {
  const shipment = useShipment();
  return (
    <Link to="/shipments/$id/timeline" params={{ id: shipment.id }} search={{ milestone: id }} className="link">
      {label}
    </Link>
  );
}
