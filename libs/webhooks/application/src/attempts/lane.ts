import { isAttempted } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { Backlog } from './backlog.ts';
import type { Pace } from './pace.ts';
import type { Waiting } from './waiting-list.ts';

/** Deliveries held in memory for each attempt that may be under way at once. */
const HELD_PER_ATTEMPT = 64;
/** While it is not known whether the endpoint answers at all: more would only be read, and stored singly, to wait here. */
const HELD_PER_PROBE = 8;
/** An endpoint is behind when the first of what waits for it is overdue by more than this. */
const BEHIND_MS = 500;

/** One endpoint, as its owner sees it: what waits, what is under way, and how fast it may go. */
export class Lane {
  readonly backlog: Backlog;
  /** Undefined until its stored condition was read: nothing is sent before. */
  pace: Pace | undefined;
  /** Requests under way. */
  attempting = 0;
  /** Deliveries under way, until their outcome is stored. */
  readonly busy = new Set<string>();
  /** False once the shard was lost or the endpoint deleted. */
  active = true;
  /** While it is being filled. */
  filling: Promise<void> | undefined;
  /** Whether what waits is being brought forward at the moment. */
  recovering = false;
  /** How far that has come, of the recovery that began then. */
  recovered: { readonly since: number; readonly upTo: readonly string[] } | undefined;
  /** Something of ours stands in the way of its attempts until then, in epoch milliseconds. */
  blockedUntil = -Infinity;
  usedAt = performance.now();

  /**
   * @param epoch of the lease under which it is owned
   * @param empty whether nothing is stored that waits for this endpoint
   */
  constructor(
    public endpoint: EndpointDocument,
    readonly epoch: number,
    empty: boolean,
  ) {
    this.backlog = new Backlog(empty);
  }

  get id(): string {
    return this.endpoint.id;
  }
  get workspace(): string {
    return this.endpoint.workspace_id;
  }

  /** Scheduled deliveries to hold in memory; none while the endpoint is not attempted. */
  get room(): number {
    const { allowed: atOnce, probing } = this.pace ?? { allowed: this.endpoint.max_concurrency, probing: true };
    return isAttempted(this.endpoint) ? atOnce * (probing ? HELD_PER_PROBE : HELD_PER_ATTEMPT) : 0;
  }

  get idle(): boolean {
    const { scheduled, express, complete } = this.backlog;
    return this.busy.size === 0 && scheduled.size === 0 && express.size === 0 && complete && !this.recovering;
  }

  /** Whether what comes next would not be attempted soon. */
  isBehind(now: number): boolean {
    const { firstDue } = this.backlog;
    return firstDue !== undefined && now - firstDue > BEHIND_MS;
  }

  setEndpoint(endpoint: EndpointDocument): void {
    if (endpoint.revision < this.endpoint.revision) return;
    const stopped = isAttempted(this.endpoint) && !isAttempted(endpoint);
    this.endpoint = endpoint;
    if (this.pace !== undefined) this.pace.limit = endpoint.max_concurrency;
    // It waits on disk, for as long as it takes.
    if (stopped) this.backlog.forget();
  }

  canTake(now: number): boolean {
    if (this.pace === undefined || !this.active || this.attempting >= this.pace.limit) return false;
    if (now < this.blockedUntil) return false;
    return this.backlog.express.some(this.mayGo) || this.scheduledIsDue(this.pace, now);
  }

  /** The next delivery to attempt now. */
  take(now: number): Waiting | undefined {
    if (!this.canTake(now) || this.pace === undefined) return undefined;
    const due = this.scheduledIsDue(this.pace, now);
    const item = this.backlog.express.take(this.mayGo) ?? (due ? this.backlog.scheduled.shift() : undefined);
    if (item !== undefined) this.busy.add(item.id);
    return item;
  }

  /** When there may be something to attempt, in epoch milliseconds, if nothing else happens. */
  get nextMoment(): number | undefined {
    if (this.pace === undefined || this.attempting >= this.pace.limit) return undefined;
    if (this.backlog.express.some(this.mayGo)) return this.blockedUntil;
    const first = this.backlog.scheduled.first;
    if (first === undefined || this.attempting >= this.pace.allowed || !isAttempted(this.endpoint)) return undefined;
    return Math.max(first.due, this.pace.heldUntil, this.pace.restsUntil, this.blockedUntil);
  }

  /** Sandbox events go to every endpoint with a verified URL, all else to enabled ones only. */
  readonly mayGo = ({ delivery }: Waiting): boolean =>
    delivery.sandbox ? this.endpoint.verified : isAttempted(this.endpoint);

  private scheduledIsDue(pace: Pace, now: number): boolean {
    const first = this.backlog.scheduled.first;
    if (first === undefined || first.due > now || now < pace.heldUntil || now < pace.restsUntil) return false;
    return this.attempting < pace.allowed && isAttempted(this.endpoint);
  }
}
