import { InProcessLeases } from '@tracking/embedded';
import type { CheckRulesCommand } from '@tracking/shipments-domain';
import { type LogLine, RecordedMetrics, createRecordingLogger } from '@tracking/testing';
import { ShipmentRecheckJob, type RecheckJobDependencies } from '../src/clock/recheck-job.ts';
import type {
  UnsettledShipmentReader,
  RequestedShipmentRecheck,
  RecheckProgressRecord,
  RecheckStore,
} from '../src/clock/rechecks.ts';
import { SAMPLE_DAY_START_MS, createNthShipmentId } from './clock-test-harness.ts';
import { SimulatedKillableProcess } from './killable-process.ts';

const METHODS_RECORDED_BY_HARNESS: ReadonlySet<string> = new Set<
  keyof RecheckJobDependencies['shipments'] | keyof RecheckStore
>(['checkRules', 'storeRecheckProgress']);

interface RequestedRecheck {
  readonly recheck: RequestedShipmentRecheck;
  readonly isDone: boolean;
}

/** Stores changes of settings and the progress of re-checks, in memory. */
class RechecksInMemory implements RecheckStore {
  private readonly changes = new Map<string, RequestedRecheck>();
  /** Stored progress in order, one text per write, such as `wsp_1 shp_… 3`. */
  readonly stored: string[] = [];

  /** Changes the workspace's settings. The first change makes version 2. */
  changeSettings(workspace_id: string): void {
    const version = (this.changes.get(workspace_id)?.recheck.version ?? 1) + 1;
    const recheck = { workspace_id, version, step: 0, isRunning: false, after: null, checked: 0 };
    this.changes.set(workspace_id, { recheck, isDone: false });
  }

  getRecheck(workspaceId: string): (RequestedShipmentRecheck & { readonly isDone: boolean }) | undefined {
    const change = this.changes.get(workspaceId);
    return change && { ...change.recheck, isDone: change.isDone };
  }

  async listUnfinishedRechecks(after: string | undefined, limit: number): Promise<readonly RequestedShipmentRecheck[]> {
    const all = [...this.changes.values()].flatMap(({ recheck, isDone }) => (isDone ? [] : [recheck]));
    const sorted = all.sort((one, other) => (one.workspace_id < other.workspace_id ? -1 : 1));
    return sorted.filter(({ workspace_id }) => after === undefined || workspace_id > after).slice(0, limit);
  }

  async storeRecheckProgress(
    recheck: RequestedShipmentRecheck,
    progress: RecheckProgressRecord,
  ): Promise<RequestedShipmentRecheck | undefined> {
    const { workspace_id } = recheck;
    const { after, checked, isDone } = progress;
    const present = this.changes.get(workspace_id)?.recheck;
    if (present?.version !== recheck.version || present.step !== recheck.step) return undefined;
    const advanced = { ...present, step: present.step + 1, isRunning: true, after, checked };
    this.changes.set(workspace_id, { recheck: advanced, isDone });
    this.stored.push(`${workspace_id} ${after === null ? '-' : after.slice(-4)} ${checked}${isDone ? ' done' : ''}`);
    return advanced;
  }
}

/** A re-check job for tests. The test controls its inputs and its time. */
export class RecheckTestHarness {
  /** Monotonic clock in milliseconds. */
  elapsed = 0;
  /** Simulated duration of a check, which the test sets, in milliseconds. */
  takes = 0;
  /** Maximum number of concurrent checks so far. */
  most = 0;
  /** Last position of the log, and position of the read model. */
  head: string | undefined = '5';
  shown = '5';
  /** Version of the settings that this process uses; defaults to the newest version. */
  knows: number | undefined;
  readonly commands: CheckRulesCommand[] = [];
  readonly rests: number[] = [];
  /** Number of reads of shipments, and number of shipments returned. */
  readonly looks: [asked: number, given: number][] = [];
  readonly lines: LogLine[] = [];
  readonly metrics = new RecordedMetrics();
  readonly job: ShipmentRecheckJob;
  private readonly open = new Map<string, string[]>();
  private underWay = 0;

  /** @param otherwise error to throw for a command instead of executing it */
  constructor(
    private readonly otherwise: (command: CheckRulesCommand) => Error | undefined = () => undefined,
    parts: Partial<RecheckJobDependencies> = {},
    readonly rechecks = new RechecksInMemory(),
    process = new SimulatedKillableProcess(),
  ) {
    const unsettledShipments: UnsettledShipmentReader = {
      listUnsettledShipments: (...asked) => this.listUnsettledShipments(...asked),
    };
    this.job = new ShipmentRecheckJob({
      shipments: process.makeMethodsKillable(
        { checkRules: (command) => this.answerCheckRulesCommandForTest(command as CheckRulesCommand) },
        {},
        METHODS_RECORDED_BY_HARNESS,
      ),
      rechecks: process.makeMethodsKillable(rechecks as RecheckStore, {}, METHODS_RECORDED_BY_HARNESS),
      unsettledShipments,
      settings: {
        getCachedSettings: async (id) => ({ version: this.knows ?? this.rechecks.getRecheck(id)?.version ?? 1 }),
      },
      eventStore: { head: async () => this.head },
      readModelsReached: async (position) => this.shown >= position,
      leases: new InProcessLeases(1),
      clock: () => new Date(SAMPLE_DAY_START_MS),
      logger: createRecordingLogger(this.lines),
      metrics: this.metrics,
      page: 4,
      patienceMs: 0,
      elapsed: () => this.elapsed,
      rest: async (ms) => void this.rests.push(ms),
      ...parts,
    });
  }

  /**
   * Adds shipments to the workspace.
   * @param from number of the first shipment
   */
  addShipments(workspaceId: string, count: number, from = 0): void {
    this.open.set(
      workspaceId,
      Array.from({ length: count }, (_, n) => createNthShipmentId(from + n)),
    );
  }

  recheckAllWorkspacesOnce(ending = new AbortController().signal): Promise<void> {
    return this.job.recheckShipmentsOfAllWorkspaces(ending);
  }

  /** Runs one round that notices the changes, and another round after every replica has applied them. */
  async runRoundsUntilRecheckBegins(): Promise<void> {
    await this.recheckAllWorkspacesOnce();
    this.elapsed += 6_000;
    await this.recheckAllWorkspacesOnce();
  }

  /** Returns and clears the checked shipments, in the order in which their checks began. */
  takeCheckedShipmentIds(): readonly string[] {
    return this.commands.splice(0).map(({ shipment_id }) => shipment_id);
  }

  private async listUnsettledShipments(workspaceId: string, after: string | undefined, limit: number) {
    const ids = (this.open.get(workspaceId) ?? []).filter((id) => after === undefined || id > after).slice(0, limit);
    this.looks.push([limit, ids.length]);
    return ids.map((id) => ({ id, workspace_id: workspaceId, environment: 'live' as const }));
  }

  private async answerCheckRulesCommandForTest(command: CheckRulesCommand) {
    this.commands.push(command);
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    await new Promise(setImmediate);
    this.underWay -= 1;
    if (this.underWay === 0) this.elapsed += this.takes;
    const error = this.otherwise(command);
    if (error !== undefined) throw error;
    const { shipment_id } = command;
    return {
      answer: { outcome: 'checked' as const, shipment_id, version: 2, next_check_at: null, warnings: [] },
      position: '1',
    };
  }
}
