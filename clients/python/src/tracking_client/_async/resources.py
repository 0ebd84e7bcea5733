# Made from docs/openapi.json by `npm run client-types`: not to be edited.
"""Methods of the API, by resource."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import Unpack

from .. import types as t
from .._options import PostOptions, ReadOptions, RequestOptions, UpsertOptions, WriteOptions
from .documents import AsyncDocumentTransfers
from .events import AsyncEventStreams
from .requester import AsyncRequester, fill_path
from .resource import AsyncPaginator, AsyncResource


class AsyncShipments(AsyncResource):
    async def upsert(self, body: t.ShipmentFields, **options: Unpack[UpsertOptions]) -> t.ShipmentWritten:
        """Create or update a shipment

        Needs the permission `shipments:write`.

        - 413: The body is larger than 1 MiB.
        """
        result: t.ShipmentWritten = await self._call("POST", "/v1/shipments", options, json=body)
        return result

    async def upsert_many(self, shipments: Sequence[t.ShipmentFields], **options: Unpack[PostOptions]) -> t.BulkShipmentsWritten:
        """Create or update up to 500 shipments

        Each item is processed and answered like a single call, and items of one shipment in their order. The
        request is not atomic: a refused item does not affect the others. It counts as one request for the rate
        limit.

        Needs the permission `shipments:write`.

        - 413: The body is larger than 10 MiB.
        """
        result: t.BulkShipmentsWritten = await self._call("POST", "/v1/shipments/bulk", options, json={"shipments": shipments})
        return result

    def list(self, **options: Unpack[t.ListShipmentsQuery]) -> AsyncPaginator[t.Shipment]:
        """List shipments

        Newest first by default. A page may have fewer shipments than limit, or even none, while has_more is true:
        continue with next_cursor.

        Needs the permission `shipments:read`.
        """
        return self._list("/v1/shipments", options)

    async def get(self, id: str, **options: Unpack[t.GetShipmentQuery]) -> t.Shipment:
        """Get a shipment

        Needs the permission `shipments:read`.

        - 400: The Consistency-Token is not valid.
        - 404: No such shipment in this workspace and environment.
        """
        result: t.Shipment = await self._call("GET", fill_path("/v1/shipments/{id}", id=id), options)
        return result

    async def patch(self, id: str, body: t.ShipmentPatch, **options: Unpack[WriteOptions]) -> t.ShipmentWritten:
        """Change a shipment

        A JSON merge patch (RFC 7396).

        Needs the permission `shipments:write`.

        - 404: No such shipment in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ShipmentWritten = await self._call("PATCH", fill_path("/v1/shipments/{id}", id=id), options, json=body)
        return result

    async def patch_container(self, number: str, id: str, body: t.ContainerPatch, **options: Unpack[WriteOptions]) -> t.ContainerWritten:
        """Change a container of a shipment

        A JSON merge patch (RFC 7396). If-Match and the ETag of the response are those of the shipment.

        Needs the permission `shipments:write`.

        - 404: The shipment or the container does not exist in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ContainerWritten = await self._call("PATCH", fill_path("/v1/shipments/{id}/containers/{number}", number=number, id=id), options, json=body)
        return result

    async def cancel(self, id: str, **options: Unpack[PostOptions]) -> t.ShipmentWritten:
        """Cancel a shipment

        Needs the permission `shipments:write`.

        - 404: No such shipment in this workspace and environment.
        - 409: The shipment is already delivered.
        """
        result: t.ShipmentWritten = await self._call("POST", fill_path("/v1/shipments/{id}/cancel", id=id), options)
        return result

    async def reopen(self, id: str, **options: Unpack[PostOptions]) -> t.ShipmentWritten:
        """Reopen a cancelled shipment

        Needs the permission `shipments:write`.

        - 404: No such shipment in this workspace and environment.
        - 409: A milestone cancels the shipment.
        """
        result: t.ShipmentWritten = await self._call("POST", fill_path("/v1/shipments/{id}/reopen", id=id), options)
        return result

    def history(self, id: str, **options: Unpack[t.ListShipmentHistoryQuery]) -> AsyncPaginator[t.HistoryEntry]:
        """List the history of a shipment, newest first

        Needs the permission `shipments:read`.

        - 404: No such shipment in this workspace and environment.
        """
        return self._list(fill_path("/v1/shipments/{id}/history", id=id), options)

    def eta_history(self, id: str, **options: Unpack[t.ListEtaHistoryQuery]) -> AsyncPaginator[t.EtaChange]:
        """List the ETA changes of a shipment, newest first

        Needs the permission `shipments:read`.

        - 404: No such shipment in this workspace and environment.
        """
        return self._list(fill_path("/v1/shipments/{id}/eta_history", id=id), options)

    async def explain(self, id: str, **options: Unpack[RequestOptions]) -> t.ShipmentExplanation:
        """Explain the status, times and exceptions of a shipment

        Needs the permission `shipments:read`.

        - 404: No such shipment in this workspace and environment.
        """
        result: t.ShipmentExplanation = await self._call("GET", fill_path("/v1/shipments/{id}/explanation", id=id), options)
        return result


class AsyncMilestones(AsyncResource):
    def list(self, id: str, **options: Unpack[t.ListMilestonesQuery]) -> AsyncPaginator[t.Milestone]:
        """List the milestones of a shipment

        Needs the permission `shipments:read`.

        - 404: No such shipment in this workspace and environment.
        """
        return self._list(fill_path("/v1/shipments/{id}/milestones", id=id), options)

    async def record(self, id: str, body: t.MilestoneFields, **options: Unpack[PostOptions]) -> t.MilestoneWritten:
        """Record a milestone

        If-Match and the ETag of the response are those of the shipment.

        Needs the permission `milestones:write`.

        - 404: No such shipment in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.MilestoneWritten = await self._call("POST", fill_path("/v1/shipments/{id}/milestones", id=id), options, json=body)
        return result

    async def record_many(self, milestones: Sequence[t.BulkMilestone], **options: Unpack[PostOptions]) -> t.BulkMilestonesWritten:
        """Record up to 500 milestones of any shipments

        Each item is processed and answered like a single call, and items of one shipment in their order. The
        request is not atomic: a refused item does not affect the others. It counts as one request for the rate
        limit.

        Needs the permission `milestones:write`.

        - 413: The body is larger than 10 MiB.
        """
        result: t.BulkMilestonesWritten = await self._call("POST", "/v1/milestones/bulk", options, json={"milestones": milestones})
        return result

    async def get(self, id: str, milestone_id: str, **options: Unpack[ReadOptions]) -> t.Milestone:
        """Get a milestone

        The ETag is the ETag of the shipment.

        Needs the permission `shipments:read`.

        - 404: The shipment or the milestone does not exist in this workspace and environment.
        """
        result: t.Milestone = await self._call("GET", fill_path("/v1/shipments/{id}/milestones/{milestone_id}", id=id, milestone_id=milestone_id), options)
        return result

    async def correct(self, id: str, milestone_id: str, body: t.MilestoneChanges, **options: Unpack[WriteOptions]) -> t.MilestoneWritten:
        """Correct a milestone

        A JSON merge patch: omitted fields keep their value, null clears a field. If a feed sends the milestone
        again, the correction stays. If-Match and the ETag of the response are those of the shipment.

        Needs the permission `milestones:write`.

        - 404: The shipment or the milestone does not exist in this workspace and environment.
        - 409: The milestone is retracted, or another milestone has the external_id.
        - 413: The body is larger than 1 MiB.
        """
        result: t.MilestoneWritten = await self._call("PATCH", fill_path("/v1/shipments/{id}/milestones/{milestone_id}", id=id, milestone_id=milestone_id), options, json=body)
        return result

    async def retract(self, id: str, milestone_id: str, **options: Unpack[WriteOptions]) -> t.MilestoneWritten:
        """Retract a milestone

        If-Match and the ETag of the response are those of the shipment.

        Needs the permission `milestones:write`.

        - 404: The shipment or the milestone does not exist in this workspace and environment.
        """
        result: t.MilestoneWritten = await self._call("DELETE", fill_path("/v1/shipments/{id}/milestones/{milestone_id}", id=id, milestone_id=milestone_id), options)
        return result

    async def codes(self, **options: Unpack[t.ListMilestoneCodesQuery]) -> t.MilestoneCodeList:
        """List the milestone catalog

        Needs the permission `shipments:read`.
        """
        result: t.MilestoneCodeList = await self._call("GET", "/v1/milestone_codes", options)
        return result


