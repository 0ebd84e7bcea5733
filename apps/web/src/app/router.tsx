import type { QueryClient } from '@tanstack/react-query';
import {
  Outlet,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { readExceptionQueueUrlParameters } from '../exceptions/queue/queue-search.ts';
import { startLiveFeed } from '../live/live-events.tsx';
import { sessionQuery } from '../session/session.ts';
import { readSignInUrlParameters } from '../session/sign-in.ts';
import { readServiceAccountUrlParameters } from '../settings/api-keys/key-queries.ts';
import { readAuditLogUrlParameters } from '../settings/audit-log/audit-search.ts';
import { readEventUrlParameters } from '../settings/events/event-log.ts';
import { readTeamUrlParameters } from '../settings/team/team.ts';
import {
  readDeadLetterUrlParameters,
  readDeliveryListUrlParameters,
  readEndpointUrlParameters,
} from '../settings/webhooks/webhook-search.ts';
import { readDocumentUrlParameters, readTimelineUrlParameters } from '../shipment/shipment-queries.ts';
import { readShipmentUrlParameters } from '../shipments/search/shipment-search.ts';
import { isSignedOutError } from './failures.ts';
import { createLazyPage } from './lazy.tsx';
import { ErrorAlert, PageNotFound } from './page.tsx';
import { PageShell } from './shell.tsx';

/** Environment parameter of every URL. A URL without the parameter shows live data. */
interface EnvironmentUrlParameters {
  readonly environment?: 'test' | undefined;
}

const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: PageNotFound,
  errorComponent: ErrorAlert,
  validateSearch: ({ environment }: Record<string, unknown>): EnvironmentUrlParameters =>
    environment === 'test' ? { environment } : {},
  search: { middlewares: [retainSearchParams(['environment'])] },
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: createLazyPage(() => import('../session/sign-in-page.tsx'), 'SignInPage'),
  validateSearch: readSignInUrlParameters,
});
const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: createLazyPage(() => import('../session/invitation-page.tsx'), 'InvitationPage'),
});

