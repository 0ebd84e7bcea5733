import { commandChannelConformance } from '@tracking/testing';
import { GrpcSubject } from '../../test/grpc/grpc-subject.ts';

commandChannelConformance('gRPC', new GrpcSubject());
