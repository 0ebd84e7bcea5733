import { Badge } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import type { Shipment } from '@tracking/client';
import { useEffect, useRef } from 'react';
import { useShipment } from './current-shipment.ts';
import classes from './section-links.module.css';

type Name = 'timeline' | 'eta' | 'exceptions' | 'documents' | 'history' | 'explanation' | 'calls';

interface Section {
  readonly to: '/shipments/$id' | `/shipments/$id/${Name}`;
  readonly label: string;
  /** How many there are of what it shows; nothing where there are none. */
  readonly count?: (shipment: Shipment) => number;
}

/** A section is a route below `/shipments/$id` and a folder beside this file. */
const SECTIONS: readonly Section[] = [
  { to: '/shipments/$id', label: 'Overview' },
  { to: '/shipments/$id/timeline', label: 'Timeline' },
  { to: '/shipments/$id/eta', label: 'ETA' },
  { to: '/shipments/$id/exceptions', label: 'Exceptions', count: ({ open_exceptions_count }) => open_exceptions_count },
  { to: '/shipments/$id/documents', label: 'Documents', count: ({ documents_count }) => documents_count },
  { to: '/shipments/$id/history', label: 'History' },
  { to: '/shipments/$id/explanation', label: 'Why' },
  { to: '/shipments/$id/calls', label: 'API' },
];

export function SectionLinks() {
  const shipment = useShipment();
  const links = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a narrow page not all of them are in view.
  useEffect(() => {
    links.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);
  return (
    <nav ref={links} className={classes['sections']} aria-label="Sections of the shipment">
      {SECTIONS.map(({ to, label, count }) => {
        const number = count?.(shipment) ?? 0;
        return (
          <Link
            key={to}
            to={to}
            params={{ id: shipment.id }}
            activeOptions={{ exact: true, includeSearch: false }}
            resetScroll={false}
            className={classes['section']}
          >
            {label}
            {number > 0 && (
              <Badge size="sm" variant="light" color="gray" miw="max-content" autoContrast>
                {number}
              </Badge>
            )}
          </Link>
        );
      })}
    </nav>
  );
}
