import { ApiCaller } from './api.ts';
import { Requester } from './http/requester.ts';
import type { ClientOptions } from './call.ts';
import { Documents } from './documents.ts';
import { Events } from './events.ts';
import { Exceptions, Milestones, Places, Shipments } from './shipments.ts';
import { AuditLog, Health, Invitations, Keys, ServiceAccounts, SessionOperations, Settings, Users } from './people.ts';
import { WebhookDeadLetters, WebhookDeliveries, WebhookEndpoints, WebhookReplays } from './webhooks.ts';

/**
 * Client of the shipment tracking API. The client retries requests that are safe to repeat, its reads include its own
 * writes, and it throws a class of error for each error type. One client can make any number of concurrent calls.
 */
export class TrackingClient {
  readonly shipments: Shipments;
  readonly milestones: Milestones;
  readonly exceptions: Exceptions;
  readonly documents: Documents;
  readonly places: Places;
  readonly events: Events;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly webhookDeadLetters: WebhookDeadLetters;
  readonly webhookReplays: WebhookReplays;
  readonly settings: Settings;
  readonly keys: Keys;
  readonly serviceAccounts: ServiceAccounts;
  readonly users: Users;
  readonly invitations: Invitations;
  readonly session: SessionOperations;
  readonly auditLog: AuditLog;
  readonly health: Health;
  private readonly requester: Requester;

  /** @throws TypeError for invalid options */
  constructor(options: ClientOptions) {
    this.requester = new Requester(options);
    const api = new ApiCaller(this.requester);
    this.shipments = new Shipments(api);
    this.milestones = new Milestones(api);
    this.exceptions = new Exceptions(api);
    this.documents = new Documents(api);
    this.places = new Places(api);
    this.events = new Events(api);
    this.webhookEndpoints = new WebhookEndpoints(api);
    this.webhookDeliveries = new WebhookDeliveries(api);
    this.webhookDeadLetters = new WebhookDeadLetters(api);
    this.webhookReplays = new WebhookReplays(api);
    this.settings = new Settings(api);
    this.keys = new Keys(api);
    this.serviceAccounts = new ServiceAccounts(api);
    this.users = new Users(api);
    this.invitations = new Invitations(api);
    this.session = new SessionOperations(api);
    this.auditLog = new AuditLog(api);
    this.health = new Health(api);
  }

  /** Position of this client's last writes, which another client can use. Undefined before the first write. */
  get consistencyToken(): string | undefined {
    return this.requester.tokens.header;
  }

  /** Makes later reads include the writes of the client with this `consistencyToken`. */
  see(consistencyToken: string): void {
    this.requester.tokens.addConsistencyToken(consistencyToken);
  }
}
