import { connect, type Socket } from 'node:net';
import type { Document, Timestamp } from 'bson';
import { waitForSimulatedDelay } from './eventually.ts';
import {
  encodeMongoReply,
  isMongoHello,
  type MongoMessage,
  MongoMessageReader,
  readMongoCommandName,
  replaceMongoBody,
} from './mongo-wire.ts';
import { isMongoRead, isMongoWrite, type SimulatedReplicaSet } from './simulated-replica-set.ts';

/**
 * Fate of a write:
 * - `refused`: The primary answers `NotWritablePrimary` and does not perform the write.
 * - `answer lost`: The engine performs the write, and the connection breaks before the answer.
 * - `interrupted`: The engine performs the write, and the primary steps down before a majority acknowledged it.
 */
export type MongoWriteFault = 'refused' | 'answer lost' | 'interrupted';

interface MongoProxyConnectionContext {
  readonly client: Socket;
  readonly enginePort: number;
  /** Index of the member to which the client is connected. */
  readonly member: number;
  readonly set: SimulatedReplicaSet;
  onCommand(command: Document): void;
  takeWriteFault(): MongoWriteFault | undefined;
  readDelayMs(): number;
  /** Callback for a write that the engine performed. @param at its time in the log of the engine */
  noteWrite(at: Timestamp): void;
  /** Returns true if the member's snapshot is too old to show anything to the read. */
  seesNothing(command: Document): boolean;
  onClose(): void;
}

/** A command that was forwarded to the engine. */
interface ForwardedMongoCommand {
  readonly command: Document;
  readonly fault: MongoWriteFault | undefined;
}

/** Connection of a client to a member of the simulated replica set, with its own connection to the engine. */
export class ProxiedMongoConnection {
  private readonly engine: Socket;
  private readonly forwarded = new Map<number, ForwardedMongoCommand>();
  private readonly held: Buffer[] = [];
  private readonly closed = new AbortController();
  isHung = false;
  /** True if the client sent a command other than `hello`. */
  hasOperations = false;
  /** Latest reply of the engine to `hello`. */
  private hello: Document = {};
  private lastRequestId = 1_000_000_000;

  constructor(private readonly options: MongoProxyConnectionContext) {
    const { client, enginePort, onClose } = options;
    this.engine = connect({ port: enginePort, host: '127.0.0.1', noDelay: true });
    const commands = new MongoMessageReader();
    const replies = new MongoMessageReader();
    client.on('data', (bytes) =>
      commands.takeCompleteMongoMessages(bytes).forEach((message) => this.forwardMongoCommand(message)),
    );
    this.engine.on('data', (bytes) =>
      replies.takeCompleteMongoMessages(bytes).forEach((message) => this.forwardServerReplyToClient(message)),
    );
    client.on('error', () => undefined);
    this.engine.on('error', () => this.breakConnection('reset'));
    this.engine.on('close', () => this.breakConnection('end'));
    client.on('close', () => {
      this.engine.destroy();
      this.closed.abort();
      onClose();
    });
  }

  get member(): number {
    return this.options.member;
  }

  breakConnection(how: 'reset' | 'end'): void {
    const { client } = this.options;
    if (how === 'reset') client.resetAndDestroy();
    else client.end();
    this.engine.destroy();
  }

  hangConnection(): void {
    this.isHung = true;
    this.options.client.pause();
    this.engine.pause();
  }

  resumeHungMongoConnection(): void {
    if (!this.isHung) return;
    this.isHung = false;
    for (const bytes of this.held.splice(0)) this.options.client.write(bytes);
    this.options.client.resume();
    this.engine.resume();
  }

