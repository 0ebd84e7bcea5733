import { declareMessageBrokerTests } from '@tracking/testing';
import { createEmbeddedAdapterForTest } from '../test/embedded-subject.ts';

declareMessageBrokerTests(
  'SQLite',
  createEmbeddedAdapterForTest((engine) => engine.messageBroker),
);

declareMessageBrokerTests(
  'SQLite with a short memory',
  createEmbeddedAdapterForTest((engine) => engine.messageBroker, { live: { items: 3 } }),
);
