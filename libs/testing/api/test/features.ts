import { DocumentsHttpModule } from '@tracking/documents-http';
import type { DependenciesOf, HttpDependencies } from '@tracking/http';
import { IdentityHttpModule } from '@tracking/identity-http';
import { EventsHttpModule, ShipmentsHttpModule } from '@tracking/shipments-http';
import { WebhooksHttpModule } from '@tracking/webhooks-http';

/** The HTTP modules of the public API, as the gateway lists them. */
export const TESTED_HTTP_MODULES = [
  ShipmentsHttpModule,
  DocumentsHttpModule,
  EventsHttpModule,
  WebhooksHttpModule,
  IdentityHttpModule,
];
export type ApiDependencies = HttpDependencies & DependenciesOf<(typeof TESTED_HTTP_MODULES)[number]>;
