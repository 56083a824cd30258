// Made by `npm run types` from the server's /openapi.json; not written by hand.

export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Leads to the console */
        get: operations["console_home"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The console */
        get: operations["console_serve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The description, to read */
        get: operations["about_docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process lives */
        get: operations["about_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This description */
        get: operations["about_openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether jobs can be submitted and run */
        get: operations["about_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List bulk actions, newest first */
        get: operations["actions_list_actions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/actions/{action_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One bulk action and how far it is */
        get: operations["actions_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/actions/{action_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a bulk action where it is */
        post: operations["actions_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/actions/{action_id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undo a bulk action, within an hour */
        post: operations["actions_undo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/calendars": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List calendars */
        get: operations["schedules_list_calendars"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/calendars/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One calendar */
        get: operations["schedules_get_calendar"];
        /** Create or change a calendar */
        put: operations["schedules_put_calendar"];
        post?: never;
        /** Delete a calendar */
        delete: operations["schedules_delete_calendar"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/callbacks/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say how a job ended, or how far it is */
        post: operations["callbacks_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Failed jobs by cause, or the jobs of one */
        get: operations["actions_dead_letters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take jobs out of the dead letters */
        post: operations["actions_discard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/redrive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run dead letters again, at a rate */
        post: operations["actions_redrive"];
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
        /** What happens, as server-sent events */
        get: operations["overview_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a worker ran, latest first */
        get: operations["jobs_executions_by_worker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file, or a part of it (Range) */
        get: operations["files_download"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}/address": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An address that needs no key, for a time */
        post: operations["files_address"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file by its signed address */
        get: operations["files_signed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a text may mean: jobs, tasks, schedules, queues, workers */
        get: operations["find_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/gates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List gates, those in force or all */
        get: operations["gates_list_gates"];
        put?: never;
        /** Close a gate: hold, drop or reject jobs */
        post: operations["gates_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/gates/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a gate would be for, without closing it */
        post: operations["gates_preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/gates/{gate_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One gate */
        get: operations["gates_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change a gate's expiry or reason */
        patch: operations["gates_change"];
        trace?: never;
    };
    "/v1/gates/{gate_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a gate, at once or at a rate */
        post: operations["gates_release"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/gates/{gate_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring back what a gate dropped */
        post: operations["gates_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List jobs, newest first */
        get: operations["jobs_list_jobs"];
        put?: never;
        /** Submit a job */
        post: operations["jobs_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do something to all jobs that match, or count */
        post: operations["actions_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit many jobs, as NDJSON or an array */
        post: operations["jobs_submit_bulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One job */
        get: operations["jobs_get"];
        put?: never;
        post?: never;
        /** Cancel a job, pending or running */
        delete: operations["steering_cancel"];
        options?: never;
        head?: never;
        /** Change a job that has not started */
        patch: operations["steering_change"];
        trace?: never;
    };
    "/v1/jobs/{job_id}/clone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit a job like this one */
        post: operations["steering_clone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A job's states as server-sent events */
        get: operations["streams_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every attempt at a job */
        get: operations["jobs_executions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Why a job waits, or where its time went */
        get: operations["jobs_explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The files that a job left */
        get: operations["files_list_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Output of a job, by page or followed */
        get: operations["streams_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a running job go on at another worker */
        post: operations["steering_move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/partial": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Pieces of a result, by page or followed */
        get: operations["streams_partial"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The result, waited for if asked */
        get: operations["jobs_result"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a failed or cancelled job again */
        post: operations["steering_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a job's life went into, in order */
        get: operations["jobs_timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List API keys */
        get: operations["access_list_keys"];
        put?: never;
        /** Create an API key */
        post: operations["access_create_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key */
        delete: operations["access_revoke_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the limits on what runs */
        get: operations["limits_list_limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One limit, and how much of it is used */
        get: operations["limits_get"];
        /** Make or change a limit, effective at once */
        put: operations["limits_put"];
        post?: never;
        /** Remove a limit */
        delete: operations["limits_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/{name}/use": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who runs under a limit, and who waits behind it */
        get: operations["limits_use"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How things stand, and how they went */
        get: operations["overview_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Queues: how much waits and runs, and the rates */
        get: operations["quotas_list_queues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A queue's jobs over time */
        get: operations["quotas_queue_statistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who waits in a queue, and for what */
        get: operations["quotas_queue_waiting"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List quotas */
        get: operations["quotas_list_quotas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quotas/{scope}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Set a quota */
        put: operations["quotas_put_quota"];
        post?: never;
        /** Remove a quota */
        delete: operations["quotas_remove_quota"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List schedules, by name */
        get: operations["schedules_list_schedules"];
        put?: never;
        /** Create a schedule */
        post: operations["schedules_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/agenda": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which schedules fire on which day */
        get: operations["schedules_agenda"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/forecast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All schedules, minute by minute */
        get: operations["schedules_forecast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How often schedules may fire */
        get: operations["schedules_get_limits"];
        /** Say how often schedules may fire */
        put: operations["schedules_put_limits"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The ticks of a schedule not saved */
        post: operations["schedules_preview_new"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One schedule */
        get: operations["schedules_get"];
        /** Create a schedule, or make it so */
        put: operations["schedules_put"];
        post?: never;
        /** Delete a schedule */
        delete: operations["schedules_delete"];
        options?: never;
        head?: never;
        /** Change parts of a schedule */
        patch: operations["schedules_change"];
        trace?: never;
    };
    "/v1/schedules/{name}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run ticks of the past */
        post: operations["schedules_backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/backfills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List backfills */
        get: operations["schedules_list_backfills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/backfills/{backfill}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One backfill */
        get: operations["schedules_get_backfill"];
        put?: never;
        post?: never;
        /** Cancel a backfill */
        delete: operations["schedules_cancel_backfill"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who changed it, when and why */
        get: operations["schedules_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a schedule rest */
        post: operations["schedules_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The ticks to come */
        get: operations["schedules_preview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a paused schedule go on */
        post: operations["schedules_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/ticks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What became of its ticks */
        get: operations["schedules_list_ticks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a schedule's job now */
        post: operations["schedules_trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List secrets, without their values */
        get: operations["secrets_list_secrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/rotate-master": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Use the new master key */
        post: operations["secrets_rotate_master"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/rotate-tenant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A new key for its secrets */
        post: operations["secrets_rotate_tenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One secret, without its value */
        get: operations["secrets_get"];
        /** Set a secret */
        put: operations["secrets_put"];
        post?: never;
        /** Delete a secret */
        delete: operations["secrets_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-levels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the service levels, and how well each is met */
        get: operations["servicelevels_list_levels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-levels/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One service level, and how well it is met */
        get: operations["servicelevels_get"];
        /** Make or change a service level, for jobs from now on */
        put: operations["servicelevels_put"];
        post?: never;
        /** Delete a service level */
        delete: operations["servicelevels_delete"];
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
        /** Who is signed in, and what they may do */
        get: operations["session_get"];
        put?: never;
        /** Sign in to the console */
        post: operations["session_sign_in"];
        /** Sign out */
        delete: operations["session_sign_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An address that signs in, once */
        post: operations["session_make_ticket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far an emergency stop would reach */
        get: operations["gates_stop_preview"];
        put?: never;
        /** Emergency stop of everything the key may touch */
        post: operations["gates_stop"];
        /** End the emergency stop, at once or at a rate */
        delete: operations["gates_go"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tasks */
        get: operations["tasks_list_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tasks that are data, as YAML */
        get: operations["tasks_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Save the tasks of a YAML file */
        post: operations["tasks_import_tasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What became of every task's jobs in some time */
        get: operations["tasks_totals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** All that is wrong with a task not saved */
        post: operations["tasks_validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One task */
        get: operations["tasks_get"];
        /** Save a task, or register a function */
        put: operations["tasks_put"];
        post?: never;
        /** Delete a task that nobody needs */
        delete: operations["tasks_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What differs between two versions */
        get: operations["tasks_diff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put an earlier version in force again */
        post: operations["tasks_rollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let other tenants use a task */
        post: operations["tasks_share"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who else may use a task */
        get: operations["tasks_shares"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A task's jobs over time */
        get: operations["tasks_statistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/unshare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a task back from other tenants */
        post: operations["tasks_unshare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every version of a task */
        get: operations["tasks_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{name}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One version of a task */
        get: operations["tasks_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tenants */
        get: operations["access_list_tenants"];
        put?: never;
        /** Create a tenant */
        post: operations["access_create_tenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{name}": {
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
        /** Change a tenant's weight */
        patch: operations["access_change_tenant"];
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who this key is */
        get: operations["access_whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workers */
        get: operations["work_list_workers"];
        put?: never;
        /** Join as a worker */
        post: operations["work_join"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One worker */
        get: operations["work_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/briefs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** All that is needed to run one job */
        post: operations["work_brief"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Save a job's checkpoint */
        post: operations["work_checkpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a worker take no more work */
        post: operations["work_drain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/exchange": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finished work up, new work down */
        post: operations["work_exchange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/files/{job_id}/{attempt}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upload a file of a job */
        post: operations["files_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Renew a worker's lease */
        post: operations["work_heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to a worker */
        get: operations["work_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Leave, giving back what is held */
        post: operations["work_leave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Output of running jobs */
        post: operations["work_logs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/results/{job_id}/{attempt}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Upload a large result */
        put: operations["work_result"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{worker_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a drained worker go on */
        post: operations["work_resume"];
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
        /**
         * ActionKind
         * @enum {unknown}
         */
        ActionKind: "cancel" | "change" | "discard" | "redrive" | "reprioritise" | "reschedule" | "retry";
        /** ActionPage */
        ActionPage: {
            items: components["schemas"]["horae.wire.actions.Action"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /** ActionRequest */
        ActionRequest: {
            action: components["schemas"]["ActionKind"];
            /** @default null */
            changes?: components["schemas"]["JobChanges"] | null;
            filter: components["schemas"]["JobsFilter"];
            /** @default false */
            preview?: boolean;
            /** @default null */
            rate?: number | null;
            /** @default  */
            reason?: string;
        };
        /**
         * ActionState
         * @enum {unknown}
         */
        ActionState: "cancelled" | "done" | "failed" | "preview" | "running" | "undoing" | "undone";
        /** AddressRequest */
        AddressRequest: {
            /** @default 15m */
            lifetime?: string | number;
        };
        /** Agenda */
        Agenda: {
            days: components["schemas"]["AgendaDay"][];
            frequent: components["schemas"]["Frequent"][];
            schedules: number;
            since: string;
            truncated: boolean;
            tz: string;
            until: string;
        };
        /** AgendaDay */
        AgendaDay: {
            /** Format: date */
            day: string;
            items: components["schemas"]["AgendaItem"][];
            skipped: number;
            ticks: number;
        };
        /**
         * AgendaItem
         * @description One schedule on one day.
         */
        AgendaItem: {
            detail: string | null;
            first_at: string;
            marks: string[];
            schedule: string;
            skipped: number;
            tenant: string;
            ticks: number;
        };
        /**
         * Ahead
         * @description Jobs that go first, or in turn with this one.
         */
        Ahead: {
            jobs: number;
            /** @default false */
            more?: boolean;
            /** @default null */
            tenant?: string | null;
        };
        /**
         * Attainment
         * @description Of the promises of some time: those kept and those broken.
         */
        Attainment: {
            broken: number;
            kept: number;
            met: boolean | null;
            share: number | null;
        };
        /** Backfill */
        Backfill: {
            concurrency: number;
            /** @default 0 */
            ended?: number;
            /** @default null */
            finished_at?: string | null;
            /** @default 0 */
            fired?: number;
            /** @default null */
            id?: number | null;
            /** @default null */
            made_at?: string | null;
            /** @default null */
            made_by?: string | null;
            since: string;
            /** @default 0 */
            skipped?: number;
            state: string;
            /** @default 0 */
            succeeded?: number;
            /** @default null */
            ticks?: components["schemas"]["BackfillTick"][] | null;
            total: number;
            until: string;
        };
        /** BackfillPage */
        BackfillPage: {
            items: components["schemas"]["Backfill"][];
        };
        /** BackfillRequest */
        BackfillRequest: {
            /** @default 1 */
            concurrency?: number;
            /** @default false */
            dry_run?: boolean;
            since: string;
            until: string;
        };
        /** BackfillTick */
        BackfillTick: {
            at: string;
            runs: boolean;
            /** @default null */
            why?: string | null;
        };
        /** Breaker */
        Breaker: {
            /** @default 0.5 */
            failure_rate?: number;
            /** @default 20 */
            minimum?: number;
            /** @default 30s */
            pause?: string | number;
            /** @default 3 */
            probes?: number;
            /** @default 10/s */
            release_rate?: string | number;
            /** @default 1m */
            window?: string | number;
        };
        /** Brief */
        Brief: {
            attempt: number;
            /** @default null */
            callback?: components["schemas"]["Callback"] | null;
            id: string;
            /** @default {} */
            secrets?: {
                [key: string]: string;
            };
            task: components["schemas"]["TaskDefinition"];
            tenant: string;
            /** @default 0 */
            version?: number;
        };
        /** BriefRequest */
        BriefRequest: {
            attempt: number;
            id: string;
            lane: number;
        };
        /** BulkAnswer */
        BulkAnswer: {
            accepted: number;
            items: components["schemas"]["BulkItem"][];
            refused: number;
        };
        /**
         * BulkItem
         * @description The answer to one item of a bulk submit, in the order of the items.
         */
        BulkItem: {
            /** @default null */
            code?: string | null;
            /** @default null */
            detail?: string | null;
            /** @default false */
            existing?: boolean;
            /** @default null */
            id?: string | null;
            /** @default null */
            retry_after?: number | null;
            /** @default null */
            state?: components["schemas"]["State"] | null;
        };
        /** Calendar */
        Calendar: {
            changed_at: string;
            changed_by: string;
            definition: components["schemas"]["CalendarDefinition"];
            tenant: string;
        };
        /** CalendarDefinition */
        CalendarDefinition: {
            /** @default null */
            country?: string | null;
            /** @default {} */
            days?: {
                [key: string]: string;
            };
            /** @default [] */
            except_days?: string[];
            /** @default [] */
            include?: string[];
            name: string;
            /** @default null */
            subdivision?: string | null;
            /** @default null */
            weekend?: string[] | null;
        };
        /** CalendarPage */
        CalendarPage: {
            items: components["schemas"]["Calendar"][];
        };
        /** Callback */
        Callback: {
            url: string;
        };
        /** CallbackAccepted */
        CallbackAccepted: {
            attempt: number;
            /** @default null */
            end?: components["schemas"]["End"] | null;
            job_id: string;
        };
        /** CallbackProgress */
        CallbackProgress: {
            done: number;
            /** @default null */
            note?: string | null;
            /** @default null */
            total?: number | null;
        };
        /**
         * CallbackReport
         * @description Either the end (`state`), which is told once, or `progress`, as often as one likes.
         */
        CallbackReport: {
            /** @default null */
            error?: string | components["schemas"]["JobError"] | null;
            /** @default null */
            progress?: components["schemas"]["CallbackProgress"] | null;
            result?: unknown;
            /** @default true */
            retry?: boolean;
            /** @default null */
            retry_after?: string | number | null;
            /** @default null */
            state?: components["schemas"]["CallbackState"] | null;
        };
        /**
         * CallbackState
         * @enum {unknown}
         */
        CallbackState: "failed" | "succeeded";
        /** CancelOrder */
        CancelOrder: {
            attempt: number;
            id: string;
            /** @default false */
            move?: boolean;
            /** @default  */
            reason?: string;
        };
        /**
         * Cause
         * @description Dead letters that failed in the same way.
         */
        Cause: {
            cause: string | null;
            count: number;
            error: components["schemas"]["JobError"] | null;
            first_at: string;
            job_ids: string[];
            last_at: string;
            tasks: string[];
            tenant: string;
        };
        /** CheckpointUpload */
        CheckpointUpload: {
            attempt: number;
            data: unknown;
            id: string;
            lane: number;
        };
        /**
         * Code
         * @description In the order in which reasons are told: what must come first, first.
         * @enum {unknown}
         */
        Code: "awaiting_callback" | "behind_other_tenants" | "behind_own_tenant" | "cancel_requested" | "debounced" | "gate" | "gate_partial" | "gate_probe" | "gate_release" | "large_job_waits_for_room" | "limit_rate" | "limit_running" | "no_worker_for_queue" | "no_worker_for_task" | "no_worker_matches" | "not_due" | "off_peak" | "preferred_worker_busy" | "retry_wait" | "spread_full" | "starting" | "worker_on_probation" | "worker_reserved" | "workers_busy" | "workers_draining";
        /** Collision */
        Collision: {
            at: string;
            schedules: string[];
            ticks: number;
        };
        /** ConsoleTicket */
        ConsoleTicket: {
            expires_at: string;
            path: string;
            ticket: string;
        };
        /** Container */
        Container: {
            /** @default [] */
            command?: string[];
            /** @default null */
            entrypoint?: string[] | null;
            image: string;
            /** @default missing */
            pull?: string;
            /** @default auto */
            result?: components["schemas"]["ResultFrom"];
            /** @default null */
            workdir?: string | null;
        };
        /**
         * DeadLetterRequest
         * @description Redrive or discard; an empty filter means all dead letters.
         */
        DeadLetterRequest: {
            /** @default null */
            changes?: components["schemas"]["JobChanges"] | null;
            filter?: components["schemas"]["JobsFilter"];
            /** @default false */
            preview?: boolean;
            /** @default null */
            rate?: number | null;
            /** @default  */
            reason?: string;
        };
        /** DeadLetters */
        DeadLetters: {
            causes: components["schemas"]["Cause"][];
            /** @default null */
            jobs?: components["schemas"]["Job"][] | null;
            /** @default null */
            next_cursor?: string | null;
        };
        /** Delay */
        Delay: {
            p50: number | null;
            p99: number | null;
        };
        /**
         * Drain
         * @description Maintenance is a drain with a reason and an end.
         */
        Drain: {
            /** @default null */
            lasts?: string | number | null;
            /** @default false */
            move?: boolean;
            /** @default  */
            reason?: string;
        };
        /**
         * End
         * @description How one execution ended. `attempt` and `outcome` rows carry it.
         * @enum {unknown}
         */
        End: "cancelled" | "crashed" | "error" | "fatal" | "lost" | "moved" | "parked" | "succeeded" | "timeout" | "undelivered";
        /**
         * Estimate
         * @description When it will start, or for a running job, end. Newcomers that go before it are not foreseen.
         */
        Estimate: {
            at: string;
            basis: string;
            earliest: string;
            latest: string;
        };
        /** Exchange */
        Exchange: {
            /** @default [] */
            finished?: components["schemas"]["Finished"][];
            /** @default null */
            free?: components["schemas"]["Free"] | null;
            /** @default [] */
            lost?: number[];
            /** @default 0 */
            number?: number;
            /** @default 0 */
            wait?: number;
            /** @default 0 */
            want?: number;
        };
        /** Exchanged */
        Exchanged: {
            /** @default [] */
            cancel?: components["schemas"]["CancelOrder"][];
            /** @default false */
            drain?: boolean;
            /** @default [] */
            jobs?: components["schemas"]["Grant"][];
            /** @default [] */
            stale?: components["schemas"]["Stale"][];
        };
        /** Execution */
        Execution: {
            attempt: number;
            /** @default null */
            cpu?: number | null;
            /** @default null */
            end?: components["schemas"]["End"] | null;
            /** @default null */
            ended_at?: string | null;
            /** @default null */
            error?: components["schemas"]["JobError"] | null;
            /** @default null */
            isolation?: string | null;
            /** Format: uuid */
            job_id: string;
            /** @default null */
            peak_memory?: number | null;
            /** @default null */
            read_bytes?: number | null;
            started_at: string | null;
            /** @default null */
            task?: string | null;
            /** @default null */
            task_version?: number | null;
            worker_id: number | null;
            /** @default null */
            written_bytes?: number | null;
        };
        /** ExecutionPage */
        ExecutionPage: {
            items: components["schemas"]["Execution"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /** Explanation */
        Explanation: {
            answer: string;
            /** @default null */
            estimate?: components["schemas"]["Estimate"] | null;
            /** Format: uuid */
            id: string;
            /** @default null */
            no_estimate?: string | null;
            /** @default [] */
            notes?: string[];
            /** @default null */
            place?: components["schemas"]["Place"] | null;
            /** @default [] */
            reasons?: components["schemas"]["Reason"][];
            /** @default null */
            running?: components["schemas"]["RunningNow"] | null;
            /** @default [] */
            spent?: components["schemas"]["Spent"][];
            state: components["schemas"]["State"];
        };
        /** FailureGroup */
        FailureGroup: {
            cause: string | null;
            /** Format: uuid */
            example: string;
            jobs: number;
            last_at: string;
            message: string;
            queue: string;
            task: string;
            tenant: string;
        };
        /**
         * Field
         * @enum {unknown}
         */
        Field: "key" | "queue" | "task" | "tenant";
        /** FileAddress */
        FileAddress: {
            expires_at: string;
            url: string;
        };
        /** FilePage */
        FilePage: {
            items: components["schemas"]["FileView"][];
        };
        /** FileStored */
        FileStored: {
            /** Format: uuid */
            id: string;
        };
        /** FileView */
        FileView: {
            attempt: number;
            created_at: string;
            /** @default null */
            expires_at?: string | null;
            /** Format: uuid */
            id: string;
            media_type: string;
            name: string;
            sha256: string;
            size: number;
        };
        /**
         * Finished
         * @description The end of one attempt, as the worker saw it.
         */
        Finished: {
            attempt: number;
            /** @default null */
            blob?: number | null;
            /** @default null */
            cpu?: number | null;
            /** @default succeeded */
            end?: components["schemas"]["End"];
            /** @default null */
            error?: components["schemas"]["JobError"] | null;
            id: string;
            lane: number;
            /** @default null */
            peak_memory?: number | null;
            /** @default null */
            progress?: components["schemas"]["Progress"] | null;
            result?: unknown;
            /** @default null */
            retry_after?: number | null;
            /** @default 0 */
            took?: number;
            /** @default null */
            usage?: components["schemas"]["Usage"] | null;
            /** @default 0 */
            waited?: number;
        };
        /**
         * Fold
         * @description Which one counts of a wall time that happens twice (the hour repeated in autumn).
         * @enum {unknown}
         */
        Fold: "both" | "first" | "second";
        /** Forecast */
        Forecast: {
            collisions: components["schemas"]["Collision"][];
            minutes: components["schemas"]["Minute"][];
            peak: number;
            peak_spread: number;
            proposals: components["schemas"]["Proposal"][];
            schedules: number;
            since: string;
            truncated: boolean;
            until: string;
        };
        /** Found */
        Found: {
            /** @default null */
            id?: string | null;
            kind: string;
            name: string;
            /** @default null */
            note?: string | null;
            /** @default null */
            tenant?: string | null;
        };
        /** FoundPage */
        FoundPage: {
            items: components["schemas"]["Found"][];
        };
        /**
         * Free
         * @description What a worker has left beside what it holds.
         */
        Free: {
            /** @default 0 */
            cpu?: number;
            /** @default 0 */
            disk?: number;
            /** @default 0 */
            gpu?: number;
            /** @default 0 */
            memory?: number;
            /** @default 0 */
            slots?: number;
        };
        /** Frequent */
        Frequent: {
            schedule: string;
            tenant: string;
        };
        /**
         * Gap
         * @description What becomes of a wall time that the clock jumps over (the hour lost in spring).
         * @enum {unknown}
         */
        Gap: "after" | "skip";
        /** Gate */
        Gate: {
            action: components["schemas"]["horae.model.gates.Action"];
            /** @default null */
            condition?: string | null;
            /** @default null */
            drained_at?: string | null;
            /** @default null */
            expires_at?: string | null;
            /** @default 0 */
            held?: number;
            /** @default false */
            held_more?: boolean;
            id: number;
            kind: components["schemas"]["horae.model.gates.Kind"];
            made_at: string;
            /** @default null */
            note?: string | null;
            owner: string;
            /** @default null */
            percent?: number | null;
            /** @default null */
            probe_seconds?: number | null;
            /** @default null */
            queue?: string | null;
            reason: string;
            /** @default null */
            release_rate?: number | null;
            /** @default null */
            released_at?: string | null;
            /** @default null */
            released_by?: string | null;
            /** @default leave */
            running?: components["schemas"]["Running"];
            state: string;
            /** @default null */
            task?: string | null;
            /** @default null */
            tenant?: string | null;
        };
        /** GateChanges */
        GateChanges: {
            /** @default null */
            expires_in?: string | number | null;
            /** @default null */
            reason?: string | null;
        };
        /** GateCreate */
        GateCreate: {
            /** @default hold */
            action?: components["schemas"]["horae.model.gates.Action"];
            /** @default null */
            condition?: string | null;
            /** @default null */
            expires_in?: string | number | null;
            /** @default null */
            percent?: number | null;
            /** @default null */
            queue?: string | null;
            reason: string;
            /** @default leave */
            running?: components["schemas"]["Running"];
            /** @default null */
            task?: string | null;
            /** @default null */
            tenant?: string | null;
        };
        /** GatePage */
        GatePage: {
            items: components["schemas"]["Gate"][];
            /** @default false */
            more?: boolean;
        };
        /** GatePreview */
        GatePreview: {
            complete: boolean;
            looked_at: number;
            matching: number;
            /** @default null */
            note?: string | null;
            sample: components["schemas"]["PreviewJob"][];
        };
        /** GateRelease */
        GateRelease: {
            /** @default null */
            rate?: string | number | null;
        };
        /** GateRestore */
        GateRestore: {
            /** @default null */
            ids?: string[] | null;
            /** @default null */
            queue?: string | null;
            /** @default null */
            task?: string | null;
        };
        /**
         * Grant
         * @description A job given to a worker. (`id`, `attempt`) is its fence: every write about it must name both.
         */
        Grant: {
            attempt: number;
            checkpoint?: unknown;
            /** @default 0 */
            cpu?: number;
            /** @default 0 */
            disk?: number;
            /** @default 0 */
            gpu?: number;
            id: string;
            /** @default  */
            kind?: string;
            lane: number;
            /** @default 5 */
            max_attempts?: number;
            /** @default 0 */
            memory?: number;
            params: unknown;
            /** @default 1 */
            slots?: number;
            task: string;
            /** @default null */
            timeout?: number | null;
        };
        /** Heartbeat */
        Heartbeat: {
            /** @default null */
            cpu?: number | null;
            /** @default [] */
            lost?: number[];
            /** @default null */
            memory?: number | null;
            /** @default [] */
            progress?: components["schemas"]["Progress"][];
            /** @default 0 */
            queued?: number;
            /** @default 0 */
            running?: number;
        };
        /** HeartbeatAnswer */
        HeartbeatAnswer: {
            /** @default [] */
            cancel?: components["schemas"]["CancelOrder"][];
            /** @default false */
            drain?: boolean;
        };
        /** HeldBy */
        HeldBy: {
            /** @default [] */
            ahead?: components["schemas"]["Ahead"][];
            /** @default null */
            gate?: components["schemas"]["HoldingGate"] | null;
            /** @default [] */
            jobs?: components["schemas"]["HoldingJob"][];
            /** @default null */
            limit?: components["schemas"]["HoldingLimit"] | null;
            /** @default 0 */
            other_jobs?: number;
            /** @default 0 */
            other_workers?: number;
            /** @default [] */
            workers?: components["schemas"]["HoldingWorker"][];
        };
        /** HoldingGate */
        HoldingGate: {
            action: string;
            /** @default null */
            expires_at?: string | null;
            id: number;
            kind: string;
            owner: string;
            reason: string;
            /** @default null */
            since?: string | null;
        };
        /**
         * HoldingJob
         * @description A job in a slot that this one waits for.
         */
        HoldingJob: {
            id: string;
            since: string;
            task: string;
            /** @default null */
            tenant?: string | null;
            worker_id: number;
        };
        /** HoldingLimit */
        HoldingLimit: {
            /** @default null */
            max_running?: number | null;
            name: string;
            /** @default null */
            rate?: number | null;
            /** @default 0 */
            running?: number;
        };
        /** HoldingWorker */
        HoldingWorker: {
            id: number;
            /** @default [] */
            lacks?: string[];
            name: string;
            /** @default null */
            reason?: string | null;
            /** @default 0 */
            running?: number;
            slots: number;
        };
        /** HttpCall */
        HttpCall: {
            body?: unknown;
            /** @default false */
            callback?: boolean;
            /** @default 1d */
            callback_timeout?: string | number;
            expect?: string[];
            /** @default {} */
            headers?: {
                [key: string]: string;
            };
            /** @default POST */
            method?: string;
            /** @default 0 */
            redirects?: number;
            retry_on?: string[];
            /** @default null */
            sign_with?: string | null;
            url: string;
        };
        /** ImportAnswer */
        ImportAnswer: {
            dry_run: boolean;
            items: components["schemas"]["ImportedTask"][];
        };
        /** ImportedTask */
        ImportedTask: {
            /** @default null */
            error?: string | null;
            name: string;
            outcome: string;
            /** @default 0 */
            version?: number;
        };
        /** Job */
        Job: {
            /** @default 0 */
            attempt?: number;
            /** @default null */
            avoids?: components["schemas"]["Traits"] | null;
            /** @default false */
            cancel_requested?: boolean;
            /** @default null */
            cloned_from?: string | null;
            /** @default null */
            concurrency_key?: string | null;
            created_at: string;
            /** @default null */
            deadline?: string | null;
            /** @default null */
            error?: components["schemas"]["JobError"] | null;
            /** @default null */
            expires?: string | null;
            /** @default null */
            finished_at?: string | null;
            /** Format: uuid */
            id: string;
            /** @default null */
            labels?: {
                [key: string]: string;
            } | null;
            /** @default 5 */
            max_attempts?: number;
            params: Record<string, unknown> | unknown;
            /** @default null */
            prefers?: components["schemas"]["Traits"] | null;
            priority: number;
            /** @default null */
            progress?: components["schemas"]["ProgressView"] | null;
            queue: string;
            /** @default null */
            requires?: components["schemas"]["Requirements"] | null;
            /** @default null */
            retry?: components["schemas"]["RetryPolicy"] | null;
            run_at: string;
            /** @default null */
            service_level?: string | null;
            /** @default null */
            spread?: number | null;
            /** @default null */
            start_by?: string | null;
            /** @default null */
            started_at?: string | null;
            state: components["schemas"]["State"];
            /** @default null */
            sticky?: string | null;
            task: string;
            tenant: string;
            /** @default null */
            timeout?: string | null;
            /** @default null */
            unique?: components["schemas"]["Unique"] | null;
            /** @default null */
            user?: string | null;
            /** @default null */
            worker_id?: number | null;
        };
        /**
         * JobChanges
         * @description PATCH before the start, and what a retry or a clone varies. Only what is given changes.
         */
        JobChanges: {
            /** @default null */
            avoids?: components["schemas"]["Traits"] | null;
            /** @default null */
            concurrency_key?: string | null;
            /** @default null */
            deadline?: string | null;
            /** @default null */
            delay?: string | number | null;
            /** @default null */
            expires?: string | null;
            /** @default null */
            expires_in?: string | number | null;
            /** @default null */
            labels?: {
                [key: string]: string;
            } | null;
            /** @default null */
            max_attempts?: number | null;
            /** @default null */
            params?: Record<string, unknown> | null;
            /** @default null */
            prefers?: components["schemas"]["Traits"] | null;
            /** @default null */
            priority?: number | null;
            /** @default null */
            queue?: string | null;
            /** @default null */
            requires?: components["schemas"]["Requirements"] | null;
            /** @default null */
            retry?: components["schemas"]["RetryPolicy"] | null;
            /** @default null */
            run_at?: string | null;
            /** @default null */
            spread?: number | null;
            /** @default null */
            sticky?: string | null;
            /** @default null */
            timeout?: string | number | null;
        };
        /**
         * JobError
         * @description Why an attempt did not succeed. `kind` is the exception's class, or `timeout`, `crash`, `exit` …
         */
        JobError: {
            kind: string;
            message: string;
            /** @default null */
            traceback?: string | null;
        };
        /**
         * JobEvent
         * @description One server-sent event of `GET /jobs/{id}/events`.
         */
        JobEvent: {
            at: string;
            attempt: number;
            /** Format: uuid */
            id: string;
            /** @default null */
            progress?: components["schemas"]["ProgressView"] | null;
            state: components["schemas"]["State"];
        };
        /** JobPage */
        JobPage: {
            items: components["schemas"]["Job"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /**
         * JobRequest
         * @description One job as a client asks for it. What is left out comes from the task's definition.
         */
        JobRequest: {
            /** @default null */
            avoids?: components["schemas"]["Traits"] | null;
            /** @default null */
            concurrency_key?: string | null;
            /** @default null */
            deadline?: string | null;
            /** @default null */
            delay?: string | number | null;
            /** @default null */
            expires?: string | null;
            /** @default null */
            expires_in?: string | number | null;
            /** @default null */
            labels?: {
                [key: string]: string;
            } | null;
            /** @default null */
            max_attempts?: number | null;
            /** @default {} */
            params?: Record<string, unknown>;
            /** @default null */
            prefers?: components["schemas"]["Traits"] | null;
            /** @default null */
            priority?: number | null;
            /** @default null */
            queue?: string | null;
            /** @default null */
            requires?: components["schemas"]["Requirements"] | null;
            /** @default null */
            retry?: components["schemas"]["RetryPolicy"] | null;
            /** @default null */
            run_at?: string | null;
            /** @default null */
            spread?: number | null;
            /** @default null */
            sticky?: string | null;
            task: string;
            /** @default null */
            tenant?: string | null;
            /** @default null */
            timeout?: string | number | null;
            /** @default null */
            unique?: components["schemas"]["Unique"] | null;
        };
        /**
         * JobResult
         * @description `GET /jobs/{id}/result?wait=30`: the state, and the result or the error once it has ended.
         */
        JobResult: {
            /** @default null */
            error?: components["schemas"]["JobError"] | null;
            /** Format: uuid */
            id: string;
            result?: unknown;
            state: components["schemas"]["State"];
        };
        /**
         * JobsFilter
         * @description Which jobs: the names are those of `GET /v1/jobs`. All that is given must hold.
         */
        JobsFilter: {
            /** @default null */
            cause?: string | null;
            /** @default null */
            ids?: string[] | null;
            /** @default {} */
            label?: {
                [key: string]: string;
            };
            /** @default null */
            queue?: string | null;
            /** @default null */
            since?: string | null;
            /** @default null */
            status?: string | null;
            /** @default null */
            task?: string | null;
            /** @default null */
            tenant?: string | null;
            /** @default null */
            text?: string | null;
            /** @default null */
            until?: string | null;
            /** @default null */
            user?: string | null;
            /** @default null */
            worker?: number | null;
        };
        /** Join */
        Join: {
            /** @default null */
            cpus?: number | null;
            /** @default null */
            disk?: number | null;
            /** @default null */
            gpus?: number | null;
            host: string;
            /** @default null */
            kind?: string | null;
            kinds?: string[];
            /** @default {} */
            labels?: {
                [key: string]: string;
            };
            /** @default null */
            memory?: number | null;
            name: string;
            /** @default null */
            pid?: number | null;
            /** @default null */
            queues?: string[] | null;
            /** @default null */
            region?: string | null;
            slots: number;
            tasks: components["schemas"]["TaskDefinition"][];
            /** @default  */
            version?: string;
            /** @default null */
            widest?: number | null;
            /** @default null */
            zone?: string | null;
        };
        /** Joined */
        Joined: {
            heartbeat_seconds: number;
            lease_seconds: number;
            worker_id: number;
        };
        /** Key */
        Key: {
            created_at: string;
            /** @default null */
            expires_at?: string | null;
            id: number;
            /** @default null */
            last_used_at?: string | null;
            name: string;
            prefix: string;
            /** @default null */
            revoked_at?: string | null;
            role: components["schemas"]["Role"];
            /** @default null */
            tenant?: string | null;
        };
        /** KeyCreate */
        KeyCreate: {
            /** @default 365d */
            expires_in?: string | number | null;
            name: string;
            role: components["schemas"]["Role"];
            /** @default null */
            tenant?: string | null;
        };
        /** KeyCreated */
        KeyCreated: {
            key: components["schemas"]["Key"];
            secret: string;
        };
        /** KeyPage */
        KeyPage: {
            items: components["schemas"]["Key"][];
        };
        /** LateJob */
        LateJob: {
            /** Format: uuid */
            id: string;
            start_by: string;
            task: string;
            tenant: string;
        };
        /** LatestTick */
        LatestTick: {
            at: string;
            /** @default 1 */
            count?: number;
            /** @default null */
            late?: number | null;
            /** @default null */
            reason?: string | null;
            state: string;
        };
        /** Limit */
        Limit: {
            /** @default null */
            burst?: number | null;
            /** @default [] */
            each?: components["schemas"]["Field"][];
            /** @default 0 */
            groups?: number;
            /** @default null */
            key?: string | null;
            made_at: string;
            made_by: string;
            /** @default null */
            max_running?: number | null;
            name: string;
            /** @default false */
            of_task?: boolean;
            /** @default null */
            queue?: string | null;
            /** @default null */
            rate?: number | null;
            /** @default null */
            reason?: string | null;
            /** @default 0 */
            running?: number;
            /** @default null */
            task?: string | null;
            /** @default null */
            tenant?: string | null;
        };
        /** LimitHolder */
        LimitHolder: {
            /** Format: uuid */
            job_id: string;
            queue: string;
            since: string;
            task: string;
            tenant: string;
            worker_id: number;
        };
        /** LimitPage */
        LimitPage: {
            items: components["schemas"]["Limit"][];
        };
        /**
         * LimitPut
         * @description Which jobs it is for (left out: all), and how many of them may run or start.
         */
        LimitPut: {
            /** @default null */
            burst?: number | null;
            /** @default [] */
            each?: components["schemas"]["Field"][];
            /** @default null */
            key?: string | null;
            /** @default null */
            max_running?: number | null;
            /** @default null */
            queue?: string | null;
            /** @default null */
            rate?: string | number | null;
            /** @default null */
            reason?: string | null;
            /** @default null */
            task?: string | null;
            /** @default null */
            tenant?: string | null;
        };
        /** LimitUse */
        LimitUse: {
            holders: components["schemas"]["LimitHolder"][];
            limit: components["schemas"]["Limit"];
            /** @default false */
            more_waiting?: boolean;
            waiting: components["schemas"]["WaitingLane"][];
        };
        /**
         * Limits
         * @description What a script or container may use. Reaching one ends it, except for CPU, which slows it.
         */
        Limits: {
            /** @default null */
            cpu?: number | null;
            /** @default null */
            disk?: string | number | null;
            /** @default null */
            memory?: string | number | null;
            /** @default null */
            open_files?: number | null;
            /** @default null */
            processes?: number | null;
        };
        /** LogChunk */
        LogChunk: {
            attempt: number;
            id: string;
            lane: number;
            seq: number;
            /** @default stdout */
            stream?: string;
            /** @default  */
            text?: string;
        };
        /**
         * LogLine
         * @description A chunk of output: one or more whole lines, as far as the job wrote whole lines.
         */
        LogLine: {
            at: string;
            attempt: number;
            seq: number;
            stream: string;
            text: string;
        };
        /** LogPage */
        LogPage: {
            items: components["schemas"]["LogLine"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /** LogUpload */
        LogUpload: {
            chunks: components["schemas"]["LogChunk"][];
        };
        /**
         * Mark
         * @description What happened to a tick on its way from the rule. The codes are stable.
         * @enum {unknown}
         */
        Mark: "calendar_moved_next" | "calendar_moved_previous" | "fold_first" | "fold_second" | "gap_moved" | "jittered" | "window_deferred";
        /** Minute */
        Minute: {
            at: string;
            ticks: number;
        };
        /**
         * Missed
         * @enum {unknown}
         */
        Missed: "all" | "latest" | "skip" | "window";
        /** Move */
        Move: {
            /** @default false */
            force?: boolean;
            /** @default  */
            reason?: string;
        };
        /** NextTick */
        NextTick: {
            at: string;
            schedule: string;
            task: string;
            tenant: string;
        };
        /**
         * OffPeak
         * @description When work that can wait may start: while any of the windows is open.
         */
        OffPeak: {
            /** @default UTC */
            tz?: string;
            windows: components["schemas"]["Window"][];
        };
        /** OldestWaiting */
        OldestWaiting: {
            due_at: string;
            /** Format: uuid */
            id: string;
            queue: string;
            task: string;
            tenant: string;
        };
        /**
         * OnBlocked
         * @description What becomes of a tick on a day that a calendar blocks. A moved tick keeps its wall time.
         * @enum {unknown}
         */
        OnBlocked: "next" | "previous" | "skip";
        /**
         * OnConflict
         * @enum {unknown}
         */
        OnConflict: "debounce" | "reject" | "replace" | "return";
        /**
         * Overlap
         * @description A tick is due while an earlier run of its schedule has not ended.
         * @enum {unknown}
         */
        Overlap: "allow" | "queue" | "replace" | "skip";
        /**
         * Overview
         * @description How things stand, and how they went in a range of time.
         */
        Overview: {
            at: string;
            blocked: number;
            failures: components["schemas"]["FailureGroup"][];
            gates: number;
            limits: number;
            limits_full: number;
            oldest: components["schemas"]["OldestWaiting"] | null;
            pending: number;
            range: string;
            ready: number;
            running: number;
            scheduled: number;
            series: components["schemas"]["Series"];
            step: number;
            ticks: components["schemas"]["NextTick"][];
            wait: components["schemas"]["Delay"];
            workers: components["schemas"]["WorkerLoad"][];
            workers_total: number;
        };
        /**
         * Partial
         * @description A piece of a result, given while the job runs.
         */
        Partial: {
            at: string;
            attempt: number;
            data: unknown;
            seq: number;
        };
        /** PartialPage */
        PartialPage: {
            items: components["schemas"]["Partial"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /**
         * Permission
         * @enum {unknown}
         */
        Permission: "gates:manage" | "gates:read" | "jobs:control" | "jobs:read" | "jobs:submit" | "keys:manage" | "limits:manage" | "limits:read" | "public" | "quotas:manage" | "quotas:read" | "schedules:read" | "schedules:write" | "secrets:manage" | "secrets:read" | "secrets:write" | "self:read" | "service_levels:manage" | "service_levels:read" | "tasks:read" | "tasks:write" | "tenants:manage" | "tenants:read" | "work" | "workers:control" | "workers:read";
        /**
         * Place
         * @description 1 is the next of its lane: of the jobs with the same task, queue, concurrency key and placement.
         */
        Place: {
            /** @default false */
            more?: boolean;
            number: number;
        };
        /** Preview */
        Preview: {
            items: components["schemas"]["Tick"][];
            /** @default null */
            problem?: components["schemas"]["PreviewProblem"] | null;
            words: string[];
        };
        /** PreviewFault */
        PreviewFault: {
            detail: string;
            pointer: string;
        };
        /** PreviewJob */
        PreviewJob: {
            /** Format: uuid */
            id: string;
            queue: string;
            state: components["schemas"]["State"];
            task: string;
        };
        /** PreviewProblem */
        PreviewProblem: {
            code: string;
            detail: string;
            /** @default null */
            errors?: components["schemas"]["PreviewFault"][] | null;
            /** @default null */
            field?: string | null;
        };
        /**
         * PreviewRequest
         * @description A definition that is not saved.
         */
        PreviewRequest: {
            /** @default [] */
            calendars?: string[];
            /** @default 10 */
            count?: number;
            /** @default null */
            cron?: string | null;
            /** @default null */
            description?: string | null;
            /** @default false */
            draft?: boolean;
            /** @default null */
            ends_at?: string | null;
            /** @default null */
            every?: string | number | null;
            /** @default null */
            fold?: components["schemas"]["Fold"] | null;
            /** @default null */
            gap?: components["schemas"]["Gap"] | null;
            /** @default null */
            jitter?: string | number | null;
            /** @default {} */
            job?: Record<string, unknown>;
            /** @default null */
            max_runs?: number | null;
            /** @default latest */
            missed?: components["schemas"]["Missed"];
            /** @default 10 */
            missed_limit?: number;
            /** @default 1h */
            missed_window?: string | number;
            name: string;
            /** @default skip */
            on_blocked?: components["schemas"]["OnBlocked"];
            /**
             * @default skip
             * @enum {unknown}
             */
            outside?: "defer" | "skip";
            /** @default allow */
            overlap?: components["schemas"]["Overlap"];
            /** @default {} */
            params?: Record<string, unknown>;
            /** @default [] */
            rules?: components["schemas"]["Rule"][];
            /** @default null */
            since?: string | null;
            /** @default null */
            starts_at?: string | null;
            task: string;
            /** @default null */
            tenant?: string | null;
            /** @default null */
            tick_param?: string | null;
            /** @default UTC */
            tz?: string;
            /** @default null */
            until?: string | null;
            /** @default [] */
            windows?: components["schemas"]["Window"][];
        };
        Problem: {
            /** @enum {unknown} */
            code: "already_exists" | "duplicate_backfill" | "duplicate_job" | "forbidden" | "gate_closed" | "gone" | "idempotency_conflict" | "internal" | "invalid_input" | "invalid_params" | "invalid_signature" | "job_failed" | "malformed_body" | "method_not_allowed" | "not_found" | "not_ready" | "nowhere_to_run" | "outcome_unknown" | "overloaded" | "quota_exceeded" | "repeated_exchange" | "result_timeout" | "secret_in_use" | "secrets_locked" | "setup" | "store_unavailable" | "task_changed" | "task_in_use" | "too_large" | "unauthenticated" | "unknown_task" | "unreachable" | "unsafe_store" | "unsatisfiable_range" | "worker_gone" | "wrong_state";
            detail: string;
            status: number;
            title: string;
            type: string;
        };
        /** Progress */
        Progress: {
            attempt: number;
            done: number;
            id: string;
            /** @default null */
            note?: string | null;
            /** @default null */
            total?: number | null;
        };
        /** ProgressView */
        ProgressView: {
            /** @default null */
            at?: string | null;
            done: number;
            /** @default null */
            note?: string | null;
            /** @default null */
            total?: number | null;
        };
        /** Proposal */
        Proposal: {
            cron: string;
            instead: string;
            schedule: string;
        };
        /**
         * Pulse
         * @description What happened since the last one.
         */
        Pulse: {
            at: string;
            cancelled: number;
            failed: number;
            jobs: string[];
            more: boolean;
            other: number;
            policy: boolean;
            retried: number;
            seconds: number;
            started: number;
            submitted: number;
            succeeded: number;
        };
        /**
         * Queue
         * @description Approximate, and a second or two old. Rates are a second's, over the last minute.
         */
        Queue: {
            failure_rate: number;
            /** @default null */
            oldest_at?: string | null;
            /** @default null */
            oldest_job?: string | null;
            pending: number;
            queue: string;
            retry_rate: number;
            running: number;
            start_rate: number;
            submit_rate: number;
            success_rate: number;
            tenant: string;
        };
        /** QueuePage */
        QueuePage: {
            items: components["schemas"]["Queue"][];
            /** @default false */
            more?: boolean;
        };
        /** Quota */
        Quota: {
            /** @default null */
            burst?: number | null;
            /** @default null */
            max_pending?: number | null;
            name: string;
            scope: components["schemas"]["Scope"];
            /** @default null */
            submit_rate?: number | null;
            /** @default null */
            tenant?: string | null;
            updated_at: string;
            updated_by: string;
        };
        /** QuotaPage */
        QuotaPage: {
            items: components["schemas"]["Quota"][];
        };
        /** QuotaPut */
        QuotaPut: {
            /** @default null */
            burst?: number | null;
            /** @default null */
            max_pending?: number | null;
            /** @default null */
            submit_rate?: string | number | null;
        };
        /** Reason */
        Reason: {
            code: components["schemas"]["Code"];
            /** @default null */
            command?: string | null;
            /** @default null */
            held_by?: components["schemas"]["HeldBy"] | null;
            resolve: string;
            summary: string;
            /** @default null */
            until?: string | null;
        };
        /**
         * Requirements
         * @description All of it must hold. CPU, memory, GPU and disk are used up by a running job; labels and places are not.
         */
        Requirements: {
            /** @default null */
            cpu?: number | null;
            /** @default null */
            disk?: string | number | null;
            /** @default null */
            gpu?: number | null;
            /** @default null */
            kind?: string | null;
            /** @default {} */
            labels?: {
                [key: string]: string;
            };
            /** @default null */
            memory?: string | number | null;
            /** @default null */
            region?: string | null;
            /** @default 1 */
            slots?: number;
            /** @default null */
            zone?: string | null;
        };
        /** Restored */
        Restored: {
            more: boolean;
            restored: number;
        };
        /**
         * ResultFrom
         * @enum {unknown}
         */
        ResultFrom: "auto" | "file" | "last_line";
        /**
         * RetryPolicy
         * @description Try `n` waits a random time between 0 and `first × factor**(n-1)`, at most `cap` (seconds).
         */
        RetryPolicy: {
            /** @default 3600 */
            cap?: number;
            /** @default 2 */
            factor?: number;
            /** @default 2 */
            first?: number;
            /** @default true */
            jitter?: boolean;
        };
        /**
         * Role
         * @enum {unknown}
         */
        Role: "admin" | "operator" | "submitter" | "viewer" | "worker";
        /** Rollback */
        Rollback: {
            /** @default  */
            reason?: string;
            version: number;
        };
        /** Rotated */
        Rotated: {
            count: number;
        };
        /**
         * Rule
         * @description Exactly one of `cron` and `every`.
         */
        Rule: {
            /** @default null */
            anchor?: string | null;
            /** @default null */
            cron?: string | null;
            /** @default null */
            every?: string | number | null;
        };
        /**
         * Running
         * @description What becomes of jobs that run already.
         * @enum {unknown}
         */
        Running: "cancel" | "leave" | "move";
        /** RunningNow */
        RunningNow: {
            attempt: number;
            /** @default null */
            done?: number | null;
            /** @default null */
            note?: string | null;
            since: string;
            /** @default null */
            total?: number | null;
            /** @default null */
            worker?: string | null;
            worker_id: number;
        };
        /** Schedule */
        Schedule: {
            changed_at: string;
            changed_by: string;
            definition: components["schemas"]["ScheduleDefinition"];
            /** @default null */
            latest?: components["schemas"]["LatestTick"][] | null;
            made_at: string;
            made_by: string;
            /** @default null */
            next?: components["schemas"]["Tick"][] | null;
            /** @default null */
            next_run_at?: string | null;
            /** @default null */
            paused_at?: string | null;
            runs: number;
            state: string;
            tenant: string;
            /** @default  */
            tzdata?: string;
            version: number;
            words: string[];
        };
        /**
         * ScheduleChange
         * @description PATCH: `set` holds the fields of the definition that change; null puts one back to its default.
         */
        ScheduleChange: {
            set: Record<string, unknown>;
            /** @default  */
            why?: string;
        };
        /** ScheduleDefinition */
        ScheduleDefinition: {
            /** @default [] */
            calendars?: string[];
            /** @default null */
            cron?: string | null;
            /** @default null */
            description?: string | null;
            /** @default null */
            ends_at?: string | null;
            /** @default null */
            every?: string | number | null;
            /** @default null */
            fold?: components["schemas"]["Fold"] | null;
            /** @default null */
            gap?: components["schemas"]["Gap"] | null;
            /** @default null */
            jitter?: string | number | null;
            /** @default {} */
            job?: Record<string, unknown>;
            /** @default null */
            max_runs?: number | null;
            /** @default latest */
            missed?: components["schemas"]["Missed"];
            /** @default 10 */
            missed_limit?: number;
            /** @default 1h */
            missed_window?: string | number;
            name: string;
            /** @default skip */
            on_blocked?: components["schemas"]["OnBlocked"];
            /**
             * @default skip
             * @enum {unknown}
             */
            outside?: "defer" | "skip";
            /** @default allow */
            overlap?: components["schemas"]["Overlap"];
            /** @default {} */
            params?: Record<string, unknown>;
            /** @default [] */
            rules?: components["schemas"]["Rule"][];
            /** @default null */
            starts_at?: string | null;
            task: string;
            /** @default null */
            tick_param?: string | null;
            /** @default UTC */
            tz?: string;
            /** @default [] */
            windows?: components["schemas"]["Window"][];
        };
        /** ScheduleLimits */
        ScheduleLimits: {
            shortest_interval: string | number;
        };
        /** SchedulePage */
        SchedulePage: {
            items: components["schemas"]["Schedule"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /** SchedulePut */
        SchedulePut: {
            changed_at: string;
            changed_by: string;
            definition: components["schemas"]["ScheduleDefinition"];
            /** @default null */
            latest?: components["schemas"]["LatestTick"][] | null;
            made_at: string;
            made_by: string;
            /** @default null */
            next?: components["schemas"]["Tick"][] | null;
            /** @default null */
            next_run_at?: string | null;
            outcome: string;
            /** @default null */
            paused_at?: string | null;
            runs: number;
            state: string;
            tenant: string;
            /** @default  */
            tzdata?: string;
            version: number;
            words: string[];
        };
        /**
         * ScheduleSave
         * @description POST and PUT of a schedule.
         */
        ScheduleSave: {
            /** @default [] */
            calendars?: string[];
            /** @default null */
            cron?: string | null;
            /** @default null */
            description?: string | null;
            /** @default null */
            ends_at?: string | null;
            /** @default null */
            every?: string | number | null;
            /** @default null */
            fold?: components["schemas"]["Fold"] | null;
            /** @default null */
            gap?: components["schemas"]["Gap"] | null;
            /** @default null */
            jitter?: string | number | null;
            /** @default {} */
            job?: Record<string, unknown>;
            /** @default null */
            max_runs?: number | null;
            /** @default latest */
            missed?: components["schemas"]["Missed"];
            /** @default 10 */
            missed_limit?: number;
            /** @default 1h */
            missed_window?: string | number;
            name: string;
            /** @default skip */
            on_blocked?: components["schemas"]["OnBlocked"];
            /**
             * @default skip
             * @enum {unknown}
             */
            outside?: "defer" | "skip";
            /** @default allow */
            overlap?: components["schemas"]["Overlap"];
            /** @default {} */
            params?: Record<string, unknown>;
            /** @default false */
            paused?: boolean;
            /** @default [] */
            rules?: components["schemas"]["Rule"][];
            /** @default null */
            starts_at?: string | null;
            task: string;
            /** @default null */
            tenant?: string | null;
            /** @default null */
            tick_param?: string | null;
            /** @default UTC */
            tz?: string;
            /** @default  */
            why?: string;
            /** @default [] */
            windows?: components["schemas"]["Window"][];
        };
        /** ScheduleVersion */
        ScheduleVersion: {
            action: string;
            at: string;
            by: string;
            definition: components["schemas"]["ScheduleDefinition"];
            version: number;
            /** @default  */
            why?: string;
        };
        /**
         * Scope
         * @enum {unknown}
         */
        Scope: "queue" | "tenant" | "user";
        /** Script */
        Script: {
            /** @default [] */
            args?: string[];
            /** @default null */
            interpreter?: string | null;
            /** @default [] */
            requirements?: string[];
            /** @default auto */
            result?: components["schemas"]["ResultFrom"];
            source: string;
        };
        /**
         * Secret
         * @description Those who may only look get the name and the tenant.
         */
        Secret: {
            /** @default null */
            created_at?: string | null;
            /** @default null */
            created_by?: string | null;
            /** @default null */
            last_used_at?: string | null;
            name: string;
            /** @default null */
            size?: number | null;
            tenant: string;
            /** @default null */
            updated_at?: string | null;
            /** @default null */
            updated_by?: string | null;
            /** @default [] */
            used_by?: string[];
            /** @default null */
            version?: number | null;
        };
        /** SecretPage */
        SecretPage: {
            items: components["schemas"]["Secret"][];
        };
        /** SecretPut */
        SecretPut: {
            value: string;
        };
        /**
         * SecretUse
         * @description A secret given to the job: in an environment variable, or in a file whose path that variable holds.
         */
        SecretUse: {
            /** @default null */
            env?: string | null;
            /** @default false */
            file?: boolean;
            name: string;
        };
        /**
         * Series
         * @description Columns of the same length: what happened in each step.
         */
        Series: {
            at: string[];
            cancelled: number[];
            failed: number[];
            other: number[];
            retried: number[];
            run_mean: (number | null)[];
            started: number[];
            submitted: number[];
            succeeded: number[];
            wait_p50: (number | null)[];
            wait_p99: (number | null)[];
        };
        /** ServiceLevel */
        ServiceLevel: {
            at_risk: number;
            day: components["schemas"]["Attainment"];
            hour: components["schemas"]["Attainment"];
            late: number;
            /** @default [] */
            latest_jobs?: components["schemas"]["LateJob"][];
            made_at: string;
            made_by: string;
            month: components["schemas"]["Attainment"];
            name: string;
            /** @default null */
            off_peak?: components["schemas"]["OffPeak"] | null;
            /** @default null */
            priority?: number | null;
            /** @default null */
            reason?: string | null;
            /** @default null */
            start_within?: number | null;
            target: number;
            /** @default null */
            task?: string | null;
            /** @default null */
            tenant?: string | null;
            /** @default  */
            tier?: string;
            /** @default [] */
            worst_tasks?: components["schemas"]["WorstTask"][];
        };
        /** ServiceLevelPage */
        ServiceLevelPage: {
            items: components["schemas"]["ServiceLevel"][];
        };
        /**
         * ServiceLevelPut
         * @description Which jobs it is for (left out: all), what they are promised, and when those that can wait start.
         */
        ServiceLevelPut: {
            /** @default null */
            off_peak?: components["schemas"]["OffPeak"] | null;
            /** @default null */
            priority?: number | null;
            /** @default null */
            reason?: string | null;
            /** @default null */
            start_within?: string | number | null;
            /** @default 0.99 */
            target?: number;
            /** @default null */
            task?: string | null;
            /** @default null */
            tenant?: string | null;
            /** @default  */
            tier?: string;
        };
        /** Session */
        Session: {
            /** @default null */
            expires_at?: string | null;
            name: string;
            permissions: components["schemas"]["Permission"][];
            role: components["schemas"]["Role"];
            /** @default null */
            tenant?: string | null;
        };
        /** ShareRequest */
        ShareRequest: {
            tenants: string[] | "*";
            /** @default false */
            with_secrets?: boolean;
        };
        /**
         * SignIn
         * @description One of the two.
         */
        SignIn: {
            /** @default null */
            key?: string | null;
            /** @default null */
            ticket?: string | null;
        };
        /**
         * Sink
         * @description Where a tabular result (a list of objects) goes too, once for each job whatever fails.
         */
        Sink: {
            /** @default null */
            dsn_secret?: string | null;
            /** @default null */
            parquet?: string | null;
            /** @default null */
            table?: string | null;
        };
        /**
         * Skip
         * @description Why a tick does not fire. The codes are stable.
         * @enum {unknown}
         */
        Skip: "calendar" | "fold" | "gap" | "window";
        /** Spent */
        Spent: {
            /** @default null */
            detail?: string | null;
            seconds: number;
            what: components["schemas"]["What"];
        };
        /**
         * Stale
         * @description A completion that was refused: the worker no longer held this attempt.
         */
        Stale: {
            attempt: number;
            id: string;
        };
        /**
         * State
         * @enum {unknown}
         */
        State: "blocked" | "cancelled" | "dropped" | "expired" | "failed" | "ready" | "running" | "scheduled" | "succeeded";
        /** Stop */
        Stop: {
            /** @default null */
            expires_in?: string | number | null;
            /** @default emergency stop */
            reason?: string;
            /** @default leave */
            running?: components["schemas"]["Running"];
            /** @default null */
            tenant?: string | null;
        };
        /**
         * StopPreview
         * @description How far an emergency stop would reach. What waits is approximate and a second or two old.
         */
        StopPreview: {
            largest: components["schemas"]["StoppedQueue"][];
            pending: number;
            queues: number;
            running: number;
            /** @default [] */
            stops?: components["schemas"]["Gate"][];
            /** @default null */
            tenant?: string | null;
            tenants: number;
            workers: number;
        };
        /** StoppedQueue */
        StoppedQueue: {
            pending: number;
            queue: string;
            running: number;
            tenant: string;
        };
        /**
         * Stretch
         * @description A part of a job's life that went into one thing.
         */
        Stretch: {
            /** @default null */
            attempt?: number | null;
            /** @default null */
            detail?: string | null;
            since: string;
            /** @default null */
            until?: string | null;
            what: components["schemas"]["What"];
        };
        /**
         * Submitted
         * @description The answer to a submit: the job is stored durably.
         */
        Submitted: {
            /** @default false */
            existing?: boolean;
            id: string;
            state: components["schemas"]["State"];
            /** @default [] */
            warnings?: string[];
        };
        /** Task */
        Task: {
            /** @default false */
            cut?: boolean;
            definition: components["schemas"]["TaskDefinition"];
            /** @default function */
            kind?: components["schemas"]["horae.model.kinds.Kind"];
            /** @default null */
            tenant?: string | null;
            updated_at: string;
            /** @default 0 */
            version?: number;
            /** @default false */
            with_secrets?: boolean;
        };
        /** TaskDefinition */
        TaskDefinition: {
            /** @default null */
            avoids?: components["schemas"]["Traits"] | null;
            /** @default null */
            breaker?: components["schemas"]["Breaker"] | null;
            /** @default null */
            burst?: number | null;
            /** @default null */
            container?: components["schemas"]["Container"] | null;
            /** @default null */
            description?: string | null;
            /** @default null */
            env?: {
                [key: string]: string;
            } | null;
            /** @default null */
            expires_in?: string | number | null;
            /** @default null */
            http?: components["schemas"]["HttpCall"] | null;
            /** @default null */
            keep_results?: string | number | null;
            /** @default null */
            limits?: components["schemas"]["Limits"] | null;
            /** @default null */
            max_attempts?: number | null;
            /** @default null */
            max_running?: number | null;
            /** @default null */
            max_running_per_key?: number | null;
            name: string;
            /** @default null */
            network?: boolean | null;
            /** @default null */
            params_schema?: Record<string, unknown> | null;
            /** @default null */
            prefers?: components["schemas"]["Traits"] | null;
            /** @default null */
            priority?: number | null;
            /** @default null */
            queue?: string | null;
            /** @default null */
            rate?: string | number | null;
            /** @default null */
            requires?: components["schemas"]["Requirements"] | null;
            /** @default null */
            retry?: components["schemas"]["RetryPolicy"] | null;
            /** @default null */
            script?: components["schemas"]["Script"] | null;
            /** @default null */
            secrets?: components["schemas"]["SecretUse"][] | null;
            /** @default null */
            sink?: components["schemas"]["Sink"] | null;
            /** @default null */
            spread?: number | null;
            /** @default null */
            timeout?: string | number | null;
            /** @default null */
            unique?: components["schemas"]["Unique"] | null;
        };
        /** TaskDiff */
        TaskDiff: {
            after: number;
            before: number;
            fields: string[];
            text: string;
        };
        /** TaskFault */
        TaskFault: {
            detail: string;
            field: string;
        };
        /** TaskPage */
        TaskPage: {
            items: components["schemas"]["Task"][];
        };
        /** TaskRuns */
        TaskRuns: {
            jobs: number;
            task: string;
        };
        /** TaskShare */
        TaskShare: {
            made_at: string;
            made_by: string;
            tenant: string;
            with_secrets: boolean;
        };
        /** TaskSharePage */
        TaskSharePage: {
            items: components["schemas"]["TaskShare"][];
        };
        /** TaskStatistics */
        TaskStatistics: {
            items: components["schemas"]["TaskStep"][];
            since: string;
            step: number;
            until: string;
        };
        /** TaskStep */
        TaskStep: {
            at: string;
            /** @default 0 */
            cancelled?: number;
            /** @default 0 */
            failed?: number;
            /** @default null */
            mean?: number | null;
            /** @default 0 */
            other?: number;
            /** @default null */
            p50?: number | null;
            /** @default null */
            p95?: number | null;
            /** @default 0 */
            retried?: number;
            /** @default 0 */
            started?: number;
            /** @default 0 */
            submitted?: number;
            /** @default 0 */
            succeeded?: number;
            /** @default null */
            wait?: number | null;
        };
        /** TaskTotals */
        TaskTotals: {
            /** @default 0 */
            cancelled?: number;
            /** @default 0 */
            failed?: number;
            /** @default null */
            mean?: number | null;
            /** @default 0 */
            other?: number;
            /** @default null */
            p50?: number | null;
            /** @default null */
            p95?: number | null;
            /** @default 0 */
            retried?: number;
            /** @default 0 */
            started?: number;
            /** @default 0 */
            submitted?: number;
            /** @default 0 */
            succeeded?: number;
            task: string;
            tenant: string;
            /** @default null */
            wait?: number | null;
        };
        /** TaskTotalsPage */
        TaskTotalsPage: {
            items: components["schemas"]["TaskTotals"][];
            since: string;
            until: string;
        };
        /** TaskVersion */
        TaskVersion: {
            /** @default false */
            current?: boolean;
            /** @default null */
            definition?: components["schemas"]["TaskDefinition"] | null;
            made_at: string;
            made_by: string;
            /** @default  */
            reason?: string;
            version: number;
        };
        /** TaskVersionPage */
        TaskVersionPage: {
            items: components["schemas"]["TaskVersion"][];
        };
        /** Tenant */
        Tenant: {
            created_at: string;
            id: number;
            name: string;
            weight: number;
        };
        /** TenantChange */
        TenantChange: {
            weight: number;
        };
        /** TenantCreate */
        TenantCreate: {
            name: string;
            /** @default 1 */
            weight?: number;
        };
        /** TenantPage */
        TenantPage: {
            items: components["schemas"]["Tenant"][];
        };
        /** Tick */
        Tick: {
            at: string;
            /** @default null */
            detail?: string | null;
            /** @default [] */
            marks?: components["schemas"]["Mark"][];
            run_at: string;
            /** @default null */
            skipped?: components["schemas"]["Skip"] | null;
        };
        /** TickPage */
        TickPage: {
            items: components["schemas"]["TickRecord"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /** TickRecord */
        TickRecord: {
            at: string;
            /** @default 1 */
            count?: number;
            /** @default null */
            detail?: string | null;
            /** @default null */
            finished_at?: string | null;
            /** @default null */
            job_id?: string | null;
            /** @default null */
            job_state?: string | null;
            origin: string;
            /** @default null */
            reason?: string | null;
            run_at: string;
            /** @default null */
            started_at?: string | null;
            state: string;
        };
        /**
         * Timeline
         * @description A job's life from its submit on, in order and without gaps.
         */
        Timeline: {
            at: string;
            /** Format: uuid */
            id: string;
            items: components["schemas"]["Stretch"][];
            state: components["schemas"]["State"];
        };
        /**
         * Traits
         * @description What a worker may be like: preferred or avoided, as far as there is a choice.
         */
        Traits: {
            /** @default null */
            kind?: string | null;
            /** @default {} */
            labels?: {
                [key: string]: string;
            };
            /** @default null */
            region?: string | null;
            /** @default null */
            zone?: string | null;
        };
        /** Trigger */
        Trigger: {
            /** @default null */
            params?: Record<string, unknown> | null;
        };
        /** Triggered */
        Triggered: {
            job_id: string;
        };
        /** Unique */
        Unique: {
            /** @default null */
            by?: string[] | null;
            /** @default active */
            during?: components["schemas"]["UniqueWhile"];
            /** @default null */
            max_wait?: string | number | null;
            /** @default return */
            on_conflict?: components["schemas"]["OnConflict"];
            /** @default null */
            period?: string | number | null;
        };
        /**
         * UniqueWhile
         * @description How long a job keeps others like it away.
         * @enum {unknown}
         */
        UniqueWhile: "active" | "running" | "waiting";
        /** UnshareRequest */
        UnshareRequest: {
            tenants: string[] | "*";
        };
        /**
         * Usage
         * @description What an attempt of a task that is data used, and how well it was shut in.
         */
        Usage: {
            /** @default null */
            cpu?: number | null;
            /** @default  */
            isolation?: string;
            /** @default null */
            peak_memory?: number | null;
            /** @default null */
            read_bytes?: number | null;
            /** @default null */
            version?: number | null;
            /** @default null */
            written_bytes?: number | null;
        };
        /** Validate */
        Validate: {
            definition: components["schemas"]["TaskDefinition"];
            /** @default null */
            params?: Record<string, unknown> | null;
        };
        /** Validated */
        Validated: {
            /** @default [] */
            errors?: components["schemas"]["TaskFault"][];
            /** @default {} */
            filled?: {
                [key: string]: string;
            };
            valid: boolean;
            /** @default [] */
            warnings?: string[];
        };
        /** VersionPage */
        VersionPage: {
            items: components["schemas"]["ScheduleVersion"][];
        };
        /**
         * WaitingLane
         * @description Jobs that wait for the same: of one tenant, queue, task and concurrency key, with the same requirements.
         */
        WaitingLane: {
            due_at: string;
            /** @default null */
            gate?: number | null;
            /** Format: uuid */
            job_id: string;
            jobs: number;
            /** @default null */
            key?: string | null;
            /** @default null */
            limit?: string | null;
            /** @default false */
            more?: boolean;
            /** @default false */
            no_worker?: boolean;
            queue: string;
            task: string;
            tenant: string;
        };
        /** WaitingPage */
        WaitingPage: {
            items: components["schemas"]["WaitingLane"][];
            /** @default false */
            more?: boolean;
        };
        /**
         * What
         * @description What the time of a job went into.
         * @enum {unknown}
         */
        What: "behind_others" | "held_by_gate" | "retry_waits" | "running" | "waiting_for_due" | "waiting_for_limit" | "waiting_for_worker";
        /** Whoami */
        Whoami: {
            name: string;
            /** @default [] */
            permissions?: components["schemas"]["Permission"][];
            role: components["schemas"]["Role"];
            /** @default null */
            tenant?: string | null;
        };
        /**
         * Why
         * @description The body of pause, resume and delete; it may be left out.
         */
        Why: {
            /** @default  */
            why?: string;
        };
        /**
         * Window
         * @description When ticks may fire: from `start` on and before `end`, by the schedule's wall clock.
         */
        Window: {
            /** @default null */
            days?: string | null;
            /** @default 24:00 */
            end?: string;
            /** @default 00:00 */
            start?: string;
        };
        /** Worker */
        Worker: {
            /** @default null */
            cpu_load?: number | null;
            /** @default null */
            cpus?: number | null;
            /** @default null */
            disk?: number | null;
            /** @default null */
            gpus?: number | null;
            health: string;
            host: string;
            id: number;
            joined_at: string;
            /** @default null */
            kind?: string | null;
            /** @default [] */
            kinds?: string[];
            /** @default {} */
            labels?: Record<string, unknown>;
            /** @default null */
            memory?: number | null;
            /** @default null */
            memory_load?: number | null;
            /** @default null */
            moving?: number | null;
            name: string;
            /** @default false */
            probation?: boolean;
            /** @default null */
            queues?: string[] | null;
            /** @default null */
            region?: string | null;
            running: number;
            /** @default null */
            runs?: components["schemas"]["TaskRuns"][] | null;
            seen_at: string;
            slots: number;
            state: string;
            /** @default null */
            staying?: number | null;
            /** @default null */
            steer_reason?: string | null;
            /** @default null */
            steer_until?: string | null;
            /** @default null */
            steered_by?: string | null;
            tasks: string[];
            tenant: string | null;
            /** @default  */
            version?: string;
            /** @default null */
            zone?: string | null;
        };
        /**
         * WorkerEvent
         * @description Something that happened to a worker, or to the one of its name and host before it.
         */
        WorkerEvent: {
            at: string;
            event: string;
            /** @default null */
            reason?: string | null;
            /** @default null */
            seconds?: number | null;
            /** @default 1 */
            times?: number;
            /** @default null */
            who?: string | null;
            worker_id: number;
        };
        /** WorkerHistory */
        WorkerHistory: {
            items: components["schemas"]["WorkerEvent"][];
        };
        /** WorkerLoad */
        WorkerLoad: {
            id: number;
            name: string;
            /** @default null */
            region?: string | null;
            running: number;
            slots: number;
            state: string;
            /** @default null */
            tenant?: string | null;
        };
        /** WorkerPage */
        WorkerPage: {
            items: components["schemas"]["Worker"][];
            /** @default null */
            next_cursor?: string | null;
        };
        /** WorstTask */
        WorstTask: {
            broken: number;
            kept: number;
            task: string;
            tenant: string;
        };
        /**
         * Action
         * @enum {unknown}
         */
        "horae.model.gates.Action": "drop" | "hold" | "reject";
        /**
         * Kind
         * @enum {unknown}
         */
        "horae.model.gates.Kind": "breaker" | "gate" | "stop";
        /**
         * Kind
         * @enum {unknown}
         */
        "horae.model.kinds.Kind": "container" | "function" | "http" | "script";
        /** Action */
        "horae.wire.actions.Action": {
            action: components["schemas"]["ActionKind"];
            /** @default null */
            by?: string | null;
            /** @default null */
            changes?: components["schemas"]["JobChanges"] | null;
            /** @default null */
            created_at?: string | null;
            /** @default 0 */
            done?: number;
            /** @default 0 */
            failed?: number;
            filter: components["schemas"]["JobsFilter"];
            /** @default null */
            finished_at?: string | null;
            /** @default null */
            id?: string | null;
            /** @default false */
            more?: boolean;
            /** @default null */
            note?: string | null;
            /** @default null */
            rate?: number | null;
            /** @default  */
            reason?: string;
            /** @default [] */
            sample?: components["schemas"]["Job"][];
            /** @default 0 */
            seen?: number;
            /** @default 0 */
            skipped?: number;
            state: components["schemas"]["ActionState"];
            tenant: string;
            /** @default null */
            total?: number | null;
            /** @default null */
            undo_until?: string | null;
            /** @default 0 */
            undone?: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    console_home: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Leads to the console */
            307: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    console_serve: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The console */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    about_docs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The description, to read */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    about_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the process lives */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: string;
                    };
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    about_openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This description */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    about_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether jobs can be submitted and run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_list_actions: {
        parameters: {
            query?: {
                tenant?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List bulk actions, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                action_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One bulk action and how far it is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["horae.wire.actions.Action"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                action_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Stop a bulk action where it is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["horae.wire.actions.Action"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_undo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                action_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Undo a bulk action, within an hour */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["horae.wire.actions.Action"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_list_calendars: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List calendars */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalendarPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_get_calendar: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One calendar */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Calendar"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_put_calendar: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CalendarDefinition"];
            };
        };
        responses: {
            /** @description Create or change a calendar */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Calendar"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_delete_calendar: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a calendar */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    callbacks_report: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CallbackReport"];
            };
        };
        responses: {
            /** @description Say how a job ended, or how far it is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackAccepted"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_dead_letters: {
        parameters: {
            query?: {
                cause?: string;
                task?: string;
                queue?: string;
                tenant?: string;
                since?: string;
                until?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Failed jobs by cause, or the jobs of one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetters"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_discard: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeadLetterRequest"];
            };
        };
        responses: {
            /** @description Take jobs out of the dead letters */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["horae.wire.actions.Action"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_redrive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeadLetterRequest"];
            };
        };
        responses: {
            /** @description Run dead letters again, at a rate */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["horae.wire.actions.Action"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    overview_events: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What happens, as server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pulse"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_executions_by_worker: {
        parameters: {
            query?: {
                worker_id?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a worker ran, latest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    files_download: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A file, or a part of it (Range) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    files_address: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AddressRequest"];
            };
        };
        responses: {
            /** @description An address that needs no key, for a time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileAddress"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    files_signed: {
        parameters: {
            query?: {
                expires?: string;
                signature?: string;
            };
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A file by its signed address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    find_find: {
        parameters: {
            query?: {
                text?: string;
                tenant?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a text may mean: jobs, tasks, schedules, queues, workers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_list_gates: {
        parameters: {
            query?: {
                all?: string;
                kind?: string;
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List gates, those in force or all */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GateCreate"];
            };
        };
        responses: {
            /** @description Close a gate: hold, drop or reject jobs */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gate"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_preview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GateCreate"];
            };
        };
        responses: {
            /** @description What a gate would be for, without closing it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatePreview"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                gate_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One gate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gate"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                gate_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GateChanges"];
            };
        };
        responses: {
            /** @description Change a gate's expiry or reason */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gate"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_release: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                gate_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GateRelease"];
            };
        };
        responses: {
            /** @description Open a gate, at once or at a rate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gate"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_restore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                gate_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GateRestore"];
            };
        };
        responses: {
            /** @description Bring back what a gate dropped */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Restored"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_list_jobs: {
        parameters: {
            query?: {
                status?: string;
                tenant?: string;
                user?: string;
                task?: string;
                queue?: string;
                worker?: string;
                label?: string;
                since?: string;
                until?: string;
                cause?: string;
                text?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List jobs, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_submit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JobRequest"];
            };
        };
        responses: {
            /** @description Submit a job */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ActionRequest"];
            };
        };
        responses: {
            /** @description Do something to all jobs that match, or count */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["horae.wire.actions.Action"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_submit_bulk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JobRequest"][];
            };
        };
        responses: {
            /** @description Submit many jobs, as NDJSON or an array */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkAnswer"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    steering_cancel: {
        parameters: {
            query?: {
                reason?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel a job, pending or running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    steering_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JobChanges"];
            };
        };
        responses: {
            /** @description Change a job that has not started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    steering_clone: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JobChanges"];
            };
        };
        responses: {
            /** @description Submit a job like this one */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streams_events: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A job's states as server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobEvent"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_executions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every attempt at a job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_explain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Why a job waits, or where its time went */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    files_list_files: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The files that a job left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FilePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streams_logs: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
                follow?: string;
                download?: string;
                attempt?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Output of a job, by page or followed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    steering_move: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Move"];
            };
        };
        responses: {
            /** @description Let a running job go on at another worker */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streams_partial: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
                follow?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Pieces of a result, by page or followed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PartialPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_result: {
        parameters: {
            query?: {
                wait?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result, waited for if asked */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobResult"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    steering_retry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JobChanges"];
            };
        };
        responses: {
            /** @description Run a failed or cancelled job again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    jobs_timeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a job's life went into, in order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Timeline"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    access_list_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List API keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    access_create_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyCreate"];
            };
        };
        responses: {
            /** @description Create an API key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyCreated"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    access_revoke_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke an API key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    limits_list_limits: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the limits on what runs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    limits_get: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One limit, and how much of it is used */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limit"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    limits_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["LimitPut"];
            };
        };
        responses: {
            /** @description Make or change a limit, effective at once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limit"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    limits_remove: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a limit */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    limits_use: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who runs under a limit, and who waits behind it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitUse"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    overview_get: {
        parameters: {
            query?: {
                tenant?: string;
                range?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How things stand, and how they went */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    quotas_list_queues: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Queues: how much waits and runs, and the rates */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    quotas_queue_statistics: {
        parameters: {
            query?: {
                tenant?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path: {
                queue: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A queue's jobs over time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStatistics"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    quotas_queue_waiting: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                queue: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who waits in a queue, and for what */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    quotas_list_quotas: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List quotas */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    quotas_put_quota: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                scope: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["QuotaPut"];
            };
        };
        responses: {
            /** @description Set a quota */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Quota"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    quotas_remove_quota: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                scope: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a quota */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_list_schedules: {
        parameters: {
            query?: {
                tenant?: string;
                task?: string;
                text?: string;
                state?: string;
                next?: string;
                latest?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List schedules, by name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScheduleSave"];
            };
        };
        responses: {
            /** @description Create a schedule */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_agenda: {
        parameters: {
            query?: {
                tenant?: string;
                schedule?: string;
                task?: string;
                text?: string;
                state?: string;
                since?: string;
                until?: string;
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Which schedules fire on which day */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agenda"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_forecast: {
        parameters: {
            query?: {
                tenant?: string;
                since?: string;
                hours?: string;
                collisions?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All schedules, minute by minute */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forecast"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_get_limits: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How often schedules may fire */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleLimits"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_put_limits: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScheduleLimits"];
            };
        };
        responses: {
            /** @description Say how often schedules may fire */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleLimits"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_preview_new: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PreviewRequest"];
            };
        };
        responses: {
            /** @description The ticks of a schedule not saved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_get: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One schedule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_put: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScheduleSave"];
            };
        };
        responses: {
            /** @description Create a schedule, or make it so */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulePut"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_delete: {
        parameters: {
            query?: {
                tenant?: string;
                why?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Why"];
            };
        };
        responses: {
            /** @description Delete a schedule */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_change: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScheduleChange"];
            };
        };
        responses: {
            /** @description Change parts of a schedule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_backfill: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BackfillRequest"];
            };
        };
        responses: {
            /** @description Run ticks of the past */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_list_backfills: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List backfills */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_get_backfill: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
                backfill: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One backfill */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_cancel_backfill: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
                backfill: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel a backfill */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_history: {
        parameters: {
            query?: {
                tenant?: string;
                limit?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who changed it, when and why */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_pause: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Why"];
            };
        };
        responses: {
            /** @description Let a schedule rest */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_preview: {
        parameters: {
            query?: {
                tenant?: string;
                count?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ticks to come */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_resume: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Why"];
            };
        };
        responses: {
            /** @description Let a paused schedule go on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_list_ticks: {
        parameters: {
            query?: {
                tenant?: string;
                state?: string;
                due?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What became of its ticks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TickPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedules_trigger: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Trigger"];
            };
        };
        responses: {
            /** @description Run a schedule's job now */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Triggered"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    secrets_list_secrets: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List secrets, without their values */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    secrets_rotate_master: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Use the new master key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rotated"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    secrets_rotate_tenant: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A new key for its secrets */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rotated"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    secrets_get: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One secret, without its value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    secrets_put: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretPut"];
            };
        };
        responses: {
            /** @description Set a secret */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    secrets_delete: {
        parameters: {
            query?: {
                tenant?: string;
                force?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a secret */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    servicelevels_list_levels: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the service levels, and how well each is met */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceLevelPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    servicelevels_get: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One service level, and how well it is met */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceLevel"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    servicelevels_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ServiceLevelPut"];
            };
        };
        responses: {
            /** @description Make or change a service level, for jobs from now on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceLevel"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    servicelevels_delete: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a service level */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    session_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who is signed in, and what they may do */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    session_sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            /** @description Sign in to the console */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    session_sign_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sign out */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    session_make_ticket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An address that signs in, once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleTicket"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_stop_preview: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How far an emergency stop would reach */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopPreview"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_stop: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Stop"];
            };
        };
        responses: {
            /** @description Emergency stop of everything the key may touch */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gate"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    gates_go: {
        parameters: {
            query?: {
                tenant?: string;
                rate?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End the emergency stop, at once or at a rate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_list_tasks: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_export: {
        parameters: {
            query?: {
                tenant?: string;
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tasks that are data, as YAML */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_import_tasks: {
        parameters: {
            query?: {
                tenant?: string;
                dry_run?: string;
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Save the tasks of a YAML file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportAnswer"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_totals: {
        parameters: {
            query?: {
                tenant?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What became of every task's jobs in some time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskTotalsPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_validate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Validate"];
            };
        };
        responses: {
            /** @description All that is wrong with a task not saved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Validated"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_get: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_put: {
        parameters: {
            query?: {
                tenant?: string;
                reason?: string;
                if_version?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TaskDefinition"];
            };
        };
        responses: {
            /** @description Save a task, or register a function */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_delete: {
        parameters: {
            query?: {
                tenant?: string;
                force?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a task that nobody needs */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_diff: {
        parameters: {
            query?: {
                tenant?: string;
                before?: string;
                after?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What differs between two versions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDiff"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_rollback: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Rollback"];
            };
        };
        responses: {
            /** @description Put an earlier version in force again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_share: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ShareRequest"];
            };
        };
        responses: {
            /** @description Let other tenants use a task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskSharePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_shares: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who else may use a task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskSharePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_statistics: {
        parameters: {
            query?: {
                tenant?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A task's jobs over time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStatistics"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_unshare: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UnshareRequest"];
            };
        };
        responses: {
            /** @description Take a task back from other tenants */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskSharePage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_versions: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every version of a task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskVersionPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tasks_version: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                name: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One version of a task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskVersion"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    access_list_tenants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List tenants */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    access_create_tenant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TenantCreate"];
            };
        };
        responses: {
            /** @description Create a tenant */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    access_change_tenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TenantChange"];
            };
        };
        responses: {
            /** @description Change a tenant's weight */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    access_whoami: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who this key is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Whoami"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_list_workers: {
        parameters: {
            query?: {
                state?: string;
                tenant?: string;
                runs?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List workers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerPage"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_join: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Join"];
            };
        };
        responses: {
            /** @description Join as a worker */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Joined"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One worker */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_brief: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BriefRequest"];
            };
        };
        responses: {
            /** @description All that is needed to run one job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Brief"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_checkpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CheckpointUpload"];
            };
        };
        responses: {
            /** @description Save a job's checkpoint */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_drain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Drain"];
            };
        };
        responses: {
            /** @description Let a worker take no more work */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_exchange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Exchange"];
            };
        };
        responses: {
            /** @description Finished work up, new work down */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Exchanged"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    files_upload: {
        parameters: {
            query?: {
                name?: string;
                size?: string;
                sha256?: string;
            };
            header?: never;
            path: {
                worker_id: string;
                job_id: string;
                attempt: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Upload a file of a job */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileStored"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_heartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Heartbeat"];
            };
        };
        responses: {
            /** @description Renew a worker's lease */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatAnswer"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_history: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What happened to a worker */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerHistory"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_leave: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Leave, giving back what is held */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["LogUpload"];
            };
        };
        responses: {
            /** @description Output of running jobs */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_result: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
                job_id: string;
                attempt: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Upload a large result */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    work_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Let a drained worker go on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            /** @description A problem */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