class AsyncExceptions(AsyncResource):
    def list(self, **options: Unpack[t.ListExceptionsQuery]) -> AsyncPaginator[t.ShipmentException]:
        """List exceptions

        Newest first by default. A page may have fewer exceptions than limit, or even none, while has_more is
        true: continue with next_cursor.

        Needs the permission `shipments:read`.
        """
        return self._list("/v1/exceptions", options)

    def list_of(self, id: str, **options: Unpack[t.ListShipmentExceptionsQuery]) -> AsyncPaginator[t.ShipmentException]:
        """List the exceptions of a shipment, newest first

        Needs the permission `shipments:read`.

        - 404: No such shipment in this workspace and environment.
        """
        return self._list(fill_path("/v1/shipments/{id}/exceptions", id=id), options)

    async def open(self, id: str, body: t.ExceptionFields, **options: Unpack[PostOptions]) -> t.ExceptionWritten:
        """Open an exception

        A shipment and each of its containers have at most one unresolved exception of each type. If-Match and the
        ETag of the response are those of the shipment.

        Needs the permission `exceptions:write`.

        - 404: No such shipment in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ExceptionWritten = await self._call("POST", fill_path("/v1/shipments/{id}/exceptions", id=id), options, json=body)
        return result

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.ShipmentException:
        """Get an exception

        The ETag is the ETag of the shipment.

        Needs the permission `shipments:read`.

        - 404: No such exception in this workspace and environment.
        """
        result: t.ShipmentException = await self._call("GET", fill_path("/v1/exceptions/{id}", id=id), options)
        return result

    async def acknowledge(self, id: str, body: t.ExceptionAcknowledgement | None = None, **options: Unpack[PostOptions]) -> t.ExceptionWritten:
        """Acknowledge an exception

        A repeated request can change the assignee or add a note. Without a change it has no effect. If-Match and
        the ETag of the response are those of the shipment.

        Needs the permission `exceptions:write`.

        - 404: No such exception in this workspace and environment.
        - 409: The exception is resolved.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ExceptionWritten = await self._call("POST", fill_path("/v1/exceptions/{id}/acknowledge", id=id), options, json=body)
        return result

    async def resolve(self, id: str, body: t.ExceptionResolutionFields | None = None, **options: Unpack[PostOptions]) -> t.ExceptionWritten:
        """Resolve an exception

        The rule that opened the exception opens no other one until its cause has ended once. If-Match and the
        ETag of the response are those of the shipment.

        Needs the permission `exceptions:write`.

        - 404: No such exception in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ExceptionWritten = await self._call("POST", fill_path("/v1/exceptions/{id}/resolve", id=id), options, json=body)
        return result


class AsyncDocuments(AsyncDocumentTransfers):
    async def request_upload(self, id: str, body: t.DocumentUploadFields, **options: Unpack[PostOptions]) -> t.DocumentUpload:
        """Request an upload URL for a large file

        For a file of up to 250 MiB: `PUT` the file to `upload.url`, which needs no key and is valid for 15
        minutes, then call `POST /v1/documents/{id}/complete`. A document that is not complete after 24 hours
        expires. A repeat with the same Idempotency-Key gets the same document with a new URL. If-Match and the
        ETag of the response are those of the shipment.

        Needs the permission `documents:write`.

        - 404: No such shipment in this workspace and environment.
        - 409: The document to replace was already replaced.
        - 413: The body is larger than 1 MiB.
        """
        result: t.DocumentUpload = await self._call("POST", fill_path("/v1/shipments/{id}/documents/uploads", id=id), options, json=body)
        return result

    async def complete(self, id: str, **options: Unpack[PostOptions]) -> t.DocumentWritten:
        """Complete an upload

        The uploaded file must have the announced size and checksum; otherwise the document stays pending and the
        file can be uploaded again. If-Match and the ETag of the response are those of the shipment.

        Needs the permission `documents:write`.

        - 404: No such document in this workspace and environment.
        - 409: The file was not uploaded or is lost, or the document no longer accepts uploads.
        """
        result: t.DocumentWritten = await self._call("POST", fill_path("/v1/documents/{id}/complete", id=id), options)
        return result

    def list(self, id: str, **options: Unpack[t.ListDocumentsQuery]) -> AsyncPaginator[t.Document]:
        """List the documents of a shipment, newest first

        Documents in any status, including deleted ones.

        Needs the permission `documents:read`.

        - 404: No such shipment in this workspace and environment.
        """
        return self._list(fill_path("/v1/shipments/{id}/documents", id=id), options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.Document:
        """Get a document

        The ETag is the ETag of the shipment.

        Needs the permission `documents:read`.

        - 404: No such document in this workspace and environment.
        """
        result: t.Document = await self._call("GET", fill_path("/v1/documents/{id}", id=id), options)
        return result

    async def approve(self, id: str, **options: Unpack[PostOptions]) -> t.DocumentWritten:
        """Approve a document

        The first review decision is final. If-Match and the ETag of the response are those of the shipment.

        Needs the permission `documents:approve`.

        - 404: No such document in this workspace and environment.
        - 409: The document is rejected, or has no file.
        """
        result: t.DocumentWritten = await self._call("POST", fill_path("/v1/documents/{id}/approve", id=id), options)
        return result

    async def reject(self, id: str, reason: str, **options: Unpack[PostOptions]) -> t.DocumentWritten:
        """Reject a document

        The first review decision is final. To replace the document, upload another one with
        `replaces_document_id`. If-Match and the ETag of the response are those of the shipment.

        Needs the permission `documents:approve`.

        - 404: No such document in this workspace and environment.
        - 409: The document is approved, or has no file.
        - 413: The body is larger than 1 MiB.
        """
        result: t.DocumentWritten = await self._call("POST", fill_path("/v1/documents/{id}/reject", id=id), options, json={"reason": reason})
        return result

    async def delete(self, id: str, **options: Unpack[WriteOptions]) -> t.DocumentWritten:
        """Delete a document

        If-Match and the ETag of the response are those of the shipment.

        Needs the permission `documents:approve`.

        - 404: No such document in this workspace and environment.
        """
        result: t.DocumentWritten = await self._call("DELETE", fill_path("/v1/documents/{id}", id=id), options)
        return result

    async def required(self, **options: Unpack[ReadOptions]) -> t.RequiredDocuments:
        """Get the required documents by transport mode

        The required documents according to the settings of the workspace.

        Needs the permission `documents:read`.
        """
        result: t.RequiredDocuments = await self._call("GET", "/v1/required_documents", options)
        return result

    async def storage(self, **options: Unpack[RequestOptions]) -> t.Storage:
        """Get the storage used by documents

        The documents of both environments of the workspace share one quota.

        Needs the permission `documents:read`.
        """
        result: t.Storage = await self._call("GET", "/v1/storage", options)
        return result


class AsyncPlaces(AsyncResource):
    async def find(self, **options: Unpack[t.ListPlacesQuery]) -> t.PlaceList:
        """Search ports and airports

        Searches the places that the service knows by name. Other codes are accepted in shipments too.

        Needs the permission `shipments:read`.
        """
        result: t.PlaceList = await self._call("GET", "/v1/places", options)
        return result


class AsyncEvents(AsyncEventStreams):
    def list(self, **options: Unpack[t.ListEventsQuery]) -> AsyncPaginator[t.Event]:
        """List events

        Events in the form that webhook endpoints receive, whether or not an endpoint subscribed to them; oldest
        first by default. They are stored for 30 days, unless the operator configures another period.

        Needs the permission `shipments:read`.
        """
        return self._list("/v1/events", options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.Event:
        """Get an event

        Needs the permission `shipments:read`.

        - 404: The event does not exist in this workspace and environment, or is no longer stored.
        """
        result: t.Event = await self._call("GET", fill_path("/v1/events/{id}", id=id), options)
        return result


class AsyncWebhookEndpoints(AsyncResource):
    async def create(self, body: t.WebhookEndpointFields, **options: Unpack[PostOptions]) -> t.WebhookEndpointCreated:
        """Create an endpoint, without sending anything to it

        Needs the permission `webhooks:manage`.

        - 413: The body is larger than 1 MiB.
        """
        result: t.WebhookEndpointCreated = await self._call("POST", "/v1/webhook_endpoints", options, json=body)
        return result

    def list(self, **options: Unpack[t.ListWebhookEndpointsQuery]) -> AsyncPaginator[t.WebhookEndpoint]:
        """List endpoints, newest first

        Needs the permission `webhooks:manage`.
        """
        return self._list("/v1/webhook_endpoints", options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.WebhookEndpoint:
        """Get an endpoint

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        """
        result: t.WebhookEndpoint = await self._call("GET", fill_path("/v1/webhook_endpoints/{id}", id=id), options)
        return result

    async def stats(self, id: str, **options: Unpack[t.GetWebhookEndpointStatsQuery]) -> t.WebhookEndpointStats:
        """Get hourly delivery statistics

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        """
        result: t.WebhookEndpointStats = await self._call("GET", fill_path("/v1/webhook_endpoints/{id}/stats", id=id), options)
        return result

    async def patch(self, id: str, body: t.WebhookEndpointChanges, **options: Unpack[WriteOptions]) -> t.WebhookEndpointWritten:
        """Change an endpoint; a new URL has to be verified

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.WebhookEndpointWritten = await self._call("PATCH", fill_path("/v1/webhook_endpoints/{id}", id=id), options, json=body)
        return result

    async def delete(self, id: str, **options: Unpack[WriteOptions]) -> t.WebhookEndpointDeleted:
        """Delete an endpoint and discard its pending deliveries

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        """
        result: t.WebhookEndpointDeleted = await self._call("DELETE", fill_path("/v1/webhook_endpoints/{id}", id=id), options, result_if_deleted={"id": id, "deleted": True, "warnings": []})
        return result

    async def verify(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookEndpointWritten:
        """Verify an endpoint by sending a challenge

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        - 429: The rate limit, or a limit of challenges, is exceeded; see Retry-After.
        """
        result: t.WebhookEndpointWritten = await self._call("POST", fill_path("/v1/webhook_endpoints/{id}/verify", id=id), options)
        return result

    async def enable(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookEndpointWritten:
        """Enable an endpoint: send live events and pending deliveries

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        - 409: The endpoint is not verified.
        """
        result: t.WebhookEndpointWritten = await self._call("POST", fill_path("/v1/webhook_endpoints/{id}/enable", id=id), options)
        return result

    async def disable(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookEndpointWritten:
        """Disable an endpoint and hold its pending deliveries

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        """
        result: t.WebhookEndpointWritten = await self._call("POST", fill_path("/v1/webhook_endpoints/{id}/disable", id=id), options)
        return result

    async def rotate_secret(self, id: str, body: t.WebhookSecretRotation | None = None, **options: Unpack[PostOptions]) -> t.WebhookEndpointCreated:
        """Rotate the signing secret; the old one stays valid for a while

        Until the old secret expires, every request is signed with both secrets. At most five secrets are valid at
        a time.

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.WebhookEndpointCreated = await self._call("POST", fill_path("/v1/webhook_endpoints/{id}/rotate_secret", id=id), options, json=body)
        return result

    async def reveal_secret(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookSecrets:
        """Get the valid signing secrets

        Every call is recorded in the audit log.

        Needs the permission `workspace:admin`.

        - 404: This endpoint does not exist in this workspace and environment.
        - 409: The secrets were stored under a key that is lost.
        """
        result: t.WebhookSecrets = await self._call("POST", fill_path("/v1/webhook_endpoints/{id}/reveal_secret", id=id), options)
        return result

    async def test(self, id: str, type: t.EventTypeName, **options: Unpack[PostOptions]) -> t.WebhookDeliveryWritten:
        """Send a sandbox event to an endpoint, with one attempt

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        - 409: The endpoint is not verified.
        - 413: The body is larger than 1 MiB.
        """
        result: t.WebhookDeliveryWritten = await self._call("POST", fill_path("/v1/webhook_endpoints/{id}/test", id=id), options, json={"type": type})
        return result


class AsyncWebhookDeliveries(AsyncResource):
    def list(self, **options: Unpack[t.ListWebhookDeliveriesQuery]) -> AsyncPaginator[t.WebhookDelivery]:
        """List deliveries, newest first

        Needs the permission `webhooks:manage`.
        """
        return self._list("/v1/webhook_deliveries", options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.WebhookDeliveryDetail:
        """Get a delivery with every attempt

        Needs the permission `webhooks:manage`.

        - 404: This delivery does not exist in this workspace and environment.
        """
        result: t.WebhookDeliveryDetail = await self._call("GET", fill_path("/v1/webhook_deliveries/{id}", id=id), options)
        return result

    async def retry(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookDeliveryWritten:
        """Request an extra attempt outside the schedule

        Needs the permission `webhooks:manage`.

        - 404: This delivery does not exist in this workspace and environment.
        - 409: The endpoint is not enabled.
        """
        result: t.WebhookDeliveryWritten = await self._call("POST", fill_path("/v1/webhook_deliveries/{id}/retry", id=id), options)
        return result

    async def discard(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookDeliveryWritten:
        """Discard a delivery

        Needs the permission `webhooks:manage`.

        - 404: This delivery does not exist in this workspace and environment.
        - 409: The delivery already succeeded.
        """
        result: t.WebhookDeliveryWritten = await self._call("POST", fill_path("/v1/webhook_deliveries/{id}/discard", id=id), options)
        return result


class AsyncWebhookDeadLetters(AsyncResource):
    async def summary(self, **options: Unpack[t.SummarizeWebhookDeadLettersQuery]) -> t.WebhookDeadLetterSummary:
        """Count dead letters by error code, endpoint and event type

        Needs the permission `webhooks:manage`.
        """
        result: t.WebhookDeadLetterSummary = await self._call("GET", "/v1/webhook_dead_letters/summary", options)
        return result

    async def replay(self, body: t.WebhookDeadLetters, **options: Unpack[PostOptions]) -> t.WebhookReplaysBegun:
        """Counts of the matching dead letters.

        Starts a replay for each endpoint with matching dead letters. Deliveries get a new schedule and are sent
        oldest first. Without a filter, all dead letters are replayed.

        Needs the permission `webhooks:manage`.

        - 404: This endpoint or delivery does not exist in this workspace and environment.
        - 409: The endpoint in the filter is not enabled, or a replay of it is already running.
        - 413: The body is larger than 1 MiB.
        """
        result: t.WebhookReplaysBegun = await self._call("POST", "/v1/webhook_dead_letters/replay", options, json=body)
        return result

    async def discard(self, body: t.WebhookDeadLetters, **options: Unpack[PostOptions]) -> t.WebhookReplaysBegun:
        """Discard dead letters

        Starts a job for each endpoint with matching dead letters, including deleted endpoints. Jobs are listed
        and canceled like replays. Without a filter, all dead letters are discarded.

        Needs the permission `webhooks:manage`.

        - 404: This endpoint or delivery does not exist in this workspace and environment.
        - 413: The body is larger than 1 MiB.
        """
        result: t.WebhookReplaysBegun = await self._call("POST", "/v1/webhook_dead_letters/discard", options, json=body)
        return result


class AsyncWebhookReplays(AsyncResource):
    async def create(self, id: str, body: t.WebhookReplayFilter | None = None, **options: Unpack[PostOptions]) -> t.WebhookReplayWritten:
        """Replay failed and missed events of an endpoint, oldest first

        Starts a job that sends events as fast as the endpoint answers, without delaying live events. An endpoint
        can have only one running replay.

        Needs the permission `webhooks:manage`.

        - 404: This endpoint does not exist in this workspace and environment.
        - 409: The endpoint is not enabled, or a replay of it is already running.
        - 413: The body is larger than 1 MiB.
        """
        result: t.WebhookReplayWritten = await self._call("POST", fill_path("/v1/webhook_endpoints/{id}/replay", id=id), options, json=body)
        return result

    def list(self, **options: Unpack[t.ListWebhookReplaysQuery]) -> AsyncPaginator[t.WebhookReplay]:
        """List replays, newest first

        Needs the permission `webhooks:manage`.
        """
        return self._list("/v1/webhook_replays", options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.WebhookReplay:
        """Get a replay and its progress

        Needs the permission `webhooks:manage`.

        - 404: This replay does not exist in this workspace and environment.
        """
        result: t.WebhookReplay = await self._call("GET", fill_path("/v1/webhook_replays/{id}", id=id), options)
        return result

    async def cancel(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookReplayWritten:
        """Cancel a replay; deliveries already taken continue

        Needs the permission `webhooks:manage`.

        - 404: This replay does not exist in this workspace and environment.
        """
        result: t.WebhookReplayWritten = await self._call("POST", fill_path("/v1/webhook_replays/{id}/cancel", id=id), options)
        return result

    async def resume(self, id: str, **options: Unpack[PostOptions]) -> t.WebhookReplayWritten:
        """Resume a canceled replay

        Needs the permission `webhooks:manage`.

        - 404: This replay does not exist in this workspace and environment.
        - 409: The replay is completed, the endpoint is not enabled, or another replay is running.
        """
        result: t.WebhookReplayWritten = await self._call("POST", fill_path("/v1/webhook_replays/{id}/resume", id=id), options)
        return result


class AsyncSettings(AsyncResource):
    async def get(self, **options: Unpack[RequestOptions]) -> t.WorkspaceSettings:
        """Get the settings of the workspace

        Needs the permission `workspace:admin`.
        """
        result: t.WorkspaceSettings = await self._call("GET", "/v1/settings", options)
        return result

    async def patch(self, body: t.WorkspaceSettingsChanges, **options: Unpack[WriteOptions]) -> t.WorkspaceSettingsWritten:
        """Change the settings of the workspace

        A JSON merge patch (RFC 7396). Omitted settings keep their value; null restores the default.

        Needs the permission `workspace:admin`.

        - 413: The body is larger than 1 MiB.
        """
        result: t.WorkspaceSettingsWritten = await self._call("PATCH", "/v1/settings", options, json=body)
        return result


class AsyncKeys(AsyncResource):
    async def create(self, body: t.ApiKeyFields, **options: Unpack[PostOptions]) -> t.ApiKeyCreated:
        """Create an API key for yourself or a service account

        Keys of service accounts need `keys:manage`, and `workspace:admin` if the role of the account exceeds
        yours in the environment of the key. A test key can create only test keys.

        Needs the permission `keys:manage`. Users need no permission for their own resources.

        - 404: No such service account in this workspace.
        - 409: The service account is deactivated, or the owner has too many keys.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ApiKeyCreated = await self._call("POST", "/v1/api_keys", options, json=body)
        return result

    def list(self, **options: Unpack[t.ListApiKeysQuery]) -> AsyncPaginator[t.ApiKey]:
        """List the API keys that you can access, newest first

        Lists your own keys. With `keys:manage`, the list also contains keys of service accounts whose role is not
        admin. With `workspace:admin`, the list contains all keys. The list never contains the keys themselves.

        Needs the permission `keys:manage`. Users need no permission for their own resources.
        """
        return self._list("/v1/api_keys", options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.ApiKey:
        """Get an API key, without the key itself

        Needs the permission `keys:manage`. Users need no permission for their own resources.

        - 404: The workspace has no such key, or you have no access to it.
        """
        result: t.ApiKey = await self._call("GET", fill_path("/v1/api_keys/{id}", id=id), options)
        return result

    async def rotate(self, id: str, body: t.ApiKeyRotation | None = None, **options: Unpack[PostOptions]) -> t.ApiKeyCreated:
        """Rotate an API key

        Creates a key with the same owner, environment and expiry. The old key expires at the end of the grace
        period.

        Needs the permission `keys:manage`. Users need no permission for their own resources.

        - 404: The workspace has no such key, or you have no access to it.
        - 409: The key was rotated or revoked or has expired, or its owner is deactivated or has too many keys for
        a grace period.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ApiKeyCreated = await self._call("POST", fill_path("/v1/api_keys/{id}/rotate", id=id), options, json=body)
        return result

    async def revoke(self, id: str, **options: Unpack[PostOptions]) -> t.ApiKeyWritten:
        """Revoke an API key

        The key stops working within 5 seconds, permanently. Admins can also revoke keys of other users. Revoking
        a revoked key changes nothing.

        Needs the permission `keys:manage`. Users need no permission for their own resources.

        - 404: The workspace has no such key, or you have no access to it.
        """
        result: t.ApiKeyWritten = await self._call("POST", fill_path("/v1/api_keys/{id}/revoke", id=id), options)
        return result


class AsyncServiceAccounts(AsyncResource):
    async def create(self, body: t.ServiceAccountFields, **options: Unpack[PostOptions]) -> t.ServiceAccountWritten:
        """Create a service account

        Needs the permission `workspace:admin`.

        - 413: The body is larger than 1 MiB.
        """
        result: t.ServiceAccountWritten = await self._call("POST", "/v1/service_accounts", options, json=body)
        return result

    def list(self, **options: Unpack[t.ListServiceAccountsQuery]) -> AsyncPaginator[t.ServiceAccount]:
        """List service accounts, newest first

        Needs the permission `keys:manage`.
        """
        return self._list("/v1/service_accounts", options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.ServiceAccount:
        """Get a service account

        Needs the permission `keys:manage`.

        - 404: No such service account in this workspace.
        """
        result: t.ServiceAccount = await self._call("GET", fill_path("/v1/service_accounts/{id}", id=id), options)
        return result

    async def patch(self, id: str, body: t.ServiceAccountChanges, **options: Unpack[WriteOptions]) -> t.ServiceAccountWritten:
        """Change the name or role of a service account

        A new role applies to all keys of the account within 5 seconds.

        Needs the permission `workspace:admin`.

        - 404: No such service account in this workspace.
        - 413: The body is larger than 1 MiB.
        """
        result: t.ServiceAccountWritten = await self._call("PATCH", fill_path("/v1/service_accounts/{id}", id=id), options, json=body)
        return result

    async def deactivate(self, id: str, **options: Unpack[PostOptions]) -> t.ServiceAccountWritten:
        """Deactivate a service account

        Needs the permission `workspace:admin`.

        - 404: No such service account in this workspace.
        """
        result: t.ServiceAccountWritten = await self._call("POST", fill_path("/v1/service_accounts/{id}/deactivate", id=id), options)
        return result

    async def reactivate(self, id: str, **options: Unpack[PostOptions]) -> t.ServiceAccountWritten:
        """Reactivate a service account

        Needs the permission `workspace:admin`.

        - 404: No such service account in this workspace.
        """
        result: t.ServiceAccountWritten = await self._call("POST", fill_path("/v1/service_accounts/{id}/reactivate", id=id), options)
        return result


class AsyncUsers(AsyncResource):
    async def invite(self, body: t.UserInvitation, **options: Unpack[PostOptions]) -> t.UserInvited:
        """Invite a user

        Needs the permission `workspace:admin`.

        - 409: A user with this e-mail address exists already. If the invitation was not accepted,
        `reset_password` creates a new link.
        - 413: The body is larger than 1 MiB.
        """
        result: t.UserInvited = await self._call("POST", "/v1/users", options, json=body)
        return result

    def list(self, **options: Unpack[t.ListUsersQuery]) -> AsyncPaginator[t.User]:
        """List users, newest first

        Needs the permission `workspace:admin`.
        """
        return self._list("/v1/users", options)

    async def get(self, id: str, **options: Unpack[ReadOptions]) -> t.User:
        """Get a user

        Needs the permission `workspace:admin`.

        - 404: No such user in this workspace.
        """
        result: t.User = await self._call("GET", fill_path("/v1/users/{id}", id=id), options)
        return result

    async def patch(self, id: str, body: t.UserChanges, **options: Unpack[WriteOptions]) -> t.UserWritten:
        """Change the name or role of a user

        A new role applies to all sessions and keys of the user within 5 seconds.

        Needs the permission `workspace:admin`.

        - 404: No such user in this workspace.
        - 409: The user is the only active admin of the workspace.
        - 413: The body is larger than 1 MiB.
        """
        result: t.UserWritten = await self._call("PATCH", fill_path("/v1/users/{id}", id=id), options, json=body)
        return result

    async def deactivate(self, id: str, **options: Unpack[PostOptions]) -> t.UserWritten:
        """Deactivate a user: end all sessions, keys and links

        Needs the permission `workspace:admin`.

        - 404: No such user in this workspace.
        - 409: The user is the only active admin of the workspace.
        """
        result: t.UserWritten = await self._call("POST", fill_path("/v1/users/{id}/deactivate", id=id), options)
        return result

    async def reactivate(self, id: str, **options: Unpack[PostOptions]) -> t.UserReactivated:
        """Reactivate a user

        The user can sign in again and use keys that are still valid; ended sessions stay ended. A user who never
        set a password gets a new invitation link.

        Needs the permission `workspace:admin`.

        - 404: No such user in this workspace.
        """
        result: t.UserReactivated = await self._call("POST", fill_path("/v1/users/{id}/reactivate", id=id), options)
        return result

    async def reset_password(self, id: str, body: t.PasswordResetFields | None = None, **options: Unpack[PostOptions]) -> t.PasswordReset:
        """Create a password reset link

        Ends all sessions of the user within 5 seconds. Earlier links become invalid. The present password stays
        valid until the new link is used. API keys stay valid unless `revoke_api_keys` is true. For an invited
        user, the link is a new invitation.

        Needs the permission `workspace:admin`.

        - 404: No such user in this workspace.
        - 409: The user is deactivated.
        - 413: The body is larger than 1 MiB.
        """
        result: t.PasswordReset = await self._call("POST", fill_path("/v1/users/{id}/reset_password", id=id), options, json=body)
        return result


class AsyncInvitations(AsyncResource):
    async def get(self, token: str, **options: Unpack[RequestOptions]) -> t.Invitation:
        """Get the purpose of a one-time link

        Open to everybody; no credentials are needed.

        - 404: The link is unknown, expired, used or replaced. Links are valid for 7 days.
        """
        result: t.Invitation = await self._call("GET", fill_path("/v1/invitations/{token}", token=token), options)
        return result

    async def use(self, token: str, body: t.LinkUse, **options: Unpack[PostOptions]) -> t.UserWritten:
        """Use a one-time link: set the password and accept the invitation

        The link can be used once. A refused request leaves it valid. Sign in afterwards.

        Open to everybody; no credentials are needed.

        - 404: The link is unknown, expired, used or replaced. Links are valid for 7 days.
        - 409: For the first admin: a user with this e-mail address exists already.
        - 413: The body is larger than 16384 bytes.
        - 429: Too many requests with an Idempotency-Key from this address; see Retry-After.
        """
        result: t.UserWritten = await self._call("POST", fill_path("/v1/invitations/{token}", token=token), options, json=body)
        return result


class AsyncSession(AsyncResource):
    async def sign_in(self, body: t.SignIn, **options: Unpack[PostOptions]) -> t.SignedIn:
        """Sign in

        Needs the header `X-Requested-With`, with any value. A repeat with the same `Idempotency-Key` returns the
        same session. After the session has ended, a repeat gets 401 `invalid_credentials`.

        Open to everybody; no credentials are needed.

        - 401: No active user has this e-mail address and password.
        - 403: The request comes from another site, or lacks `X-Requested-With`.
        - 413: The body is larger than 16384 bytes.
        - 429: Too many attempts with this e-mail address or from this IP address; see Retry-After.
        """
        result: t.SignedIn = await self._call("POST", "/v1/session", options, json=body)
        return result

    async def get(self, **options: Unpack[ReadOptions]) -> t.CredentialsHolder:
        """Get the signed-in user or service account

        Needs a key or a session, but no permission.
        """
        result: t.CredentialsHolder = await self._call("GET", "/v1/session", options)
        return result

    async def patch(self, body: t.OwnName, **options: Unpack[WriteOptions]) -> t.SignedIn:
        """Change your name

        For users, with a session or with their own key. No permission is needed.

        - 413: The body is larger than 1 MiB.
        """
        result: t.SignedIn = await self._call("PATCH", "/v1/session", options, json=body)
        return result

    async def sign_out(self, **options: Unpack[WriteOptions]) -> t.SessionEnded:
        """Sign out

        For users, with a session or with their own key. No permission is needed.

        - 404: The request was made with an API key, not with a session.
        """
        result: t.SessionEnded = await self._call("DELETE", "/v1/session", options, result_if_deleted={"id": "", "deleted": True, "warnings": []}, ends_own_session=True)
        return result

    async def change_password(self, body: t.PasswordChange, **options: Unpack[PostOptions]) -> t.PasswordChanged:
        """Change your password

        Ends all sessions of the user. A request with a session gets a new cookie for its session. If the response
        is lost, sign in with the new password.

        For users, with a session or with their own key. No permission is needed.

        - 413: The body is larger than 1 MiB.
        """
        result: t.PasswordChanged = await self._call("POST", "/v1/session/password", options, json=body)
        return result

    def list(self, **options: Unpack[t.ListSessionsQuery]) -> AsyncPaginator[t.UserSession]:
        """List your sessions, newest first

        For users, with a session or with their own key. No permission is needed.
        """
        return self._list("/v1/sessions", options)

    async def end(self, id: str, **options: Unpack[WriteOptions]) -> t.SessionEnded:
        """End one of your sessions

        For users, with a session or with their own key. No permission is needed.

        - 404: You have no such session.
        """
        result: t.SessionEnded = await self._call("DELETE", fill_path("/v1/sessions/{id}", id=id), options, result_if_deleted={"id": id, "deleted": True, "warnings": []})
        return result


class AsyncAuditLog(AsyncResource):
    def list(self, **options: Unpack[t.ListAuditLogQuery]) -> AsyncPaginator[t.AuditEntry]:
        """List audit log entries, newest first

        Needs the permission `workspace:admin`.
        """
        return self._list("/v1/audit_log", options)


class AsyncHealth(AsyncResource):
    async def live(self, **options: Unpack[RequestOptions]) -> t.Liveness:
        """Check liveness

        Open to everybody; no credentials are needed.
        """
        result: t.Liveness = await self._call("GET", "/health/live", options)
        return result

    async def ready(self, **options: Unpack[RequestOptions]) -> t.Readiness:
        """Check readiness

        Open to everybody; no credentials are needed.
        """
        result: t.Readiness = await self._call("GET", "/health/ready", options)
        return result


class AsyncResources:
    """All resources of the API."""

    def __init__(self, requester: AsyncRequester) -> None:
        self.shipments = AsyncShipments(requester)
        self.milestones = AsyncMilestones(requester)
        self.exceptions = AsyncExceptions(requester)
        self.documents = AsyncDocuments(requester)
        self.places = AsyncPlaces(requester)
        self.events = AsyncEvents(requester)
        self.webhook_endpoints = AsyncWebhookEndpoints(requester)
        self.webhook_deliveries = AsyncWebhookDeliveries(requester)
        self.webhook_dead_letters = AsyncWebhookDeadLetters(requester)
        self.webhook_replays = AsyncWebhookReplays(requester)
        self.settings = AsyncSettings(requester)
        self.keys = AsyncKeys(requester)
        self.service_accounts = AsyncServiceAccounts(requester)
        self.users = AsyncUsers(requester)
        self.invitations = AsyncInvitations(requester)
        self.session = AsyncSession(requester)
        self.audit_log = AsyncAuditLog(requester)
        self.health = AsyncHealth(requester)