  private forwardMongoCommand(message: MongoMessage): void {
    const { set, member, seesNothing, takeWriteFault, onCommand } = this.options;
    const { body } = message;
    onCommand(body);
    this.hasOperations ||= !isMongoHello(body);
    if (isMongoHello(body) && 'topologyVersion' in body) return void this.answerMongoHelloRepeatedly(message);
    const refusal = set.findNotPrimaryErrorOfMember(member, body);
    if (refusal !== undefined) return void this.sendReplyOfProxy(message, refusal);
    if (isMongoRead(body) && seesNothing(body)) return void this.sendReplyOfProxy(message, createEmptyMongoReply(body));
    const fault = isMongoWrite(body) ? takeWriteFault() : undefined;
    if (fault === 'refused') return void this.sendReplyOfProxy(message, set.refuseWriteOnce(body));
    this.forwarded.set(message.requestId, { command: body, fault });
    this.engine.write(isMongoHello(body) ? replaceMongoBody(message, removeCompressionFromHello(body)) : message.bytes);
  }

  private forwardServerReplyToClient(message: MongoMessage): void {
    const { set, member, noteWrite } = this.options;
    const { body: reply, responseTo } = message;
    const forwarded = this.forwarded.get(responseTo);
    this.forwarded.delete(responseTo);
    if (forwarded === undefined) return this.sendToClientAfterDelay(message.bytes);
    const { command, fault } = forwarded;
    if (isMongoHello(command)) {
      this.hello = reply;
      return this.sendToClientAfterDelay(replaceMongoBody(message, set.createHelloReplyOfMember(member, reply)));
    }
    if (!isMongoWrite(command)) return this.sendToClientAfterDelay(message.bytes);
    if (reply['operationTime'] !== undefined) noteWrite(reply['operationTime'] as Timestamp);
    if (fault === 'answer lost') return this.breakConnection('reset');
    const isInterrupted = (fault === 'interrupted' || set.primary !== member) && Number(reply['ok']) === 1;
    this.sendToClientAfterDelay(
      isInterrupted ? replaceMongoBody(message, set.addInterruptedWriteErrorToReply(command, reply)) : message.bytes,
    );
  }

  /** Answers `hello` when the roles change, or after the requested time. Continues if the client accepts that. */
  private async answerMongoHelloRepeatedly({ body, requestId, allowsExhaust }: MongoMessage): Promise<void> {
    const { set, member } = this.options;
    let known = body['topologyVersion'] as Document;
    let responseTo = requestId;
    do {
      await set.waitForRoleChange(known, Number(body['maxAwaitTimeMS']), this.closed.signal);
      if (this.closed.signal.aborted) return;
      const reply = set.createHelloReplyOfMember(member, this.hello);
      known = reply['topologyVersion'] as Document;
      responseTo = this.sendReplyOfProxy({ requestId: responseTo, isLegacy: false }, reply, allowsExhaust);
    } while (allowsExhaust);
  }

  /** Sends a reply of the proxy. Returns its id. */
  private sendReplyOfProxy(
    { requestId, isLegacy }: Pick<MongoMessage, 'requestId' | 'isLegacy'>,
    body: Document,
    hasMore = false,
  ): number {
    const id = (this.lastRequestId += 1);
    this.sendToClientAfterDelay(encodeMongoReply({ requestId: id, responseTo: requestId, body, isLegacy }, hasMore));
    return id;
  }

  private sendToClientAfterDelay(bytes: Buffer): void {
    const delayMs = this.options.readDelayMs();
    if (delayMs > 0) void waitForSimulatedDelay(delayMs).then(() => this.writeToClient(bytes));
    else this.writeToClient(bytes);
  }

  private writeToClient(bytes: Buffer): void {
    if (this.isHung) this.held.push(bytes);
    else if (this.options.client.writable) this.options.client.write(bytes);
  }
}

/** The proxy does not read compressed messages. */
function removeCompressionFromHello({ compression: _, ...command }: Document): Document {
  return command;
}

function createEmptyMongoReply(command: Document): Document {
  const name = readMongoCommandName(command);
  const ns = `${String(command['$db'])}.${String(command[name])}`;
  return name === 'count' ? { n: 0, ok: 1 } : { cursor: { firstBatch: [], id: 0, ns }, ok: 1 };
}
