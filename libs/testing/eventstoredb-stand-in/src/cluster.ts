import { randomUUID } from 'node:crypto';
import gossipPb, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import serverFeaturesPb, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb, { type Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type { handleUnaryCall } from '@grpc/grpc-js';

const VERSION = '23.10.0.0';

/** The call by which a client finds the leader among the nodes it was given: this one is a cluster of its own. */
export function gossipCall(port: number): handleUnaryCall<Empty, ClusterInfo> {
  const instanceId = new sharedPb.UUID().setString(randomUUID());
  return (_call, callback) => {
    const member = new gossipPb.MemberInfo()
      .setInstanceId(instanceId)
      .setTimeStamp(String(Date.now()))
      .setState(gossipPb.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossipPb.EndPoint().setAddress('127.0.0.1').setPort(port));
    callback(null, new gossipPb.ClusterInfo().setMembersList([member]));
  };
}

/** The call by which a client learns what the node can do. @param batchAppend without it each append is a call */
export function supportedMethodsCall(batchAppend: boolean): handleUnaryCall<Empty, SupportedMethods> {
  const methods = ['read', 'append', 'delete', 'tombstone', ...(batchAppend ? ['batchappend'] : [])].map((name) =>
    new serverFeaturesPb.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  );
  return (_call, callback) => {
    const supported = new serverFeaturesPb.SupportedMethods().setEventStoreServerVersion(VERSION);
    callback(null, supported.setMethodsList(methods));
  };
}
