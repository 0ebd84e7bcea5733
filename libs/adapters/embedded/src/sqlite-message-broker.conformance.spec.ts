import { testMessageBroker } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

testMessageBroker(
  'SQLite',
  embeddedSubject((engine) => engine.messageBroker),
);

testMessageBroker(
  'SQLite with a short memory',
  embeddedSubject((engine) => engine.messageBroker, { live: { items: 3 } }),
);
