import { connectivityState, experimental, type Metadata, type StatusObject } from '@grpc/grpc-js';
import { computeRendezvousScore, monotonicMs } from '@tracking/resilience';

/** Name of the load balancing policy in the service configuration of a channel. */
const REPLICA_BALANCER_NAME = 'tracking_replicas';
/** Metadata of a call that selects the replica. All callers send the calls with the same key to the same replica. */
const ROUTING_KEY_METADATA_NAME = 'routing-key';
/**
 * Milliseconds without a response after which a replica with running calls gets no further calls, as long as another
 * replica responds.
 */
const MAX_REPLICA_SILENCE_MS = 1_000;

/**
 * Milliseconds between two look-ups of the replicas' addresses, ± 20 %. A lost connection causes a look-up too. No
 * connection is lost when a replica is added, so that only these look-ups find it soon.
 */
const REPLICA_LOOK_UP_INTERVAL_MS = 5_000;

/** Metadata of a call that names its replica. If this replica is not ready, the call fails. */
const REPLICA_NAME_METADATA_KEY = 'replica-name';

export function addReplicaNameToCall(metadata: Metadata, name: string): void {
  metadata.set(REPLICA_NAME_METADATA_KEY, name);
}

/** A replica that is selected for a request outside of gRPC's own calls. */
export interface SelectedReplica {
  /** Address, by which all callers know the replica. */
  readonly name: string;
  /** Counts a running request. Returns a function to call when the request has ended. */
  trackRunningRequestUntilEnd(): (isAnswered: boolean) => void;
}

/** Pickers of ready replicas, by the name of their channel. */
const REPLICA_PICKERS_BY_CHANNEL = new Map<string, ReplicaPicker>();

/** Returns the replica to which a call with this routing key would go; undefined if no replica is ready. */
export function selectReplica(channelName: string, routingKey: string): SelectedReplica | undefined {
  return REPLICA_PICKERS_BY_CHANNEL.get(channelName)?.selectReplicaOfKey(routingKey);
}

/** Returns the service configuration of a channel that uses this policy. @param channelName unique in the process */
export function createBalancingConfig(channelName: string): string {
  return JSON.stringify({ loadBalancingConfig: [{ [REPLICA_BALANCER_NAME]: { channelName } }] });
}

export function addRoutingKeyToCall(metadata: Metadata, key: string): void {
  metadata.set(ROUTING_KEY_METADATA_NAME, key);
}

/** A replica of a service, with the calls that it has not answered. */
class ServiceReplica implements SelectedReplica {
  readonly balancer: experimental.LeafLoadBalancer;
  /** Times at which the running calls started, in their order. */
  private readonly callStarts = new Set<{ readonly at: number }>();
  private lastResponseAt = -Infinity;

  /** @param name address, by which all callers know the replica */
  constructor(
    readonly name: string,
    createBalancer: () => experimental.LeafLoadBalancer,
  ) {
    this.balancer = createBalancer();
  }

  get isReady(): boolean {
    return this.balancer.getConnectivityState() === connectivityState.READY;
  }

  /** Returns true if calls are running and none of them got a response for a while. */
  isUnresponsive(now: number): boolean {
    const [oldest] = this.callStarts;
    return oldest !== undefined && now - Math.max(oldest.at, this.lastResponseAt) > MAX_REPLICA_SILENCE_MS;
  }

  trackRunningRequestUntilEnd(): (isAnswered: boolean) => void {
    const call = { at: monotonicMs() };
    this.callStarts.add(call);
    return (isAnswered) => {
      this.callStarts.delete(call);
      if (isAnswered) this.lastResponseAt = monotonicMs();
    };
  }

  /** Selects this replica for a call. */
  pickReplicaForCall(args: experimental.PickArgs): experimental.PickResult {
    const picked = this.pickConnectionForLongCall(args);
    if (picked.pickResultType !== experimental.PickResultType.COMPLETE) return picked;
    let endRequest: ReturnType<typeof this.trackRunningRequestUntilEnd> | undefined;
    return {
      ...picked,
      onCallStarted: () => {
        picked.onCallStarted?.();
        endRequest = this.trackRunningRequestUntilEnd();
      },
      onCallEnded: (code, details, metadata) => {
        picked.onCallEnded?.(code, details, metadata);
        endRequest?.(code === 0);
      },
    };
  }

