import { testMessageBroker } from '@tracking/testing';
import { createEmbeddedSubject } from '../test/embedded-subject.ts';

testMessageBroker(
  'SQLite',
  createEmbeddedSubject((engine) => engine.messageBroker),
);

testMessageBroker(
  'SQLite with a short memory',
  createEmbeddedSubject((engine) => engine.messageBroker, { live: { items: 3 } }),
);
