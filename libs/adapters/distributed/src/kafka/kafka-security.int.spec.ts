import { jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import { UnavailableError, type Logger } from '@tracking/ports';
import { createCertificateAuthority, eventually, issueCertificate, noMetrics } from '@tracking/testing';
import { KafkaTestNode } from '../../test/kafka/kafka-engine.ts';
import { MessageLossChecker, createBrokerMessage } from '../../test/kafka/ledger.ts';
import { KafkaMessageBroker } from './kafka-message-broker.ts';
import type { KafkaOptions } from './kafka-client.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, ResourcePatternTypes } = kafkajs;
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
  const authority = createCertificateAuthority();
  const logged: string[] = [];
  const keep = (fields: object, text: string) => void logged.push(JSON.stringify([fields, text]));
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  let engine: KafkaTestNode;
  let broker: KafkaMessageBroker | undefined;

  beforeAll(async () => {
    const { cert, key } = issueCertificate({ issuer: authority });
    const line = (pem: string) => pem.trim().replaceAll('\n', '\\n');
    const users = `username="node" password="node" user_node="node" user_app="${PASSWORD}"`;
    engine = await KafkaTestNode.startEngine(engines, [
      'listener.security.protocol.map=PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT',
      'sasl.enabled.mechanisms=PLAIN',
      'sasl.mechanism.inter.broker.protocol=PLAIN',
      `listener.name.plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ${users};`,
      'ssl.keystore.type=PEM',
      `ssl.keystore.key=${line(key)}`,
      `ssl.keystore.certificate.chain=${line(cert)}`,
      'ssl.truststore.type=PEM',
      `ssl.truststore.certificates=${line(authority.cert)}`,
      'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users=User:node;User:ANONYMOUS',
      'allow.everyone.if.no.acl.found=true',
    ]);
  });
  afterEach(() => broker?.close());
  afterAll(() => engine.destroyTestNode());

  function open(
    password: string,
    tls: Exclude<KafkaOptions['tls'], undefined>,
    own: { readonly logger?: Logger; readonly replicationFactor?: number } = {},
  ): KafkaMessageBroker {
    const sasl = { mechanism: 'plain', username: 'app', password } as const;
    const limits = { publishTimeoutMs: 2_000, adminTimeoutMs: 5_000 };
    return (broker = new KafkaMessageBroker({
      brokers: engine.brokers,
      tls,
      sasl,
      limits,
      logger,
      metrics: noMetrics,
      ...own,
    }));
  }

  /** Creates a topic with one partition that the user `app` may read, but not change. */
  async function createReadOnlyTopic(topic: string): Promise<void> {
    const sasl = { mechanism: 'plain', username: 'node', password: 'node' } as const;
    const admin = new Kafka({ brokers: [...engine.brokers], ssl: { ca: authority.cert }, sasl }).admin();
    await admin.connect();
    const resource = {
      resourceType: AclResourceTypes.TOPIC,
      resourceName: topic,
      resourcePatternType: ResourcePatternTypes.LITERAL,
    };
    const rule = { principal: 'User:app', host: '*', permissionType: AclPermissionTypes.ALLOW };
    await admin.createAcls({ acl: [{ ...resource, ...rule, operation: AclOperationTypes.READ }] });
    const listRules = () =>
      admin.describeAcls({
        ...resource,
        resourcePatternType: ResourcePatternTypes.ANY,
        permissionType: AclPermissionTypes.ANY,
        operation: AclOperationTypes.ANY,
      });
    await eventually(async () => expect((await listRules()).resources).toHaveLength(1));
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
    await admin.disconnect();
  }

  it('accepts clients that have the password and trust the authority', async () => {
    const ledger = new MessageLossChecker();
    const kafka = open(PASSWORD, { ca: authority.cert });
    await kafka.ensureTopics([{ name: 'guarded', partitions: 1, retentionMs: 60_000 }]);
    await kafka.publishMessages('guarded', [createBrokerMessage('a', 1)]);
    const stop = new AbortController();
    const over = kafka.consume({ topic: 'guarded', group: 'group', signal: stop.signal }, ledger.receive);
    await eventually(() => expect(ledger.deliveries).toEqual(['a#1']), { deadlineMs: 20_000 });
    stop.abort();
    await over;
  });

  it('lets a topic keep its partitions if the user may not change it, and logs a warning', async () => {
    const topic = 'not-alterable';
    const warnings: unknown[] = [];
    const kafka = open(
      PASSWORD,
      { ca: authority.cert },
      { logger: { ...logger, warn: (...line) => void warnings.push(line) } },
    );
    await createReadOnlyTopic(topic);
    await kafka.ensureTopics([{ name: topic, partitions: 2, retentionMs: 60_000 }]);
    const fields = { topic, partitions: 1, wanted: 2 };
    expect(warnings).toEqual([[fields, 'message broker: the user may not add partitions to the topic']]);
    expect(await kafka.countPublishedMessages(topic)).toHaveLength(1);
  });

  it('names the reason why a topic cannot be created', async () => {
    const kafka = open(PASSWORD, { ca: authority.cert }, { replicationFactor: 3 });
    const creating = kafka.ensureTopics([{ name: 'replicated', partitions: 1, retentionMs: 60_000 }]);
    await expect(creating).rejects.toMatchObject({ reason: 'INVALID_REPLICATION_FACTOR' });
  });

  it.each([
    ['with a wrong password', WRONG, { ca: authority.cert }],
    ['that it does not trust', PASSWORD, true],
  ])('is unavailable to a client %s, and no secret is logged', async (_who, password, tls) => {
    const kafka = open(password, tls);
    const asking = kafka.ensureTopics([{ name: 'other', partitions: 1, retentionMs: 60_000 }]);
    const publishing = kafka.publishMessages('guarded', [createBrokerMessage('a', 2)]);
    for (const refused of await Promise.allSettled([asking, publishing])) {
      const reason: unknown = refused.status === 'rejected' ? refused.reason : undefined;
      expect(reason).toBeInstanceOf(UnavailableError);
      logged.push(String(reason));
    }
    expect(logged.filter((text) => text.includes(PASSWORD) || text.includes(WRONG))).toEqual([]);
  });
}
