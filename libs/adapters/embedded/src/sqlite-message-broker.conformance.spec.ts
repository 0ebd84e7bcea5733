import { messageBrokerConformance } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

messageBrokerConformance(
  'SQLite',
  embeddedSubject((engine) => engine.messageBroker),
);
