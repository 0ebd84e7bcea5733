import type { QueryClient } from '@tanstack/react-query';
import {
  Outlet,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { readQueueSearch } from '../exceptions/queue/queue-search.ts';
import { followEvents } from '../live/live-events.tsx';
import { sessionQuery } from '../session/session.ts';
import { readSignInSearch } from '../session/sign-in.ts';
import { readAccountSearch } from '../settings/api-keys/key-queries.ts';
import { readAuditSearch } from '../settings/audit-log/audit-search.ts';
import { readEventSearch } from '../settings/events/event-log.ts';
import { readTeamSearch } from '../settings/team/team.ts';
import { readDeadLetterSearch, readDeliverySearch, readEndpointSearch } from '../settings/webhooks/webhook-search.ts';
import { readDocumentSearch, readTimelineSearch } from '../shipment/shipment-queries.ts';
import { readShipmentSearch } from '../shipments/search/shipment-search.ts';
import { isSignedOut } from './failures.ts';
import { lazyPage } from './lazy.tsx';
import { ErrorAlert, NotFound } from './page.tsx';
import { Shell } from './shell.tsx';

interface Context {
  readonly queryClient: QueryClient;
}
/** The URL names the test environment. A URL without an environment means live. */
interface Everywhere {
  readonly environment?: 'test' | undefined;
}

const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ErrorAlert,
  validateSearch: ({ environment }: Record<string, unknown>): Everywhere =>
    environment === 'test' ? { environment } : {},
  search: { middlewares: [retainSearchParams(['environment'])] },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyPage(() => import('../session/sign-in-page.tsx'), 'SignInPage'),
  validateSearch: readSignInSearch,
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyPage(() => import('../session/invitation-page.tsx'), 'InvitationPage'),
});