  /** Selects this replica for a long call, whose requests are counted instead. */
  pickConnectionForLongCall(args: experimental.PickArgs): experimental.PickResult {
    return this.balancer.getPicker().pick(args);
  }
}

/** Selects a ready replica for each call. */
class ReplicaPicker implements experimental.Picker {
  constructor(
    /** Ready replicas, at least one. */
    private readonly replicas: readonly ServiceReplica[],
    private next: number,
  ) {}

  pick(args: experimental.PickArgs): experimental.PickResult {
    const [name] = args.metadata.get(REPLICA_NAME_METADATA_KEY);
    const [key] = args.metadata.get(ROUTING_KEY_METADATA_NAME);
    const picked =
      name !== undefined
        ? this.replicas.find((replica) => replica.name === name)?.pickConnectionForLongCall(args)
        : (key === undefined ? this.pickNextReplica() : this.selectReplicaOfKey(String(key)))?.pickReplicaForCall(args);
    return picked ?? new experimental.UnavailablePicker().pick(args);
  }

  selectReplicaOfKey(key: string): ServiceReplica | undefined {
    return findReplicaByRendezvousHash(this.listResponsiveReplicas(), key);
  }

  private listResponsiveReplicas(): readonly ServiceReplica[] {
    const now = monotonicMs();
    const responding = this.replicas.filter((replica) => !replica.isUnresponsive(now));
    return responding.length > 0 ? responding : this.replicas;
  }

  private pickNextReplica(): ServiceReplica | undefined {
    const candidates = this.listResponsiveReplicas();
    this.next += 1;
    return candidates[this.next % candidates.length];
  }
}

/** Returns the replica with the highest score for the key (rendezvous hashing). */
function findReplicaByRendezvousHash(replicas: readonly ServiceReplica[], key: string): ServiceReplica | undefined {
  if (replicas.length <= 1) return replicas[0];
  const scored = replicas.map((replica) => ({ replica, score: computeRendezvousScore(replica.name, key) }));
  return scored.reduce((best, other) => (other.score > best.score ? other : best)).replica;
}

class ReplicaBalancingConfig implements experimental.TypedLoadBalancingConfig {
  constructor(readonly channelName: string) {}

  static createFromJson({ channelName }: { readonly channelName: string }): ReplicaBalancingConfig {
    return new ReplicaBalancingConfig(channelName);
  }

  getLoadBalancerName(): string {
    return REPLICA_BALANCER_NAME;
  }

  toJsonObject(): object {
    return { [REPLICA_BALANCER_NAME]: { channelName: this.channelName } };
  }
}

/**
 * gRPC load balancing policy that connects to all replicas of a service. A call with a routing key goes to the same
 * ready replica each time, and only moves if this replica is not ready or silent, or if a replica with a higher score
 * is added. Calls without a key go to all replicas in turn.
 */
class ReplicaBalancer implements experimental.LoadBalancer {
  private replicas: ReadonlyMap<string, ServiceReplica> = new Map();
  private state = connectivityState.IDLE;
  private channelName: string | undefined;
  private isUpdating = false;
  private lastError = 'no connection was attempted';
  private lookUpTimer = this.scheduleReplicaLookUp();

  constructor(private readonly channel: experimental.ChannelControlHelper) {}