/** Parent of all routes that require a session. */
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: PageShell,
  beforeLoad: async ({ context, location, search, preload }) => {
    try {
      await context.queryClient.ensureQueryData(sessionQuery(search.environment ?? 'live'));
      if (!preload) startLiveFeed(context.queryClient, search.environment ?? 'live');
    } catch (error) {
      if (isSignedOutError(error)) throw redirect({ to: '/sign-in', search: { next: location.href } });
      throw error;
    }
  },
});
const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/shipments', search: true });
  },
});
const firstStepsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/start',
  component: createLazyPage(() => import('../first-use/first-use-page.tsx'), 'FirstUsePage'),
});
const shipmentsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/shipments',
  validateSearch: readShipmentUrlParameters,
  component: createLazyPage(() => import('../shipments/shipment-list-page.tsx'), 'ShipmentsPage'),
});
const newShipmentRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/shipments/new',
  component: createLazyPage(() => import('../shipments/form/new-shipment-page.tsx'), 'NewShipmentPage'),
});
const importShipmentsPageRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/shipments/import',
  component: createLazyPage(() => import('../shipments/import/import-page.tsx'), 'ImportPage'),
});
const editShipmentPageRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/shipments/$id/edit',
  component: createLazyPage(() => import('../shipments/form/edit-shipment-page.tsx'), 'EditShipmentPage'),
});
const shipmentRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/shipments/$id',
  component: createLazyPage(() => import('../shipment/shipment-page.tsx'), 'ShipmentDetailsPage'),
});
const shipmentOverviewRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/',
  component: createLazyPage(() => import('../shipment/overview/overview-section.tsx'), 'ShipmentOverviewSection'),
});
const shipmentTimelineRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/timeline',
  validateSearch: readTimelineUrlParameters,
  component: createLazyPage(() => import('../shipment/timeline/timeline-section.tsx'), 'TimelineSection'),
});
const shipmentExceptionsRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/exceptions',
  component: createLazyPage(() => import('../shipment/exceptions/exceptions-section.tsx'), 'ExceptionsSection'),
});
const shipmentDocumentsRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/documents',
  validateSearch: readDocumentUrlParameters,
  component: createLazyPage(() => import('../shipment/documents/documents-section.tsx'), 'DocumentsSection'),
});
const shipmentHistoryRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/history',
  component: createLazyPage(() => import('../shipment/history/history-section.tsx'), 'HistorySection'),
});
const exceptionsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/exceptions',
  validateSearch: readExceptionQueueUrlParameters,
  component: createLazyPage(() => import('../exceptions/queue/exceptions-page.tsx'), 'ExceptionsPage'),
});
const shipmentEtaRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/eta',
  component: createLazyPage(() => import('../shipment/eta/eta-section.tsx'), 'EtaSection'),
});
const shipmentExplanationRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/explanation',
  component: createLazyPage(() => import('../shipment/explanation/explanation-section.tsx'), 'ExplanationSection'),
});
const shipmentApiRequestsRoute = createRoute({
  getParentRoute: () => shipmentRoute,
  path: '/calls',
  component: createLazyPage(() => import('../shipment/calls/calls-section.tsx'), 'ShipmentJsonAndCurlSection'),
});
const shipmentSectionRoutes = [
  ...[shipmentOverviewRoute, shipmentTimelineRoute, shipmentEtaRoute, shipmentExceptionsRoute],
  ...[shipmentDocumentsRoute, shipmentHistoryRoute, shipmentExplanationRoute, shipmentApiRequestsRoute],
];
const settingsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/settings',
  component: createLazyPage(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
});
const settingsIndexRedirectRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/api-keys', search: true });
  },
});
const apiKeysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/api-keys',
  component: createLazyPage(() => import('../settings/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
});
const webhooksRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/webhooks',
  component: createLazyPage(() => import('../settings/webhooks/webhooks-section.tsx'), 'WebhookPagesPermissionGate'),
});
const webhookEndpointsRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/',
  component: createLazyPage(() => import('../settings/webhooks/endpoints/endpoints-page.tsx'), 'EndpointsPage'),
});
const newWebhookEndpointRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/new',
  component: createLazyPage(
    () => import('../settings/webhooks/endpoints/create-endpoint-page.tsx'),
    'CreateEndpointPage',
  ),
});
const webhookEndpointRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/$endpointId',
  validateSearch: readEndpointUrlParameters,
  component: createLazyPage(() => import('../settings/webhooks/endpoints/endpoint-page.tsx'), 'EndpointPage'),
});
const webhookDeliveriesRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/deliveries',
  validateSearch: readDeliveryListUrlParameters,
  component: createLazyPage(() => import('../settings/webhooks/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
});
const webhookDeliveryRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/deliveries/$deliveryId',
  component: createLazyPage(() => import('../settings/webhooks/deliveries/delivery-page.tsx'), 'DeliveryDetailsPage'),
});
const webhookDeadLettersRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/dead-letters',
  validateSearch: readDeadLetterUrlParameters,
  component: createLazyPage(() => import('../settings/webhooks/dead-letters/dead-letters-page.tsx'), 'DeadLettersPage'),
});
const webhookReplaysRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/replays',
  component: createLazyPage(() => import('../settings/webhooks/replays/replays-page.tsx'), 'ReplaysPage'),
});
const webhookRoutes = [
  ...([webhookEndpointsRoute, newWebhookEndpointRoute, webhookEndpointRoute] as const),
  ...([webhookDeliveriesRoute, webhookDeliveryRoute, webhookDeadLettersRoute, webhookReplaysRoute] as const),
] as const;
const serviceAccountsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/service-accounts',
  validateSearch: readServiceAccountUrlParameters,
  component: createLazyPage(
    () => import('../settings/service-accounts/service-accounts-page.tsx'),
    'ServiceAccountsPage',
  ),
});
const teamRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/team',
  validateSearch: readTeamUrlParameters,
  component: createLazyPage(() => import('../settings/team/team-page.tsx'), 'TeamPage'),
});
const auditLogRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/audit-log',
  validateSearch: readAuditLogUrlParameters,
  component: createLazyPage(() => import('../settings/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
});
const accountRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/account',
  component: createLazyPage(() => import('../settings/account/account-page.tsx'), 'AccountPage'),
});
const exceptionRulesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/exceptions',
  component: createLazyPage(() => import('../settings/rules/exception-rules-page.tsx'), 'ExceptionRulesPage'),
});
const requiredDocumentsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/required-documents',
  component: createLazyPage(() => import('../settings/rules/required-documents-page.tsx'), 'RequiredDocumentsPage'),
});
const eventsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/events',
  validateSearch: readEventUrlParameters,
  component: createLazyPage(() => import('../settings/events/events-page.tsx'), 'EventsPage'),
});
const settingsPageRoutes = [
  ...([settingsIndexRedirectRoute, apiKeysRoute, serviceAccountsRoute, teamRoute, auditLogRoute] as const),
  ...([accountRoute, exceptionRulesRoute, requiredDocumentsRoute, eventsRoute] as const),
] as const;

const routeTree = rootRoute.addChildren([
  signInRoute,
  invitationRoute,
  signedInRoute.addChildren([
    homeRoute,
    firstStepsRoute,
    shipmentsRoute,
    newShipmentRoute,
    importShipmentsPageRoute,
    editShipmentPageRoute,
    shipmentRoute.addChildren(shipmentSectionRoutes),
    exceptionsRoute,
    settingsRoute.addChildren([...settingsPageRoutes, webhooksRoute.addChildren(webhookRoutes)]),
  ]),
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    // If a page fails to render, the error replaces only the page. The surrounding layout stays.
    defaultErrorComponent: ErrorAlert,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
