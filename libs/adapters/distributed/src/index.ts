export { KafkaMessageBroker, type KafkaMessageBrokerOptions } from './kafka/kafka-message-broker.ts';
export type { KafkaLimits, KafkaOptions, KafkaSasl } from './kafka/kafka-options.ts';