  updateAddressList(
    endpoints: experimental.StatusOr<experimental.Endpoint[]>,
    config: experimental.TypedLoadBalancingConfig,
    options: Parameters<experimental.LoadBalancer['updateAddressList']>[2],
    note: string,
  ): boolean {
    if (!(config instanceof ReplicaBalancingConfig)) return false;
    this.channelName = config.channelName;
    if (!endpoints.ok) {
      if (this.replicas.size === 0) this.failChannelWithoutUsableReplica(endpoints.error);
      return true;
    }
    // Balancers of new replicas report their state before all replicas are known.
    this.isUpdating = true;
    const former = this.replicas;
    this.replicas = new Map(
      endpoints.value.map((endpoint): [string, ServiceReplica] => {
        const name = experimental.endpointToString(endpoint);
        return [name, former.get(name) ?? this.connectToReplica(name, endpoint, options, note)];
      }),
    );
    for (const [name, { balancer }] of former) if (!this.replicas.has(name)) balancer.destroy();
    this.isUpdating = false;
    if (this.replicas.size === 0)
      this.failChannelWithoutUsableReplica({ details: `the service has no addresses: ${note}` });
    else this.updateChannelState();
    return true;
  }

  exitIdle(): void {
    // All replicas stay connected, so this policy is never idle while it has addresses.
  }

  resetBackoff(): void {
    // The replicas have the pauses between attempts to connect, and not this policy.
  }

  destroy(): void {
    clearTimeout(this.lookUpTimer);
    for (const { balancer } of this.replicas.values()) balancer.destroy();
    this.replicas = new Map();
    if (this.channelName !== undefined) REPLICA_PICKERS_BY_CHANNEL.delete(this.channelName);
  }

  getTypeName(): string {
    return REPLICA_BALANCER_NAME;
  }

  private scheduleReplicaLookUp(): NodeJS.Timeout {
    const delayMs = REPLICA_LOOK_UP_INTERVAL_MS * (0.8 + 0.4 * Math.random());
    return setTimeout(() => {
      this.lookUpTimer = this.scheduleReplicaLookUp();
      this.channel.requestReresolution();
    }, delayMs).unref();
  }

  private connectToReplica(
    name: string,
    endpoint: experimental.Endpoint,
    options: Parameters<experimental.LoadBalancer['updateAddressList']>[2],
    note: string,
  ): ServiceReplica {
    const helper = experimental.createChildChannelControlHelper(this.channel, {
      updateState: (state, _picker, error) => {
        // Looks up the replicas again after a lost connection.
        if (this.state === connectivityState.READY && state !== connectivityState.READY)
          this.channel.requestReresolution();
        if (error !== null) this.lastError = error;
        this.updateChannelState();
      },
    });
    const replica = new ServiceReplica(name, () => new experimental.LeafLoadBalancer(endpoint, helper, options, note));
    replica.balancer.startConnecting();
    return replica;
  }

  private updateChannelState(): void {
    if (this.isUpdating) return;
    const replicas = [...this.replicas.values()];
    const hasState = (state: connectivityState) =>
      replicas.some(({ balancer }) => balancer.getConnectivityState() === state);
    const ready = replicas.filter(({ isReady }) => isReady);
    // A random start spreads the first calls of all callers over the replicas.
    const first = Math.floor(Math.random() * ready.length);
    if (ready.length > 0) this.setChannelState(connectivityState.READY, new ReplicaPicker(ready, first));
    else if (hasState(connectivityState.CONNECTING) || hasState(connectivityState.IDLE))
      this.setChannelState(connectivityState.CONNECTING, new experimental.QueuePicker(this));
    else this.failChannelWithoutUsableReplica({ details: `no replica can be reached: ${this.lastError}` });
    for (const { balancer } of replicas)
      if (balancer.getConnectivityState() === connectivityState.IDLE) balancer.exitIdle();
  }

  private failChannelWithoutUsableReplica(failure: Partial<StatusObject>): void {
    const picker = new experimental.UnavailablePicker(failure);
    this.setChannelState(connectivityState.TRANSIENT_FAILURE, picker, failure.details);
  }

  private setChannelState(state: connectivityState, picker: experimental.Picker, error: string | null = null): void {
    this.state = state;
    if (this.channelName !== undefined) {
      if (picker instanceof ReplicaPicker) REPLICA_PICKERS_BY_CHANNEL.set(this.channelName, picker);
      else REPLICA_PICKERS_BY_CHANNEL.delete(this.channelName);
    }
    this.channel.updateState(state, picker, error);
  }
}

experimental.registerLoadBalancerType(REPLICA_BALANCER_NAME, ReplicaBalancer, ReplicaBalancingConfig);