/** Parent of all routes that require a session. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Shell,
  beforeLoad: async ({ context, location, search, preload }) => {
    try {
      await context.queryClient.ensureQueryData(sessionQuery(search.environment ?? 'live'));
      if (!preload) followEvents(context.queryClient, search.environment ?? 'live');
    } catch (error) {
      if (isSignedOut(error)) throw redirect({ to: '/sign-in', search: { next: location.href } });
      throw error;
    }
  },
});
const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/shipments', search: true });
  },
});
const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/start',
  component: lazyPage(() => import('../first-use/first-use-page.tsx'), 'FirstUsePage'),
});
const shipments = createRoute({
  getParentRoute: () => signedIn,
  path: '/shipments',
  validateSearch: readShipmentSearch,
  component: lazyPage(() => import('../shipments/shipment-list-page.tsx'), 'ShipmentsPage'),
});
const newShipment = createRoute({
  getParentRoute: () => signedIn,
  path: '/shipments/new',
  component: lazyPage(() => import('../shipments/form/new-shipment-page.tsx'), 'NewShipmentPage'),
});
const importShipments = createRoute({
  getParentRoute: () => signedIn,
  path: '/shipments/import',
  component: lazyPage(() => import('../shipments/import/import-page.tsx'), 'ImportPage'),
});
const editShipment = createRoute({
  getParentRoute: () => signedIn,
  path: '/shipments/$id/edit',
  component: lazyPage(() => import('../shipments/form/edit-shipment-page.tsx'), 'EditShipmentPage'),
});
const shipment = createRoute({
  getParentRoute: () => signedIn,
  path: '/shipments/$id',
  component: lazyPage(() => import('../shipment/shipment-page.tsx'), 'ShipmentPage'),
});
const shipmentOverview = createRoute({
  getParentRoute: () => shipment,
  path: '/',
  component: lazyPage(() => import('../shipment/overview/overview-section.tsx'), 'OverviewSection'),
});
const shipmentTimeline = createRoute({
  getParentRoute: () => shipment,
  path: '/timeline',
  validateSearch: readTimelineSearch,
  component: lazyPage(() => import('../shipment/timeline/timeline-section.tsx'), 'TimelineSection'),
});
const shipmentExceptions = createRoute({
  getParentRoute: () => shipment,
  path: '/exceptions',
  component: lazyPage(() => import('../shipment/exceptions/exceptions-section.tsx'), 'ExceptionsSection'),
});
const shipmentDocuments = createRoute({
  getParentRoute: () => shipment,
  path: '/documents',
  validateSearch: readDocumentSearch,
  component: lazyPage(() => import('../shipment/documents/documents-section.tsx'), 'DocumentsSection'),
});
const shipmentHistory = createRoute({
  getParentRoute: () => shipment,
  path: '/history',
  component: lazyPage(() => import('../shipment/history/history-section.tsx'), 'HistorySection'),
});
const exceptions = createRoute({
  getParentRoute: () => signedIn,
  path: '/exceptions',
  validateSearch: readQueueSearch,
  component: lazyPage(() => import('../exceptions/queue/exceptions-page.tsx'), 'ExceptionsPage'),
});
const shipmentEta = createRoute({
  getParentRoute: () => shipment,
  path: '/eta',
  component: lazyPage(() => import('../shipment/eta/eta-section.tsx'), 'EtaSection'),
});
const shipmentExplanation = createRoute({
  getParentRoute: () => shipment,
  path: '/explanation',
  component: lazyPage(() => import('../shipment/explanation/explanation-section.tsx'), 'ExplanationSection'),
});
const shipmentCalls = createRoute({
  getParentRoute: () => shipment,
  path: '/calls',
  component: lazyPage(() => import('../shipment/calls/calls-section.tsx'), 'CallsSection'),
});
const shipmentSections = [
  ...[shipmentOverview, shipmentTimeline, shipmentEta, shipmentExceptions, shipmentDocuments, shipmentHistory],
  ...[shipmentExplanation, shipmentCalls],
];
const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  component: lazyPage(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
});
const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/api-keys', search: true });
  },
});
const apiKeys = createRoute({
  getParentRoute: () => settings,
  path: '/api-keys',
  component: lazyPage(() => import('../settings/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
});
const webhooks = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks',
  component: lazyPage(() => import('../settings/webhooks/webhooks-section.tsx'), 'WebhooksSection'),
});
const webhookEndpoints = createRoute({
  getParentRoute: () => webhooks,
  path: '/',
  component: lazyPage(() => import('../settings/webhooks/endpoints/endpoints-page.tsx'), 'EndpointsPage'),
});
const newWebhookEndpoint = createRoute({
  getParentRoute: () => webhooks,
  path: '/new',
  component: lazyPage(() => import('../settings/webhooks/endpoints/create-endpoint-page.tsx'), 'CreateEndpointPage'),
});
const webhookEndpoint = createRoute({
  getParentRoute: () => webhooks,
  path: '/$endpointId',
  validateSearch: readEndpointSearch,
  component: lazyPage(() => import('../settings/webhooks/endpoints/endpoint-page.tsx'), 'EndpointPage'),
});
const webhookDeliveries = createRoute({
  getParentRoute: () => webhooks,
  path: '/deliveries',
  validateSearch: readDeliverySearch,
  component: lazyPage(() => import('../settings/webhooks/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
});
const webhookDelivery = createRoute({
  getParentRoute: () => webhooks,
  path: '/deliveries/$deliveryId',
  component: lazyPage(() => import('../settings/webhooks/deliveries/delivery-page.tsx'), 'DeliveryPage'),
});
const webhookDeadLetters = createRoute({
  getParentRoute: () => webhooks,
  path: '/dead-letters',
  validateSearch: readDeadLetterSearch,
  component: lazyPage(() => import('../settings/webhooks/dead-letters/dead-letters-page.tsx'), 'DeadLettersPage'),
});
const webhookReplays = createRoute({
  getParentRoute: () => webhooks,
  path: '/replays',
  component: lazyPage(() => import('../settings/webhooks/replays/replays-page.tsx'), 'ReplaysPage'),
});
const webhookPages = [
  ...([webhookEndpoints, newWebhookEndpoint, webhookEndpoint, webhookDeliveries, webhookDelivery] as const),
  ...([webhookDeadLetters, webhookReplays] as const),
] as const;
const serviceAccounts = createRoute({
  getParentRoute: () => settings,
  path: '/service-accounts',
  validateSearch: readAccountSearch,
  component: lazyPage(() => import('../settings/service-accounts/service-accounts-page.tsx'), 'ServiceAccountsPage'),
});
const team = createRoute({
  getParentRoute: () => settings,
  path: '/team',
  validateSearch: readTeamSearch,
  component: lazyPage(() => import('../settings/team/team-page.tsx'), 'TeamPage'),
});
const auditLog = createRoute({
  getParentRoute: () => settings,
  path: '/audit-log',
  validateSearch: readAuditSearch,
  component: lazyPage(() => import('../settings/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
});
const account = createRoute({
  getParentRoute: () => settings,
  path: '/account',
  component: lazyPage(() => import('../settings/account/account-page.tsx'), 'AccountPage'),
});
const exceptionRules = createRoute({
  getParentRoute: () => settings,
  path: '/exceptions',
  component: lazyPage(() => import('../settings/rules/exception-rules-page.tsx'), 'ExceptionRulesPage'),
});
const requiredDocuments = createRoute({
  getParentRoute: () => settings,
  path: '/required-documents',
  component: lazyPage(() => import('../settings/rules/required-documents-page.tsx'), 'RequiredDocumentsPage'),
});
const events = createRoute({
  getParentRoute: () => settings,
  path: '/events',
  validateSearch: readEventSearch,
  component: lazyPage(() => import('../settings/events/events-page.tsx'), 'EventsPage'),
});
const settingsPages = [serviceAccounts, team, auditLog, account, exceptionRules, requiredDocuments, events] as const;

const routeTree = root.addChildren([
  signIn,
  invitation,
  signedIn.addChildren([
    home,
    start,
    shipments,
    newShipment,
    importShipments,
    editShipment,
    shipment.addChildren(shipmentSections),
    exceptions,
    settings.addChildren([settingsHome, apiKeys, webhooks.addChildren(webhookPages), ...settingsPages]),
  ]),
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    // If a page fails, the surrounding layout stays.
    defaultErrorComponent: ErrorAlert,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
