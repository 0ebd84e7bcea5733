import { BusyError } from '@tracking/ports';
import type { GrpcLimits } from './grpc-options.ts';

/** Running calls of a client or a server, limited by their number and by the bytes of their requests. */
export class RunningGrpcCalls {
  private readonly calls = new Set<Promise<unknown>>();
  private bytes = 0;

  constructor(private readonly limits: Pick<GrpcLimits, 'maxCalls' | 'maxRunningBytes'>) {}

  get count(): number {
    return this.calls.size;
  }

  /**
   * Checks that another call may start.
   * @param service name of the called service, for operators
   * @param requestBytes size of the call's request
   * @param others number of calls that are counted elsewhere
   * @throws BusyError
   */
  throwIfTooManyCalls(service: string, requestBytes: number, others = 0): void {
    const { maxCalls, maxRunningBytes } = this.limits;
    const hasTooManyBytes = this.bytes > 0 && this.bytes + requestBytes > maxRunningBytes;
    if (hasTooManyBytes || this.calls.size + others >= maxCalls)
      throw new BusyError(service, 'too many calls between services are running; retry later');
  }

  /** Counts a call until it settles. Settles like the call. */
  async countRunningGrpcCall<T>(call: Promise<T>, requestBytes: number): Promise<T> {
    this.calls.add(call);
    this.bytes += requestBytes;
    try {
      return await call;
    } finally {
      this.calls.delete(call);
      this.bytes -= requestBytes;
    }
  }

  /** Resolves when all calls that run now have settled. */
  async waitForRunningGrpcCalls(): Promise<void> {
    await Promise.allSettled(this.calls);
  }
}
