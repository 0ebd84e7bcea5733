// Made from docs/openapi.json by `npm run client-types`: not to be edited.

export interface paths {
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check liveness
         * @description Open to everybody; no credentials are needed.
         */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check readiness
         * @description Open to everybody; no credentials are needed.
         */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api_keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys that you can access, newest first
         * @description Lists your own keys. With `keys:manage`, the list also contains keys of service accounts whose role is not admin. With `workspace:admin`, the list contains all keys. The list never contains the keys themselves.
         *
         *     Needs the permission `keys:manage`. Users need no permission for their own resources.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key for yourself or a service account
         * @description Keys of service accounts need `keys:manage`, and `workspace:admin` if the role of the account exceeds yours in the environment of the key. A test key can create only test keys.
         *
         *     Needs the permission `keys:manage`. Users need no permission for their own resources.
         *
         *     - 404: No such service account in this workspace.
         *     - 409: The service account is deactivated, or the owner has too many keys.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api_keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an API key, without the key itself
         * @description Needs the permission `keys:manage`. Users need no permission for their own resources.
         *
         *     - 404: The workspace has no such key, or you have no access to it.
         */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api_keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an API key
         * @description The key stops working within 5 seconds, permanently. Admins can also revoke keys of other users. Revoking a revoked key changes nothing.
         *
         *     Needs the permission `keys:manage`. Users need no permission for their own resources.
         *
         *     - 404: The workspace has no such key, or you have no access to it.
         */
        post: operations["revokeApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api_keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key
         * @description Creates a key with the same owner, environment and expiry. The old key expires at the end of the grace period.
         *
         *     Needs the permission `keys:manage`. Users need no permission for their own resources.
         *
         *     - 404: The workspace has no such key, or you have no access to it.
         *     - 409: The key was rotated or revoked or has expired, or its owner is deactivated or has too many keys for a grace period.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit_log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List audit log entries, newest first
         * @description Needs the permission `workspace:admin`.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/documents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a document
         * @description The ETag is the ETag of the shipment.
         *
         *     Needs the permission `documents:read`.
         *
         *     - 404: No such document in this workspace and environment.
         */
        get: operations["getDocument"];
        put?: never;
        post?: never;
        /**
         * Delete a document
         * @description If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `documents:approve`.
         *
         *     - 404: No such document in this workspace and environment.
         */
        delete: operations["deleteDocument"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/documents/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a document
         * @description The first review decision is final. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `documents:approve`.
         *
         *     - 404: No such document in this workspace and environment.
         *     - 409: The document is rejected, or has no file.
         */
        post: operations["approveDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/documents/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete an upload
         * @description The uploaded file must have the announced size and checksum; otherwise the document stays pending and the file can be uploaded again. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `documents:write`.
         *
         *     - 404: No such document in this workspace and environment.
         *     - 409: The file was not uploaded or is lost, or the document no longer accepts uploads.
         */
        post: operations["completeUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/documents/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Upload the file of a document
         * @description Send the request to the `upload.url` of the response, unchanged: its token replaces other credentials. A repeated upload replaces the earlier file. Afterwards, call `POST /v1/documents/{id}/complete`.
         *
         *     Open to everybody; no credentials are needed.
         *
         *     - 400: The file is empty, or its type is not accepted.
         *     - 403: The URL was not issued for this document, or has expired.
         *     - 404: No such document.
         *     - 408: The upload was too slow.
         *     - 409: The document is already complete, expired or deleted.
         *     - 413: The file is larger than announced, or another upload of the document uses the rest of the storage.
         *     - 429: Too many uploads of this document per minute; see Retry-After.
         *     - 503: A database or message broker is unavailable or at its limit; see Retry-After.
         *     - 507: The service has no disk space left for documents; see Retry-After.
         */
        put: operations["putDocumentContent"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/documents/{id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the file of a document
         * @description Sends the file as an attachment with its name, which gets the extension of the content type if it has another one. A Range header can request one range; with several ranges the whole file is sent. The ETag identifies the content, which never changes. If the stored file turns out to be damaged, the connection ends before the last bytes.
         *
         *     Needs the permission `documents:read`.
         *
         *     - 404: No such document in this workspace and environment.
         *     - 409: The file was not uploaded, is deleted, or is damaged.
         *     - 416: The file has no bytes in this range; `Content-Range` has its size.
         */
        get: operations["downloadDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/documents/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a document
         * @description The first review decision is final. To replace the document, upload another one with `replaces_document_id`. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `documents:approve`.
         *
         *     - 404: No such document in this workspace and environment.
         *     - 409: The document is approved, or has no file.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["rejectDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Events in the form that webhook endpoints receive, whether or not an endpoint subscribed to them; oldest first by default. They are stored for 30 days, unless the operator configures another period.
         *
         *     Needs the permission `shipments:read`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event
         * @description Needs the permission `shipments:read`.
         *
         *     - 404: The event does not exist in this workspace and environment, or is no longer stored.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream events
         * @description Server-sent events (`EventSource`): each has the `id` of an event, and as `data` its envelope, as in `GET /v1/events`. The stream starts now, or after the event that `Last-Event-ID` or `after` names. It contains each event once, in the order of `GET /v1/events`, and a comment every 15 s. It ends when the key, the session or the server ends; a client that reconnects with the last `id` misses nothing.
         *
         *     Needs the permission `shipments:read`.
         *
         *     - 429: The rate limit is exceeded, or the key, its owner or the workspace has too many open streams.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exceptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List exceptions
         * @description Newest first by default. A page may have fewer exceptions than limit, or even none, while has_more is true: continue with next_cursor.
         *
         *     Needs the permission `shipments:read`.
         */
        get: operations["listExceptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exceptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an exception
         * @description The ETag is the ETag of the shipment.
         *
         *     Needs the permission `shipments:read`.
         *
         *     - 404: No such exception in this workspace and environment.
         */
        get: operations["getException"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exceptions/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge an exception
         * @description A repeated request can change the assignee or add a note. Without a change it has no effect. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `exceptions:write`.
         *
         *     - 404: No such exception in this workspace and environment.
         *     - 409: The exception is resolved.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["acknowledgeException"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exceptions/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve an exception
         * @description The rule that opened the exception opens no other one until its cause has ended once. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `exceptions:write`.
         *
         *     - 404: No such exception in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["resolveException"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the purpose of a one-time link
         * @description Open to everybody; no credentials are needed.
         *
         *     - 404: The link is unknown, expired, used or replaced. Links are valid for 7 days.
         */
        get: operations["getInvitation"];
        put?: never;
        /**
         * Use a one-time link: set the password and accept the invitation
         * @description The link can be used once. A refused request leaves it valid. Sign in afterwards.
         *
         *     Open to everybody; no credentials are needed.
         *
         *     - 404: The link is unknown, expired, used or replaced. Links are valid for 7 days.
         *     - 409: For the first admin: a user with this e-mail address exists already.
         *     - 413: The body is larger than 16384 bytes.
         *     - 429: Too many requests with an Idempotency-Key from this address; see Retry-After.
         */
        post: operations["useInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/milestone_codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the milestone catalog
         * @description Needs the permission `shipments:read`.
         */
        get: operations["listMilestoneCodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/milestones/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record up to 500 milestones of any shipments
         * @description Each item is processed and answered like a single call, and items of one shipment in their order. The request is not atomic: a refused item does not affect the others. It counts as one request for the rate limit.
         *
         *     Needs the permission `milestones:write`.
         *
         *     - 413: The body is larger than 10 MiB.
         */
        post: operations["recordMilestones"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/places": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search ports and airports
         * @description Searches the places that the service knows by name. Other codes are accepted in shipments too.
         *
         *     Needs the permission `shipments:read`.
         */
        get: operations["listPlaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/required_documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the required documents by transport mode
         * @description The required documents according to the settings of the workspace.
         *
         *     Needs the permission `documents:read`.
         */
        get: operations["getRequiredDocuments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service_accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List service accounts, newest first
         * @description Needs the permission `keys:manage`.
         */
        get: operations["listServiceAccounts"];
        put?: never;
        /**
         * Create a service account
         * @description Needs the permission `workspace:admin`.
         *
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["createServiceAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service_accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a service account
         * @description Needs the permission `keys:manage`.
         *
         *     - 404: No such service account in this workspace.
         */
        get: operations["getServiceAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the name or role of a service account
         * @description A new role applies to all keys of the account within 5 seconds.
         *
         *     Needs the permission `workspace:admin`.
         *
         *     - 404: No such service account in this workspace.
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["changeServiceAccount"];
        trace?: never;
    };
    "/v1/service_accounts/{id}/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deactivate a service account
         * @description Needs the permission `workspace:admin`.
         *
         *     - 404: No such service account in this workspace.
         */
        post: operations["deactivateServiceAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service_accounts/{id}/reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reactivate a service account
         * @description Needs the permission `workspace:admin`.
         *
         *     - 404: No such service account in this workspace.
         */
        post: operations["reactivateServiceAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the signed-in user or service account
         * @description Needs a key or a session, but no permission.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in
         * @description Needs the header `X-Requested-With`, with any value. A repeat with the same `Idempotency-Key` returns the same session. After the session has ended, a repeat gets 401 `invalid_credentials`.
         *
         *     Open to everybody; no credentials are needed.
         *
         *     - 401: No active user has this e-mail address and password.
         *     - 403: The request comes from another site, or lacks `X-Requested-With`.
         *     - 413: The body is larger than 16384 bytes.
         *     - 429: Too many attempts with this e-mail address or from this IP address; see Retry-After.
         */
        post: operations["signIn"];
        /**
         * Sign out
         * @description For users, with a session or with their own key. No permission is needed.
         *
         *     - 404: The request was made with an API key, not with a session.
         */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        /**
         * Change your name
         * @description For users, with a session or with their own key. No permission is needed.
         *
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["changeOwnName"];
        trace?: never;
    };
    "/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change your password
         * @description Ends all sessions of the user. A request with a session gets a new cookie for its session. If the response is lost, sign in with the new password.
         *
         *     For users, with a session or with their own key. No permission is needed.
         *
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your sessions, newest first
         * @description For users, with a session or with their own key. No permission is needed.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of your sessions
         * @description For users, with a session or with their own key. No permission is needed.
         *
         *     - 404: You have no such session.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the settings of the workspace
         * @description Needs the permission `workspace:admin`.
         */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the settings of the workspace
         * @description A JSON merge patch (RFC 7396). Omitted settings keep their value; null restores the default.
         *
         *     Needs the permission `workspace:admin`.
         *
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["changeSettings"];
        trace?: never;
    };
    "/v1/shipments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List shipments
         * @description Newest first by default. A page may have fewer shipments than limit, or even none, while has_more is true: continue with next_cursor.
         *
         *     Needs the permission `shipments:read`.
         */
        get: operations["listShipments"];
        put?: never;
        /**
         * Create or update a shipment
         * @description Needs the permission `shipments:write`.
         *
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["upsertShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a shipment
         * @description Needs the permission `shipments:read`.
         *
         *     - 400: The Consistency-Token is not valid.
         *     - 404: No such shipment in this workspace and environment.
         */
        get: operations["getShipment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a shipment
         * @description A JSON merge patch (RFC 7396).
         *
         *     Needs the permission `shipments:write`.
         *
         *     - 404: No such shipment in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["changeShipment"];
        trace?: never;
    };
    "/v1/shipments/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a shipment
         * @description Needs the permission `shipments:write`.
         *
         *     - 404: No such shipment in this workspace and environment.
         *     - 409: The shipment is already delivered.
         */
        post: operations["cancelShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/containers/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a container of a shipment
         * @description A JSON merge patch (RFC 7396). If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `shipments:write`.
         *
         *     - 404: The shipment or the container does not exist in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["changeContainer"];
        trace?: never;
    };
    "/v1/shipments/{id}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the documents of a shipment, newest first
         * @description Documents in any status, including deleted ones.
         *
         *     Needs the permission `documents:read`.
         *
         *     - 404: No such shipment in this workspace and environment.
         */
        get: operations["listDocuments"];
        put?: never;
        /**
         * Upload a document
         * @description A form with the file, of up to 25 MiB; use an upload URL for larger files. The media type is determined from the content. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `documents:write`.
         *
         *     - 404: No such shipment in this workspace and environment.
         *     - 409: The document to replace was already replaced.
         *     - 413: The body is larger than 26 MiB.
         *     - 507: The service has no disk space left for documents; see Retry-After.
         */
        post: operations["addDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/documents/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request an upload URL for a large file
         * @description For a file of up to 250 MiB: `PUT` the file to `upload.url`, which needs no key and is valid for 15 minutes, then call `POST /v1/documents/{id}/complete`. A document that is not complete after 24 hours expires. A repeat with the same Idempotency-Key gets the same document with a new URL. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `documents:write`.
         *
         *     - 404: No such shipment in this workspace and environment.
         *     - 409: The document to replace was already replaced.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["requestUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/eta_history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the ETA changes of a shipment, newest first
         * @description Needs the permission `shipments:read`.
         *
         *     - 404: No such shipment in this workspace and environment.
         */
        get: operations["listEtaHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/exceptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the exceptions of a shipment, newest first
         * @description Needs the permission `shipments:read`.
         *
         *     - 404: No such shipment in this workspace and environment.
         */
        get: operations["listShipmentExceptions"];
        put?: never;
        /**
         * Open an exception
         * @description A shipment and each of its containers have at most one unresolved exception of each type. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `exceptions:write`.
         *
         *     - 404: No such shipment in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["openException"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/explanation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain the status, times and exceptions of a shipment
         * @description Needs the permission `shipments:read`.
         *
         *     - 404: No such shipment in this workspace and environment.
         */
        get: operations["explainShipment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the history of a shipment, newest first
         * @description Needs the permission `shipments:read`.
         *
         *     - 404: No such shipment in this workspace and environment.
         */
        get: operations["listShipmentHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/milestones": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the milestones of a shipment
         * @description Needs the permission `shipments:read`.
         *
         *     - 404: No such shipment in this workspace and environment.
         */
        get: operations["listMilestones"];
        put?: never;
        /**
         * Record a milestone
         * @description If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `milestones:write`.
         *
         *     - 404: No such shipment in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["recordMilestone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{id}/milestones/{milestone_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a milestone
         * @description The ETag is the ETag of the shipment.
         *
         *     Needs the permission `shipments:read`.
         *
         *     - 404: The shipment or the milestone does not exist in this workspace and environment.
         */
        get: operations["getMilestone"];
        put?: never;
        post?: never;
        /**
         * Retract a milestone
         * @description If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `milestones:write`.
         *
         *     - 404: The shipment or the milestone does not exist in this workspace and environment.
         */
        delete: operations["retractMilestone"];
        options?: never;
        head?: never;
        /**
         * Correct a milestone
         * @description A JSON merge patch: omitted fields keep their value, null clears a field. If a feed sends the milestone again, the correction stays. If-Match and the ETag of the response are those of the shipment.
         *
         *     Needs the permission `milestones:write`.
         *
         *     - 404: The shipment or the milestone does not exist in this workspace and environment.
         *     - 409: The milestone is retracted, or another milestone has the external_id.
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["correctMilestone"];
        trace?: never;
    };
    "/v1/shipments/{id}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reopen a cancelled shipment
         * @description Needs the permission `shipments:write`.
         *
         *     - 404: No such shipment in this workspace and environment.
         *     - 409: A milestone cancels the shipment.
         */
        post: operations["reopenShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create or update up to 500 shipments
         * @description Each item is processed and answered like a single call, and items of one shipment in their order. The request is not atomic: a refused item does not affect the others. It counts as one request for the rate limit.
         *
         *     Needs the permission `shipments:write`.
         *
         *     - 413: The body is larger than 10 MiB.
         */
        post: operations["upsertShipments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the storage used by documents
         * @description The documents of both environments of the workspace share one quota.
         *
         *     Needs the permission `documents:read`.
         */
        get: operations["getStorage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List users, newest first
         * @description Needs the permission `workspace:admin`.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Invite a user
         * @description Needs the permission `workspace:admin`.
         *
         *     - 409: A user with this e-mail address exists already. If the invitation was not accepted, `reset_password` creates a new link.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["inviteUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a user
         * @description Needs the permission `workspace:admin`.
         *
         *     - 404: No such user in this workspace.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the name or role of a user
         * @description A new role applies to all sessions and keys of the user within 5 seconds.
         *
         *     Needs the permission `workspace:admin`.
         *
         *     - 404: No such user in this workspace.
         *     - 409: The user is the only active admin of the workspace.
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["changeUser"];
        trace?: never;
    };
    "/v1/users/{id}/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deactivate a user: end all sessions, keys and links
         * @description Needs the permission `workspace:admin`.
         *
         *     - 404: No such user in this workspace.
         *     - 409: The user is the only active admin of the workspace.
         */
        post: operations["deactivateUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reactivate a user
         * @description The user can sign in again and use keys that are still valid; ended sessions stay ended. A user who never set a password gets a new invitation link.
         *
         *     Needs the permission `workspace:admin`.
         *
         *     - 404: No such user in this workspace.
         */
        post: operations["reactivateUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/reset_password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a password reset link
         * @description Ends all sessions of the user within 5 seconds. Earlier links become invalid. The present password stays valid until the new link is used. API keys stay valid unless `revoke_api_keys` is true. For an invited user, the link is a new invitation.
         *
         *     Needs the permission `workspace:admin`.
         *
         *     - 404: No such user in this workspace.
         *     - 409: The user is deactivated.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["resetUserPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_dead_letters/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Discard dead letters
         * @description Starts a job for each endpoint with matching dead letters, including deleted endpoints. Jobs are listed and canceled like replays. Without a filter, all dead letters are discarded.
         *
         *     Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint or delivery does not exist in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["discardWebhookDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_dead_letters/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Counts of the matching dead letters.
         * @description Starts a replay for each endpoint with matching dead letters. Deliveries get a new schedule and are sent oldest first. Without a filter, all dead letters are replayed.
         *
         *     Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint or delivery does not exist in this workspace and environment.
         *     - 409: The endpoint in the filter is not enabled, or a replay of it is already running.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["replayWebhookDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_dead_letters/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count dead letters by error code, endpoint and event type
         * @description Needs the permission `webhooks:manage`.
         */
        get: operations["summarizeWebhookDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries, newest first
         * @description Needs the permission `webhooks:manage`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery with every attempt
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This delivery does not exist in this workspace and environment.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_deliveries/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Discard a delivery
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This delivery does not exist in this workspace and environment.
         *     - 409: The delivery already succeeded.
         */
        post: operations["discardWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_deliveries/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request an extra attempt outside the schedule
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This delivery does not exist in this workspace and environment.
         *     - 409: The endpoint is not enabled.
         */
        post: operations["retryWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List endpoints, newest first
         * @description Needs the permission `webhooks:manage`.
         */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /**
         * Create an endpoint, without sending anything to it
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an endpoint
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         */
        get: operations["getWebhookEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint and discard its pending deliveries
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change an endpoint; a new URL has to be verified
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        patch: operations["changeWebhookEndpoint"];
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable an endpoint and hold its pending deliveries
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         */
        post: operations["disableWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable an endpoint: send live events and pending deliveries
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         *     - 409: The endpoint is not verified.
         */
        post: operations["enableWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay failed and missed events of an endpoint, oldest first
         * @description Starts a job that sends events as fast as the endpoint answers, without delaying live events. An endpoint can have only one running replay.
         *
         *     Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         *     - 409: The endpoint is not enabled, or a replay of it is already running.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["createWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/reveal_secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the valid signing secrets
         * @description Every call is recorded in the audit log.
         *
         *     Needs the permission `workspace:admin`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         *     - 409: The secrets were stored under a key that is lost.
         */
        post: operations["revealWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/rotate_secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret; the old one stays valid for a while
         * @description Until the old secret expires, every request is signed with both secrets. At most five secrets are valid at a time.
         *
         *     Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get hourly delivery statistics
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         */
        get: operations["getWebhookEndpointStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sandbox event to an endpoint, with one attempt
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         *     - 409: The endpoint is not verified.
         *     - 413: The body is larger than 1 MiB.
         */
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify an endpoint by sending a challenge
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This endpoint does not exist in this workspace and environment.
         *     - 429: The rate limit, or a limit of challenges, is exceeded; see Retry-After.
         */
        post: operations["verifyWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List replays, newest first
         * @description Needs the permission `webhooks:manage`.
         */
        get: operations["listWebhookReplays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_replays/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a replay and its progress
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This replay does not exist in this workspace and environment.
         */
        get: operations["getWebhookReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_replays/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay; deliveries already taken continue
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This replay does not exist in this workspace and environment.
         */
        post: operations["cancelWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_replays/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a canceled replay
         * @description Needs the permission `webhooks:manage`.
         *
         *     - 404: This replay does not exist in this workspace and environment.
         *     - 409: The replay is completed, the endpoint is not enabled, or another replay is running.
         */
        post: operations["resumeWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Actor: {
            /** @description Id of the actor. */
            id: string;
            /**
             * @description Kind of actor.
             * @enum {string}
             */
            type: "user" | "service_account" | "system";
        };
        /**
         * @example {
         *       "id": "key_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "name": "Nightly import",
         *       "environment": "live",
         *       "prefix": "sk_live_0aB1",
         *       "last_four": "9zY8",
         *       "owner": {
         *         "type": "service_account",
         *         "id": "sva_5f3c2k7qv3n5xw6yz2aabbccdd"
         *       },
         *       "role": "viewer",
         *       "max_role": null,
         *       "created_by": {
         *         "type": "user",
         *         "id": "usr_5f3c2k7qv3n5xw6yz2aabbccdd"
         *       },
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "expires_at": null,
         *       "last_used_at": null,
         *       "revoked_at": null,
         *       "rotated_to": null,
         *       "version": 1
         *     }
         */
        ApiKey: {
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /** @description User or service account that created the key. */
            created_by: components["schemas"]["Actor"];
            /** @description Environment whose data the key can access. */
            environment: components["schemas"]["Environment"];
            /**
             * Format: date-time
             * @description Time at which the key expires; null if it never expires. UTC with milliseconds.
             */
            expires_at: string | null;
            /**
             * @description Service-assigned identifier.
             * @example key_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * @description Last characters of the key.
             * @example 9zY8
             */
            last_four: string;
            /**
             * Format: date-time
             * @description Time of the last use, to the minute; null if the key was never used. UTC with milliseconds.
             */
            last_used_at: string | null;
            /** @description Role that also limits the key: `developer` for a key of a service account that a developer created, so that a later role of the account gives the key no further permissions. Null for no limit. */
            max_role: components["schemas"]["Role"] | null;
            /**
             * @description Purpose of the key, in your words.
             * @example Nightly import
             */
            name: string;
            /** @description User or service account whose permissions the key has. */
            owner: components["schemas"]["ApiKeyOwner"];
            /**
             * @description First characters of the key.
             * @example sk_live_0aB1
             */
            prefix: string;
            /**
             * Format: date-time
             * @description Time at which the key was revoked; null if it was not revoked. UTC with milliseconds.
             */
            revoked_at: string | null;
            /** @description Current role of the owner. */
            role: components["schemas"]["Role"];
            /** @description Id of the key that replaced this one. */
            rotated_to: string | null;
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        ApiKeyCreated: {
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /** @description User or service account that created the key. */
            created_by: components["schemas"]["Actor"];
            /** @description Environment whose data the key can access. */
            environment: components["schemas"]["Environment"];
            /**
             * Format: date-time
             * @description Time at which the key expires; null if it never expires. UTC with milliseconds.
             */
            expires_at: string | null;
            /**
             * @description Service-assigned identifier.
             * @example key_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * @description The key itself. Returned only once, in this response.
             * @example sk_live_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX9zY8
             */
            key: string;
            /**
             * @description Last characters of the key.
             * @example 9zY8
             */
            last_four: string;
            /**
             * Format: date-time
             * @description Time of the last use, to the minute; null if the key was never used. UTC with milliseconds.
             */
            last_used_at: string | null;
            /** @description Role that also limits the key: `developer` for a key of a service account that a developer created, so that a later role of the account gives the key no further permissions. Null for no limit. */
            max_role: components["schemas"]["Role"] | null;
            /**
             * @description Purpose of the key, in your words.
             * @example Nightly import
             */
            name: string;
            /** @description User or service account whose permissions the key has. */
            owner: components["schemas"]["ApiKeyOwner"];
            /**
             * @description First characters of the key.
             * @example sk_live_0aB1
             */
            prefix: string;
            /**
             * Format: date-time
             * @description Time at which the key was revoked; null if it was not revoked. UTC with milliseconds.
             */
            revoked_at: string | null;
            /** @description Current role of the owner. */
            role: components["schemas"]["Role"];
            /** @description Id of the key that replaced this one. */
            rotated_to: string | null;
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /**
         * @example {
         *       "name": "Nightly import",
         *       "environment": "test"
         *     }
         */
        ApiKeyFields: {
            /** @description Environment whose data the key can access. */
            environment: components["schemas"]["Environment"];
            /**
             * Format: date-time
             * @description Time at which the key expires; null if it never expires.
             */
            expires_at?: string | null;
            /**
             * @description Purpose of the key, in your words.
             * @example Nightly import
             */
            name: string;
            /** @description Service account that owns the key. By default the key is your own. */
            service_account_id?: string | null;
        };
        ApiKeyOwner: {
            /**
             * @description Id of the user or service account.
             * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * @description Kind of owner.
             * @enum {string}
             */
            type: "service_account" | "user";
        };
        ApiKeyPage: {
            /** @description The keys of this page. */
            data: components["schemas"]["ApiKey"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        /**
         * @example {
         *       "grace_seconds": 86400
         *     }
         */
        ApiKeyRotation: {
            /**
             * @description Seconds for which the old key stays valid next to the new one; 0 by default.
             * @example 86400
             */
            grace_seconds?: number | null;
        };
        ApiKeyWritten: {
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /** @description User or service account that created the key. */
            created_by: components["schemas"]["Actor"];
            /** @description Environment whose data the key can access. */
            environment: components["schemas"]["Environment"];
            /**
             * Format: date-time
             * @description Time at which the key expires; null if it never expires. UTC with milliseconds.
             */
            expires_at: string | null;
            /**
             * @description Service-assigned identifier.
             * @example key_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * @description Last characters of the key.
             * @example 9zY8
             */
            last_four: string;
            /**
             * Format: date-time
             * @description Time of the last use, to the minute; null if the key was never used. UTC with milliseconds.
             */
            last_used_at: string | null;
            /** @description Role that also limits the key: `developer` for a key of a service account that a developer created, so that a later role of the account gives the key no further permissions. Null for no limit. */
            max_role: components["schemas"]["Role"] | null;
            /**
             * @description Purpose of the key, in your words.
             * @example Nightly import
             */
            name: string;
            /** @description User or service account whose permissions the key has. */
            owner: components["schemas"]["ApiKeyOwner"];
            /**
             * @description First characters of the key.
             * @example sk_live_0aB1
             */
            prefix: string;
            /**
             * Format: date-time
             * @description Time at which the key was revoked; null if it was not revoked. UTC with milliseconds.
             */
            revoked_at: string | null;
            /** @description Current role of the owner. */
            role: components["schemas"]["Role"];
            /** @description Id of the key that replaced this one. */
            rotated_to: string | null;
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        AuditActor: {
            /** @description Id of the actor; `administration` for the command line. */
            id: string;
            /** @description Current name of the actor. */
            name: string | null;
            /**
             * @description Kind of actor.
             * @enum {string}
             */
            type: "user" | "service_account" | "system";
        };
        AuditEntry: {
            /** @description Actor of the change; for `session.refused`, the user with the e-mail address of the refused sign-in. The sender of the request may be another person. */
            actor: components["schemas"]["AuditActor"];
            /** @description IP address of the client; null for the command line. */
            address: string | null;
            /**
             * Format: date-time
             * @description Time at which the change was accepted. UTC with milliseconds.
             */
            at: string;
            /** @description Old and new value (`from`, `to`) of each changed field, without secrets. */
            changes: {
                [key: string]: {
                    from?: unknown;
                    to?: unknown;
                };
            };
            /**
             * @description Service-assigned identifier.
             * @example aud_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * @description `unknown`: the process ended before the outcome of the change was recorded.
             * @enum {string}
             */
            outcome: "done" | "unknown";
            /** @description Id of the request that made the change. */
            request_id: string;
            /** @description Changed resource. */
            target: components["schemas"]["AuditTarget"];
            /**
             * @description Type of the change.
             * @example api_key.revoked
             */
            type: components["schemas"]["AuditType"];
        };
        AuditLogPage: {
            /** @description The entries of this page. */
            data: components["schemas"]["AuditEntry"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor` with the same filters. */
            next_cursor: string | null;
        };
        AuditTarget: {
            /** @description Id of the changed resource. Null if the change concerns several resources, or if the outcome of a creation is unknown. */
            id: string | null;
            /**
             * @description Kind of the changed resource.
             * @example api_key
             */
            type: string;
        };
        /** @enum {string} */
        AuditType: "api_key.created" | "api_key.rotated" | "api_key.revoked" | "document.deleted" | "service_account.created" | "service_account.changed" | "service_account.deactivated" | "service_account.reactivated" | "session.ended" | "session.refused" | "session.started" | "settings.changed" | "user.created" | "user.invited" | "user.joined" | "user.changed" | "user.deactivated" | "user.reactivated" | "user.password_reset_requested" | "user.password_changed" | "webhook_dead_letters.discarded" | "webhook_dead_letters.replayed" | "webhook_delivery.discarded" | "webhook_endpoint.created" | "webhook_endpoint.changed" | "webhook_endpoint.deleted" | "webhook_endpoint.enabled" | "webhook_endpoint.disabled" | "webhook_endpoint.replayed" | "webhook_endpoint.secret_rotated" | "webhook_endpoint.secret_revealed" | "webhook_endpoint.verified" | "webhook_replay.canceled" | "webhook_replay.resumed";
        /** @enum {string} */
        AutomaticExceptionType: "eta_slip" | "departure_overdue" | "arrival_overdue" | "no_update" | "missed_connection" | "customs_hold" | "terminal_hold" | "freight_hold" | "off_route" | "demurrage_risk" | "detention_risk" | "missing_document" | "document_rejected" | "delivery_failed" | "return_to_sender" | "milestone_conflict" | "movement_after_cancel" | "invalid_container_number";
        /**
         * @example {
         *       "code": "vessel_departed",
         *       "occurred_at": "2026-11-21T09:30:00+08:00",
         *       "master_bill": "MAEU912345678",
         *       "milestone_external_id": "EVT-9981"
         *     }
         */
        BulkMilestone: {
            /**
             * @description Booking number of the shipment.
             * @example BKG-55012
             */
            booking_number?: string | null;
            /**
             * @description Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default.
             * @example actual
             */
            classifier?: components["schemas"]["Classifier"] | null;
            /**
             * @description Milestone code; see GET /v1/milestone_codes.
             * @example vessel_departed
             */
            code: components["schemas"]["CanonicalMilestoneCode"];
            /**
             * @description The container that the milestone is about. If no other field identifies the shipment, the shipment with this container.
             * @example CSQU3054383
             */
            container_number?: string | null;
            /**
             * @description Your own reference of the shipment.
             * @example TMS-2026-000181
             */
            external_id?: string | null;
            /**
             * @description IMO number of the vessel: seven digits with the check digit.
             * @example 9321483
             */
            imo?: string | null;
            /**
             * @description Latitude of the goods in degrees, WGS 84; requires `longitude`.
             * @example 31.3665
             */
            latitude?: number | null;
            /**
             * @description Place as free text; a UN/LOCODE is recognised.
             * @example CNSHA
             */
            location?: string | null;
            /**
             * @description Longitude of the goods in degrees, WGS 84; requires `latitude`.
             * @example 121.6158
             */
            longitude?: number | null;
            /**
             * @description Master bill or air waybill of the shipment.
             * @example MAEU912345678
             */
            master_bill?: string | null;
            /**
             * @description Your own reference of the milestone. A milestone sent again with the same reference is corrected.
             * @example EVT-9981
             */
            milestone_external_id?: string | null;
            /** @description Free-text note. */
            note?: string | null;
            /**
             * @description Time of the milestone. With `timezone`, it needs no offset. A date is allowed if the milestone is not actual.
             * @example 2026-11-21T09:30:00+08:00
             */
            occurred_at: string;
            /**
             * @description Number of pieces that the milestone concerns.
             * @example 12
             */
            pieces?: number | null;
            /**
             * @description Reason for the milestone.
             * @example carrier_feed_unavailable
             */
            reason_code?: components["schemas"]["ReasonCode"] | null;
            /**
             * @description Time when the source stated the milestone; by default the time of recording.
             * @example 2026-11-21T02:00:00Z
             */
            reported_at?: string | null;
            /** @description Id of the shipment, `shp_…`. */
            shipment_id?: string | null;
            /**
             * @description Source of the milestone; `manual` unless the key may record milestones for feeds.
             * @example manual
             */
            source?: components["schemas"]["MilestoneSource"] | null;
            /**
             * @description Measured temperature of the goods in degrees Celsius.
             * @example -18.5
             */
            temperature_celsius?: number | null;
            /**
             * @description Name or code of the terminal.
             * @example Yangshan Phase IV
             */
            terminal?: string | null;
            /**
             * @description IANA time zone of the place. In requests, `location` stands for that of the location.
             * @example Asia/Shanghai
             */
            timezone?: string | null;
            /**
             * @description Name of the vessel.
             * @example Maersk Honam
             */
            vessel?: string | null;
            /**
             * @description Voyage, flight, train or trip number.
             * @example 412W
             */
            voyage?: string | null;
        };
        BulkMilestoneItem: {
            /** @description Error of a refused item. */
            error?: components["schemas"]["ErrorDetail"];
            /** @description Index of the item in the request, starting at 0. */
            index: number;
            /** @description Result of a processed item. */
            milestone?: components["schemas"]["MilestoneWritten"];
            /**
             * @description HTTP status that a single call would return.
             * @example 201
             */
            status: number;
        };
        /**
         * @example {
         *       "milestones": [
         *         {
         *           "master_bill": "MAEU912345678",
         *           "code": "vessel_departed",
         *           "occurred_at": "2026-11-21T09:30:00+08:00",
         *           "milestone_external_id": "EVT-9981"
         *         }
         *       ]
         *     }
         */
        BulkMilestones: {
            /** @description Milestones, each like the body of `POST /v1/shipments/{id}/milestones`, with a field that identifies the shipment. */
            milestones: components["schemas"]["BulkMilestone"][];
        };
        BulkMilestonesWritten: {
            /** @description One result for each item, in the order of the request. */
            data: components["schemas"]["BulkMilestoneItem"][];
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        BulkShipmentItem: {
            /** @description Error of a refused item. */
            error?: components["schemas"]["ErrorDetail"];
            /** @description Index of the item in the request, starting at 0. */
            index: number;
            /** @description Result of a processed item. */
            shipment?: components["schemas"]["ShipmentWritten"];
            /**
             * @description HTTP status that a single call would return.
             * @example 201
             */
            status: number;
        };
        /**
         * @example {
         *       "shipments": [
         *         {
         *           "carrier_scac": "MAEU",
         *           "origin_port": "CNSHA",
         *           "destination_port": "NLRTM",
         *           "etd": "2026-11-21T09:30:00Z",
         *           "eta": "2026-12-19T18:00:00Z",
         *           "external_id": "TMS-2026-000181",
         *           "mode": "ocean",
         *           "load_type": "fcl",
         *           "house_bill": "HBL-77120",
         *           "master_bill": "MAEU912345678",
         *           "booking_number": "BKG-55012",
         *           "incoterm": "FOB",
         *           "container_numbers": [
         *             "CSQU3054383"
         *           ],
         *           "shipper": {
         *             "name": "Acme Electronics Ltd",
         *             "external_id": "CUST-1042"
         *           },
         *           "consignee": {
         *             "name": "Acme Electronics Ltd",
         *             "external_id": "CUST-1042"
         *           },
         *           "references": [
         *             {
         *               "type": "purchase_order",
         *               "value": "PO-88213"
         *             }
         *           ],
         *           "metadata": {
         *             "cost_centre": "4711"
         *           },
         *           "legs": [
         *             {
         *               "carrier_scac": "MAEU",
         *               "origin_port": "CNSHA",
         *               "destination_port": "NLRTM",
         *               "etd": "2026-11-21T09:30:00Z",
         *               "eta": "2026-12-19T18:00:00Z",
         *               "mode": "ocean",
         *               "vessel": "Maersk Honam",
         *               "voyage": "412W"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        BulkShipments: {
            /** @description Shipments, each like the body of `POST /v1/shipments`. */
            shipments: components["schemas"]["ShipmentFields"][];
        };
        BulkShipmentsWritten: {
            /** @description One result for each item, in the order of the request. */
            data: components["schemas"]["BulkShipmentItem"][];
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /** @enum {string} */
        CanonicalMilestoneCode: "booking_confirmed" | "booking_cancelled" | "empty_picked_up" | "cargo_stuffed" | "picked_up" | "received_at_origin" | "gated_in" | "export_customs_cleared" | "loaded_on_vessel" | "vessel_departed" | "flight_departed" | "rail_loaded" | "rail_departed" | "transshipment_arrived" | "transshipment_discharged" | "transshipment_loaded" | "transshipment_departed" | "border_crossed" | "in_transit_checkpoint" | "status_note" | "vessel_arrived" | "vessel_berthed" | "flight_arrived" | "discharged" | "rail_arrived" | "rail_unloaded" | "arrived_at_destination" | "customs_hold" | "customs_inspection" | "terminal_hold" | "terminal_released" | "import_customs_cleared" | "freight_hold" | "freight_released" | "carrier_released" | "arrival_notice_issued" | "available_for_pickup" | "unavailable_for_pickup" | "gated_out" | "out_for_delivery" | "delivery_attempted" | "return_started" | "delivered" | "cargo_stripped" | "empty_returned" | "empty_loaded" | "empty_discharged" | "returned_to_shipper";
        /** @enum {string} */
        Classifier: "actual" | "estimated" | "planned";
        /**
         * @example {
         *       "number": "CSQU3054383",
         *       "valid_check_digit": true,
         *       "size_type": null,
         *       "seal_number": null,
         *       "status": "in_transit",
         *       "status_milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *       "last_milestone": {
         *         "id": "mst_sandbox2sandbox2sandbox2aa1",
         *         "code": "vessel_departed",
         *         "label": "Vessel departed",
         *         "location": "CNSHA",
         *         "occurred_at": "2026-11-19T11:30:00.000Z"
         *       },
         *       "discharged_at": null,
         *       "available_at": null,
         *       "gated_out_at": null,
         *       "delivered_at": null,
         *       "empty_returned_at": null,
         *       "last_free_day": null,
         *       "empty_return_by": null
         *     }
         */
        Container: {
            /**
             * Format: date-time
             * @description Time from which the container is available for pickup. UTC with milliseconds.
             */
            available_at: string | null;
            /**
             * Format: date-time
             * @description Time of delivery. UTC with milliseconds.
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description Time of discharge. UTC with milliseconds.
             */
            discharged_at: string | null;
            /**
             * Format: date
             * @description Last day for returning the empty container, as a local date of the place.
             * @example 2027-01-04
             */
            empty_return_by: string | null;
            /**
             * Format: date-time
             * @description Time of the empty return. UTC with milliseconds.
             */
            empty_returned_at: string | null;
            /**
             * Format: date-time
             * @description Time of gate-out. UTC with milliseconds.
             */
            gated_out_at: string | null;
            /**
             * Format: date
             * @description Last day without demurrage, as a local date of the place.
             * @example 2026-12-24
             */
            last_free_day: string | null;
            /** @description Latest actual milestone of the container. */
            last_milestone: components["schemas"]["LastMilestone"] | null;
            /** @description Normalised container number. */
            number: string;
            /**
             * @description Seal number, or several ones.
             * @example ML-CN4831977
             */
            seal_number: string | null;
            /**
             * @description Size and type code of ISO 6346: four letters or digits.
             * @example 45G1
             */
            size_type: string | null;
            /** @description Status of the container. */
            status: components["schemas"]["ShipmentStatus"];
            /** @description Milestone that set the status. */
            status_milestone_id: string | null;
            /** @description True if the check digit is correct; null if this kind of number has none. */
            valid_check_digit: boolean | null;
        };
        /**
         * @example {
         *       "size_type": "45G1",
         *       "seal_number": "ML-CN4831977",
         *       "last_free_day": "2026-12-24",
         *       "empty_return_by": "2027-01-04"
         *     }
         */
        ContainerPatch: {
            /**
             * Format: date
             * @description Last day for returning the empty container, as a local date of the place.
             * @example 2027-01-04
             */
            empty_return_by?: string | null;
            /**
             * Format: date
             * @description Last day without demurrage, as a local date of the place.
             * @example 2026-12-24
             */
            last_free_day?: string | null;
            /**
             * @description Seal number, or several ones.
             * @example ML-CN4831977
             */
            seal_number?: string | null;
            /**
             * @description Size and type code of ISO 6346: four letters or digits.
             * @example 45G1
             */
            size_type?: string | null;
        };
        ContainerWritten: {
            /**
             * Format: date-time
             * @description Time from which the container is available for pickup. UTC with milliseconds.
             */
            available_at: string | null;
            /**
             * Format: date-time
             * @description Time of delivery. UTC with milliseconds.
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description Time of discharge. UTC with milliseconds.
             */
            discharged_at: string | null;
            /**
             * Format: date
             * @description Last day for returning the empty container, as a local date of the place.
             * @example 2027-01-04
             */
            empty_return_by: string | null;
            /**
             * Format: date-time
             * @description Time of the empty return. UTC with milliseconds.
             */
            empty_returned_at: string | null;
            /**
             * Format: date-time
             * @description Time of gate-out. UTC with milliseconds.
             */
            gated_out_at: string | null;
            /**
             * Format: date
             * @description Last day without demurrage, as a local date of the place.
             * @example 2026-12-24
             */
            last_free_day: string | null;
            /** @description Latest actual milestone of the container. */
            last_milestone: components["schemas"]["LastMilestone"] | null;
            /** @description Normalised container number. */
            number: string;
            /**
             * @description Seal number, or several ones.
             * @example ML-CN4831977
             */
            seal_number: string | null;
            /**
             * @description Size and type code of ISO 6346: four letters or digits.
             * @example 45G1
             */
            size_type: string | null;
            /** @description Status of the container. */
            status: components["schemas"]["ShipmentStatus"];
            /** @description Milestone that set the status. */
            status_milestone_id: string | null;
            /** @description True if the check digit is correct; null if this kind of number has none. */
            valid_check_digit: boolean | null;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "user": {
         *         "id": "usr_5f3c2k7qv3n5xw6yz2aabbccdd",
         *         "name": "Acme Electronics Ltd",
         *         "email": "jo@example.com"
         *       },
         *       "service_account": null,
         *       "workspace": {
         *         "id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *         "name": "Acme Electronics Ltd"
         *       },
         *       "role": "viewer",
         *       "permissions": [
         *         "shipments:read"
         *       ],
         *       "environment": "live",
         *       "expires_at": "2026-11-23T09:30:00.000Z"
         *     }
         */
        CredentialsHolder: {
            /** @description Environment of the key; for a session, the value of the header Environment. */
            environment: components["schemas"]["Environment"];
            /**
             * Format: date-time
             * @description Latest end of the session or key; null if it never ends. UTC with milliseconds.
             */
            expires_at: string | null;
            /** @description Permissions of the role in this environment. */
            permissions: components["schemas"]["Permission"][];
            /** @description Current role. */
            role: components["schemas"]["Role"];
            /** @description The service account that owns the key; otherwise null. */
            service_account: components["schemas"]["HoldingServiceAccount"] | null;
            /** @description The signed-in user, or the user that owns the key; otherwise null. */
            user: components["schemas"]["HoldingUser"] | null;
            /** @description Workspace of the session or key. */
            workspace: components["schemas"]["HoldingWorkspace"];
        };
        DefaultSettings: {
            /** @description Rules for opening exceptions automatically, by exception type. */
            exceptions: components["schemas"]["ExceptionSettingsByType"];
            /**
             * @description Required document types by transport mode. A change replaces the whole list of a mode.
             * @example {
             *       "ocean": [
             *         "bill_of_lading",
             *         "packing_list"
             *       ],
             *       "air": []
             *     }
             */
            required_documents: {
                [key: string]: components["schemas"]["DocumentType"][];
            };
        };
        /** @enum {string} */
        DeliveryStatus: "pending" | "retrying" | "succeeded" | "dead_lettered" | "discarded";
        /**
         * @example {
         *       "id": "doc_sandbox2sandbox2sandbox2aa1",
         *       "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *       "type": "bill_of_lading",
         *       "status": "uploaded",
         *       "file_name": "bill-of-lading.pdf",
         *       "content_type": "application/pdf",
         *       "size_bytes": 182044,
         *       "checksum_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         *       "uploaded_by": {
         *         "type": "user",
         *         "id": "usr_sandbox"
         *       },
         *       "created_at": "2026-11-23T06:30:00.000Z",
         *       "uploaded_at": "2026-11-23T06:30:00.000Z",
         *       "reviewed_by": null,
         *       "reviewed_at": null,
         *       "rejection_reason": null,
         *       "replaces_document_id": null,
         *       "replaced_by_document_id": null,
         *       "download_url": "https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/download"
         *     }
         */
        Document: {
            /**
             * @description SHA-256 of the file, in hexadecimal digits; lower case in responses.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            checksum_sha256: string;
            /**
             * @description Media type of the file, determined from its content.
             * @example application/pdf
             */
            content_type: components["schemas"]["DocumentContentType"];
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: uri
             * @description URL of the file; null while there is no file, and after its deletion.
             */
            download_url: string | null;
            /**
             * @description File name, in any script. A leading path is removed.
             * @example invoice-4711.pdf
             */
            file_name: string;
            /** @description Service-assigned identifier. */
            id: string;
            /** @description Reason for the rejection. */
            rejection_reason: string | null;
            /** @description Document that replaces this one. A replaced document satisfies no requirement. */
            replaced_by_document_id: string | null;
            /** @description Document of the shipment that this one replaces once its file is complete. */
            replaces_document_id: string | null;
            /**
             * Format: date-time
             * @description Time of the approval or rejection. UTC with milliseconds.
             */
            reviewed_at: string | null;
            /** @description Actor that approved or rejected the document. */
            reviewed_by: components["schemas"]["Actor"] | null;
            /** @description Id of the shipment. */
            shipment_id: string;
            /**
             * @description Size of the file in bytes.
             * @example 48213
             */
            size_bytes: number;
            /** @description `pending_upload` until the file is complete; `expired` if it was never uploaded; `deleted` if its file is destroyed. */
            status: components["schemas"]["DocumentStatus"];
            /**
             * @description Type of the document.
             * @example commercial_invoice
             */
            type: components["schemas"]["DocumentType"];
            /**
             * Format: date-time
             * @description Time at which the file was complete. UTC with milliseconds.
             */
            uploaded_at: string | null;
            /** @description Actor that uploaded the file or requested the upload URL. */
            uploaded_by: components["schemas"]["Actor"];
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "document.approved",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "document": {
         *           "id": "doc_sandbox2sandbox2sandbox2aa1",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "type": "bill_of_lading",
         *           "status": "approved",
         *           "file_name": "bill-of-lading.pdf",
         *           "content_type": "application/pdf",
         *           "size_bytes": 182044,
         *           "checksum_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         *           "uploaded_by": {
         *             "type": "user",
         *             "id": "usr_sandbox"
         *           },
         *           "created_at": "2026-11-23T06:30:00.000Z",
         *           "uploaded_at": "2026-11-23T06:30:00.000Z",
         *           "reviewed_by": {
         *             "type": "user",
         *             "id": "usr_sandbox"
         *           },
         *           "reviewed_at": "2026-11-23T09:30:00.000Z",
         *           "rejection_reason": null,
         *           "replaces_document_id": null,
         *           "replaced_by_document_id": null,
         *           "download_url": "https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/download"
         *         }
         *       }
         *     }
         */
        DocumentApprovedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The resource after the event. */
                document: components["schemas"]["Document"];
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "document.approved";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /** @enum {string} */
        DocumentContentType: "application/pdf" | "image/png" | "image/jpeg" | "image/tiff" | "image/heic" | "image/webp" | "text/csv" | "text/plain" | "application/xml" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" | "message/rfc822" | "application/vnd.ms-outlook";
        /**
         * @example {
         *       "type": "commercial_invoice",
         *       "file": "The bytes of bill-of-lading.pdf"
         *     }
         */
        DocumentForm: {
            /**
             * Format: binary
             * @description The file with its name. The parts of the form may have any order.
             */
            file: string;
            /** @description Document of the shipment that this one replaces once its file is complete. */
            replaces_document_id?: string | null;
            /**
             * @description Type of the document.
             * @example commercial_invoice
             */
            type: components["schemas"]["DocumentType"];
        };
        DocumentPage: {
            /** @description The documents of this page. */
            data: components["schemas"]["Document"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "document.rejected",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "document": {
         *           "id": "doc_sandbox2sandbox2sandbox2aa1",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "type": "bill_of_lading",
         *           "status": "rejected",
         *           "file_name": "bill-of-lading.pdf",
         *           "content_type": "application/pdf",
         *           "size_bytes": 182044,
         *           "checksum_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         *           "uploaded_by": {
         *             "type": "user",
         *             "id": "usr_sandbox"
         *           },
         *           "created_at": "2026-11-23T06:30:00.000Z",
         *           "uploaded_at": "2026-11-23T06:30:00.000Z",
         *           "reviewed_by": {
         *             "type": "user",
         *             "id": "usr_sandbox"
         *           },
         *           "reviewed_at": "2026-11-23T09:30:00.000Z",
         *           "rejection_reason": "The second page is missing.",
         *           "replaces_document_id": null,
         *           "replaced_by_document_id": null,
         *           "download_url": "https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/download"
         *         }
         *       }
         *     }
         */
        DocumentRejectedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The resource after the event. */
                document: components["schemas"]["Document"];
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "document.rejected";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /**
         * @example {
         *       "reason": "Page 2 is missing."
         *     }
         */
        DocumentRejection: {
            /**
             * @description Reason for the rejection, for the person who uploads a better document.
             * @example Page 2 is missing.
             */
            reason: string;
        };
        /** @enum {string} */
        DocumentStatus: "pending_upload" | "uploaded" | "approved" | "rejected" | "expired" | "deleted";
        /** @enum {string} */
        DocumentType: "bill_of_lading" | "house_bill" | "sea_waybill" | "air_waybill" | "commercial_invoice" | "packing_list" | "certificate_of_origin" | "booking_confirmation" | "shipping_instructions" | "arrival_notice" | "delivery_order" | "proof_of_delivery" | "customs_entry" | "verified_gross_mass" | "dangerous_goods_declaration" | "inspection_certificate" | "phytosanitary_certificate" | "insurance_certificate" | "freight_invoice" | "photo" | "other";
        /**
         * @example {
         *       "id": "doc_sandbox2sandbox2sandbox2aa1",
         *       "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *       "type": "bill_of_lading",
         *       "status": "pending_upload",
         *       "file_name": "bill-of-lading.pdf",
         *       "content_type": "application/pdf",
         *       "size_bytes": 182044,
         *       "checksum_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         *       "uploaded_by": {
         *         "type": "user",
         *         "id": "usr_sandbox"
         *       },
         *       "created_at": "2026-11-23T06:30:00.000Z",
         *       "uploaded_at": null,
         *       "reviewed_by": null,
         *       "reviewed_at": null,
         *       "rejection_reason": null,
         *       "replaces_document_id": null,
         *       "replaced_by_document_id": null,
         *       "download_url": null,
         *       "warnings": [],
         *       "upload": {
         *         "method": "PUT",
         *         "url": "https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/content?token=0aB1cD2eF3gH4iJ5kL6mN7oP",
         *         "headers": {
         *           "content-type": "application/pdf"
         *         },
         *         "expires_at": "2026-11-23T09:45:00.000Z"
         *       }
         *     }
         */
        DocumentUpload: {
            /**
             * @description SHA-256 of the file, in hexadecimal digits; lower case in responses.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            checksum_sha256: string;
            /**
             * @description Media type of the file, determined from its content.
             * @example application/pdf
             */
            content_type: components["schemas"]["DocumentContentType"];
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: uri
             * @description URL of the file; null while there is no file, and after its deletion.
             */
            download_url: string | null;
            /**
             * @description File name, in any script. A leading path is removed.
             * @example invoice-4711.pdf
             */
            file_name: string;
            /** @description Service-assigned identifier. */
            id: string;
            /** @description Reason for the rejection. */
            rejection_reason: string | null;
            /** @description Document that replaces this one. A replaced document satisfies no requirement. */
            replaced_by_document_id: string | null;
            /** @description Document of the shipment that this one replaces once its file is complete. */
            replaces_document_id: string | null;
            /**
             * Format: date-time
             * @description Time of the approval or rejection. UTC with milliseconds.
             */
            reviewed_at: string | null;
            /** @description Actor that approved or rejected the document. */
            reviewed_by: components["schemas"]["Actor"] | null;
            /** @description Id of the shipment. */
            shipment_id: string;
            /**
             * @description Size of the file in bytes.
             * @example 48213
             */
            size_bytes: number;
            /** @description `pending_upload` until the file is complete; `expired` if it was never uploaded; `deleted` if its file is destroyed. */
            status: components["schemas"]["DocumentStatus"];
            /**
             * @description Type of the document.
             * @example commercial_invoice
             */
            type: components["schemas"]["DocumentType"];
            /** @description Upload request for the file. */
            upload: components["schemas"]["Upload"];
            /**
             * Format: date-time
             * @description Time at which the file was complete. UTC with milliseconds.
             */
            uploaded_at: string | null;
            /** @description Actor that uploaded the file or requested the upload URL. */
            uploaded_by: components["schemas"]["Actor"];
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "document.uploaded",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "document": {
         *           "id": "doc_sandbox2sandbox2sandbox2aa1",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "type": "bill_of_lading",
         *           "status": "uploaded",
         *           "file_name": "bill-of-lading.pdf",
         *           "content_type": "application/pdf",
         *           "size_bytes": 182044,
         *           "checksum_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         *           "uploaded_by": {
         *             "type": "user",
         *             "id": "usr_sandbox"
         *           },
         *           "created_at": "2026-11-23T06:30:00.000Z",
         *           "uploaded_at": "2026-11-23T06:30:00.000Z",
         *           "reviewed_by": null,
         *           "reviewed_at": null,
         *           "rejection_reason": null,
         *           "replaces_document_id": null,
         *           "replaced_by_document_id": null,
         *           "download_url": "https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/download"
         *         }
         *       }
         *     }
         */
        DocumentUploadedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The resource after the event. */
                document: components["schemas"]["Document"];
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "document.uploaded";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /**
         * @example {
         *       "type": "commercial_invoice",
         *       "file_name": "invoice-4711.pdf",
         *       "content_type": "application/pdf",
         *       "size_bytes": 48213,
         *       "checksum_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
         *     }
         */
        DocumentUploadFields: {
            /**
             * @description SHA-256 of the file, in hexadecimal digits; lower case in responses.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            checksum_sha256: string;
            /**
             * @description Media type of the file, determined from its content.
             * @example application/pdf
             */
            content_type: components["schemas"]["DocumentContentType"];
            /**
             * @description File name, in any script. A leading path is removed.
             * @example invoice-4711.pdf
             */
            file_name: string;
            /** @description Document of the shipment that this one replaces once its file is complete. */
            replaces_document_id?: string | null;
            /**
             * @description Size of the file in bytes.
             * @example 48213
             */
            size_bytes: number;
            /**
             * @description Type of the document.
             * @example commercial_invoice
             */
            type: components["schemas"]["DocumentType"];
        };
        DocumentWritten: {
            /**
             * @description SHA-256 of the file, in hexadecimal digits; lower case in responses.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            checksum_sha256: string;
            /**
             * @description Media type of the file, determined from its content.
             * @example application/pdf
             */
            content_type: components["schemas"]["DocumentContentType"];
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: uri
             * @description URL of the file; null while there is no file, and after its deletion.
             */
            download_url: string | null;
            /**
             * @description File name, in any script. A leading path is removed.
             * @example invoice-4711.pdf
             */
            file_name: string;
            /** @description Service-assigned identifier. */
            id: string;
            /** @description Reason for the rejection. */
            rejection_reason: string | null;
            /** @description Document that replaces this one. A replaced document satisfies no requirement. */
            replaced_by_document_id: string | null;
            /** @description Document of the shipment that this one replaces once its file is complete. */
            replaces_document_id: string | null;
            /**
             * Format: date-time
             * @description Time of the approval or rejection. UTC with milliseconds.
             */
            reviewed_at: string | null;
            /** @description Actor that approved or rejected the document. */
            reviewed_by: components["schemas"]["Actor"] | null;
            /** @description Id of the shipment. */
            shipment_id: string;
            /**
             * @description Size of the file in bytes.
             * @example 48213
             */
            size_bytes: number;
            /** @description `pending_upload` until the file is complete; `expired` if it was never uploaded; `deleted` if its file is destroyed. */
            status: components["schemas"]["DocumentStatus"];
            /**
             * @description Type of the document.
             * @example commercial_invoice
             */
            type: components["schemas"]["DocumentType"];
            /**
             * Format: date-time
             * @description Time at which the file was complete. UTC with milliseconds.
             */
            uploaded_at: string | null;
            /** @description Actor that uploaded the file or requested the upload URL. */
            uploaded_by: components["schemas"]["Actor"];
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /** @enum {string} */
        Environment: "live" | "test";
        /** @enum {string} */
        ErrorCode: "validation_failed" | "unknown_parameter" | "malformed_json" | "body_too_large" | "storage_quota_exceeded" | "unsupported_media_type" | "invalid_cursor" | "external_id_immutable" | "reference_required" | "limit_exceeded" | "size_mismatch" | "checksum_mismatch" | "unsupported_document_type" | "empty_file" | "malformed_multipart" | "range_not_satisfiable" | "invalid_consistency_token" | "method_not_allowed" | "method_not_implemented" | "request_timeout" | "expectation_failed" | "headers_too_large" | "missing_api_key" | "invalid_api_key" | "invalid_credentials" | "invalid_session" | "permission_denied" | "invalid_upload_url" | "csrf" | "not_found" | "no_open_shipment" | "ambiguous_shipment" | "already_delivered" | "cancelled_by_milestone" | "milestone_retracted" | "milestone_exists" | "exception_resolved" | "document_not_pending" | "document_not_uploaded" | "document_damaged" | "document_reviewed" | "document_replaced" | "upload_missing" | "workspace_exists" | "user_exists" | "user_not_active" | "last_admin" | "key_not_active" | "too_many_keys" | "idempotency_key_reused" | "idempotency_in_progress" | "endpoint_not_verified" | "endpoint_not_enabled" | "secret_unreadable" | "delivery_succeeded" | "replay_running" | "replay_completed" | "precondition_failed" | "rate_limited" | "too_many_streams" | "storage_full" | "busy" | "unavailable" | "read_model_behind" | "internal_error";
        ErrorDetail: {
            /** @description Stable error code; see /docs/errors. */
            code: components["schemas"]["ErrorCode"];
            /** @description All invalid fields. */
            details: components["schemas"]["FieldError"][];
            /** @description Human-readable explanation. */
            message: string;
            /** @description The first invalid field, if the error is about fields. */
            param: string | null;
            /** @description Id of the request, as in the `Request-Id` header. */
            request_id: string;
            /** @description Category of the error. */
            type: components["schemas"]["ErrorType"];
        };
        ErrorResponse: {
            /** @description The error. */
            error: components["schemas"]["ErrorDetail"];
        };
        /** @enum {string} */
        ErrorType: "invalid_request" | "authentication" | "permission" | "not_found" | "conflict" | "rate_limit" | "internal";
        EtaChange: {
            /**
             * Format: date-time
             * @description New ETA. UTC with milliseconds.
             */
            eta: string | null;
            /** @description Precision of `eta`. */
            eta_precision: components["schemas"]["TimePrecision"];
            /** @description Milestone with the new estimate. */
            milestone_id: string | null;
            /**
             * Format: date-time
             * @description Former ETA. UTC with milliseconds.
             */
            previous_eta: string | null;
            /** @description Reason for the new estimate. */
            reason_code: components["schemas"]["ReasonCode"] | null;
            /**
             * Format: date-time
             * @description Time of recording. UTC with milliseconds.
             */
            reported_at: string;
            /** @description Hours by which the arrival moved, rounded to 0.01; negative if earlier. */
            slip_hours: number | null;
            /**
             * @description Source of the new estimate; `client` if it was set on the shipment.
             * @enum {string}
             */
            source: "manual" | "carrier" | "terminal" | "rail" | "ais" | "edi" | "customs" | "iot" | "partner" | "system" | "client";
        };
        EtaHistoryPage: {
            /** @description The changes of this page. */
            data: components["schemas"]["EtaChange"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        /** @description An event of a shipment, as receivers get it. */
        Event: components["schemas"]["ShipmentCreatedEvent"] | components["schemas"]["ShipmentUpdatedEvent"] | components["schemas"]["MilestoneRecordedEvent"] | components["schemas"]["ExceptionOpenedEvent"] | components["schemas"]["ExceptionResolvedEvent"] | components["schemas"]["DocumentApprovedEvent"] | components["schemas"]["MilestoneRetractedEvent"] | components["schemas"]["DocumentUploadedEvent"] | components["schemas"]["DocumentRejectedEvent"] | components["schemas"]["ExceptionUpdatedEvent"];
        EventPage: {
            /** @description The events of this page. */
            data: components["schemas"]["Event"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor` with the same filters. */
            next_cursor: string | null;
        };
        /** @enum {string} */
        EventTypeName: "shipment.created" | "shipment.updated" | "milestone.recorded" | "exception.opened" | "exception.resolved" | "document.approved" | "milestone.retracted" | "document.uploaded" | "document.rejected" | "exception.updated" | "webhook_endpoint.failing" | "webhook_delivery.dead_lettered";
        /**
         * @example {
         *       "assignee": "kim@example.com",
         *       "note": "The broker is handling it."
         *     }
         */
        ExceptionAcknowledgement: {
            /**
             * @description Person responsible. If omitted, the assignee stays unchanged.
             * @example kim@example.com
             */
            assignee?: string | null;
            /**
             * @description Note for the history of the shipment.
             * @example The broker is handling it.
             */
            note?: string | null;
        };
        /**
         * @example {
         *       "container_number": "CSQU3054383",
         *       "type": "container_damage",
         *       "severity": "high",
         *       "title": "Door bent",
         *       "detail": "The left door does not close.",
         *       "reason_code": "equipment_shortage",
         *       "assignee": "kim@example.com"
         *     }
         */
        ExceptionFields: {
            /**
             * @description Person responsible, as your system names them.
             * @example kim@example.com
             */
            assignee?: string | null;
            /**
             * @description Container that the exception concerns; null if it concerns the whole shipment.
             * @example CSQU3054383
             */
            container_number?: string | null;
            /**
             * @description Human-readable description of the problem.
             * @example The left door does not close.
             */
            detail?: string | null;
            /** @description Milestone of the shipment that shows the problem. */
            milestone_id?: string | null;
            /**
             * @description Reason given by the milestone or by the person who opened the exception.
             * @example equipment_shortage
             */
            reason_code?: components["schemas"]["ReasonCode"] | null;
            /**
             * @description Severity; `medium` by default.
             * @example high
             */
            severity?: components["schemas"]["Severity"] | null;
            /**
             * @description Title; by default the label of the type.
             * @example Door bent
             */
            title?: string | null;
            /**
             * @description Type of the exception.
             * @example container_damage
             */
            type: components["schemas"]["ExceptionType"];
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "exception.opened",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "exception": {
         *           "id": "exc_sandbox2sandbox2sandbox2aa1",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "container_number": null,
         *           "type": "eta_slip",
         *           "severity": "medium",
         *           "status": "open",
         *           "title": "ETA slipped",
         *           "detail": "The ETA 2026-12-14T15:30:00.000Z is 30 hours past the original 2026-12-13T09:30:00.000Z.",
         *           "detected_by": "system",
         *           "rule": "eta_slip",
         *           "milestone_id": null,
         *           "reason_code": null,
         *           "assignee": null,
         *           "metrics": {
         *             "slip_hours": 30,
         *             "eta": "2026-12-14T15:30:00.000Z",
         *             "original_eta": "2026-12-13T09:30:00.000Z"
         *           },
         *           "resolution": null,
         *           "opened_at": "2026-11-23T07:30:00.000Z",
         *           "acknowledged_at": null,
         *           "resolved_at": null
         *         }
         *       }
         *     }
         */
        ExceptionOpenedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The resource after the event. */
                exception: components["schemas"]["ShipmentException"];
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "exception.opened";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        ExceptionPage: {
            /** @description The exceptions of this page. */
            data: components["schemas"]["ShipmentException"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor` with the same filters and sort order. */
            next_cursor: string | null;
        };
        ExceptionResolution: {
            /** @description Actor of the resolution; `system` for an automatic resolution. */
            by: components["schemas"]["Actor"];
            /** @description Reason for the resolution. */
            code: components["schemas"]["ResolutionCode"];
            /** @description Free-text note. */
            note: string | null;
        };
        /**
         * @example {
         *       "code": "waived",
         *       "note": "Repaired at the depot."
         *     }
         */
        ExceptionResolutionFields: {
            /**
             * @description Reason for the resolution; `fixed` by default.
             * @example waived
             */
            code?: components["schemas"]["ManualResolutionCode"] | null;
            /**
             * @description Free-text note.
             * @example Repaired at the depot.
             */
            note?: string | null;
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "exception.resolved",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "exception": {
         *           "id": "exc_sandbox2sandbox2sandbox2aa1",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "container_number": null,
         *           "type": "eta_slip",
         *           "severity": "medium",
         *           "status": "resolved",
         *           "title": "ETA slipped",
         *           "detail": "The ETA 2026-12-14T15:30:00.000Z is 30 hours past the original 2026-12-13T09:30:00.000Z.",
         *           "detected_by": "system",
         *           "rule": "eta_slip",
         *           "milestone_id": null,
         *           "reason_code": null,
         *           "assignee": "kim@example.com",
         *           "metrics": {
         *             "slip_hours": 30,
         *             "eta": "2026-12-14T15:30:00.000Z",
         *             "original_eta": "2026-12-13T09:30:00.000Z"
         *           },
         *           "resolution": {
         *             "code": "fixed",
         *             "note": "Consignee informed.",
         *             "by": {
         *               "type": "user",
         *               "id": "usr_sandbox"
         *             }
         *           },
         *           "opened_at": "2026-11-23T07:30:00.000Z",
         *           "acknowledged_at": "2026-11-23T08:30:00.000Z",
         *           "resolved_at": "2026-11-23T09:30:00.000Z"
         *         }
         *       }
         *     }
         */
        ExceptionResolvedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The resource after the event. */
                exception: components["schemas"]["ShipmentException"];
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "exception.resolved";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        ExceptionSettings: {
            /**
             * @description Hours after which the exception opens; null if the type has no such time.
             * @example 24
             */
            after_hours: number | null;
            /** @description Hours before a given day or time at which the exception opens; null if the type has no such time. */
            before_hours: number | null;
            /**
             * @description Hours that replace `after_hours` for a transport mode: ocean, air, road, rail, barge, courier, multimodal.
             * @example {
             *       "air": 4,
             *       "road": 4
             *     }
             */
            by_mode: {
                [key: string]: number;
            };
            /** @description True if exceptions of this type open automatically. */
            enabled: boolean;
            /** @description Severity of the opened exception. */
            severity: components["schemas"]["Severity"];
        };
        /**
         * @example {
         *       "eta_slip": {
         *         "enabled": true,
         *         "after_hours": 24,
         *         "by_mode": {
         *           "air": 4,
         *           "road": 4
         *         },
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "departure_overdue": {
         *         "enabled": true,
         *         "after_hours": 12,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "arrival_overdue": {
         *         "enabled": true,
         *         "after_hours": 12,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "no_update": {
         *         "enabled": true,
         *         "after_hours": 168,
         *         "by_mode": {
         *           "air": 48,
         *           "road": 48,
         *           "rail": 72,
         *           "courier": 48
         *         },
         *         "before_hours": null,
         *         "severity": "low"
         *       },
         *       "missed_connection": {
         *         "enabled": true,
         *         "after_hours": 12,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "high"
         *       },
         *       "customs_hold": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "high"
         *       },
         *       "terminal_hold": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "freight_hold": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "off_route": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "demurrage_risk": {
         *         "enabled": true,
         *         "after_hours": 96,
         *         "by_mode": {},
         *         "before_hours": 48,
         *         "severity": "high"
         *       },
         *       "detention_risk": {
         *         "enabled": true,
         *         "after_hours": 240,
         *         "by_mode": {},
         *         "before_hours": 48,
         *         "severity": "medium"
         *       },
         *       "missing_document": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": 72,
         *         "severity": "medium"
         *       },
         *       "document_rejected": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "delivery_failed": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "medium"
         *       },
         *       "return_to_sender": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "high"
         *       },
         *       "milestone_conflict": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "low"
         *       },
         *       "movement_after_cancel": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "high"
         *       },
         *       "invalid_container_number": {
         *         "enabled": true,
         *         "after_hours": null,
         *         "by_mode": {},
         *         "before_hours": null,
         *         "severity": "low"
         *       }
         *     }
         */
        ExceptionSettingsByType: {
            /** @description Settings for exceptions of type `arrival_overdue`. */
            arrival_overdue: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `customs_hold`. */
            customs_hold: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `delivery_failed`. */
            delivery_failed: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `demurrage_risk`. */
            demurrage_risk: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `departure_overdue`. */
            departure_overdue: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `detention_risk`. */
            detention_risk: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `document_rejected`. */
            document_rejected: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `eta_slip`. */
            eta_slip: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `freight_hold`. */
            freight_hold: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `invalid_container_number`. */
            invalid_container_number: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `milestone_conflict`. */
            milestone_conflict: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `missed_connection`. */
            missed_connection: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `missing_document`. */
            missing_document: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `movement_after_cancel`. */
            movement_after_cancel: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `no_update`. */
            no_update: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `off_route`. */
            off_route: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `return_to_sender`. */
            return_to_sender: components["schemas"]["ExceptionSettings"];
            /** @description Settings for exceptions of type `terminal_hold`. */
            terminal_hold: components["schemas"]["ExceptionSettings"];
        };
        ExceptionSettingsChanges: {
            /**
             * @description Hours after which the exception opens; null if the type has no such time.
             * @example 24
             */
            after_hours?: number | null;
            /** @description Hours before a given day or time at which the exception opens; null if the type has no such time. */
            before_hours?: number | null;
            /**
             * @description Hours that replace `after_hours` for a transport mode: ocean, air, road, rail, barge, courier, multimodal.
             * @example {
             *       "air": 4,
             *       "road": 4
             *     }
             */
            by_mode?: {
                [key: string]: number | null;
            } | null;
            /** @description True if exceptions of this type open automatically. */
            enabled?: boolean | null;
            /** @description Severity of the opened exception. */
            severity?: components["schemas"]["Severity"] | null;
        };
        ExceptionSettingsChangesByType: {
            /** @description Settings for exceptions of type `arrival_overdue`. */
            arrival_overdue?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `customs_hold`. */
            customs_hold?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `delivery_failed`. */
            delivery_failed?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `demurrage_risk`. */
            demurrage_risk?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `departure_overdue`. */
            departure_overdue?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `detention_risk`. */
            detention_risk?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `document_rejected`. */
            document_rejected?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `eta_slip`. */
            eta_slip?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `freight_hold`. */
            freight_hold?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `invalid_container_number`. */
            invalid_container_number?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `milestone_conflict`. */
            milestone_conflict?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `missed_connection`. */
            missed_connection?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `missing_document`. */
            missing_document?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `movement_after_cancel`. */
            movement_after_cancel?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `no_update`. */
            no_update?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `off_route`. */
            off_route?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `return_to_sender`. */
            return_to_sender?: components["schemas"]["ExceptionSettingsChanges"] | null;
            /** @description Settings for exceptions of type `terminal_hold`. */
            terminal_hold?: components["schemas"]["ExceptionSettingsChanges"] | null;
        };
        /** @enum {string} */
        ExceptionStatus: "open" | "acknowledged" | "resolved";
        /** @enum {string} */
        ExceptionType: "eta_slip" | "departure_overdue" | "arrival_overdue" | "no_update" | "missed_connection" | "customs_hold" | "terminal_hold" | "freight_hold" | "off_route" | "demurrage_risk" | "detention_risk" | "missing_document" | "document_rejected" | "delivery_failed" | "return_to_sender" | "milestone_conflict" | "movement_after_cancel" | "invalid_container_number" | "container_damage" | "cargo_damage" | "shortage" | "temperature_excursion" | "seal_broken" | "delivery_refused" | "lost" | "other";
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "exception.updated",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "exception": {
         *           "id": "exc_sandbox2sandbox2sandbox2aa1",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "container_number": null,
         *           "type": "eta_slip",
         *           "severity": "medium",
         *           "status": "acknowledged",
         *           "title": "ETA slipped",
         *           "detail": "The ETA 2026-12-14T15:30:00.000Z is 30 hours past the original 2026-12-13T09:30:00.000Z.",
         *           "detected_by": "system",
         *           "rule": "eta_slip",
         *           "milestone_id": null,
         *           "reason_code": null,
         *           "assignee": "kim@example.com",
         *           "metrics": {
         *             "slip_hours": 30,
         *             "eta": "2026-12-14T15:30:00.000Z",
         *             "original_eta": "2026-12-13T09:30:00.000Z"
         *           },
         *           "resolution": null,
         *           "opened_at": "2026-11-23T07:30:00.000Z",
         *           "acknowledged_at": "2026-11-23T08:30:00.000Z",
         *           "resolved_at": null
         *         }
         *       }
         *     }
         */
        ExceptionUpdatedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The resource after the event. */
                exception: components["schemas"]["ShipmentException"];
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "exception.updated";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        ExceptionWritten: {
            /**
             * Format: date-time
             * @description Time of the first acknowledgement. UTC with milliseconds.
             */
            acknowledged_at: string | null;
            /**
             * @description Person responsible, as your system names them.
             * @example kim@example.com
             */
            assignee: string | null;
            /**
             * @description Container that the exception concerns; null if it concerns the whole shipment.
             * @example CSQU3054383
             */
            container_number: string | null;
            /**
             * @description Human-readable description of the problem.
             * @example The left door does not close.
             */
            detail: string | null;
            /**
             * @description Origin of the exception.
             * @enum {string}
             */
            detected_by: "system" | "manual" | "carrier";
            /** @description Service-assigned identifier. */
            id: string;
            /** @description Values measured by the rule. */
            metrics: {
                [key: string]: unknown;
            };
            /** @description Milestone of the shipment that shows the problem. */
            milestone_id: string | null;
            /**
             * Format: date-time
             * @description Time of opening. UTC with milliseconds.
             */
            opened_at: string;
            /**
             * @description Reason given by the milestone or by the person who opened the exception.
             * @example equipment_shortage
             */
            reason_code: components["schemas"]["ReasonCode"] | null;
            /** @description Resolution of the exception; null while it is unresolved. */
            resolution: components["schemas"]["ExceptionResolution"] | null;
            /**
             * Format: date-time
             * @description Time of the resolution. UTC with milliseconds.
             */
            resolved_at: string | null;
            /** @description Rule that opened the exception; null if a person opened it. */
            rule: components["schemas"]["AutomaticExceptionType"] | null;
            /**
             * @description Severity; `medium` by default.
             * @example high
             */
            severity: components["schemas"]["Severity"];
            /** @description Id of the shipment. */
            shipment_id: string;
            /** @description Processing status of the exception. */
            status: components["schemas"]["ExceptionStatus"];
            /**
             * @description Title; by default the label of the type.
             * @example Door bent
             */
            title: string;
            /**
             * @description Type of the exception.
             * @example container_damage
             */
            type: components["schemas"]["ExceptionType"];
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        ExplainedContainer: {
            /** @description Number of the container. */
            number: string;
            /** @description Status. */
            status: components["schemas"]["ExplainedStatus"];
        };
        ExplainedException: {
            /** @description Human-readable reason. */
            because: string | null;
            /** @description Container that the exception concerns; null for the whole shipment. */
            container_number: string | null;
            /** @description Id of the exception; null until it opens. */
            exception_id: string | null;
            /** @description Milestone that shows the cause. */
            milestone_id: string | null;
            /**
             * Format: date-time
             * @description Time at which the exception will open; null if it is open, or opens with the next write. UTC with milliseconds.
             */
            opens_at: string | null;
            /** @description Changes that resolve the exception or prevent it, each on its own. Cancelling the shipment does so too. */
            resolved_by: components["schemas"]["ResolvedBy"][];
            /** @description Rule that opened or will open the exception; null if a person opened it. */
            rule: components["schemas"]["AutomaticExceptionType"] | null;
            /**
             * @description Status. `expected`: the exception will open; `suppressed`: a person resolved it, and its cause has not ended since.
             * @enum {string}
             */
            status: "open" | "acknowledged" | "expected" | "suppressed";
            /** @description Type of the exception. */
            type: components["schemas"]["ExceptionType"];
        };
        /**
         * @example {
         *       "result": "counted",
         *       "rule": "status_of_code",
         *       "counts_as": "in_transit",
         *       "milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *       "code": "vessel_departed",
         *       "classifier": "actual",
         *       "occurred_at": "2026-11-23T09:30:00.000Z",
         *       "location": "CNSHA",
         *       "container_number": "CSQU3054383",
         *       "sets": [
         *         "status",
         *         "atd"
         *       ],
         *       "containers": []
         *     }
         */
        ExplainedMilestone: {
            /** @description Certainty of the milestone: `actual`, `estimated` or `planned`. */
            classifier: components["schemas"]["Classifier"];
            /** @description Code of the catalog. */
            code: components["schemas"]["CanonicalMilestoneCode"];
            /** @description Container of the milestone; null for all containers. */
            container_number: string | null;
            /** @description Containers for which the effect differs, with that effect. */
            containers: components["schemas"]["MilestoneEffectOnContainer"][];
            /** @description Status that the milestone stands for; null if it does not affect the status. */
            counts_as: components["schemas"]["ShipmentStatus"] | null;
            /** @description Place of the milestone. */
            location: string | null;
            /** @description Id of the milestone. */
            milestone_id: string;
            /**
             * Format: date-time
             * @description Time of the milestone, actual or expected. UTC with milliseconds.
             */
            occurred_at: string;
            /**
             * @description Effect of the milestone.
             * @enum {string}
             */
            result: "counted" | "demoted" | "superseded" | "ignored";
            /**
             * @description Rule that determined the effect.
             * @enum {string}
             */
            rule: "status_of_code" | "status_of_mode" | "leaves_status" | "arrival_on_the_way" | "departed_again" | "rail_departed_again" | "not_at_destination" | "part_load" | "unavailable_again" | "available_again" | "return_started" | "cancellation_taken_back" | "delivered_before" | "sailing_on" | "already_discharged" | "late_repeat" | "previous_trip" | "next_trip" | "container_not_used" | "newer_report" | "newest_estimate" | "newer_estimate" | "later_estimate" | "destination_estimated" | "set_by_client" | "actual_time_known" | "estimates_nothing" | "estimated_elsewhere" | "planned" | "container_not_on_shipment" | "retracted";
            /** @description Fields of the shipment whose value comes from the milestone, such as `status`, `ata`, `legs[1].eta`. */
            sets: string[];
        };
        ExplainedStatus: {
            /** @description Milestone that set the value. */
            milestone_id: string | null;
            /**
             * @description Rule that determined the value.
             * @enum {string}
             */
            rule: "no_milestone" | "highest_rank" | "not_all_delivered" | "lowest_of_delivered" | "cancelled_by_client" | "cancelled_by_milestone" | "earlier_rules";
            /** @description Status. */
            value: components["schemas"]["ShipmentStatus"];
        };
        ExplainedTime: {
            /** @description Milestone that set the time, or that prevents a change. */
            milestone_id: string | null;
            /**
             * @description Rule that determined the value.
             * @enum {string}
             */
            rule: "unknown" | "set_by_client" | "newest_estimate" | "of_leg" | "actual_time_known" | "at_port" | "earliest" | "earlier_rules";
            /**
             * Format: date-time
             * @description Time. UTC with milliseconds.
             */
            value: string | null;
        };
        /**
         * @example {
         *       "param": "legs[0].etd",
         *       "code": "invalid_timestamp",
         *       "message": "Must have a time zone offset: Z for UTC, or for example +08:00."
         *     }
         */
        FieldError: {
            /**
             * @description Stable code.
             * @example invalid_timestamp
             */
            code: components["schemas"]["FieldErrorCode"];
            /** @description Human-readable explanation. */
            message: string;
            /**
             * @description Name of the invalid field.
             * @example legs[0].etd
             */
            param: string;
        };
        /** @enum {string} */
        FieldErrorCode: "required" | "invalid_type" | "invalid_value" | "too_long" | "too_many" | "unknown_field" | "read_only_field" | "unknown_parameter" | "invalid_container_number" | "invalid_scac" | "invalid_port" | "invalid_timestamp" | "invalid_date" | "timestamp_in_future" | "timestamp_out_of_range" | "unknown_timezone" | "unknown_code" | "unknown_container" | "unknown_milestone" | "unknown_document" | "source_not_allowed" | "external_id_immutable" | "reference_required" | "limit_exceeded" | "invalid_cursor";
        HistoryActor: {
            /** @description Id of the actor. */
            id: string;
            /** @description Current name of the actor. */
            name: string | null;
            /**
             * @description Kind of actor.
             * @enum {string}
             */
            type: "user" | "service_account" | "system";
        };
        HistoryEntry: {
            /** @description Actor of the change. */
            actor: components["schemas"]["HistoryActor"];
            /**
             * Format: date-time
             * @description Time at which the change was accepted. UTC with milliseconds.
             */
            at: string;
            /** @description Old and new value (`from`, `to`) of each changed field. */
            changes: {
                [key: string]: {
                    from?: unknown;
                    to?: unknown;
                };
            };
            /**
             * @description Id of the event that announced the entry; otherwise the id of the entry itself.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description Type of the entry. */
            type: components["schemas"]["HistoryType"];
            /** @description Version of the shipment after the change. */
            version: number;
        };
        HistoryPage: {
            /** @description The entries of this page. */
            data: components["schemas"]["HistoryEntry"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        /** @enum {string} */
        HistoryType: "shipment.created" | "shipment.updated" | "shipment.cancelled" | "shipment.reopened" | "milestone.recorded" | "milestone.corrected" | "milestone.retracted" | "exception.opened" | "exception.updated" | "exception.resolved" | "document.requested" | "document.uploaded" | "document.approved" | "document.rejected" | "document.expired" | "document.deleted";
        HoldingServiceAccount: {
            /**
             * @description Service-assigned identifier.
             * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Name. */
            name: string;
        };
        HoldingUser: {
            /** @description E-mail address of the user. */
            email: string;
            /**
             * @description Service-assigned identifier.
             * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Name of the user. */
            name: string | null;
        };
        HoldingWorkspace: {
            /**
             * @description Service-assigned identifier.
             * @example wsp_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Name. */
            name: string;
        };
        /** @enum {string} */
        Incoterm: "EXW" | "FCA" | "CPT" | "CIP" | "DAP" | "DPU" | "DDP" | "FAS" | "FOB" | "CFR" | "CIF" | "DAT";
        Invitation: {
            /** @description E-mail address of the user; null for the first admin, who enters one. */
            email: string | null;
            /**
             * Format: date-time
             * @description Time at which the link expires. UTC with milliseconds.
             */
            expires_at: string;
            /**
             * @description Purpose of the link.
             * @enum {string}
             */
            purpose: "invitation" | "first_admin" | "password_reset";
            /** @description Role of the user in the workspace. */
            role: components["schemas"]["Role"];
            /** @description Workspace of the user. */
            workspace: components["schemas"]["InvitingWorkspace"];
        };
        InvitingWorkspace: {
            /** @description Service-assigned identifier. */
            id: string;
            /** @description Name of the workspace. */
            name: string;
        };
        LastMilestone: {
            /** @description Code of the catalog. */
            code: components["schemas"]["CanonicalMilestoneCode"];
            /** @description Id of the milestone. */
            id: string;
            /** @description Label of the code for people. */
            label: string;
            /** @description Place of the milestone. */
            location: string | null;
            /**
             * Format: date-time
             * @description Time of the milestone. UTC with milliseconds.
             */
            occurred_at: string;
        };
        Leg: {
            /**
             * Format: date-time
             * @description Actual arrival. UTC with milliseconds.
             */
            ata: string | null;
            /**
             * Format: date-time
             * @description Actual departure. UTC with milliseconds.
             */
            atd: string | null;
            /**
             * @description Carrier: SCAC, or the two-character IATA code for air and courier.
             * @example MAEU
             */
            carrier_scac: string | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example NLRTM
             */
            destination_port: string | null;
            /**
             * Format: date-time
             * @description Estimated arrival. UTC with milliseconds.
             * @example 2026-12-19T18:00:00.000Z
             */
            eta: string | null;
            /** @description Precision of `eta`. */
            eta_precision: components["schemas"]["TimePrecision"];
            /**
             * Format: date-time
             * @description Estimated departure. UTC with milliseconds.
             * @example 2026-11-21T09:30:00.000Z
             */
            etd: string | null;
            /** @description Precision of `etd`. */
            etd_precision: components["schemas"]["TimePrecision"];
            /**
             * @description Transport mode of the leg.
             * @example ocean
             */
            mode: components["schemas"]["Mode"] | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example CNSHA
             */
            origin_port: string | null;
            /**
             * @description Name of the vessel.
             * @example Maersk Honam
             */
            vessel: string | null;
            /**
             * @description Voyage, flight, train or trip number.
             * @example 412W
             */
            voyage: string | null;
        };
        LegFields: {
            /**
             * @description Carrier: SCAC, or the two-character IATA code for air and courier.
             * @example MAEU
             */
            carrier_scac?: string | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example NLRTM
             */
            destination_port?: string | null;
            /**
             * @description Estimated arrival. A date is the whole day.
             * @example 2026-12-19T18:00:00Z
             */
            eta?: string | null;
            /**
             * @description Estimated departure. A date is the whole day.
             * @example 2026-11-21T09:30:00Z
             */
            etd?: string | null;
            /**
             * @description Transport mode of the leg.
             * @example ocean
             */
            mode?: components["schemas"]["ModeInput"] | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example CNSHA
             */
            origin_port?: string | null;
            /**
             * @description Name of the vessel.
             * @example Maersk Honam
             */
            vessel?: string | null;
            /**
             * @description Voyage, flight, train or trip number.
             * @example 412W
             */
            voyage?: string | null;
        };
        /**
         * @example {
         *       "name": "Jo Doe",
         *       "password": "correct horse battery",
         *       "email": "jo@example.com"
         *     }
         */
        LinkUse: {
            /**
             * Format: email
             * @description E-mail address of the first admin, used to sign in. Ignored for other users.
             * @example jo@example.com
             */
            email?: string | null;
            /**
             * @description The name of the user. Required, except for a password reset.
             * @example Jo Doe
             */
            name?: string | null;
            /** @description Password of 10 to 200 characters. Must not be the e-mail address or one of the most common passwords. */
            password: string;
        };
        Liveness: {
            /**
             * @description Always `live`.
             * @enum {string}
             */
            status: "live";
        };
        /** @enum {string} */
        LoadType: "fcl" | "lcl" | "ftl" | "ltl" | "air_loose" | "bulk";
        /** @enum {string} */
        ManualResolutionCode: "fixed" | "waived" | "false_positive" | "duplicate";
        /**
         * @example {
         *       "id": "mst_sandbox2sandbox2sandbox2aa1",
         *       "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *       "code": "vessel_departed",
         *       "label": "Vessel departed",
         *       "sequence": 55,
         *       "occurred_at": "2026-11-19T11:30:00.000Z",
         *       "occurred_at_precision": "time",
         *       "source": "carrier",
         *       "reason_code": null,
         *       "location": "CNSHA",
         *       "classifier": "actual",
         *       "external_id": null,
         *       "container_number": "CSQU3054383",
         *       "vessel": "MSC SANDBOX",
         *       "voyage": "123W",
         *       "note": null,
         *       "timezone": "Asia/Shanghai",
         *       "latitude": null,
         *       "longitude": null,
         *       "terminal": null,
         *       "imo": null,
         *       "pieces": null,
         *       "temperature_celsius": null,
         *       "reported_at": "2026-11-19T12:30:00.000Z",
         *       "recorded_at": "2026-11-19T12:30:00.000Z",
         *       "recorded_by": {
         *         "type": "user",
         *         "id": "usr_sandbox"
         *       },
         *       "retracted_at": null,
         *       "superseded_at": null,
         *       "revision": 1
         *     }
         */
        Milestone: {
            /**
             * @description Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default.
             * @example actual
             */
            classifier: components["schemas"]["Classifier"];
            /**
             * @description Milestone code; see GET /v1/milestone_codes.
             * @example vessel_departed
             */
            code: components["schemas"]["CanonicalMilestoneCode"];
            /**
             * @description Container of the shipment; null if the milestone applies to all containers.
             * @example CSQU3054383
             */
            container_number: string | null;
            /**
             * @description Your own reference. A milestone sent again with the same reference is corrected.
             * @example EVT-9981
             */
            external_id: string | null;
            /** @description Service-assigned identifier. */
            id: string;
            /**
             * @description IMO number of the vessel: seven digits with the check digit.
             * @example 9321483
             */
            imo: string | null;
            /** @description Label of the code for people. */
            label: string;
            /**
             * @description Latitude of the goods in degrees, WGS 84; requires `longitude`.
             * @example 31.3665
             */
            latitude: number | null;
            /**
             * @description Place as free text; a UN/LOCODE is recognised.
             * @example CNSHA
             */
            location: string | null;
            /**
             * @description Longitude of the goods in degrees, WGS 84; requires `latitude`.
             * @example 121.6158
             */
            longitude: number | null;
            /** @description Free-text note. */
            note: string | null;
            /**
             * Format: date-time
             * @description Time of the milestone, actual or expected. UTC with milliseconds.
             * @example 2026-11-21T01:30:00.000Z
             */
            occurred_at: string;
            /** @description Precision of `occurred_at`. */
            occurred_at_precision: components["schemas"]["TimePrecision"];
            /**
             * @description Number of pieces that the milestone concerns.
             * @example 12
             */
            pieces: number | null;
            /**
             * @description Reason for the milestone.
             * @example carrier_feed_unavailable
             */
            reason_code: components["schemas"]["ReasonCode"] | null;
            /**
             * Format: date-time
             * @description Time of recording. UTC with milliseconds.
             */
            recorded_at: string;
            /** @description Actor that recorded the milestone. */
            recorded_by: components["schemas"]["Actor"];
            /**
             * Format: date-time
             * @description Time when the source stated the milestone; by default the time of recording. UTC with milliseconds.
             * @example 2026-11-21T02:00:00.000Z
             */
            reported_at: string;
            /**
             * Format: date-time
             * @description Time of the retraction. UTC with milliseconds.
             */
            retracted_at: string | null;
            /** @description Revision number: 1 when recorded, plus one with each correction. */
            revision: number;
            /** @description Position in the catalog. */
            sequence: number;
            /** @description Id of the shipment. */
            shipment_id: string;
            /**
             * @description Source of the milestone; `manual` unless the key may record milestones for feeds.
             * @example manual
             */
            source: components["schemas"]["MilestoneSource"];
            /**
             * Format: date-time
             * @description Time at which a later report replaced the milestone. UTC with milliseconds.
             */
            superseded_at: string | null;
            /**
             * @description Measured temperature of the goods in degrees Celsius.
             * @example -18.5
             */
            temperature_celsius: number | null;
            /**
             * @description Name or code of the terminal.
             * @example Yangshan Phase IV
             */
            terminal: string | null;
            /**
             * @description IANA time zone of the place. In requests, `location` stands for that of the location.
             * @example Asia/Shanghai
             */
            timezone: string | null;
            /**
             * @description Name of the vessel.
             * @example Maersk Honam
             */
            vessel: string | null;
            /**
             * @description Voyage, flight, train or trip number.
             * @example 412W
             */
            voyage: string | null;
        };
        /**
         * @example {
         *       "occurred_at": "2026-11-21T11:30:00+08:00",
         *       "note": "Confirmed by the carrier."
         *     }
         */
        MilestoneChanges: {
            /**
             * @description Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default.
             * @example actual
             */
            classifier?: components["schemas"]["Classifier"] | null;
            /**
             * @description Milestone code; see GET /v1/milestone_codes.
             * @example vessel_departed
             */
            code?: components["schemas"]["CanonicalMilestoneCode"];
            /**
             * @description Container of the shipment; null if the milestone applies to all containers.
             * @example CSQU3054383
             */
            container_number?: string | null;
            /**
             * @description Your own reference. A milestone sent again with the same reference is corrected.
             * @example EVT-9981
             */
            external_id?: string | null;
            /**
             * @description IMO number of the vessel: seven digits with the check digit.
             * @example 9321483
             */
            imo?: string | null;
            /**
             * @description Latitude of the goods in degrees, WGS 84; requires `longitude`.
             * @example 31.3665
             */
            latitude?: number | null;
            /**
             * @description Place as free text; a UN/LOCODE is recognised.
             * @example CNSHA
             */
            location?: string | null;
            /**
             * @description Longitude of the goods in degrees, WGS 84; requires `latitude`.
             * @example 121.6158
             */
            longitude?: number | null;
            /** @description Free-text note. */
            note?: string | null;
            /**
             * @description Time of the milestone. With `timezone`, it needs no offset. A date is allowed if the milestone is not actual.
             * @example 2026-11-21T09:30:00+08:00
             */
            occurred_at?: string;
            /**
             * @description Number of pieces that the milestone concerns.
             * @example 12
             */
            pieces?: number | null;
            /**
             * @description Reason for the milestone.
             * @example carrier_feed_unavailable
             */
            reason_code?: components["schemas"]["ReasonCode"] | null;
            /**
             * @description Time when the source stated the milestone; by default the time of recording.
             * @example 2026-11-21T02:00:00Z
             */
            reported_at?: string | null;
            /**
             * @description Measured temperature of the goods in degrees Celsius.
             * @example -18.5
             */
            temperature_celsius?: number | null;
            /**
             * @description Name or code of the terminal.
             * @example Yangshan Phase IV
             */
            terminal?: string | null;
            /**
             * @description IANA time zone of the place. In requests, `location` stands for that of the location.
             * @example Asia/Shanghai
             */
            timezone?: string | null;
            /**
             * @description Name of the vessel.
             * @example Maersk Honam
             */
            vessel?: string | null;
            /**
             * @description Voyage, flight, train or trip number.
             * @example 412W
             */
            voyage?: string | null;
        };
        /**
         * @example {
         *       "code": "vessel_departed",
         *       "label": "Vessel departed",
         *       "description": "The vessel left the port.",
         *       "sequence": 55,
         *       "modes": [
         *         "ocean",
         *         "barge",
         *         "multimodal"
         *       ],
         *       "status": "in_transit",
         *       "opens_exception": null,
         *       "once_per_visit": true,
         *       "dcsa": "DEPA",
         *       "x12_315": "VD",
         *       "x12_214": null,
         *       "rec24": "24",
         *       "standards": {
         *         "dcsa": [
         *           "DEPA"
         *         ],
         *         "x12_315": [
         *           "VD",
         *           "C"
         *         ],
         *         "x12_214": [],
         *         "iftsta": [
         *           "24"
         *         ],
         *         "iata_fsu": []
         *       }
         *     }
         */
        MilestoneCode: {
            /** @description Canonical code. */
            code: components["schemas"]["CanonicalMilestoneCode"];
            /** @description DCSA Track & Trace code. */
            dcsa: string | null;
            /** @description Meaning of the code. */
            description: string;
            /** @description Label of the code for people. */
            label: string;
            /** @description Transport modes in which the milestone is usual. */
            modes: components["schemas"]["Mode"][];
            /** @description True if the event happens once per visit of a place, so that the last report counts. */
            once_per_visit: boolean;
            /** @description Type of the exception that the milestone opens. */
            opens_exception: components["schemas"]["ExceptionType"] | null;
            /** @description UN/ECE Recommendation 24 code. */
            rec24: string | null;
            /** @description Position in the usual course of a shipment. */
            sequence: number;
            /** @description All codes of other standards that can mean this code. */
            standards: components["schemas"]["MilestoneCodeStandards"];
            /** @description Status of a shipment after an actual milestone with this code; null if the status does not change. */
            status: components["schemas"]["ShipmentStatus"] | null;
            /** @description X12 214 code. */
            x12_214: string | null;
            /** @description X12 315 code. */
            x12_315: string | null;
        };
        MilestoneCodeList: {
            /** @description Codes in catalog order. Without `limit`, the whole catalog. */
            data: components["schemas"]["MilestoneCode"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        MilestoneCodeStandards: {
            /** @description Event codes of DCSA Track & Trace 2.2 and 3.0, with what distinguishes their meanings. */
            dcsa: string[];
            /** @description Status codes of IATA FSU (Cargo-IMP). */
            iata_fsu: string[];
            /** @description Status codes of EDIFACT IFTSTA (UN/ECE Recommendation 24). */
            iftsta: string[];
            /** @description Status codes of X12 214 (element 1650). */
            x12_214: string[];
            /** @description Status codes of X12 315 (element 157). */
            x12_315: string[];
        };
        MilestoneEffectOnContainer: {
            /** @description Number of the container. */
            container_number: string;
            /** @description Status that the milestone stands for; null if it does not affect the status. */
            counts_as: components["schemas"]["ShipmentStatus"] | null;
            /**
             * @description Effect of the milestone.
             * @enum {string}
             */
            result: "counted" | "demoted" | "superseded" | "ignored";
            /**
             * @description Rule that determined the effect.
             * @enum {string}
             */
            rule: "status_of_code" | "status_of_mode" | "leaves_status" | "arrival_on_the_way" | "departed_again" | "rail_departed_again" | "not_at_destination" | "part_load" | "unavailable_again" | "available_again" | "return_started" | "cancellation_taken_back" | "delivered_before" | "sailing_on" | "already_discharged" | "late_repeat" | "previous_trip" | "next_trip" | "container_not_used" | "newer_report" | "newest_estimate" | "newer_estimate" | "later_estimate" | "destination_estimated" | "set_by_client" | "actual_time_known" | "estimates_nothing" | "estimated_elsewhere" | "planned" | "container_not_on_shipment" | "retracted";
        };
        /**
         * @example {
         *       "code": "vessel_departed",
         *       "occurred_at": "2026-11-21T09:30:00+08:00",
         *       "location": "CNSHA"
         *     }
         */
        MilestoneFields: {
            /**
             * @description Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default.
             * @example actual
             */
            classifier?: components["schemas"]["Classifier"] | null;
            /**
             * @description Milestone code; see GET /v1/milestone_codes.
             * @example vessel_departed
             */
            code: components["schemas"]["CanonicalMilestoneCode"];
            /**
             * @description Container of the shipment; null if the milestone applies to all containers.
             * @example CSQU3054383
             */
            container_number?: string | null;
            /**
             * @description Your own reference. A milestone sent again with the same reference is corrected.
             * @example EVT-9981
             */
            external_id?: string | null;
            /**
             * @description IMO number of the vessel: seven digits with the check digit.
             * @example 9321483
             */
            imo?: string | null;
            /**
             * @description Latitude of the goods in degrees, WGS 84; requires `longitude`.
             * @example 31.3665
             */
            latitude?: number | null;
            /**
             * @description Place as free text; a UN/LOCODE is recognised.
             * @example CNSHA
             */
            location?: string | null;
            /**
             * @description Longitude of the goods in degrees, WGS 84; requires `latitude`.
             * @example 121.6158
             */
            longitude?: number | null;
            /** @description Free-text note. */
            note?: string | null;
            /**
             * @description Time of the milestone. With `timezone`, it needs no offset. A date is allowed if the milestone is not actual.
             * @example 2026-11-21T09:30:00+08:00
             */
            occurred_at: string;
            /**
             * @description Number of pieces that the milestone concerns.
             * @example 12
             */
            pieces?: number | null;
            /**
             * @description Reason for the milestone.
             * @example carrier_feed_unavailable
             */
            reason_code?: components["schemas"]["ReasonCode"] | null;
            /**
             * @description Time when the source stated the milestone; by default the time of recording.
             * @example 2026-11-21T02:00:00Z
             */
            reported_at?: string | null;
            /**
             * @description Source of the milestone; `manual` unless the key may record milestones for feeds.
             * @example manual
             */
            source?: components["schemas"]["MilestoneSource"] | null;
            /**
             * @description Measured temperature of the goods in degrees Celsius.
             * @example -18.5
             */
            temperature_celsius?: number | null;
            /**
             * @description Name or code of the terminal.
             * @example Yangshan Phase IV
             */
            terminal?: string | null;
            /**
             * @description IANA time zone of the place. In requests, `location` stands for that of the location.
             * @example Asia/Shanghai
             */
            timezone?: string | null;
            /**
             * @description Name of the vessel.
             * @example Maersk Honam
             */
            vessel?: string | null;
            /**
             * @description Voyage, flight, train or trip number.
             * @example 412W
             */
            voyage?: string | null;
        };
        MilestonePage: {
            /** @description The milestones of this page. */
            data: components["schemas"]["Milestone"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor` with the same filters. */
            next_cursor: string | null;
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "milestone.recorded",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "milestone": {
         *           "id": "mst_sandbox2sandbox2sandbox2aa1",
         *           "code": "vessel_departed",
         *           "label": "Vessel departed",
         *           "location": "CNSHA",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "sequence": 55,
         *           "classifier": "actual",
         *           "occurred_at": "2026-11-19T11:30:00.000Z",
         *           "timezone": "Asia/Shanghai",
         *           "source": "carrier",
         *           "reason_code": null,
         *           "external_id": null,
         *           "container_number": "CSQU3054383",
         *           "vessel": "MSC SANDBOX",
         *           "voyage": "123W",
         *           "note": null,
         *           "occurred_at_precision": "time",
         *           "latitude": null,
         *           "longitude": null,
         *           "terminal": null,
         *           "imo": null,
         *           "pieces": null,
         *           "temperature_celsius": null,
         *           "reported_at": "2026-11-19T12:30:00.000Z",
         *           "recorded_at": "2026-11-19T12:30:00.000Z",
         *           "recorded_by": {
         *             "type": "user",
         *             "id": "usr_sandbox"
         *           },
         *           "retracted_at": null,
         *           "superseded_at": null,
         *           "revision": 1
         *         }
         *       }
         *     }
         */
        MilestoneRecordedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description The resource after the event. */
                milestone: components["schemas"]["Milestone"];
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "milestone.recorded";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "milestone.retracted",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "milestone": {
         *           "id": "mst_sandbox2sandbox2sandbox2aa1",
         *           "code": "vessel_departed",
         *           "label": "Vessel departed",
         *           "location": "CNSHA",
         *           "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *           "sequence": 55,
         *           "classifier": "actual",
         *           "occurred_at": "2026-11-19T11:30:00.000Z",
         *           "timezone": "Asia/Shanghai",
         *           "source": "carrier",
         *           "reason_code": null,
         *           "external_id": null,
         *           "container_number": "CSQU3054383",
         *           "vessel": "MSC SANDBOX",
         *           "voyage": "123W",
         *           "note": null,
         *           "occurred_at_precision": "time",
         *           "latitude": null,
         *           "longitude": null,
         *           "terminal": null,
         *           "imo": null,
         *           "pieces": null,
         *           "temperature_celsius": null,
         *           "reported_at": "2026-11-19T12:30:00.000Z",
         *           "recorded_at": "2026-11-19T12:30:00.000Z",
         *           "recorded_by": {
         *             "type": "user",
         *             "id": "usr_sandbox"
         *           },
         *           "retracted_at": "2026-11-23T09:30:00.000Z",
         *           "superseded_at": null,
         *           "revision": 2
         *         }
         *       }
         *     }
         */
        MilestoneRetractedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description The resource after the event. */
                milestone: components["schemas"]["Milestone"];
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "milestone.retracted";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /** @enum {string} */
        MilestoneSource: "manual" | "carrier" | "terminal" | "rail" | "ais" | "edi" | "customs" | "iot" | "partner" | "system";
        MilestoneWritten: {
            /**
             * @description Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default.
             * @example actual
             */
            classifier: components["schemas"]["Classifier"];
            /**
             * @description Milestone code; see GET /v1/milestone_codes.
             * @example vessel_departed
             */
            code: components["schemas"]["CanonicalMilestoneCode"];
            /**
             * @description Container of the shipment; null if the milestone applies to all containers.
             * @example CSQU3054383
             */
            container_number: string | null;
            /**
             * @description Your own reference. A milestone sent again with the same reference is corrected.
             * @example EVT-9981
             */
            external_id: string | null;
            /** @description Service-assigned identifier. */
            id: string;
            /**
             * @description IMO number of the vessel: seven digits with the check digit.
             * @example 9321483
             */
            imo: string | null;
            /** @description Label of the code for people. */
            label: string;
            /**
             * @description Latitude of the goods in degrees, WGS 84; requires `longitude`.
             * @example 31.3665
             */
            latitude: number | null;
            /**
             * @description Place as free text; a UN/LOCODE is recognised.
             * @example CNSHA
             */
            location: string | null;
            /**
             * @description Longitude of the goods in degrees, WGS 84; requires `latitude`.
             * @example 121.6158
             */
            longitude: number | null;
            /** @description Free-text note. */
            note: string | null;
            /**
             * Format: date-time
             * @description Time of the milestone, actual or expected. UTC with milliseconds.
             * @example 2026-11-21T01:30:00.000Z
             */
            occurred_at: string;
            /** @description Precision of `occurred_at`. */
            occurred_at_precision: components["schemas"]["TimePrecision"];
            /**
             * @description Number of pieces that the milestone concerns.
             * @example 12
             */
            pieces: number | null;
            /**
             * @description Reason for the milestone.
             * @example carrier_feed_unavailable
             */
            reason_code: components["schemas"]["ReasonCode"] | null;
            /**
             * Format: date-time
             * @description Time of recording. UTC with milliseconds.
             */
            recorded_at: string;
            /** @description Actor that recorded the milestone. */
            recorded_by: components["schemas"]["Actor"];
            /**
             * Format: date-time
             * @description Time when the source stated the milestone; by default the time of recording. UTC with milliseconds.
             * @example 2026-11-21T02:00:00.000Z
             */
            reported_at: string;
            /**
             * Format: date-time
             * @description Time of the retraction. UTC with milliseconds.
             */
            retracted_at: string | null;
            /** @description Revision number: 1 when recorded, plus one with each correction. */
            revision: number;
            /** @description Position in the catalog. */
            sequence: number;
            /** @description Id of the shipment. */
            shipment_id: string;
            /**
             * @description Source of the milestone; `manual` unless the key may record milestones for feeds.
             * @example manual
             */
            source: components["schemas"]["MilestoneSource"];
            /**
             * Format: date-time
             * @description Time at which a later report replaced the milestone. UTC with milliseconds.
             */
            superseded_at: string | null;
            /**
             * @description Measured temperature of the goods in degrees Celsius.
             * @example -18.5
             */
            temperature_celsius: number | null;
            /**
             * @description Name or code of the terminal.
             * @example Yangshan Phase IV
             */
            terminal: string | null;
            /**
             * @description IANA time zone of the place. In requests, `location` stands for that of the location.
             * @example Asia/Shanghai
             */
            timezone: string | null;
            /**
             * @description Name of the vessel.
             * @example Maersk Honam
             */
            vessel: string | null;
            /**
             * @description Voyage, flight, train or trip number.
             * @example 412W
             */
            voyage: string | null;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /** @enum {string} */
        Mode: "ocean" | "air" | "road" | "rail" | "barge" | "courier" | "multimodal";
        /** @enum {string} */
        ModeInput: "ocean" | "air" | "road" | "rail" | "barge" | "courier" | "multimodal" | "sea" | "vessel" | "truck";
        /**
         * @example {
         *       "name": "Jo Doe"
         *     }
         */
        OwnName: {
            /**
             * @description Your name.
             * @example Jo Doe
             */
            name: string;
        };
        Party: {
            /**
             * @description Your own reference of the party.
             * @example CUST-1042
             */
            external_id: string | null;
            /**
             * @description Name of the party.
             * @example Acme Electronics Ltd
             */
            name: string | null;
        };
        PartyFields: {
            /**
             * @description Your own reference of the party.
             * @example CUST-1042
             */
            external_id?: string | null;
            /**
             * @description Name of the party.
             * @example Acme Electronics Ltd
             */
            name?: string | null;
        };
        /**
         * @example {
         *       "current_password": "correct horse battery",
         *       "new_password": "staple battery horse"
         *     }
         */
        PasswordChange: {
            /** @description The current password. */
            current_password: string;
            /** @description Password of 10 to 200 characters. Must not be the e-mail address or one of the most common passwords. */
            new_password: string;
        };
        PasswordChanged: {
            /**
             * Format: date-time
             * @description Time of the change, when all other sessions and the former cookie ended. UTC with milliseconds.
             */
            changed_at: string;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        PasswordReset: {
            /**
             * Format: date-time
             * @description Time at which the link expires. UTC with milliseconds.
             */
            expires_at: string;
            /**
             * @description One-time link with which the user sets a new password. Returned only once, in this response.
             * @example https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP
             */
            reset_url: string;
            /** @description Number of API keys that the request revoked. */
            revoked_api_keys_count: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "revoke_api_keys": true
         *     }
         */
        PasswordResetFields: {
            /**
             * @description True to also revoke all valid API keys of the user, in both environments. False by default.
             * @example true
             */
            revoke_api_keys?: boolean | null;
        };
        /** @enum {string} */
        PayloadForm: "full" | "thin";
        /** @enum {string} */
        Permission: "shipments:read" | "shipments:write" | "milestones:write" | "milestones:feed" | "documents:read" | "documents:write" | "documents:approve" | "exceptions:write" | "webhooks:manage" | "keys:manage" | "workspace:admin";
        Place: {
            /**
             * @description UN/LOCODE or IATA airport code.
             * @example NLRTM
             */
            code: string;
            /**
             * @description ISO 3166-1 alpha-2.
             * @example NL
             */
            country: string;
            /**
             * @description Latitude in degrees north.
             * @example 51.95
             */
            latitude: number | null;
            /**
             * @description Longitude in degrees east.
             * @example 4.05
             */
            longitude: number | null;
            /**
             * @description Name of the place; null if unknown.
             * @example Rotterdam
             */
            name: string | null;
            /**
             * @description IANA time zone.
             * @example Europe/Amsterdam
             */
            timezone: string | null;
        };
        PlaceList: {
            /** @description Places, best match first, or in the order of the requested codes. */
            data: components["schemas"]["Place"][];
            /** @description Always false. */
            has_more: boolean;
            /** @description Always null: refine `q` to find other places. */
            next_cursor: string | null;
        };
        Problem: {
            /** @description Stable error code; see /docs/errors. */
            code: components["schemas"]["ErrorCode"];
            /** @description Human-readable explanation. */
            detail: string;
            /** @description All invalid fields. */
            details: components["schemas"]["FieldError"][];
            /** @description Category of the error. */
            error_type: components["schemas"]["ErrorType"];
            /** @description The first invalid field, if the error is about fields. */
            param: string | null;
            /** @description Id of the request, as in the `Request-Id` header. */
            request_id: string;
            /** @description HTTP status of the response. */
            status: number;
            /** @description Standard phrase of the HTTP status. */
            title: string;
            /**
             * Format: uri
             * @description URL of the code's documentation.
             */
            type: string;
        };
        Readiness: {
            /**
             * @description Status of each engine: `ok`, or the reason why it does not respond.
             * @example {
             *       "storage": "ok"
             *     }
             */
            engines: {
                [key: string]: string;
            };
            /**
             * @description `degraded`: a storage engine is unavailable, and operations that do not need this engine still work.
             * @enum {string}
             */
            status: "starting" | "ready" | "degraded" | "draining";
        };
        /** @enum {string} */
        ReasonCode: "carrier_feed_unavailable" | "carrier_feed_delayed" | "carrier_data_incorrect" | "confirmed_by_carrier" | "confirmed_by_agent" | "document_evidence" | "backfill" | "manual_other" | "vessel_mechanical" | "route_deviation" | "blank_sailing" | "port_omitted" | "rolled" | "missed_connection" | "carrier_other" | "port_congestion" | "terminal_congestion" | "labor_shortage" | "equipment_shortage" | "shore_other" | "customs_exam" | "customs_documents" | "missing_documents" | "misdeclared_weight" | "dangerous_goods" | "reefer_malfunction" | "cargo_damage" | "cargo_other" | "shipper_not_ready" | "consignee_unavailable" | "delivery_refused" | "appointment_missed" | "payment_hold" | "party_other" | "weather" | "strike" | "holiday" | "road_conditions" | "border_delay" | "force_majeure" | "external_other";
        Reference: {
            /**
             * @description Type of the reference.
             * @example purchase_order
             */
            type: string;
            /**
             * @description Value of the reference.
             * @example PO-88213
             */
            value: string;
        };
        RequiredDocuments: {
            /**
             * @description Required document types by transport mode. A change replaces the whole list of a mode.
             * @example {
             *       "ocean": [
             *         "bill_of_lading",
             *         "packing_list"
             *       ],
             *       "air": []
             *     }
             */
            required_documents: {
                [key: string]: components["schemas"]["DocumentType"][];
            };
            /** @description Version number of the settings, which grows with every change; 1 before the first change. */
            version: number;
        };
        /** @enum {string} */
        ResolutionCode: "fixed" | "waived" | "false_positive" | "duplicate" | "auto_cleared" | "shipment_cancelled";
        ResolvedBy: {
            /**
             * @description Kind of change that resolves the exception: a milestone with one of `codes`, a correction or retraction of one of `milestone_ids`, a new value of one of `fields`, and others.
             * @enum {string}
             */
            by: "milestone" | "correction" | "field_changed" | "news" | "cancellation_taken_back" | "container_taken_off" | "document_uploaded" | "document_approved";
            /** @description Milestone codes, each of which resolves the exception, for the same container. */
            codes: components["schemas"]["CanonicalMilestoneCode"][];
            /** @description Required document types: one document of each resolves the exception. */
            document_types: components["schemas"]["DocumentType"][];
            /** @description Fields of the shipment, or of the exception's container, such as `eta`, `legs[1].etd`, `last_free_day`. */
            fields: string[];
            /** @description Milestones whose correction resolves the exception. */
            milestone_ids: string[];
            /**
             * Format: date-time
             * @description Earliest time of the resolving milestone; null if its time does not matter. UTC with milliseconds.
             */
            occurred_from: string | null;
        };
        /** @enum {string} */
        Role: "viewer" | "operator" | "feed" | "developer" | "admin";
        ServiceAccount: {
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /** @description User or service account that created this service account. */
            created_by: components["schemas"]["Actor"];
            /**
             * @description Service-assigned identifier.
             * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * @description Name of the system that uses the account.
             * @example TMS
             */
            name: string;
            /** @description Role of the account, which applies to all its keys. */
            role: components["schemas"]["Role"];
            /**
             * @description Status of the account. Its keys are valid only while it is `active`.
             * @enum {string}
             */
            status: "active" | "deactivated";
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /**
         * @example {
         *       "name": "TMS",
         *       "role": "viewer"
         *     }
         */
        ServiceAccountChanges: {
            /**
             * @description Name of the system that uses the account.
             * @example TMS
             */
            name?: string;
            /** @description Role of the account, which applies to all its keys. */
            role?: components["schemas"]["Role"];
        };
        /**
         * @example {
         *       "name": "TMS",
         *       "role": "viewer"
         *     }
         */
        ServiceAccountFields: {
            /**
             * @description Name of the system that uses the account.
             * @example TMS
             */
            name: string;
            /** @description Role of the account, which applies to all its keys. */
            role: components["schemas"]["Role"];
        };
        ServiceAccountPage: {
            /** @description The service accounts of this page. */
            data: components["schemas"]["ServiceAccount"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        ServiceAccountWritten: {
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /** @description User or service account that created this service account. */
            created_by: components["schemas"]["Actor"];
            /**
             * @description Service-assigned identifier.
             * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * @description Name of the system that uses the account.
             * @example TMS
             */
            name: string;
            /** @description Role of the account, which applies to all its keys. */
            role: components["schemas"]["Role"];
            /**
             * @description Status of the account. Its keys are valid only while it is `active`.
             * @enum {string}
             */
            status: "active" | "deactivated";
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        SessionEnded: {
            /** @description Always true. */
            deleted: boolean;
            /** @description Id of the ended session. */
            id: string;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        SessionPage: {
            /** @description The sessions of this page. */
            data: components["schemas"]["UserSession"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        SettingsRecheck: {
            /** @description Number of shipments checked so far, in both environments. */
            checked: number;
            /**
             * Format: date-time
             * @description Time at which the last shipment was checked. UTC with milliseconds.
             */
            finished_at: string | null;
            /**
             * Format: date-time
             * @description Start of the check. UTC with milliseconds.
             */
            started_at: string | null;
            /**
             * @description State of the check. `pending` until every replica applies the settings.
             * @enum {string}
             */
            state: "pending" | "running" | "done";
        };
        /** @enum {string} */
        Severity: "low" | "medium" | "high" | "critical";
        /**
         * @example {
         *       "carrier_scac": "MSCU",
         *       "origin_port": "CNSHA",
         *       "destination_port": "NLRTM",
         *       "etd": "2026-11-19T09:30:00.000Z",
         *       "etd_precision": "time",
         *       "eta": "2026-12-14T15:30:00.000Z",
         *       "eta_precision": "time",
         *       "atd": "2026-11-19T11:30:00.000Z",
         *       "ata": null,
         *       "id": "shp_sandbox2sandbox2sandbox2aa",
         *       "external_id": "PO-SANDBOX-1",
         *       "status": "in_transit",
         *       "status_milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *       "mode": "ocean",
         *       "load_type": "fcl",
         *       "house_bill": "HBL-SANDBOX-1",
         *       "master_bill": "MEDUSANDBOX1",
         *       "booking_number": "BKG-SANDBOX-1",
         *       "incoterm": null,
         *       "container_numbers": [
         *         "CSQU3054383"
         *       ],
         *       "containers": [
         *         {
         *           "number": "CSQU3054383",
         *           "valid_check_digit": true,
         *           "size_type": null,
         *           "seal_number": null,
         *           "status": "in_transit",
         *           "status_milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *           "last_milestone": {
         *             "id": "mst_sandbox2sandbox2sandbox2aa1",
         *             "code": "vessel_departed",
         *             "label": "Vessel departed",
         *             "location": "CNSHA",
         *             "occurred_at": "2026-11-19T11:30:00.000Z"
         *           },
         *           "discharged_at": null,
         *           "available_at": null,
         *           "gated_out_at": null,
         *           "delivered_at": null,
         *           "empty_returned_at": null,
         *           "last_free_day": null,
         *           "empty_return_by": null
         *         }
         *       ],
         *       "original_eta": "2026-12-13T09:30:00.000Z",
         *       "original_eta_precision": "time",
         *       "shipper": {
         *         "name": "Sandbox Export Ltd",
         *         "external_id": "SUP-1"
         *       },
         *       "consignee": {
         *         "name": "Sandbox Import B.V.",
         *         "external_id": "CUS-1"
         *       },
         *       "references": [
         *         {
         *           "type": "purchase_order",
         *           "value": "PO-SANDBOX-1"
         *         }
         *       ],
         *       "metadata": null,
         *       "legs": [
         *         {
         *           "mode": "ocean",
         *           "carrier_scac": "MSCU",
         *           "origin_port": "CNSHA",
         *           "destination_port": "NLRTM",
         *           "etd": "2026-11-19T09:30:00.000Z",
         *           "etd_precision": "time",
         *           "eta": "2026-12-14T15:30:00.000Z",
         *           "eta_precision": "time",
         *           "atd": "2026-11-19T11:30:00.000Z",
         *           "ata": null,
         *           "vessel": "MSC SANDBOX",
         *           "voyage": "123W"
         *         }
         *       ],
         *       "last_milestone": {
         *         "id": "mst_sandbox2sandbox2sandbox2aa1",
         *         "code": "vessel_departed",
         *         "label": "Vessel departed",
         *         "location": "CNSHA",
         *         "occurred_at": "2026-11-19T11:30:00.000Z"
         *       },
         *       "open_exceptions_count": 1,
         *       "documents_count": 1,
         *       "created_at": "2026-11-13T09:30:00.000Z",
         *       "updated_at": "2026-11-23T09:30:00.000Z",
         *       "version": 7,
         *       "url": "https://app.example.com/shipments/shp_sandbox2sandbox2sandbox2aa"
         *     }
         */
        Shipment: {
            /**
             * Format: date-time
             * @description Actual arrival. UTC with milliseconds.
             */
            ata: string | null;
            /**
             * Format: date-time
             * @description Actual departure. UTC with milliseconds.
             */
            atd: string | null;
            /**
             * @description Booking number of the carrier.
             * @example BKG-55012
             */
            booking_number: string | null;
            /**
             * @description Carrier: SCAC, or the two-character IATA code for air and courier.
             * @example MAEU
             */
            carrier_scac: string | null;
            /** @description Consignee. */
            consignee: components["schemas"]["Party"] | null;
            /**
             * @description Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones.
             * @example [
             *       "CSQU3054383"
             *     ]
             */
            container_numbers: string[];
            /** @description Containers with their status and times. */
            containers: components["schemas"]["Container"][];
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example NLRTM
             */
            destination_port: string | null;
            /** @description Number of documents that are uploaded, approved or rejected. */
            documents_count: number;
            /**
             * Format: date-time
             * @description Estimated arrival. UTC with milliseconds.
             * @example 2026-12-19T18:00:00.000Z
             */
            eta: string | null;
            /** @description Precision of `eta`. */
            eta_precision: components["schemas"]["TimePrecision"];
            /**
             * Format: date-time
             * @description Estimated departure. UTC with milliseconds.
             * @example 2026-11-21T09:30:00.000Z
             */
            etd: string | null;
            /** @description Precision of `etd`. */
            etd_precision: components["schemas"]["TimePrecision"];
            /**
             * @description Your own reference, unique per workspace and environment. A shipment sent again with the same reference is updated.
             * @example TMS-2026-000181
             */
            external_id: string | null;
            /**
             * @description House bill reference.
             * @example HBL-77120
             */
            house_bill: string | null;
            /**
             * @description Service-assigned identifier.
             * @example shp_4h2k7qv3n5xw6yz2aabbccddee
             */
            id: string;
            /**
             * @description Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer.
             * @example FOB
             */
            incoterm: components["schemas"]["Incoterm"] | null;
            /** @description Latest actual milestone. */
            last_milestone: components["schemas"]["LastMilestone"] | null;
            /** @description Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the shipment itself does not have come from the first and last leg. */
            legs: components["schemas"]["Leg"][];
            /**
             * @description Load type of the cargo.
             * @example fcl
             */
            load_type: components["schemas"]["LoadType"] | null;
            /**
             * @description Master bill or air waybill.
             * @example MAEU912345678
             */
            master_bill: string | null;
            /**
             * @description Custom fields: your own strings by name.
             * @example {
             *       "cost_centre": "4711"
             *     }
             */
            metadata: {
                [key: string]: string;
            } | null;
            /**
             * @description Transport mode; `sea`, `vessel` and `truck` are normalised.
             * @example ocean
             */
            mode: components["schemas"]["Mode"] | null;
            /** @description Number of unresolved exceptions. */
            open_exceptions_count: number;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example CNSHA
             */
            origin_port: string | null;
            /**
             * Format: date-time
             * @description First known estimated arrival. In a patch, null sets it to the present estimate. UTC with milliseconds.
             * @example 2026-12-19T18:00:00.000Z
             */
            original_eta: string | null;
            /** @description Precision of `original_eta`. */
            original_eta_precision: components["schemas"]["TimePrecision"];
            /** @description Additional references. */
            references: components["schemas"]["Reference"][];
            /** @description Shipper. */
            shipper: components["schemas"]["Party"] | null;
            /** @description Status, derived from the milestones regardless of the order in which they arrive. */
            status: components["schemas"]["ShipmentStatus"];
            /** @description Milestone that set the status; null if the shipment is pending or was cancelled by the client. */
            status_milestone_id: string | null;
            /**
             * Format: date-time
             * @description Time of the last change of any part of the shipment. UTC with milliseconds.
             */
            updated_at: string;
            /**
             * Format: uri
             * @description URL of the shipment in the web application.
             */
            url: string;
            /** @description Version number, which grows with every change. */
            version: number;
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "shipment.created",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "shipment": {
         *           "mode": "ocean",
         *           "carrier_scac": "MSCU",
         *           "origin_port": "CNSHA",
         *           "destination_port": "NLRTM",
         *           "etd": "2026-11-19T09:30:00.000Z",
         *           "etd_precision": "time",
         *           "eta": "2026-12-14T15:30:00.000Z",
         *           "eta_precision": "time",
         *           "atd": "2026-11-19T11:30:00.000Z",
         *           "ata": null,
         *           "id": "shp_sandbox2sandbox2sandbox2aa",
         *           "external_id": "PO-SANDBOX-1",
         *           "status": "in_transit",
         *           "status_milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *           "load_type": "fcl",
         *           "house_bill": "HBL-SANDBOX-1",
         *           "master_bill": "MEDUSANDBOX1",
         *           "booking_number": "BKG-SANDBOX-1",
         *           "container_numbers": [
         *             "CSQU3054383"
         *           ],
         *           "shipper": {
         *             "name": "Sandbox Export Ltd",
         *             "external_id": "SUP-1"
         *           },
         *           "consignee": {
         *             "name": "Sandbox Import B.V.",
         *             "external_id": "CUS-1"
         *           },
         *           "references": [
         *             {
         *               "type": "purchase_order",
         *               "value": "PO-SANDBOX-1"
         *             }
         *           ],
         *           "metadata": null,
         *           "legs": [
         *             {
         *               "mode": "ocean",
         *               "carrier_scac": "MSCU",
         *               "origin_port": "CNSHA",
         *               "destination_port": "NLRTM",
         *               "etd": "2026-11-19T09:30:00.000Z",
         *               "etd_precision": "time",
         *               "eta": "2026-12-14T15:30:00.000Z",
         *               "eta_precision": "time",
         *               "atd": "2026-11-19T11:30:00.000Z",
         *               "ata": null,
         *               "vessel": "MSC SANDBOX",
         *               "voyage": "123W"
         *             }
         *           ],
         *           "containers": [
         *             {
         *               "number": "CSQU3054383",
         *               "valid_check_digit": true,
         *               "size_type": null,
         *               "seal_number": null,
         *               "status": "in_transit",
         *               "status_milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *               "last_milestone": {
         *                 "id": "mst_sandbox2sandbox2sandbox2aa1",
         *                 "code": "vessel_departed",
         *                 "label": "Vessel departed",
         *                 "location": "CNSHA",
         *                 "occurred_at": "2026-11-19T11:30:00.000Z"
         *               },
         *               "discharged_at": null,
         *               "available_at": null,
         *               "gated_out_at": null,
         *               "delivered_at": null,
         *               "empty_returned_at": null,
         *               "last_free_day": null,
         *               "empty_return_by": null
         *             }
         *           ],
         *           "original_eta": "2026-12-13T09:30:00.000Z",
         *           "original_eta_precision": "time",
         *           "last_milestone": {
         *             "id": "mst_sandbox2sandbox2sandbox2aa1",
         *             "code": "vessel_departed",
         *             "label": "Vessel departed",
         *             "location": "CNSHA",
         *             "occurred_at": "2026-11-19T11:30:00.000Z"
         *           },
         *           "open_exceptions_count": 1,
         *           "documents_count": 1,
         *           "created_at": "2026-11-13T09:30:00.000Z",
         *           "updated_at": "2026-11-23T09:30:00.000Z",
         *           "version": 7,
         *           "url": "https://app.example.com/shipments/shp_sandbox2sandbox2sandbox2aa",
         *           "incoterm": null
         *         }
         *       }
         *     }
         */
        ShipmentCreatedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description The resource after the event. */
                shipment: components["schemas"]["Shipment"];
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "shipment.created";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /** @enum {string} */
        ShipmentEventType: "shipment.created" | "shipment.updated" | "milestone.recorded" | "exception.opened" | "exception.resolved" | "document.approved" | "milestone.retracted" | "document.uploaded" | "document.rejected" | "exception.updated";
        /**
         * @example {
         *       "id": "exc_sandbox2sandbox2sandbox2aa1",
         *       "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *       "container_number": null,
         *       "type": "eta_slip",
         *       "severity": "medium",
         *       "status": "open",
         *       "title": "ETA slipped",
         *       "detail": "The ETA 2026-12-14T15:30:00.000Z is 30 hours past the original 2026-12-13T09:30:00.000Z.",
         *       "detected_by": "system",
         *       "rule": "eta_slip",
         *       "milestone_id": null,
         *       "reason_code": null,
         *       "assignee": null,
         *       "metrics": {
         *         "slip_hours": 30,
         *         "eta": "2026-12-14T15:30:00.000Z",
         *         "original_eta": "2026-12-13T09:30:00.000Z"
         *       },
         *       "resolution": null,
         *       "opened_at": "2026-11-23T07:30:00.000Z",
         *       "acknowledged_at": null,
         *       "resolved_at": null
         *     }
         */
        ShipmentException: {
            /**
             * Format: date-time
             * @description Time of the first acknowledgement. UTC with milliseconds.
             */
            acknowledged_at: string | null;
            /**
             * @description Person responsible, as your system names them.
             * @example kim@example.com
             */
            assignee: string | null;
            /**
             * @description Container that the exception concerns; null if it concerns the whole shipment.
             * @example CSQU3054383
             */
            container_number: string | null;
            /**
             * @description Human-readable description of the problem.
             * @example The left door does not close.
             */
            detail: string | null;
            /**
             * @description Origin of the exception.
             * @enum {string}
             */
            detected_by: "system" | "manual" | "carrier";
            /** @description Service-assigned identifier. */
            id: string;
            /** @description Values measured by the rule. */
            metrics: {
                [key: string]: unknown;
            };
            /** @description Milestone of the shipment that shows the problem. */
            milestone_id: string | null;
            /**
             * Format: date-time
             * @description Time of opening. UTC with milliseconds.
             */
            opened_at: string;
            /**
             * @description Reason given by the milestone or by the person who opened the exception.
             * @example equipment_shortage
             */
            reason_code: components["schemas"]["ReasonCode"] | null;
            /** @description Resolution of the exception; null while it is unresolved. */
            resolution: components["schemas"]["ExceptionResolution"] | null;
            /**
             * Format: date-time
             * @description Time of the resolution. UTC with milliseconds.
             */
            resolved_at: string | null;
            /** @description Rule that opened the exception; null if a person opened it. */
            rule: components["schemas"]["AutomaticExceptionType"] | null;
            /**
             * @description Severity; `medium` by default.
             * @example high
             */
            severity: components["schemas"]["Severity"];
            /** @description Id of the shipment. */
            shipment_id: string;
            /** @description Processing status of the exception. */
            status: components["schemas"]["ExceptionStatus"];
            /**
             * @description Title; by default the label of the type.
             * @example Door bent
             */
            title: string;
            /**
             * @description Type of the exception.
             * @example container_damage
             */
            type: components["schemas"]["ExceptionType"];
        };
        ShipmentExplanation: {
            /** @description Actual arrival. */
            ata: components["schemas"]["ExplainedTime"];
            /** @description Actual departure. */
            atd: components["schemas"]["ExplainedTime"];
            /** @description Containers of the shipment. */
            containers: components["schemas"]["ExplainedContainer"][];
            /** @description Estimated arrival. */
            eta: components["schemas"]["ExplainedTime"];
            /** @description Estimated departure. */
            etd: components["schemas"]["ExplainedTime"];
            /** @description Unresolved exceptions, expected ones, and those that a person resolved while their cause continues. */
            exceptions: components["schemas"]["ExplainedException"][];
            /** @description All milestones of the shipment, in list order. */
            milestones: components["schemas"]["ExplainedMilestone"][];
            /** @description Id of the shipment. */
            shipment_id: string;
            /** @description Status. */
            status: components["schemas"]["ExplainedStatus"];
            /** @description Version of the explained shipment. */
            version: number;
        };
        /**
         * @example {
         *       "carrier_scac": "MAEU",
         *       "origin_port": "CNSHA",
         *       "destination_port": "NLRTM",
         *       "etd": "2026-11-21T09:30:00Z",
         *       "eta": "2026-12-19T18:00:00Z",
         *       "external_id": "TMS-2026-000181",
         *       "mode": "ocean",
         *       "load_type": "fcl",
         *       "house_bill": "HBL-77120",
         *       "master_bill": "MAEU912345678",
         *       "booking_number": "BKG-55012",
         *       "incoterm": "FOB",
         *       "container_numbers": [
         *         "CSQU3054383"
         *       ],
         *       "shipper": {
         *         "name": "Acme Electronics Ltd",
         *         "external_id": "CUST-1042"
         *       },
         *       "consignee": {
         *         "name": "Acme Electronics Ltd",
         *         "external_id": "CUST-1042"
         *       },
         *       "references": [
         *         {
         *           "type": "purchase_order",
         *           "value": "PO-88213"
         *         }
         *       ],
         *       "metadata": {
         *         "cost_centre": "4711"
         *       },
         *       "legs": [
         *         {
         *           "carrier_scac": "MAEU",
         *           "origin_port": "CNSHA",
         *           "destination_port": "NLRTM",
         *           "etd": "2026-11-21T09:30:00Z",
         *           "eta": "2026-12-19T18:00:00Z",
         *           "mode": "ocean",
         *           "vessel": "Maersk Honam",
         *           "voyage": "412W"
         *         }
         *       ]
         *     }
         */
        ShipmentFields: {
            /**
             * @description Booking number of the carrier.
             * @example BKG-55012
             */
            booking_number?: string | null;
            /**
             * @description Carrier: SCAC, or the two-character IATA code for air and courier.
             * @example MAEU
             */
            carrier_scac?: string | null;
            /** @description Consignee. */
            consignee?: components["schemas"]["PartyFields"] | null;
            /**
             * @description Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones.
             * @example [
             *       "CSQU3054383"
             *     ]
             */
            container_numbers?: string[] | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example NLRTM
             */
            destination_port?: string | null;
            /**
             * @description Estimated arrival. A date is the whole day.
             * @example 2026-12-19T18:00:00Z
             */
            eta?: string | null;
            /**
             * @description Estimated departure. A date is the whole day.
             * @example 2026-11-21T09:30:00Z
             */
            etd?: string | null;
            /**
             * @description Your own reference, unique per workspace and environment. A shipment sent again with the same reference is updated.
             * @example TMS-2026-000181
             */
            external_id?: string | null;
            /**
             * @description House bill reference.
             * @example HBL-77120
             */
            house_bill?: string | null;
            /**
             * @description Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer.
             * @example FOB
             */
            incoterm?: components["schemas"]["Incoterm"] | null;
            /** @description Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the shipment itself does not have come from the first and last leg. */
            legs?: components["schemas"]["LegFields"][] | null;
            /**
             * @description Load type of the cargo.
             * @example fcl
             */
            load_type?: components["schemas"]["LoadType"] | null;
            /**
             * @description Master bill or air waybill.
             * @example MAEU912345678
             */
            master_bill?: string | null;
            /**
             * @description Custom fields: your own strings by name.
             * @example {
             *       "cost_centre": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description Transport mode; `sea`, `vessel` and `truck` are normalised.
             * @example ocean
             */
            mode?: components["schemas"]["ModeInput"] | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example CNSHA
             */
            origin_port?: string | null;
            /** @description Additional references. */
            references?: components["schemas"]["Reference"][] | null;
            /** @description Shipper. */
            shipper?: components["schemas"]["PartyFields"] | null;
        };
        ShipmentPage: {
            /** @description The shipments of this page. */
            data: components["schemas"]["Shipment"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor` with the same filters. */
            next_cursor: string | null;
        };
        /**
         * @example {
         *       "eta": "2026-12-21T06:00:00Z",
         *       "booking_number": null,
         *       "metadata": {
         *         "cost_centre": "4711"
         *       }
         *     }
         */
        ShipmentPatch: {
            /**
             * @description Booking number of the carrier.
             * @example BKG-55012
             */
            booking_number?: string | null;
            /**
             * @description Carrier: SCAC, or the two-character IATA code for air and courier.
             * @example MAEU
             */
            carrier_scac?: string | null;
            /** @description Consignee. */
            consignee?: components["schemas"]["PartyFields"] | null;
            /**
             * @description Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones.
             * @example [
             *       "CSQU3054383"
             *     ]
             */
            container_numbers?: string[] | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example NLRTM
             */
            destination_port?: string | null;
            /**
             * @description Estimated arrival. A date is the whole day.
             * @example 2026-12-19T18:00:00Z
             */
            eta?: string | null;
            /**
             * @description Estimated departure. A date is the whole day.
             * @example 2026-11-21T09:30:00Z
             */
            etd?: string | null;
            /**
             * @description Your own reference, unique per workspace and environment. A shipment sent again with the same reference is updated.
             * @example TMS-2026-000181
             */
            external_id?: string | null;
            /**
             * @description House bill reference.
             * @example HBL-77120
             */
            house_bill?: string | null;
            /**
             * @description Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer.
             * @example FOB
             */
            incoterm?: components["schemas"]["Incoterm"] | null;
            /** @description Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the shipment itself does not have come from the first and last leg. */
            legs?: components["schemas"]["LegFields"][] | null;
            /**
             * @description Load type of the cargo.
             * @example fcl
             */
            load_type?: components["schemas"]["LoadType"] | null;
            /**
             * @description Master bill or air waybill.
             * @example MAEU912345678
             */
            master_bill?: string | null;
            /**
             * @description Custom fields: your own strings by name; null removes one.
             * @example {
             *       "cost_centre": "4711",
             *       "old": null
             *     }
             */
            metadata?: {
                [key: string]: string | null;
            } | null;
            /**
             * @description Transport mode; `sea`, `vessel` and `truck` are normalised.
             * @example ocean
             */
            mode?: components["schemas"]["ModeInput"] | null;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example CNSHA
             */
            origin_port?: string | null;
            /**
             * @description First known estimated arrival. In a patch, null sets it to the present estimate. A date is the whole day.
             * @example 2026-12-19T18:00:00Z
             */
            original_eta?: string | null;
            /** @description Additional references. */
            references?: components["schemas"]["Reference"][] | null;
            /** @description Shipper. */
            shipper?: components["schemas"]["PartyFields"] | null;
        };
        /** @enum {string} */
        ShipmentStatus: "pending" | "booked" | "at_origin" | "in_transit" | "arrived" | "available_for_pickup" | "out_for_delivery" | "delivered" | "completed" | "returned" | "cancelled";
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "shipment.updated",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "shipment_id": "shp_sandbox2sandbox2sandbox2aa",
         *         "external_id": "PO-SANDBOX-1",
         *         "shipment_version": 7,
         *         "shipment": {
         *           "mode": "ocean",
         *           "carrier_scac": "MSCU",
         *           "origin_port": "CNSHA",
         *           "destination_port": "NLRTM",
         *           "etd": "2026-11-19T09:30:00.000Z",
         *           "etd_precision": "time",
         *           "eta": "2026-12-14T15:30:00.000Z",
         *           "eta_precision": "time",
         *           "atd": "2026-11-19T11:30:00.000Z",
         *           "ata": null,
         *           "id": "shp_sandbox2sandbox2sandbox2aa",
         *           "external_id": "PO-SANDBOX-1",
         *           "status": "in_transit",
         *           "status_milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *           "load_type": "fcl",
         *           "house_bill": "HBL-SANDBOX-1",
         *           "master_bill": "MEDUSANDBOX1",
         *           "booking_number": "BKG-SANDBOX-1",
         *           "container_numbers": [
         *             "CSQU3054383"
         *           ],
         *           "shipper": {
         *             "name": "Sandbox Export Ltd",
         *             "external_id": "SUP-1"
         *           },
         *           "consignee": {
         *             "name": "Sandbox Import B.V.",
         *             "external_id": "CUS-1"
         *           },
         *           "references": [
         *             {
         *               "type": "purchase_order",
         *               "value": "PO-SANDBOX-1"
         *             }
         *           ],
         *           "metadata": null,
         *           "legs": [
         *             {
         *               "mode": "ocean",
         *               "carrier_scac": "MSCU",
         *               "origin_port": "CNSHA",
         *               "destination_port": "NLRTM",
         *               "etd": "2026-11-19T09:30:00.000Z",
         *               "etd_precision": "time",
         *               "eta": "2026-12-14T15:30:00.000Z",
         *               "eta_precision": "time",
         *               "atd": "2026-11-19T11:30:00.000Z",
         *               "ata": null,
         *               "vessel": "MSC SANDBOX",
         *               "voyage": "123W"
         *             }
         *           ],
         *           "containers": [
         *             {
         *               "number": "CSQU3054383",
         *               "valid_check_digit": true,
         *               "size_type": null,
         *               "seal_number": null,
         *               "status": "in_transit",
         *               "status_milestone_id": "mst_sandbox2sandbox2sandbox2aa1",
         *               "last_milestone": {
         *                 "id": "mst_sandbox2sandbox2sandbox2aa1",
         *                 "code": "vessel_departed",
         *                 "label": "Vessel departed",
         *                 "location": "CNSHA",
         *                 "occurred_at": "2026-11-19T11:30:00.000Z"
         *               },
         *               "discharged_at": null,
         *               "available_at": null,
         *               "gated_out_at": null,
         *               "delivered_at": null,
         *               "empty_returned_at": null,
         *               "last_free_day": null,
         *               "empty_return_by": null
         *             }
         *           ],
         *           "original_eta": "2026-12-13T09:30:00.000Z",
         *           "original_eta_precision": "time",
         *           "last_milestone": {
         *             "id": "mst_sandbox2sandbox2sandbox2aa1",
         *             "code": "vessel_departed",
         *             "label": "Vessel departed",
         *             "location": "CNSHA",
         *             "occurred_at": "2026-11-19T11:30:00.000Z"
         *           },
         *           "open_exceptions_count": 1,
         *           "documents_count": 1,
         *           "created_at": "2026-11-13T09:30:00.000Z",
         *           "updated_at": "2026-11-23T09:30:00.000Z",
         *           "version": 7,
         *           "url": "https://app.example.com/shipments/shp_sandbox2sandbox2sandbox2aa",
         *           "incoterm": null
         *         },
         *         "changes": {
         *           "eta": {
         *             "from": "2026-12-13T09:30:00.000Z",
         *             "to": "2026-12-14T15:30:00.000Z"
         *           }
         *         }
         *       }
         *     }
         */
        ShipmentUpdatedEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description Old and new value (`from`, `to`) of each changed field of the shipment. */
                changes: {
                    [key: string]: {
                        from?: unknown;
                        to?: unknown;
                    };
                };
                /** @description Your own reference of the shipment. */
                external_id: string | null;
                /** @description The resource after the event. */
                shipment: components["schemas"]["Shipment"];
                /** @description Id of the shipment. */
                shipment_id: string;
                /** @description Version of the shipment after the event. It orders the events of a shipment. */
                shipment_version: number;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "shipment.updated";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        ShipmentWritten: {
            /**
             * Format: date-time
             * @description Actual arrival. UTC with milliseconds.
             */
            ata: string | null;
            /**
             * Format: date-time
             * @description Actual departure. UTC with milliseconds.
             */
            atd: string | null;
            /**
             * @description Booking number of the carrier.
             * @example BKG-55012
             */
            booking_number: string | null;
            /**
             * @description Carrier: SCAC, or the two-character IATA code for air and courier.
             * @example MAEU
             */
            carrier_scac: string | null;
            /** @description Consignee. */
            consignee: components["schemas"]["Party"] | null;
            /**
             * @description Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones.
             * @example [
             *       "CSQU3054383"
             *     ]
             */
            container_numbers: string[];
            /** @description Containers with their status and times. */
            containers: components["schemas"]["Container"][];
            /**
             * Format: date-time
             * @description Time of creation. UTC with milliseconds.
             */
            created_at: string;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example NLRTM
             */
            destination_port: string | null;
            /** @description Number of documents that are uploaded, approved or rejected. */
            documents_count: number;
            /**
             * Format: date-time
             * @description Estimated arrival. UTC with milliseconds.
             * @example 2026-12-19T18:00:00.000Z
             */
            eta: string | null;
            /** @description Precision of `eta`. */
            eta_precision: components["schemas"]["TimePrecision"];
            /**
             * Format: date-time
             * @description Estimated departure. UTC with milliseconds.
             * @example 2026-11-21T09:30:00.000Z
             */
            etd: string | null;
            /** @description Precision of `etd`. */
            etd_precision: components["schemas"]["TimePrecision"];
            /**
             * @description Your own reference, unique per workspace and environment. A shipment sent again with the same reference is updated.
             * @example TMS-2026-000181
             */
            external_id: string | null;
            /**
             * @description House bill reference.
             * @example HBL-77120
             */
            house_bill: string | null;
            /**
             * @description Service-assigned identifier.
             * @example shp_4h2k7qv3n5xw6yz2aabbccddee
             */
            id: string;
            /**
             * @description Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer.
             * @example FOB
             */
            incoterm: components["schemas"]["Incoterm"] | null;
            /** @description Latest actual milestone. */
            last_milestone: components["schemas"]["LastMilestone"] | null;
            /** @description Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the shipment itself does not have come from the first and last leg. */
            legs: components["schemas"]["Leg"][];
            /**
             * @description Load type of the cargo.
             * @example fcl
             */
            load_type: components["schemas"]["LoadType"] | null;
            /**
             * @description Master bill or air waybill.
             * @example MAEU912345678
             */
            master_bill: string | null;
            /**
             * @description Custom fields: your own strings by name.
             * @example {
             *       "cost_centre": "4711"
             *     }
             */
            metadata: {
                [key: string]: string;
            } | null;
            /**
             * @description Transport mode; `sea`, `vessel` and `truck` are normalised.
             * @example ocean
             */
            mode: components["schemas"]["Mode"] | null;
            /** @description Number of unresolved exceptions. */
            open_exceptions_count: number;
            /**
             * @description UN/LOCODE, or IATA airport code where the mode allows it.
             * @example CNSHA
             */
            origin_port: string | null;
            /**
             * Format: date-time
             * @description First known estimated arrival. In a patch, null sets it to the present estimate. UTC with milliseconds.
             * @example 2026-12-19T18:00:00.000Z
             */
            original_eta: string | null;
            /** @description Precision of `original_eta`. */
            original_eta_precision: components["schemas"]["TimePrecision"];
            /** @description Additional references. */
            references: components["schemas"]["Reference"][];
            /** @description Shipper. */
            shipper: components["schemas"]["Party"] | null;
            /** @description Status, derived from the milestones regardless of the order in which they arrive. */
            status: components["schemas"]["ShipmentStatus"];
            /** @description Milestone that set the status; null if the shipment is pending or was cancelled by the client. */
            status_milestone_id: string | null;
            /**
             * Format: date-time
             * @description Time of the last change of any part of the shipment. UTC with milliseconds.
             */
            updated_at: string;
            /**
             * Format: uri
             * @description URL of the shipment in the web application.
             */
            url: string;
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "user": {
         *         "id": "usr_5f3c2k7qv3n5xw6yz2aabbccdd",
         *         "name": "Acme Electronics Ltd",
         *         "email": "jo@example.com"
         *       },
         *       "service_account": null,
         *       "workspace": {
         *         "id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *         "name": "Acme Electronics Ltd"
         *       },
         *       "role": "viewer",
         *       "permissions": [
         *         "shipments:read"
         *       ],
         *       "environment": "live",
         *       "expires_at": "2026-11-23T09:30:00.000Z",
         *       "warnings": []
         *     }
         */
        SignedIn: {
            /** @description Environment of the key; for a session, the value of the header Environment. */
            environment: components["schemas"]["Environment"];
            /**
             * Format: date-time
             * @description Latest end of the session or key; null if it never ends. UTC with milliseconds.
             */
            expires_at: string | null;
            /** @description Permissions of the role in this environment. */
            permissions: components["schemas"]["Permission"][];
            /** @description Current role. */
            role: components["schemas"]["Role"];
            /** @description The service account that owns the key; otherwise null. */
            service_account: components["schemas"]["HoldingServiceAccount"] | null;
            /** @description The signed-in user, or the user that owns the key; otherwise null. */
            user: components["schemas"]["HoldingUser"] | null;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
            /** @description Workspace of the session or key. */
            workspace: components["schemas"]["HoldingWorkspace"];
        };
        /**
         * @example {
         *       "email": "jo@example.com",
         *       "password": "correct horse battery"
         *     }
         */
        SignIn: {
            /**
             * @description E-mail address of the user, in any case.
             * @example jo@example.com
             */
            email: string;
            /** @description Password of the user. */
            password: string;
            /** @description Name or id of the workspace, for users of several workspaces. By default, the oldest user with this e-mail address and password is signed in. */
            workspace?: string | null;
        };
        Storage: {
            /**
             * @description Maximum number of bytes.
             * @example 10737418240
             */
            limit_bytes: number;
            /**
             * @description Bytes of the documents of the workspace, in both environments. Pending uploads count with their announced size.
             * @example 1834920113
             */
            used_bytes: number;
        };
        /** @enum {string} */
        SubscribableEventType: "*" | "shipment.created" | "shipment.updated" | "milestone.recorded" | "exception.opened" | "exception.resolved" | "document.approved" | "milestone.retracted" | "document.uploaded" | "document.rejected" | "exception.updated" | "webhook_endpoint.failing" | "webhook_delivery.dead_lettered";
        /** @enum {string} */
        TimePrecision: "time" | "day";
        Upload: {
            /**
             * Format: date-time
             * @description Time at which the URL expires. UTC with milliseconds.
             */
            expires_at: string;
            /** @description Headers that the upload must have. */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Upload request for the file.
             * @enum {string}
             */
            method: "PUT";
            /**
             * Format: uri
             * @description Upload URL, which needs no key. It allows its holder to upload the file of this document, and nothing else.
             */
            url: string;
        };
        User: {
            /**
             * Format: date-time
             * @description Time of the invitation. UTC with milliseconds.
             */
            created_at: string;
            /** @description Actor that invited the user. */
            created_by: components["schemas"]["Actor"];
            /**
             * @description E-mail address used to sign in. Unique in the workspace, regardless of case.
             * @example jo@example.com
             */
            email: string;
            /**
             * @description Service-assigned identifier.
             * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * Format: date-time
             * @description Time of the last use of a session, to the minute; null if never. UTC with milliseconds.
             */
            last_seen_at: string | null;
            /** @description Name of the user; null until the invitation is accepted. */
            name: string | null;
            /** @description Role of the user, which applies to all sessions and keys. */
            role: components["schemas"]["Role"];
            /**
             * @description `invited` until the one-time link is used. Only an `active` user can sign in and has valid keys.
             * @enum {string}
             */
            status: "invited" | "active" | "deactivated";
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /**
         * @example {
         *       "role": "viewer",
         *       "name": "Jo Doe"
         *     }
         */
        UserChanges: {
            /**
             * @description Name of the user.
             * @example Jo Doe
             */
            name?: string;
            /** @description Role of the user, which applies to all sessions and keys. */
            role?: components["schemas"]["Role"];
        };
        /**
         * @example {
         *       "email": "jo@example.com",
         *       "role": "viewer"
         *     }
         */
        UserInvitation: {
            /**
             * Format: email
             * @description E-mail address used to sign in. Unique in the workspace, regardless of case.
             * @example jo@example.com
             */
            email: string;
            /** @description Role of the user, which applies to all sessions and keys. */
            role: components["schemas"]["Role"];
        };
        UserInvited: {
            /**
             * Format: date-time
             * @description Time of the invitation. UTC with milliseconds.
             */
            created_at: string;
            /** @description Actor that invited the user. */
            created_by: components["schemas"]["Actor"];
            /**
             * @description E-mail address used to sign in. Unique in the workspace, regardless of case.
             * @example jo@example.com
             */
            email: string;
            /**
             * @description Service-assigned identifier.
             * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * Format: date-time
             * @description Time at which the link expires. UTC with milliseconds.
             */
            invitation_expires_at: string;
            /**
             * @description One-time link with which the user sets a name and a password. Returned only once, in this response.
             * @example https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP
             */
            invitation_url: string;
            /**
             * Format: date-time
             * @description Time of the last use of a session, to the minute; null if never. UTC with milliseconds.
             */
            last_seen_at: string | null;
            /** @description Name of the user; null until the invitation is accepted. */
            name: string | null;
            /** @description Role of the user, which applies to all sessions and keys. */
            role: components["schemas"]["Role"];
            /**
             * @description `invited` until the one-time link is used. Only an `active` user can sign in and has valid keys.
             * @enum {string}
             */
            status: "invited" | "active" | "deactivated";
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        UserPage: {
            /** @description The users of this page. */
            data: components["schemas"]["User"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor`. */
            next_cursor: string | null;
        };
        UserReactivated: {
            /**
             * Format: date-time
             * @description Time of the invitation. UTC with milliseconds.
             */
            created_at: string;
            /** @description Actor that invited the user. */
            created_by: components["schemas"]["Actor"];
            /**
             * @description E-mail address used to sign in. Unique in the workspace, regardless of case.
             * @example jo@example.com
             */
            email: string;
            /**
             * @description Service-assigned identifier.
             * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * Format: date-time
             * @description Time at which the link expires; null without a link. UTC with milliseconds.
             */
            invitation_expires_at: string | null;
            /**
             * @description One-time link if the user never set a password; otherwise null. Returned only once, in this response.
             * @example https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP
             */
            invitation_url: string | null;
            /**
             * Format: date-time
             * @description Time of the last use of a session, to the minute; null if never. UTC with milliseconds.
             */
            last_seen_at: string | null;
            /** @description Name of the user; null until the invitation is accepted. */
            name: string | null;
            /** @description Role of the user, which applies to all sessions and keys. */
            role: components["schemas"]["Role"];
            /**
             * @description `invited` until the one-time link is used. Only an `active` user can sign in and has valid keys.
             * @enum {string}
             */
            status: "invited" | "active" | "deactivated";
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        UserSession: {
            /**
             * @description IP address at sign-in.
             * @example 203.0.113.7
             */
            address: string;
            /**
             * Format: date-time
             * @description Time of the sign-in. UTC with milliseconds.
             */
            created_at: string;
            /** @description True for the session of this request. */
            current: boolean;
            /**
             * @description Browser and operating system, if known.
             * @example Firefox on Windows
             */
            device: string;
            /**
             * Format: date-time
             * @description Latest end of the session. UTC with milliseconds.
             */
            expires_at: string;
            /**
             * @description Service-assigned identifier.
             * @example ses_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * Format: date-time
             * @description Time of the last use, to the minute. UTC with milliseconds.
             */
            last_seen_at: string;
        };
        UserWritten: {
            /**
             * Format: date-time
             * @description Time of the invitation. UTC with milliseconds.
             */
            created_at: string;
            /** @description Actor that invited the user. */
            created_by: components["schemas"]["Actor"];
            /**
             * @description E-mail address used to sign in. Unique in the workspace, regardless of case.
             * @example jo@example.com
             */
            email: string;
            /**
             * @description Service-assigned identifier.
             * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /**
             * Format: date-time
             * @description Time of the last use of a session, to the minute; null if never. UTC with milliseconds.
             */
            last_seen_at: string | null;
            /** @description Name of the user; null until the invitation is accepted. */
            name: string | null;
            /** @description Role of the user, which applies to all sessions and keys. */
            role: components["schemas"]["Role"];
            /**
             * @description `invited` until the one-time link is used. Only an `active` user can sign in and has valid keys.
             * @enum {string}
             */
            status: "invited" | "active" | "deactivated";
            /** @description Version number, which grows with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        Warning: {
            /**
             * @description Stable code.
             * @example unknown_port
             */
            code: components["schemas"]["WarningCode"];
            /** @description Human-readable text. */
            message: string;
            /**
             * @description Name of the field that the warning is about.
             * @example origin_port
             */
            param: string | null;
        };
        /** @enum {string} */
        WarningCode: "unknown_field" | "read_only_field" | "header_dropped" | "invalid_container_number" | "unknown_port" | "eta_before_etd" | "possible_duplicate" | "code_unusual_for_mode" | "shipment_cancelled" | "overridden_by_user" | "outdated_report";
        /**
         * @example {
         *       "number": 1,
         *       "at": "2026-11-23T09:30:00.000Z",
         *       "duration_ms": 84,
         *       "status_code": 500,
         *       "error": {
         *         "code": "timeout",
         *         "message": "The receiver responded with status 500."
         *       },
         *       "response": {
         *         "headers": {
         *           "content-type": "text/plain"
         *         },
         *         "body": "ok"
         *       },
         *       "manual": false
         *     }
         */
        WebhookAttempt: {
            /**
             * Format: date-time
             * @description Start of the attempt. UTC with milliseconds.
             */
            at: string;
            /** @description Duration in milliseconds, from name resolution to the last byte. */
            duration_ms: number;
            /** @description Error of the attempt; null if it succeeded. */
            error: components["schemas"]["WebhookError"] | null;
            /** @description True if a person requested the attempt. */
            manual: boolean;
            /** @description Number of the attempt, from 1. The first 50 and the latest 50 attempts are kept. */
            number: number;
            /** @description Present if the receiver had closed the kept-alive connection, so the request was sent again on a new connection. */
            resent?: boolean;
            /** @description Response of the endpoint; null without a response. */
            response: components["schemas"]["WebhookResponse"] | null;
            /** @description Status code of the response; null without a response. */
            status_code: number | null;
        };
        /**
         * @example {
         *       "event_types": [
         *         "milestone.recorded"
         *       ],
         *       "reasons": [
         *         "timeout",
         *         "connection_refused"
         *       ]
         *     }
         */
        WebhookDeadLetters: {
            /**
             * @description Only the deliveries with these ids.
             * @example [
             *       "dlv_9c1e2k7qv3n5xw6yz2aabbccdd"
             *     ]
             */
            delivery_ids?: string[] | null;
            /** @description Only dead letters of this endpoint. */
            endpoint_id?: string | null;
            /**
             * @description Only dead letters of these event types.
             * @example [
             *       "shipment.updated"
             *     ]
             */
            event_types?: components["schemas"]["EventTypeName"][] | null;
            /**
             * @description Only dead letters with one of these error codes (`last_error.code`).
             * @example [
             *       "timeout",
             *       "connection_refused"
             *     ]
             */
            reasons?: ("unexpected_status" | "redirect_not_followed" | "timeout" | "dns_failed" | "connection_refused" | "connection_failed" | "connection_reset" | "tls_failed" | "address_not_allowed" | "url_not_allowed" | "invalid_response")[] | null;
            /**
             * Format: date-time
             * @description Only events created at this time or later.
             */
            since?: string | null;
            /**
             * Format: date-time
             * @description Only events created at this time or earlier. Defaults to the time of the request.
             */
            until?: string | null;
        };
        WebhookDeadLettersByEndpoint: {
            /**
             * @description Number of dead letters.
             * @example 120
             */
            count: number;
            /** @description Endpoint of the dead letters. */
            endpoint_id: string;
            /**
             * @description True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters.
             * @example true
             */
            is_exact: boolean;
            /**
             * @description Status of the endpoint. Dead letters can only be delivered again to an `enabled` endpoint.
             * @example enabled
             * @enum {string}
             */
            status: "pending_verification" | "verified" | "enabled" | "disabled" | "deleted";
            /**
             * @description Current URL of the endpoint; null if the endpoint is no longer stored.
             * @example https://tms.example.com/webhooks
             */
            url: string | null;
        };
        WebhookDeadLettersByEventType: {
            /**
             * @description Number of dead letters.
             * @example 120
             */
            count: number;
            /** @description Event type of the dead letters. */
            event_type: components["schemas"]["EventTypeName"];
            /**
             * @description True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters.
             * @example true
             */
            is_exact: boolean;
        };
        WebhookDeadLettersByReason: {
            /**
             * @description Number of dead letters.
             * @example 120
             */
            count: number;
            /**
             * @description True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters.
             * @example true
             */
            is_exact: boolean;
            /**
             * @description Error code of the dead letters (`last_error.code`).
             * @example timeout
             * @enum {string}
             */
            reason: "unexpected_status" | "redirect_not_followed" | "timeout" | "dns_failed" | "connection_refused" | "connection_failed" | "connection_reset" | "tls_failed" | "address_not_allowed" | "url_not_allowed" | "invalid_response" | "unknown";
        };
        WebhookDeadLettersRefused: {
            /**
             * @description Stable error code.
             * @example endpoint_not_enabled
             */
            code: string;
            /** @description Id of the endpoint. */
            endpoint_id: string;
            /**
             * @description Human-readable message.
             * @example The endpoint is not enabled. Enable it first.
             */
            message: string;
        };
        WebhookDeadLetterSummary: {
            /** @description Counts by endpoint, including deleted endpoints, largest first. */
            by_endpoint: components["schemas"]["WebhookDeadLettersByEndpoint"][];
            /** @description Counts by event type, largest first. */
            by_event_type: components["schemas"]["WebhookDeadLettersByEventType"][];
            /** @description Counts by error code, largest first. */
            by_reason: components["schemas"]["WebhookDeadLettersByReason"][];
            /**
             * @description Number of dead letters.
             * @example 120
             */
            count: number;
            /**
             * @description True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters.
             * @example true
             */
            is_exact: boolean;
        };
        /**
         * @example {
         *       "id": "dlv_9c1e2k7qv3n5xw6yz2aabbccdd",
         *       "endpoint_id": "whe_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "event_id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "event_type": "milestone.recorded",
         *       "status": "retrying",
         *       "sandbox": false,
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "next_attempt_at": "2026-11-23T09:30:00.000Z",
         *       "completed_at": null,
         *       "attempts_count": 1,
         *       "last_error": {
         *         "code": "unexpected_status",
         *         "message": "The endpoint answered 500."
         *       },
         *       "version": 1
         *     }
         */
        WebhookDelivery: {
            /** @description Number of attempts made. */
            attempts_count: number;
            /**
             * Format: date-time
             * @description Time at which the delivery ended. UTC with milliseconds.
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the delivery was recorded. UTC with milliseconds.
             */
            created_at: string;
            /** @description Id of the endpoint. */
            endpoint_id: string;
            /** @description Id of the event. */
            event_id: string;
            /** @description Type of the event. */
            event_type: components["schemas"]["EventTypeName"];
            /**
             * @description Service-assigned identifier. An event has one delivery for each endpoint.
             * @example dlv_9c1e2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Error of the last attempt; null if it succeeded. */
            last_error: components["schemas"]["WebhookError"] | null;
            /**
             * Format: date-time
             * @description Time of the next scheduled attempt. UTC with milliseconds.
             */
            next_attempt_at: string | null;
            /** @description True if the event is a sandbox event, which the test operation sends. */
            sandbox: boolean;
            /** @description Status of the delivery. */
            status: components["schemas"]["DeliveryStatus"];
            /** @description Increases with every change, including attempts. */
            version: number;
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "webhook_delivery.dead_lettered",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "endpoint": {
         *           "id": "whe_sandbox2sandbox2sandbox2aa",
         *           "url": "https://tms.example.com/webhooks",
         *           "event_types": [
         *             "*"
         *           ],
         *           "description": "The TMS of the sandbox",
         *           "api_version": "2026-11-01",
         *           "payload": "full",
         *           "environment": "live",
         *           "status": "enabled",
         *           "disabled_reason": null,
         *           "last_verification": {
         *             "at": "2026-10-24T09:30:00.000Z",
         *             "ok": true,
         *             "error": null
         *           },
         *           "headers": {
         *             "x-api-key": "********"
         *           },
         *           "max_concurrency": 16,
         *           "created_at": "2026-10-24T08:30:00.000Z",
         *           "updated_at": "2026-10-24T10:30:00.000Z",
         *           "version": 3
         *         },
         *         "delivery": {
         *           "id": "dlv_sandbox2sandbox2sandbox2aa",
         *           "endpoint_id": "whe_sandbox2sandbox2sandbox2aa",
         *           "event_id": "evt_7c0a4a52-5b0e-4d5e-9a53-0f2f6f1f7a10",
         *           "event_type": "milestone.recorded",
         *           "status": "dead_lettered",
         *           "sandbox": false,
         *           "created_at": "2026-11-20T09:30:00.000Z",
         *           "next_attempt_at": null,
         *           "completed_at": "2026-11-23T09:30:00.000Z",
         *           "attempts_count": 13,
         *           "last_error": {
         *             "code": "unexpected_status",
         *             "message": "The endpoint answered 503."
         *           },
         *           "version": 14
         *         },
         *         "reason": {
         *           "code": "unexpected_status",
         *           "message": "The endpoint answered 503."
         *         }
         *       }
         *     }
         */
        WebhookDeliveryDeadLetteredEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The delivery that failed permanently. */
                delivery: components["schemas"]["WebhookDelivery"];
                /** @description The webhook endpoint that the event is about, at the time of the event. */
                endpoint: components["schemas"]["WebhookEndpoint"];
                /** @description Reason for the failure of the latest attempt. */
                reason: components["schemas"]["WebhookError"];
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event.
             * @constant
             */
            type: "webhook_delivery.dead_lettered";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        WebhookDeliveryDetail: {
            /** @description Attempts made, oldest first. */
            attempts: components["schemas"]["WebhookAttempt"][];
            /** @description Number of attempts made. */
            attempts_count: number;
            /**
             * Format: date-time
             * @description Time at which the delivery ended. UTC with milliseconds.
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the delivery was recorded. UTC with milliseconds.
             */
            created_at: string;
            /** @description Id of the endpoint. */
            endpoint_id: string;
            /** @description Id of the event. */
            event_id: string;
            /** @description Type of the event. */
            event_type: components["schemas"]["EventTypeName"];
            /**
             * @description Service-assigned identifier. An event has one delivery for each endpoint.
             * @example dlv_9c1e2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Error of the last attempt; null if it succeeded. */
            last_error: components["schemas"]["WebhookError"] | null;
            /**
             * Format: date-time
             * @description Time of the next scheduled attempt. UTC with milliseconds.
             */
            next_attempt_at: string | null;
            /** @description Body of the request, the same for every attempt. After a 413 to an endpoint with `payload: "thin"`, it changes to the thin form. */
            payload: components["schemas"]["WebhookPayload"] | null;
            /** @description True if the event is a sandbox event, which the test operation sends. */
            sandbox: boolean;
            /** @description Status of the delivery. */
            status: components["schemas"]["DeliveryStatus"];
            /** @description Increases with every change, including attempts. */
            version: number;
        };
        WebhookDeliveryPage: {
            /** @description Deliveries of this page. */
            data: components["schemas"]["WebhookDelivery"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor` with the same filters. */
            next_cursor: string | null;
        };
        WebhookDeliveryWritten: {
            /** @description Number of attempts made. */
            attempts_count: number;
            /**
             * Format: date-time
             * @description Time at which the delivery ended. UTC with milliseconds.
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the delivery was recorded. UTC with milliseconds.
             */
            created_at: string;
            /** @description Id of the endpoint. */
            endpoint_id: string;
            /** @description Id of the event. */
            event_id: string;
            /** @description Type of the event. */
            event_type: components["schemas"]["EventTypeName"];
            /**
             * @description Service-assigned identifier. An event has one delivery for each endpoint.
             * @example dlv_9c1e2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Error of the last attempt; null if it succeeded. */
            last_error: components["schemas"]["WebhookError"] | null;
            /**
             * Format: date-time
             * @description Time of the next scheduled attempt. UTC with milliseconds.
             */
            next_attempt_at: string | null;
            /** @description True if the event is a sandbox event, which the test operation sends. */
            sandbox: boolean;
            /** @description Status of the delivery. */
            status: components["schemas"]["DeliveryStatus"];
            /** @description Increases with every change, including attempts. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "id": "whe_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "url": "https://tms.example.com/webhooks",
         *       "event_types": [
         *         "*"
         *       ],
         *       "description": "Our TMS",
         *       "api_version": "2026-11-01",
         *       "payload": "full",
         *       "environment": "live",
         *       "status": "pending_verification",
         *       "disabled_reason": null,
         *       "last_verification": null,
         *       "headers": {},
         *       "max_concurrency": 16,
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "updated_at": "2026-11-23T09:30:00.000Z",
         *       "version": 1
         *     }
         */
        WebhookEndpoint: {
            /**
             * @description Version of the payloads. Defaults to the newest version when the endpoint is created.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time at which the endpoint was created. UTC with milliseconds.
             */
            created_at: string;
            /** @description Free-text description of the endpoint, for people. */
            description: string | null;
            /**
             * @description Reason for the status `disabled`: `manual`, or `gone` if the endpoint answered 410.
             * @enum {string|null}
             */
            disabled_reason: "manual" | "gone" | null;
            /** @description Environment whose events the endpoint receives. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Subscribed event types. `*` includes the six standard types.
             * @example [
             *       "*"
             *     ]
             */
            event_types: components["schemas"]["SubscribableEventType"][];
            /**
             * @description Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values in the same request are kept.
             * @example {
             *       "x-token": "secret"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Service-assigned identifier.
             * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Result of the last challenge to the current URL. */
            last_verification: components["schemas"]["WebhookVerification"] | null;
            /** @description Maximum number of concurrent attempts. Defaults to 16. */
            max_concurrency: number;
            /** @description Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot, for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain. */
            payload: components["schemas"]["PayloadForm"];
            /**
             * @description Status of the endpoint. Only an `enabled` endpoint receives live events.
             * @enum {string}
             */
            status: "pending_verification" | "verified" | "enabled" | "disabled";
            /**
             * Format: date-time
             * @description Time of the last change. UTC with milliseconds.
             */
            updated_at: string;
            /**
             * @description URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified.
             * @example https://tms.example.com/webhooks
             */
            url: string;
            /** @description Increases with every change. */
            version: number;
        };
        /**
         * @example {
         *       "event_types": [
         *         "milestone.recorded",
         *         "exception.opened"
         *       ],
         *       "max_concurrency": 4
         *     }
         */
        WebhookEndpointChanges: {
            /**
             * @description Version of the payloads. Defaults to the newest version when the endpoint is created.
             * @enum {string|null}
             */
            api_version?: "2026-11-01" | null;
            /** @description Free-text description of the endpoint, for people. */
            description?: string | null;
            /**
             * @description Subscribed event types. `*` includes the six standard types.
             * @example [
             *       "*"
             *     ]
             */
            event_types?: components["schemas"]["SubscribableEventType"][];
            /**
             * @description Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values in the same request are kept.
             * @example {
             *       "x-token": "secret"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Maximum number of concurrent attempts. Defaults to 16. */
            max_concurrency?: number | null;
            /** @description Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot, for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain. */
            payload?: components["schemas"]["PayloadForm"] | null;
            /**
             * Format: uri
             * @description URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified.
             * @example https://tms.example.com/webhooks
             */
            url?: string;
        };
        WebhookEndpointCreated: {
            /**
             * @description Version of the payloads. Defaults to the newest version when the endpoint is created.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time at which the endpoint was created. UTC with milliseconds.
             */
            created_at: string;
            /** @description Free-text description of the endpoint, for people. */
            description: string | null;
            /**
             * @description Reason for the status `disabled`: `manual`, or `gone` if the endpoint answered 410.
             * @enum {string|null}
             */
            disabled_reason: "manual" | "gone" | null;
            /** @description Environment whose events the endpoint receives. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Subscribed event types. `*` includes the six standard types.
             * @example [
             *       "*"
             *     ]
             */
            event_types: components["schemas"]["SubscribableEventType"][];
            /**
             * @description Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values in the same request are kept.
             * @example {
             *       "x-token": "secret"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Service-assigned identifier.
             * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Result of the last challenge to the current URL. */
            last_verification: components["schemas"]["WebhookVerification"] | null;
            /** @description Maximum number of concurrent attempts. Defaults to 16. */
            max_concurrency: number;
            /** @description Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot, for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain. */
            payload: components["schemas"]["PayloadForm"];
            /**
             * @description Secret that signs every request to the endpoint. The whole string is the HMAC key. Reads never return it.
             * @example whsec_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3+4A=
             */
            secret: string;
            /**
             * @description Status of the endpoint. Only an `enabled` endpoint receives live events.
             * @enum {string}
             */
            status: "pending_verification" | "verified" | "enabled" | "disabled";
            /**
             * Format: date-time
             * @description Time of the last change. UTC with milliseconds.
             */
            updated_at: string;
            /**
             * @description URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified.
             * @example https://tms.example.com/webhooks
             */
            url: string;
            /** @description Increases with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        WebhookEndpointDeleted: {
            /** @description Always true. */
            deleted: boolean;
            /** @description Id of the deleted endpoint. */
            id: string;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @example {
         *       "id": "evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11",
         *       "type": "webhook_endpoint.failing",
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "api_version": "2026-11-01",
         *       "environment": "live",
         *       "workspace_id": "wsp_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "data": {
         *         "endpoint": {
         *           "id": "whe_sandbox2sandbox2sandbox2aa",
         *           "url": "https://tms.example.com/webhooks",
         *           "event_types": [
         *             "*"
         *           ],
         *           "description": "The TMS of the sandbox",
         *           "api_version": "2026-11-01",
         *           "payload": "full",
         *           "environment": "live",
         *           "status": "enabled",
         *           "disabled_reason": null,
         *           "last_verification": {
         *             "at": "2026-10-24T09:30:00.000Z",
         *             "ok": true,
         *             "error": null
         *           },
         *           "headers": {
         *             "x-api-key": "********"
         *           },
         *           "max_concurrency": 16,
         *           "created_at": "2026-10-24T08:30:00.000Z",
         *           "updated_at": "2026-10-24T10:30:00.000Z",
         *           "version": 3
         *         },
         *         "failing_since": "2026-11-23T08:30:00.000Z",
         *         "reason": {
         *           "code": "unexpected_status",
         *           "message": "The endpoint answered 503."
         *         }
         *       }
         *     }
         */
        WebhookEndpointFailingEvent: {
            /**
             * @description Version of the event format.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            data: {
                /** @description The webhook endpoint that the event is about, at the time of the event. */
                endpoint: components["schemas"]["WebhookEndpoint"];
                /**
                 * Format: date-time
                 * @description Time of the first failed attempt.
                 */
                failing_since: string;
                /** @description Reason for the failure of the latest attempt. */
                reason: components["schemas"]["WebhookError"];
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Id of the event, the same in every delivery. Use it to ignore duplicates.
             * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
             */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /**
             * @description Type of the event.
             * @constant
             */
            type: "webhook_endpoint.failing";
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        /**
         * @example {
         *       "url": "https://tms.example.com/webhooks",
         *       "event_types": [
         *         "*"
         *       ],
         *       "description": "Our TMS"
         *     }
         */
        WebhookEndpointFields: {
            /**
             * @description Version of the payloads. Defaults to the newest version when the endpoint is created.
             * @enum {string|null}
             */
            api_version?: "2026-11-01" | null;
            /** @description Free-text description of the endpoint, for people. */
            description?: string | null;
            /**
             * @description Subscribed event types. `*` includes the six standard types.
             * @example [
             *       "*"
             *     ]
             */
            event_types: components["schemas"]["SubscribableEventType"][];
            /**
             * @description Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values in the same request are kept.
             * @example {
             *       "x-token": "secret"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Maximum number of concurrent attempts. Defaults to 16. */
            max_concurrency?: number | null;
            /** @description Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot, for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain. */
            payload?: components["schemas"]["PayloadForm"] | null;
            /**
             * Format: uri
             * @description URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified.
             * @example https://tms.example.com/webhooks
             */
            url: string;
        };
        WebhookEndpointPage: {
            /** @description Endpoints of this page. */
            data: components["schemas"]["WebhookEndpoint"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page. Send it as `cursor`. */
            next_cursor: string | null;
        };
        WebhookEndpointStats: {
            /** @description Id of the endpoint. */
            endpoint_id: string;
            /** @description Hours with attempts or discards, oldest first. */
            hours: components["schemas"]["WebhookHour"][];
            /** @description Last failed attempt, even if it was before `since`. */
            last_error: components["schemas"]["WebhookLastError"] | null;
            /**
             * Format: date-time
             * @description Start of the last successful attempt, even if it was before `since`. UTC with milliseconds.
             */
            last_success_at: string | null;
            /**
             * Format: date-time
             * @description Start of the requested period. UTC with milliseconds.
             */
            since: string;
            /**
             * Format: date-time
             * @description End of the requested period. UTC with milliseconds.
             */
            until: string;
            /** @description Pending deliveries. */
            waiting: components["schemas"]["WebhookWaiting"];
        };
        /**
         * @example {
         *       "type": "milestone.recorded"
         *     }
         */
        WebhookEndpointTest: {
            /**
             * @description Type of the sandbox event.
             * @example milestone.recorded
             */
            type: components["schemas"]["EventTypeName"];
        };
        WebhookEndpointWritten: {
            /**
             * @description Version of the payloads. Defaults to the newest version when the endpoint is created.
             * @enum {string}
             */
            api_version: "2026-11-01";
            /**
             * Format: date-time
             * @description Time at which the endpoint was created. UTC with milliseconds.
             */
            created_at: string;
            /** @description Free-text description of the endpoint, for people. */
            description: string | null;
            /**
             * @description Reason for the status `disabled`: `manual`, or `gone` if the endpoint answered 410.
             * @enum {string|null}
             */
            disabled_reason: "manual" | "gone" | null;
            /** @description Environment whose events the endpoint receives. */
            environment: components["schemas"]["Environment"];
            /**
             * @description Subscribed event types. `*` includes the six standard types.
             * @example [
             *       "*"
             *     ]
             */
            event_types: components["schemas"]["SubscribableEventType"][];
            /**
             * @description Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values in the same request are kept.
             * @example {
             *       "x-token": "secret"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Service-assigned identifier.
             * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Result of the last challenge to the current URL. */
            last_verification: components["schemas"]["WebhookVerification"] | null;
            /** @description Maximum number of concurrent attempts. Defaults to 16. */
            max_concurrency: number;
            /** @description Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot, for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain. */
            payload: components["schemas"]["PayloadForm"];
            /**
             * @description Status of the endpoint. Only an `enabled` endpoint receives live events.
             * @enum {string}
             */
            status: "pending_verification" | "verified" | "enabled" | "disabled";
            /**
             * Format: date-time
             * @description Time of the last change. UTC with milliseconds.
             */
            updated_at: string;
            /**
             * @description URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified.
             * @example https://tms.example.com/webhooks
             */
            url: string;
            /** @description Increases with every change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        WebhookError: {
            /**
             * @description Stable error code.
             * @example timeout
             */
            code: string;
            /** @description Human-readable message. */
            message: string;
        };
        WebhookHour: {
            /** @description Attempts that started within the hour. */
            attempts: components["schemas"]["WebhookHourAttempts"];
            /** @description Deliveries that ended within the hour. */
            deliveries: components["schemas"]["WebhookHourDeliveries"];
            /**
             * Format: date-time
             * @description Start of the hour. UTC with milliseconds.
             */
            hour: string;
            /** @description False if some attempts or discards may be missing from the counts until the hour is recounted from the log. */
            is_exact: boolean;
            /** @description Duration of attempts, in milliseconds. Percentiles are at most 12.5% too high; `max` is exact. */
            latency_ms: components["schemas"]["WebhookLatency"];
        };
        WebhookHourAttempts: {
            /** @description Attempts that did not succeed. */
            failed: number;
            /** @description Attempts that were answered with a 2xx status. */
            succeeded: number;
        };
        WebhookHourDeliveries: {
            /** @description Deliveries that became dead letters by an attempt of the hour. */
            dead_lettered: number;
            /** @description Deliveries that a person discarded within the hour. */
            discarded: number;
            /** @description Deliveries that succeeded by an attempt of the hour. */
            succeeded: number;
        };
        WebhookLastError: {
            /**
             * Format: date-time
             * @description Start of the attempt. UTC with milliseconds.
             */
            at: string;
            /**
             * @description Stable error code.
             * @example timeout
             */
            code: string;
            /** @description Human-readable message. */
            message: string;
            /** @description Status code of the response; null without a response. */
            status_code: number | null;
        };
        WebhookLatency: {
            /** @description Longest duration. */
            max: number | null;
            /** @description 50th percentile (median). */
            p50: number | null;
            /** @description 95th percentile. */
            p95: number | null;
            /** @description 99th percentile. */
            p99: number | null;
        };
        /** @description An event as an endpoint received it, full or thin. */
        WebhookPayload: {
            /** @description Version of the event format. */
            api_version: string;
            /**
             * Format: date-time
             * @description Time of the event. UTC with milliseconds.
             */
            created_at: string;
            /** @description Data of the event, as in the requests to endpoints. With `payload: "thin"`, it has only ids, versions, `changes`, and `id`, `code`, `occurred_at`, `location` and `source` of a milestone. */
            data: {
                [key: string]: unknown;
            };
            /** @description Environment of the event. */
            environment: components["schemas"]["Environment"];
            /** @description Id of the event. */
            id: string;
            /** @description True for a test event; absent for other events. */
            sandbox?: boolean;
            /** @description Type of the event. */
            type: components["schemas"]["EventTypeName"];
            /** @description Id of the workspace. */
            workspace_id: string;
        };
        WebhookPreviousSecret: {
            /**
             * Format: date-time
             * @description Time at which the secret stops signing. UTC with milliseconds.
             */
            expires_at: string;
            /**
             * @description Secret that signs requests in addition to the newest one.
             * @example whsec_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3+4A=
             */
            secret: string;
        };
        /**
         * @example {
         *       "id": "rpl_7d2a9c1e7qv3n5xw6yz2aabbcc",
         *       "endpoint_id": "whe_5f3c2k7qv3n5xw6yz2aabbccdd",
         *       "action": "replay",
         *       "since": "2026-11-21T09:30:00.000Z",
         *       "until": "2026-11-22T09:30:00.000Z",
         *       "event_types": null,
         *       "statuses": [
         *         "dead_lettered",
         *         "missed"
         *       ],
         *       "reasons": null,
         *       "delivery_ids": null,
         *       "status": "running",
         *       "matched": 180,
         *       "done": 120,
         *       "failed": 2,
         *       "created_at": "2026-11-23T09:30:00.000Z",
         *       "completed_at": "2026-11-23T09:30:00.000Z",
         *       "version": 1
         *     }
         */
        WebhookReplay: {
            /**
             * @description `replay` sends deliveries again; `discard` discards them.
             * @enum {string}
             */
            action: "replay" | "discard";
            /**
             * Format: date-time
             * @description Time at which the replay was completed or canceled. UTC with milliseconds.
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the replay was requested. UTC with milliseconds.
             */
            created_at: string;
            /** @description Ids of the deliveries to include. Null if the other fields of the filter select the deliveries. */
            delivery_ids: string[] | null;
            /** @description Number of found deliveries that the replay delivered or discarded. */
            done: number;
            /** @description Id of the endpoint. */
            endpoint_id: string;
            /**
             * @description Only events of these types. If null, all types that the endpoint subscribes to.
             * @example [
             *       "milestone.recorded"
             *     ]
             */
            event_types: components["schemas"]["EventTypeName"][] | null;
            /** @description Number of found deliveries whose first attempt failed again. These deliveries continue on their new schedule. */
            failed: number;
            /**
             * @description Service-assigned identifier.
             * @example rpl_7d2a9c1e7qv3n5xw6yz2aabbcc
             */
            id: string;
            /** @description Number of deliveries found so far. Final when the replay is completed. */
            matched: number;
            /**
             * @description Only deliveries with one of these error codes (`last_error.code`), which excludes missed events. If null, all deliveries.
             * @example [
             *       "timeout"
             *     ]
             */
            reasons: string[] | null;
            /**
             * Format: date-time
             * @description Only events created at this time or later. If null, the replay starts at the first stored event. UTC with milliseconds.
             * @example 2026-11-21T09:30:00.000Z
             */
            since: string | null;
            /**
             * @description Status of the replay.
             * @enum {string}
             */
            status: "running" | "completed" | "canceled";
            /**
             * @description Statuses of deliveries to include. `missed` stands for events that were never recorded for the endpoint, including events from before its creation. Defaults to dead_lettered and missed.
             * @example [
             *       "dead_lettered",
             *       "missed"
             *     ]
             */
            statuses: ("dead_lettered" | "discarded" | "succeeded" | "missed")[];
            /**
             * Format: date-time
             * @description Only events created at this time or earlier. Defaults to the time of the request, which is also the maximum. UTC with milliseconds.
             * @example 2026-11-22T09:30:00.000Z
             */
            until: string;
            /** @description Increases with every change, including progress. */
            version: number;
        };
        /**
         * @example {
         *       "since": "2026-11-21T09:30:00Z",
         *       "statuses": [
         *         "dead_lettered",
         *         "missed"
         *       ]
         *     }
         */
        WebhookReplayFilter: {
            /**
             * @description Only events of these types. If null, all types that the endpoint subscribes to.
             * @example [
             *       "milestone.recorded"
             *     ]
             */
            event_types?: components["schemas"]["EventTypeName"][] | null;
            /**
             * @description Only deliveries with one of these error codes (`last_error.code`), which excludes missed events. If null, all deliveries.
             * @example [
             *       "timeout"
             *     ]
             */
            reasons?: string[] | null;
            /**
             * Format: date-time
             * @description Only events created at this time or later. If null, the replay starts at the first stored event.
             * @example 2026-11-21T09:30:00Z
             */
            since?: string | null;
            /**
             * @description Statuses of deliveries to include. `missed` stands for events that were never recorded for the endpoint, including events from before its creation. Defaults to dead_lettered and missed.
             * @example [
             *       "dead_lettered",
             *       "missed"
             *     ]
             */
            statuses?: ("dead_lettered" | "discarded" | "succeeded" | "missed")[] | null;
            /**
             * Format: date-time
             * @description Only events created at this time or earlier. Defaults to the time of the request, which is also the maximum.
             * @example 2026-11-22T09:30:00Z
             */
            until?: string | null;
        };
        WebhookReplayPage: {
            /** @description Replays of this page. */
            data: components["schemas"]["WebhookReplay"][];
            /** @description True if there is a next page. */
            has_more: boolean;
            /** @description Cursor of the next page: send it as `cursor` with the same filters. */
            next_cursor: string | null;
        };
        WebhookReplaysBegun: {
            /** @description Started replays, one for each endpoint with matching dead letters. Get a replay to see its progress. */
            data: components["schemas"]["WebhookReplay"][];
            /** @description Endpoints with matching dead letters for which no replay was started, and the reason. */
            refused: components["schemas"]["WebhookDeadLettersRefused"][];
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        WebhookReplayWritten: {
            /**
             * @description `replay` sends deliveries again; `discard` discards them.
             * @enum {string}
             */
            action: "replay" | "discard";
            /**
             * Format: date-time
             * @description Time at which the replay was completed or canceled. UTC with milliseconds.
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the replay was requested. UTC with milliseconds.
             */
            created_at: string;
            /** @description Ids of the deliveries to include. Null if the other fields of the filter select the deliveries. */
            delivery_ids: string[] | null;
            /** @description Number of found deliveries that the replay delivered or discarded. */
            done: number;
            /** @description Id of the endpoint. */
            endpoint_id: string;
            /**
             * @description Only events of these types. If null, all types that the endpoint subscribes to.
             * @example [
             *       "milestone.recorded"
             *     ]
             */
            event_types: components["schemas"]["EventTypeName"][] | null;
            /** @description Number of found deliveries whose first attempt failed again. These deliveries continue on their new schedule. */
            failed: number;
            /**
             * @description Service-assigned identifier.
             * @example rpl_7d2a9c1e7qv3n5xw6yz2aabbcc
             */
            id: string;
            /** @description Number of deliveries found so far. Final when the replay is completed. */
            matched: number;
            /**
             * @description Only deliveries with one of these error codes (`last_error.code`), which excludes missed events. If null, all deliveries.
             * @example [
             *       "timeout"
             *     ]
             */
            reasons: string[] | null;
            /**
             * Format: date-time
             * @description Only events created at this time or later. If null, the replay starts at the first stored event. UTC with milliseconds.
             * @example 2026-11-21T09:30:00.000Z
             */
            since: string | null;
            /**
             * @description Status of the replay.
             * @enum {string}
             */
            status: "running" | "completed" | "canceled";
            /**
             * @description Statuses of deliveries to include. `missed` stands for events that were never recorded for the endpoint, including events from before its creation. Defaults to dead_lettered and missed.
             * @example [
             *       "dead_lettered",
             *       "missed"
             *     ]
             */
            statuses: ("dead_lettered" | "discarded" | "succeeded" | "missed")[];
            /**
             * Format: date-time
             * @description Only events created at this time or earlier. Defaults to the time of the request, which is also the maximum. UTC with milliseconds.
             * @example 2026-11-22T09:30:00.000Z
             */
            until: string;
            /** @description Increases with every change, including progress. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        WebhookResponse: {
            /** @description Response body, cut to 16 KiB. */
            body: string;
            /** @description Response headers, with names in lower case. */
            headers: {
                [key: string]: string;
            };
        };
        /**
         * @example {
         *       "expires_in_seconds": 86400
         *     }
         */
        WebhookSecretRotation: {
            /**
             * @description Seconds for which the old secret signs in addition to the new one. Defaults to 86,400 (one day).
             * @example 86400
             */
            expires_in_seconds?: number | null;
        };
        WebhookSecrets: {
            /**
             * @description Id of the endpoint.
             * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
             */
            id: string;
            /** @description Older secrets that are still valid after rotations, newest first; at most four. */
            previous_secrets: components["schemas"]["WebhookPreviousSecret"][];
            /**
             * @description Newest secret. The whole string is the HMAC key.
             * @example whsec_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3+4A=
             */
            secret: string;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
        WebhookVerification: {
            /**
             * Format: date-time
             * @description Time at which the challenge was sent. UTC with milliseconds.
             */
            at: string;
            /** @description Error of the verification; null if it succeeded. */
            error: components["schemas"]["WebhookError"] | null;
            /** @description True if the endpoint answered with the token. */
            ok: boolean;
        };
        WebhookWaiting: {
            /** @description Number of deliveries whose schedule has attempts left, counted up to 1,000. */
            count: number;
            /** @description True if counting stopped at 1,000, so there may be more deliveries. */
            is_at_least: boolean;
            /**
             * Format: date-time
             * @description Time at which the oldest pending delivery was recorded. UTC with milliseconds.
             */
            oldest_at: string | null;
        };
        WorkspaceSettings: {
            /** @description Default values of the settings. Setting a field to null restores its default. */
            defaults: components["schemas"]["DefaultSettings"];
            /** @description Rules for opening exceptions automatically, by exception type. */
            exceptions: components["schemas"]["ExceptionSettingsByType"];
            /** @description Check of all open shipments with the latest settings; null before the first change. Does not affect `version` or `ETag`. */
            recheck: components["schemas"]["SettingsRecheck"] | null;
            /**
             * @description Required document types by transport mode. A change replaces the whole list of a mode.
             * @example {
             *       "ocean": [
             *         "bill_of_lading",
             *         "packing_list"
             *       ],
             *       "air": []
             *     }
             */
            required_documents: {
                [key: string]: components["schemas"]["DocumentType"][];
            };
            /**
             * Format: date-time
             * @description Time of the last change. UTC with milliseconds.
             */
            updated_at: string | null;
            /** @description Actor of the last change. */
            updated_by: components["schemas"]["Actor"] | null;
            /** @description Version number, which grows with every change; 1 before the first change. */
            version: number;
        };
        /**
         * @example {
         *       "exceptions": {
         *         "eta_slip": {
         *           "after_hours": 12
         *         },
         *         "no_update": {
         *           "enabled": false
         *         }
         *       }
         *     }
         */
        WorkspaceSettingsChanges: {
            /** @description Rules for opening exceptions automatically, by exception type. */
            exceptions?: components["schemas"]["ExceptionSettingsChangesByType"] | null;
            /**
             * @description Required document types by transport mode. A change replaces the whole list of a mode.
             * @example {
             *       "ocean": [
             *         "bill_of_lading",
             *         "packing_list"
             *       ],
             *       "air": []
             *     }
             */
            required_documents?: {
                [key: string]: components["schemas"]["DocumentType"][] | null;
            } | null;
        };
        WorkspaceSettingsWritten: {
            /** @description Default values of the settings. Setting a field to null restores its default. */
            defaults: components["schemas"]["DefaultSettings"];
            /** @description Rules for opening exceptions automatically, by exception type. */
            exceptions: components["schemas"]["ExceptionSettingsByType"];
            /** @description Check of all open shipments with the latest settings; null before the first change. Does not affect `version` or `ETag`. */
            recheck: components["schemas"]["SettingsRecheck"] | null;
            /**
             * @description Required document types by transport mode. A change replaces the whole list of a mode.
             * @example {
             *       "ocean": [
             *         "bill_of_lading",
             *         "packing_list"
             *       ],
             *       "air": []
             *     }
             */
            required_documents: {
                [key: string]: components["schemas"]["DocumentType"][];
            };
            /**
             * Format: date-time
             * @description Time of the last change. UTC with milliseconds.
             */
            updated_at: string | null;
            /** @description Actor of the last change. */
            updated_by: components["schemas"]["Actor"] | null;
            /** @description Version number, which grows with every change; 1 before the first change. */
            version: number;
            /** @description Problems that did not prevent the write, including fields that were ignored. Only in responses to writes. */
            warnings: components["schemas"]["Warning"][];
        };
    };
    responses: never;
    parameters: {
        /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
        "Consistency-Token": string;
        /** @description `next_cursor` of the previous page, sent with the same filters. */
        cursor: string;
        /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
        "Idempotency-Key": string;
        /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
        "If-Match": string;
        /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
        "If-None-Match": string;
        /** @description Maximum number of items per page. */
        limit: number;
        /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
        Prefer: "handling=strict" | "handling=lenient";
        /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
        traceparent: string;
        /**
         * @description Id of the event. Ignore an event whose id you have already processed.
         * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
         */
        "Webhook.Service-Event-Id": string;
        /**
         * @description `t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole `whsec_…` string. The header may contain several `v1`; one valid signature is sufficient. Compare in constant time, and reject a `t` older than five minutes.
         * @example t=1795426200,v1=5f6a2b8637ac4b5c5f6a2b8637ac4b5c5f6a2b8637ac4b5c5f6a2b8637ac4b5c
         */
        "Webhook.Service-Signature": string;
        /**
         * @description W3C trace context of the request that caused the event.
         * @example 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
         */
        "Webhook.traceparent": string;
        /**
         * @description Standard Webhooks: `Service-Event-Id`.
         * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
         */
        "Webhook.webhook-id": string;
        /**
         * @description Standard Webhooks: `v1,<base64>`, the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`, keyed with the base64-decoded bytes after `whsec_`. The header may contain several signatures, separated by spaces; one valid signature is sufficient. Verify either this header or `Service-Signature`.
         * @example v1,X2orhjesS1yXX2orhjesS1yXX2orhjesS1yXX2orhjc=
         */
        "Webhook.webhook-signature": string;
        /**
         * @description Standard Webhooks: time of signing, in Unix seconds.
         * @example 1795426200
         */
        "Webhook.webhook-timestamp": string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is running. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Liveness"];
                };
            };
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process accepts requests: `ready`, or `degraded` while an engine is unavailable. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyFields"];
            };
        };
        responses: {
            /** @description The created key. The response is the only one that contains the key itself. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyCreated"];
                };
            };
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the API key, `key_…`.
                 * @example key_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the API key, `key_…`.
                 * @example key_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWritten"];
                };
            };
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the API key, `key_…`.
                 * @example key_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApiKeyRotation"];
            };
        };
        responses: {
            /** @description The new key. The response is the only one that contains the key itself. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyCreated"];
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description Only changes by the user or service account with this id; `administration` stands for the command line. Example: `usr_5f3c2k7qv3n5xw6yz2aabbccdd`. */
                actor?: string;
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only changes at this time or later. */
                from?: string;
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Only changes at this time or earlier. */
                to?: string;
                /** @description Only changes of these types, separated by commas. Example: `api_key.revoked`. */
                type?: components["schemas"]["AuditType"][];
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditLogPage"];
                };
            };
        };
    };
    getDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the document, `doc_…`.
                 * @example doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
        };
    };
    deleteDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the document, `doc_…`.
                 * @example doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document, even if it was deleted before. Its file is destroyed, and its data stay. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentWritten"];
                };
            };
        };
    };
    approveDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the document, `doc_…`.
                 * @example doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document, even if it was approved before. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentWritten"];
                };
            };
        };
    };
    completeUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the document, `doc_…`.
                 * @example doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document, even if it was complete before. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentWritten"];
                };
            };
        };
    };
    putDocumentContent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the document, `doc_…`.
                 * @example doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Stored. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    downloadDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description ETag of the content to which the range applies. If it does not match, the whole file is sent. */
                "If-Range"?: string;
                /** @description Requested bytes, for example `bytes=0-1023`, `bytes=1024-` or `bytes=-512`. */
                Range?: string;
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the document, `doc_…`.
                 * @example doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                    "application/vnd.ms-outlook": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": string;
                    "application/xml": string;
                    "image/heic": string;
                    "image/jpeg": string;
                    "image/png": string;
                    "image/tiff": string;
                    "image/webp": string;
                    "message/rfc822": string;
                    "text/csv": string;
                    "text/plain": string;
                };
            };
            /** @description The requested range of the file. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                    "application/vnd.ms-outlook": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": string;
                    "application/xml": string;
                    "image/heic": string;
                    "image/jpeg": string;
                    "image/png": string;
                    "image/tiff": string;
                    "image/webp": string;
                    "message/rfc822": string;
                    "text/csv": string;
                    "text/plain": string;
                };
            };
        };
    };
    rejectDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the document, `doc_…`.
                 * @example doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DocumentRejection"];
            };
        };
        responses: {
            /** @description The document, even if it was rejected before. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentWritten"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Only events after this one, for example the last one that a receiver processed. */
                after?: string;
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Only events of this shipment. */
                shipment_id?: string;
                /** @description Only events created at this time or later. Example: `2026-11-21T09:30:00Z`. */
                since?: string;
                /** @description Order of the events: `published` (default) is the order of publication, `-published` the reverse. */
                sort?: "published" | "-published";
                /** @description One or more of shipment.created, shipment.updated, milestone.recorded, exception.opened, exception.resolved, document.approved, milestone.retracted, document.uploaded, document.rejected, exception.updated, separated by commas. Example: `milestone.recorded`. */
                type?: components["schemas"]["ShipmentEventType"][];
                /** @description Only events created at this time or earlier. Example: `2026-11-22T09:30:00Z`. */
                until?: string;
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the event, `evt_…`.
                 * @example evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Only events after this one, if `Last-Event-ID` is not sent. `beginning` means all stored events. */
                after?: string;
                /** @description Only events of this shipment. */
                shipment_id?: string;
                /** @description One or more of shipment.created, shipment.updated, milestone.recorded, exception.opened, exception.resolved, document.approved, milestone.retracted, document.uploaded, document.rejected, exception.updated, separated by commas. Example: `milestone.recorded`. */
                type?: components["schemas"]["ShipmentEventType"][];
            };
            header?: {
                /** @description The last `id` that the client has read. Takes precedence over `after`. */
                "Last-Event-ID"?: string;
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listExceptions: {
        parameters: {
            query?: {
                /** @description Only exceptions with exactly this assignee. Example: `ann@example.com`. */
                assignee?: string;
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Only exceptions opened at this time or later. Example: `2026-11-01T00:00:00Z`. */
                opened_from?: string;
                /** @description Only exceptions opened at this time or earlier. Example: `2026-11-30T23:59:59Z`. */
                opened_to?: string;
                /** @description One or more of low, medium, high, critical, separated by commas. Example: `high,critical`. */
                severity?: components["schemas"]["Severity"][];
                /** @description Only exceptions of this shipment. */
                shipment_id?: string;
                /** @description Order of the list: `-opened_at` (default) is newest first; `-severity` is most severe first, and oldest first within a severity. Example: `-severity`. */
                sort?: "-opened_at" | "opened_at" | "-severity";
                /** @description One or more of open, acknowledged, resolved, separated by commas. Example: `open,acknowledged`. */
                status?: components["schemas"]["ExceptionStatus"][];
                /** @description One or more of eta_slip, departure_overdue, arrival_overdue, no_update, missed_connection, customs_hold, terminal_hold, freight_hold, off_route, demurrage_risk, detention_risk, missing_document, document_rejected, delivery_failed, return_to_sender, milestone_conflict, movement_after_cancel, invalid_container_number, container_damage, cargo_damage, shortage, temperature_excursion, seal_broken, delivery_refused, lost, other, separated by commas. Example: `customs_hold,demurrage_risk`. */
                type?: components["schemas"]["ExceptionType"][];
                /** @description True: only exceptions without an assignee. False: only exceptions with an assignee. */
                unassigned?: boolean;
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of exceptions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExceptionPage"];
                };
            };
        };
    };
    getException: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the exception, `exc_…`.
                 * @example exc_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The exception. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentException"];
                };
            };
        };
    };
    acknowledgeException: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the exception, `exc_…`.
                 * @example exc_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExceptionAcknowledgement"];
            };
        };
        responses: {
            /** @description The exception. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExceptionWritten"];
                };
            };
        };
    };
    resolveException: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the exception, `exc_…`.
                 * @example exc_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExceptionResolutionFields"];
            };
        };
        responses: {
            /** @description The exception, even if it was resolved before. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExceptionWritten"];
                };
            };
        };
    };
    getInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Token of the one-time link: the part of its URL after `#`.
                 * @example inv_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The purpose of the link. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
        };
    };
    useInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Token of the one-time link: the part of its URL after `#`.
                 * @example inv_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkUse"];
            };
        };
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserWritten"];
                };
            };
        };
    };
    listMilestoneCodes: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: number;
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the catalog, in order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MilestoneCodeList"];
                };
            };
        };
    };
    recordMilestones: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkMilestones"];
            };
        };
        responses: {
            /** @description One result for each item. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkMilestonesWritten"];
                };
            };
        };
    };
    listPlaces: {
        parameters: {
            query?: {
                /** @description Places with these codes, separated by commas; at most 200. Example: `NLRTM,CNSHA`. */
                code?: string[];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Words of a name, or a code. Each word must be the beginning of a word of the name, or of the code. Example: `rotter`. */
                q?: string;
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The matching places. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlaceList"];
                };
            };
        };
    };
    getRequiredDocuments: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Required document types by transport mode. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequiredDocuments"];
                };
            };
        };
    };
    listServiceAccounts: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of service accounts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccountPage"];
                };
            };
        };
    };
    createServiceAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceAccountFields"];
            };
        };
        responses: {
            /** @description The created service account. It has no keys yet. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccountWritten"];
                };
            };
        };
    };
    getServiceAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the service account, `sva_…`.
                 * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccount"];
                };
            };
        };
    };
    changeServiceAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the service account, `sva_…`.
                 * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceAccountChanges"];
            };
        };
        responses: {
            /** @description The service account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccountWritten"];
                };
            };
        };
    };
    deactivateServiceAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the service account, `sva_…`.
                 * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccountWritten"];
                };
            };
        };
    };
    reactivateServiceAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the service account, `sva_…`.
                 * @example sva_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccountWritten"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The holder of the session or key, with the workspace and permissions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialsHolder"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            /** @description The user is signed in. One `Set-Cookie` header contains the session cookie, another one the cookie of the known device. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended and its cookie is removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionEnded"];
                };
            };
        };
    };
    changeOwnName: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnName"];
            };
        };
        responses: {
            /** @description The holder of the session, with the new name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description The password is changed. For a request with a session, `Set-Cookie` contains the new session cookie. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordChanged"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the session, `ses_…`.
                 * @example ses_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionEnded"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings, with their defaults. They apply to both environments. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceSettings"];
                };
            };
        };
    };
    changeSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceSettingsChanges"];
                "application/merge-patch+json": components["schemas"]["WorkspaceSettingsChanges"];
            };
        };
        responses: {
            /** @description The settings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceSettingsWritten"];
                };
            };
        };
    };
    listShipments: {
        parameters: {
            query?: {
                /** @description True: only shipments that are not delivered, completed, returned or cancelled. False: only shipments with one of these statuses. */
                active?: boolean;
                /** @description Only shipments with this booking number, ignoring case, spaces and hyphens. Example: `BKG-55012`. */
                booking_number?: string;
                /** @description Only shipments of this carrier: SCAC or IATA code. Example: `MAEU`. */
                carrier_scac?: string;
                /** @description Only shipments whose consignee has this external_id. Example: `CUST-1042`. */
                consignee?: string;
                /** @description Only shipments with this container. Example: `CSQU3054383`. */
                container_number?: string;
                /** @description Only shipments created at or after this time. Example: `2026-11-01T00:00:00Z`. */
                created_from?: string;
                /** @description Only shipments created at or before this time. Example: `2026-11-30T23:59:59Z`. */
                created_to?: string;
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only shipments to this port: UN/LOCODE or IATA airport code. Example: `NLRTM`. */
                destination_port?: string;
                /** @description Only shipments whose eta is at or after this time. Example: `2026-12-01T00:00:00Z`. */
                eta_from?: string;
                /** @description Only shipments whose eta is at or before this time. Example: `2026-12-31T23:59:59Z`. */
                eta_to?: string;
                /** @description Only shipments with this `external_id`, ignoring case, spaces and hyphens. Example: `TMS-2026-000181`. */
                external_id?: string;
                /** @description True: only shipments with an open or acknowledged exception. False: only shipments without one. */
                has_open_exceptions?: boolean;
                /** @description Only shipments with this house bill, ignoring case, spaces and hyphens. Example: `HBL-77120`. */
                house_bill?: string;
                /** @description Only shipments with one of these ids: 1 to 100, separated by commas. */
                id?: string[];
                /** @description Only shipments with one of these Incoterms rules, separated by commas. Example: `FOB`. */
                incoterm?: components["schemas"]["Incoterm"][];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Only shipments with this master bill or air waybill, ignoring case, spaces and hyphens. Example: `MAEU912345678`. */
                master_bill?: string;
                /** @description Only shipments with one of these transport modes, separated by commas. Example: `ocean`. */
                mode?: components["schemas"]["ModeInput"][];
                /** @description Only shipments from this port: UN/LOCODE or IATA airport code. Example: `CNSHA`. */
                origin_port?: string;
                /** @description At most 10 words. A shipment matches if each is the beginning of a word in its references, containers, parties or vessels. Hyphens do not matter, nor do spaces in references. Example: `honam po-88`. */
                q?: string;
                /** @description Only shipments with this value in `references`, of any type, ignoring case, spaces and hyphens. Example: `PO-88213`. */
                reference?: string;
                /** @description Only shipments whose shipper has this external_id. Example: `CUST-1042`. */
                shipper?: string;
                /** @description Field to sort by, with `-` for descending order; `-created_at` by default. Shipments without an ETA come last. Example: `-updated_at`. */
                sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "eta" | "-eta";
                /** @description One or more of pending, booked, at_origin, in_transit, arrived, available_for_pickup, out_for_delivery, delivered, completed, returned, cancelled, separated by commas. Example: `in_transit`. */
                status?: components["schemas"]["ShipmentStatus"][];
                /** @description Only shipments changed at or after this time. Example: `2026-11-21T09:30:00Z`. */
                updated_since?: string;
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of shipments. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentPage"];
                };
            };
        };
    };
    upsertShipment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: the resource is created only if it does not exist yet; otherwise 412. */
                "If-None-Match"?: string;
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShipmentFields"];
            };
        };
        responses: {
            /** @description The existing shipment, updated with the values of the request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentWritten"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentWritten"];
                };
            };
        };
    };
    getShipment: {
        parameters: {
            query?: {
                /** @description State as recorded at this time, to the millisecond. The time must not be in the future. Example: `2026-11-21T09:30:00Z`. */
                as_of?: string;
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The shipment. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shipment"];
                };
            };
        };
    };
    changeShipment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShipmentPatch"];
                "application/merge-patch+json": components["schemas"]["ShipmentPatch"];
            };
        };
        responses: {
            /** @description The shipment. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentWritten"];
                };
            };
        };
    };
    cancelShipment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The shipment, even if nothing changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentWritten"];
                };
            };
        };
    };
    changeContainer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
                /**
                 * @description Number of a container of the shipment.
                 * @example CSQU3054383
                 */
                number: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContainerPatch"];
                "application/merge-patch+json": components["schemas"]["ContainerPatch"];
            };
        };
        responses: {
            /** @description The container. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContainerWritten"];
                };
            };
        };
    };
    listDocuments: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of documents. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentPage"];
                };
            };
        };
    };
    addDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["DocumentForm"];
            };
        };
        responses: {
            /** @description Stored. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentWritten"];
                };
            };
        };
    };
    requestUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DocumentUploadFields"];
            };
        };
        responses: {
            /** @description The document and its upload request. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentUpload"];
                };
            };
        };
    };
    listEtaHistory: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries, possibly fewer than `limit`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EtaHistoryPage"];
                };
            };
        };
    };
    listShipmentExceptions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of exceptions, in any status. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExceptionPage"];
                };
            };
        };
    };
    openException: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExceptionFields"];
            };
        };
        responses: {
            /** @description The exception that was already open. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExceptionWritten"];
                };
            };
            /** @description Opened. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExceptionWritten"];
                };
            };
        };
    };
    explainShipment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The explanation: for each value, the rule and the milestone that determined it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentExplanation"];
                };
            };
        };
    };
    listShipmentHistory: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries, possibly fewer than `limit`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryPage"];
                };
            };
        };
    };
    listMilestones: {
        parameters: {
            query?: {
                /** @description State as recorded at this time, to the millisecond. The time must not be in the future. Example: `2026-11-21T09:30:00Z`. */
                as_of?: string;
                /** @description One or more of actual, estimated, planned, separated by commas, or all; actual by default. Example: `actual,estimated`. */
                classifier?: ("actual" | "estimated" | "planned" | "all")[];
                /** @description Only milestones that name this container. Example: `CSQU3054383`. */
                container_number?: string;
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description True to include retracted milestones. */
                include_retracted?: boolean;
                /** @description True to include milestones that a later report replaced. */
                include_superseded?: boolean;
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of milestones, by time and position in the catalog. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MilestonePage"];
                };
            };
        };
    };
    recordMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MilestoneFields"];
            };
        };
        responses: {
            /** @description The milestone existed already; it was corrected if the request differs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MilestoneWritten"];
                };
            };
            /** @description Recorded. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MilestoneWritten"];
                };
            };
        };
    };
    getMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
                /**
                 * @description Id of the milestone, `mst_…`.
                 * @example mst_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m
                 */
                milestone_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The milestone. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Milestone"];
                };
            };
        };
    };
    retractMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
                /**
                 * @description Id of the milestone, `mst_…`.
                 * @example mst_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m
                 */
                milestone_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The milestone, even if it was retracted before. It stays stored, but has no effect. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MilestoneWritten"];
                };
            };
        };
    };
    correctMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
                /**
                 * @description Id of the milestone, `mst_…`.
                 * @example mst_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m
                 */
                milestone_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MilestoneChanges"];
                "application/merge-patch+json": components["schemas"]["MilestoneChanges"];
            };
        };
        responses: {
            /** @description The corrected milestone. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MilestoneWritten"];
                };
            };
        };
    };
    reopenShipment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the shipment, `shp_…`.
                 * @example shp_4h2k7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The shipment, even if nothing changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentWritten"];
                };
            };
        };
    };
    upsertShipments: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkShipments"];
            };
        };
        responses: {
            /** @description One result for each item. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkShipmentsWritten"];
                };
            };
        };
    };
    getStorage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The used bytes and the quota. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Storage"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of users. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserPage"];
                };
            };
        };
    };
    inviteUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserInvitation"];
            };
        };
        responses: {
            /** @description The invited user. The response is the only one that contains the one-time link. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserInvited"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the user, `usr_…`.
                 * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    changeUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the user, `usr_…`.
                 * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChanges"];
            };
        };
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserWritten"];
                };
            };
        };
    };
    deactivateUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the user, `usr_…`.
                 * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserWritten"];
                };
            };
        };
    };
    reactivateUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the user, `usr_…`.
                 * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserReactivated"];
                };
            };
        };
    };
    resetUserPassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the user, `usr_…`.
                 * @example usr_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PasswordResetFields"];
            };
        };
        responses: {
            /** @description The link. The response is the only one that contains it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordReset"];
                };
            };
        };
    };
    discardWebhookDeadLetters: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookDeadLetters"];
            };
        };
        responses: {
            /** @description The jobs that were started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplaysBegun"];
                };
            };
        };
    };
    replayWebhookDeadLetters: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookDeadLetters"];
            };
        };
        responses: {
            /** @description The replays that were started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplaysBegun"];
                };
            };
        };
    };
    summarizeWebhookDeadLetters: {
        parameters: {
            query?: {
                /** @description Only dead letters of this endpoint. */
                endpoint_id?: string;
                /** @description Only dead letters of these event types, separated by commas. */
                event_type?: components["schemas"]["EventTypeName"][];
                /** @description Only dead letters with one of these error codes (`last_error.code`), separated by commas. Example: `timeout`. */
                reason?: ("unexpected_status" | "redirect_not_followed" | "timeout" | "dns_failed" | "connection_refused" | "connection_failed" | "connection_reset" | "tls_failed" | "address_not_allowed" | "url_not_allowed" | "invalid_response")[];
                /** @description Only events created at this time or later. */
                since?: string;
                /** @description Only events created at this time or earlier. */
                until?: string;
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts of the matching dead letters. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeadLetterSummary"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only deliveries to this endpoint. */
                endpoint_id?: string;
                /** @description Only deliveries of this event. */
                event_id?: string;
                /** @description Only deliveries of events of these types, separated by commas. Example: `milestone.recorded`. */
                event_type?: components["schemas"]["EventTypeName"][];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Only dead letters with one of these error codes (`last_error.code`), separated by commas. Example: `timeout`. */
                reason?: ("unexpected_status" | "redirect_not_followed" | "timeout" | "dns_failed" | "connection_refused" | "connection_failed" | "connection_reset" | "tls_failed" | "address_not_allowed" | "url_not_allowed" | "invalid_response")[];
                /** @description Only events created at this time or later. */
                since?: string;
                /** @description One or more statuses, separated by commas: pending, retrying, succeeded, dead_lettered, discarded. Example: `retrying`. */
                status?: components["schemas"]["DeliveryStatus"][];
                /** @description Only events created at this time or earlier. */
                until?: string;
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook delivery, `dlv_…`.
                 * @example dlv_9c1e7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDetail"];
                };
            };
        };
    };
    discardWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook delivery, `dlv_…`.
                 * @example dlv_9c1e7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryWritten"];
                };
            };
        };
    };
    retryWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook delivery, `dlv_…`.
                 * @example dlv_9c1e7qv3n5xw6yz2aabbccddee
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, as it was before the attempt. Get the delivery again for the outcome. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryWritten"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of endpoints. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointPage"];
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointFields"];
            };
        };
        responses: {
            /** @description The created endpoint. Only this response contains the secret. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointCreated"];
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointDeleted"];
                };
            };
        };
    };
    changeWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointChanges"];
            };
        };
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWritten"];
                };
            };
        };
    };
    disableWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWritten"];
                };
            };
        };
    };
    enableWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWritten"];
                };
            };
        };
    };
    createWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookReplayFilter"];
            };
        };
        responses: {
            /** @description The replay. Get the replay again to see its progress. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplayWritten"];
                };
            };
        };
    };
    revealWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The valid secrets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSecrets"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookSecretRotation"];
            };
        };
        responses: {
            /** @description The endpoint with its new secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointCreated"];
                };
            };
        };
    };
    getWebhookEndpointStats: {
        parameters: {
            query?: {
                /** @description Start of the period, rounded down to the hour. Defaults to one day before `until`. At most 30 days before `until`. Example: `2026-11-21T09:30:00Z`. */
                since?: string;
                /** @description End of the period. Hours that begin before this time are included. Defaults to the current time. Example: `2026-11-22T09:30:00Z`. */
                until?: string;
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Statistics of the endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointStats"];
                };
            };
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointTest"];
            };
        };
        responses: {
            /** @description The delivery. Get the delivery again for the outcome. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryWritten"];
                };
            };
        };
    };
    verifyWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook endpoint, `whe_…`.
                 * @example whe_5f3c2k7qv3n5xw6yz2aabbccdd
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. `last_verification` contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWritten"];
                };
            };
        };
    };
    listWebhookReplays: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page, sent with the same filters. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only replays of this endpoint. */
                endpoint_id?: string;
                /** @description Maximum number of items per page. */
                limit?: components["parameters"]["limit"];
            };
            header?: {
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of replays. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplayPage"];
                };
            };
        };
    };
    getWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description List of ETags. The response is 304 if the resource still has one of these ETags. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook replay, `rpl_…`.
                 * @example rpl_7d2a9c1e7qv3n5xw6yz2aabbcc
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplay"];
                };
            };
        };
    };
    cancelWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook replay, `rpl_…`.
                 * @example rpl_7d2a9c1e7qv3n5xw6yz2aabbcc
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplayWritten"];
                };
            };
        };
    };
    resumeWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent. Example: `Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE`. */
                "Consistency-Token"?: components["parameters"]["Consistency-Token"];
                /** @description Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response. Example: `8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11`. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits. Example: `handling=strict`. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description W3C trace context, stored with the events of the request. Without it, the API starts a new trace. Example: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                /**
                 * @description Id of the webhook replay, `rpl_…`.
                 * @example rpl_7d2a9c1e7qv3n5xw6yz2aabbcc
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplayWritten"];
                };
            };
        };
    };
}
