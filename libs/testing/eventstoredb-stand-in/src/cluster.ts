import { EmbeddedSqliteEngine } from '@tracking/embedded';
import type { Logger, Metrics } from '@tracking/ports';
import type { InjectedFaults } from './faults.ts';
import { StandInNode, type StandInNodeSettings } from './node.ts';
import { StandInStreamStore } from './stream-store.ts';

/**
 * Limits of the store. The stand-in checks the size of an append when the append arrives; the stored form can have more
 * bytes.
 */
const EVENT_STORE_LIMITS = { appendBytes: 16 * 1_048_576 };

/** Milliseconds after which the nodes notice that their leader is gone. Until then, their gossip still names it. */
const LEADER_LOSS_DETECTION_MS = 700;
/** Milliseconds of an election, in which no node accepts requests. */
const ELECTION_MS = 700;

interface StandInClusterOptions extends StandInNodeSettings {
  readonly folder: string;
  /** Port of each node. The first node is the leader at the start. */
  readonly ports: readonly number[];
}

const doNothing = () => undefined;
const consoleWarningLogger: Logger = { debug: doNothing, info: doNothing, warn: console.error, error: console.error };
const silentMetrics: Metrics = {
  createCounter: () => ({ add: doNothing }),
  createGauge: () => ({ set: doNothing }),
  createHistogram: () => ({ observe: doNothing }),
};

/** Nodes that share one log, or a single node. The nodes run in this process, so that one of them can fail alone. */
export class StandInCluster {
  private readonly nodes: StandInNode[] = [];
  private leader: StandInNode | undefined;
  private election: NodeJS.Timeout | undefined;

  private constructor(private readonly engine: EmbeddedSqliteEngine) {}

  static async startStandInCluster(options: StandInClusterOptions): Promise<StandInCluster> {
    const { folder, ports, ...settings } = options;
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder,
      logger: consoleWarningLogger,
      metrics: silentMetrics,
      limits: EVENT_STORE_LIMITS,
    });
    const streams = await StandInStreamStore.openStreamStore(engine.eventStore);
    const cluster = new StandInCluster(engine);
    for (const port of ports) {
      const { nodes } = cluster;
      nodes.push(new StandInNode({ port, streams, settings, cluster: { nodes, findLeader: () => cluster.leader } }));
    }
    [cluster.leader] = cluster.nodes;
    for (const node of cluster.nodes) await node.startStandInNode();
    return cluster;
  }

  /** Sets faults of one node. @throws RangeError if there is no such node */
  async setFaults(index: number, faults: InjectedFaults): Promise<void> {
    const node = this.getClusterNode(index);
    node.faults.setFaults(faults);
    if (faults.down === true) node.cutAndRefuseConnections();
    if (faults.down === false) await node.listen();
    if (faults.lag === true) await node.log.pauseLogReplicationToNode();
    if (faults.lag === false) node.log.resumeReplication();
    if (faults.lead === true) this.setLeaderNode(node);
    else if (this.leader?.isAlive !== true) this.electLeaderNode();
  }

  countSubscriptions(index: number): number {
    return this.getClusterNode(index).faults.subscriptionCount;
  }

  /** Stops like nodes that receive SIGTERM: subscriptions end with an error before the connections close. */
  async stopCluster(): Promise<void> {
    clearTimeout(this.election);
    await Promise.all(this.nodes.map((node) => node.stopStandInNode()));
    await this.engine.closeEngine();
  }

  private getClusterNode(index: number): StandInNode {
    const node = this.nodes[index];
    if (node === undefined) throw new RangeError(`the cluster has no node ${index}`);
    return node;
  }

  private setLeaderNode(node: StandInNode | undefined): void {
    clearTimeout(this.election);
    this.election = undefined;
    node?.log.resumeReplication();
    this.leader = node;
  }

  /** Elects a leader that can lead, as soon as the loss of the former leader is noticed. */
  private electLeaderNode(): void {
    this.election ??= setTimeout(
      () => {
        this.leader = undefined;
        this.election = setTimeout(() => this.setLeaderNode(this.nodes.find(({ isAlive }) => isAlive)), ELECTION_MS);
      },
      this.leader === undefined ? 0 : LEADER_LOSS_DETECTION_MS,
    );
  }
}
