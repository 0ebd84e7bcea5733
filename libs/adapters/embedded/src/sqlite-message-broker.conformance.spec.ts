import { messageBrokerConformance } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

messageBrokerConformance(
  'SQLite',
  embeddedSubject((engine) => engine.messageBroker),
);

messageBrokerConformance(
  'SQLite with a short memory',
  embeddedSubject((engine) => engine.messageBroker, { live: { items: 3 } }),
);
