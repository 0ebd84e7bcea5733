import { jest } from '@jest/globals';
import { Unavailable, type Logger } from '@tracking/ports';
import { createAuthority, eventually, issueCertificate, noMetrics } from '@tracking/testing';
import { KafkaEngine } from '../../test/kafka/kafka-engine.ts';
import { MessageLedger, createMessage } from '../../test/kafka/ledger.ts';
import { KafkaMessageBroker } from './kafka-message-broker.ts';
import type { KafkaOptions } from './kafka-client.ts';

jest.setTimeout(60_000);

const PASSWORD = 'correct-horse';
const WRONG = 'wrong-battery';
const enginesDir = process.env['ENGINES_DIR'];

if (enginesDir === undefined || enginesDir === '') {
  it.skip('a guarded Kafka [not tested: ENGINES_DIR is not set]', () => undefined);
} else {
  describe('a Kafka with TLS and SASL', () => guarded(enginesDir));
}

function guarded(engines: string): void {
  const authority = createAuthority();
  const logged: string[] = [];
  const keep = (fields: object, text: string) => void logged.push(JSON.stringify([fields, text]));
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  let engine: KafkaEngine;
  let broker: KafkaMessageBroker | undefined;

  beforeAll(async () => {
    const { cert, key } = issueCertificate({ issuer: authority });
    const line = (pem: string) => pem.trim().replaceAll('\n', '\\n');
    const users = `username="node" password="node" user_node="node" user_app="${PASSWORD}"`;
    engine = await KafkaEngine.start(engines, [
      'listener.security.protocol.map=PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT',
      'sasl.enabled.mechanisms=PLAIN',
      'sasl.mechanism.inter.broker.protocol=PLAIN',
      `listener.name.plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ${users};`,
      'ssl.keystore.type=PEM',
      `ssl.keystore.key=${line(key)}`,
      `ssl.keystore.certificate.chain=${line(cert)}`,
      'ssl.truststore.type=PEM',
      `ssl.truststore.certificates=${line(authority.cert)}`,
    ]);
  });
  afterEach(() => broker?.close());
  afterAll(() => engine.remove());

  function open(password: string, tls: Exclude<KafkaOptions['tls'], undefined>): KafkaMessageBroker {
    const sasl = { mechanism: 'plain', username: 'app', password } as const;
    const limits = { publishTimeoutMs: 2_000, adminTimeoutMs: 5_000 };
    return (broker = new KafkaMessageBroker({
      brokers: engine.brokers,
      tls,
      sasl,
      limits,
      logger,
      metrics: noMetrics,
    }));
  }

  it('accepts clients that have the password and trust the authority', async () => {
    const ledger = new MessageLedger();
    const kafka = open(PASSWORD, { ca: authority.cert });
    await kafka.ensureTopics([{ name: 'guarded', partitions: 1, retentionMs: 60_000 }]);
    await kafka.publish('guarded', [createMessage('a', 1)]);
    const stop = new AbortController();
    const over = kafka.consume({ topic: 'guarded', group: 'group', signal: stop.signal }, ledger.receive);
    await eventually(() => expect(ledger.deliveries).toEqual(['a#1']), { deadlineMs: 20_000 });
    stop.abort();
    await over;
  });

  it.each([
    ['with a wrong password', WRONG, { ca: authority.cert }],
    ['that it does not trust', PASSWORD, true],
  ])('is unavailable to a client %s, and no secret is logged', async (_who, password, tls) => {
    const kafka = open(password, tls);
    const asking = kafka.ensureTopics([{ name: 'other', partitions: 1, retentionMs: 60_000 }]);
    const publishing = kafka.publish('guarded', [createMessage('a', 2)]);
    for (const refused of await Promise.allSettled([asking, publishing])) {
      const reason: unknown = refused.status === 'rejected' ? refused.reason : undefined;
      expect(reason).toBeInstanceOf(Unavailable);
      logged.push(String(reason));
    }
    expect(logged.filter((text) => text.includes(PASSWORD) || text.includes(WRONG))).toEqual([]);
  });
}
