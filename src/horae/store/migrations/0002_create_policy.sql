-- Who runs next: limits, gates, emergency lanes, and the one number that tells every server its idea of them is old.

-- The version of the policy. Every change of a limit, a gate or a tenant's weight raises it; a claim names the version
-- it was chosen by and takes nothing when that is no longer the present one. So a change holds for every claim made
-- after its commit, on any server, and policy in memory can never be acted on too late.

create table policy_version (
    sole boolean primary key default true check (sole),
    version bigint not null
);
insert into policy_version (version) values (1);

-- A change waits for the claims under way and keeps new ones waiting until it commits: what was leased under the old
-- policy is then visible to it. The lock lives in the space of two integers, apart from the locks of limits.

create function policy_touch() returns bigint language plpgsql as $$
declare
    raised bigint;
begin
    perform pg_advisory_xact_lock(8420, 1);
    update policy_version set version = version + 1 returning version into raised;
    return raised;
end $$;

create function policy_is(expected bigint) returns boolean language plpgsql as $$
begin
    -- Two statements, so that the look is taken with a snapshot from after the lock.
    perform pg_advisory_xact_lock_shared(8420, 1);
    return exists (select from policy_version where version = expected);
end $$;

-- Emergencies (priority 10) wait in lanes of their own, so that they can go before everybody's share.

alter table lane add column urgent boolean not null default false;
-- Another key in one step. The table is small: its scan takes a moment, and nobody assumed the old one.
-- squawk-ignore ban-drop-constraint
alter table lane drop constraint lane_tenant_id_task_queue_concurrency_key_requires_key;
-- squawk-ignore constraint-missing-not-valid, disallowed-unique-constraint
alter table lane add constraint lane_key unique (tenant_id, task, queue, concurrency_key, requires, urgent);

-- The rarer fields of a task's definition, as JSON.

alter table task add column extra text;

-- A limit concerns the jobs that match its tenant, queue, task and key (null: any; a key may end in *). Those with
-- the same values of the fields named in `each` form a group, and each group has the limit for itself.

create table limit_rule (
    id int generated always as identity primary key,
    tenant_id int, -- null: any tenant
    name text not null,
    queue text,
    task text,
    key text,
    each text[] not null default '{}',
    max_running int,
    rate double precision, -- starts a second
    burst double precision,
    of_task boolean not null default false, -- declared with a task, and changed with it
    made_by text not null,
    made_at timestamptz not null default clock_timestamp(),
    reason text
);
create unique index limit_rule_name on limit_rule (coalesce(tenant_id, 0), name);

-- A slot is taken in the statement that takes the lease and given back in the one that ends it: it lives exactly as
-- long as the lease row, which lists the groups. There is no counter that could leak.

create table slot (
    group_id bigint not null,
    id uuid not null,
    lane_id int not null,
    primary key (group_id, id)
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 1
);
alter table lease add column slots bigint[]; -- null, which costs nothing, for jobs without limits

create table bucket (
    group_id bigint primary key,
    tokens double precision not null,
    at timestamptz not null
) with (fillfactor = 50);

-- Gates: an operator's order to hold, drop or reject jobs.

create table gate (
    id int generated always as identity primary key,
    tenant_id int, -- null: all tenants
    queue text,
    task text,
    condition text, -- CEL on params and labels; null: all
    percent int,
    action text not null, -- hold, drop, reject
    running text not null default 'leave', -- what becomes of jobs that run: leave, cancel, move
    kind text not null default 'gate', -- gate, stop, breaker
    probe_seconds double precision, -- lets one job through each time this has passed
    owner text not null,
    reason text not null default '',
    made_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz,
    released_at timestamptz,
    released_by text,
    release_rate double precision, -- jobs a second; null: all at once
    drained_at timestamptz -- when nothing of the backlog was left, and the rate ended
);
create index gate_in_force on gate (id) where drained_at is null;

-- What a drop took away, so that it can be brought back.

create table gate_drop (
    gate_id int not null,
    tenant_id int not null,
    id uuid not null,
    at timestamptz not null default clock_timestamp(),
    primary key (gate_id, tenant_id, id)
);
create index gate_drop_at on gate_drop (at);

-- Jobs that wait for neither time nor worker, but for a gate that holds some of their lane.

create table blocked (
    rank bigint not null,
    id uuid not null,
    lane_id int not null,
    attempt int not null,
    gate_id int,
    since timestamptz not null default clock_timestamp(),
    primary key (lane_id, id)
);
create index blocked_gate on blocked (gate_id);

create or replace view job_state as
select j.id, j.xmin::text as version, j.rank, j.run_at, j.tenant_id, j.lane_id, j.priority, j.params, j.options,
       l.queue, l.task, l.concurrency_key, t.name as tenant, k.name as key_name,
       o.state::text as outcome, o.started_at, o.finished_at, o.error, o.blob,
       coalesce(o.attempt, le.attempt, ti.attempt, r.attempt, b.attempt, 0) as attempt,
       coalesce(o.worker_id, le.worker_id) as worker_id,
       le.granted_at, ti.run_at as timer_at, r.id is not null as is_ready, cr.id is not null as cancel_requested,
       cp.done, cp.total, cp.note, cp.at as progress_at,
       l.requires, l.urgent, b.id is not null as is_blocked, b.gate_id, b.since as blocked_since
from job j
join lane l on l.id = j.lane_id
join tenant t on t.id = j.tenant_id
left join api_key k on k.id = j.key_id
left join outcome o on o.tenant_id = j.tenant_id and o.id = j.id
left join lease le on le.lane_id = j.lane_id and le.id = j.id
left join timer ti on ti.lane_id = j.lane_id and ti.id = j.id
left join ready r on r.lane_id = j.lane_id and r.rank = j.rank and r.id = j.id
left join blocked b on b.lane_id = j.lane_id and b.id = j.id
left join cancel_request cr on cr.worker_id = le.worker_id and cr.id = j.id and cr.attempt = le.attempt
left join checkpoint cp on cp.tenant_id = j.tenant_id and cp.id = j.id;

-- The claim under limits. Three steps, each with a snapshot of its own: the policy is the one it was chosen by; the
-- groups are locked, in one order for all; then their slots are counted, and no more is taken than there is room.
--
-- `quotas` come from the server; a lane's quota is cut to the room of its groups, lane by lane, so that lanes that
-- share a group do not take the same room twice. `group_of` numbers the groups of all lanes, one after the other, as
-- places in `groups`; `group_count` says how many belong to each lane. A group without `max_running` or `rate` has
-- null there. A lane that was cut comes back as a row without an id: which group (as its rank), how many it
-- might still give (as its attempt), and when to try again.

create function limited_claim(
    worker int, grant_number int, policy bigint, most int,
    lanes int[], tenants int[], floors bigint[], ceilings bigint[], quotas int[],
    groups bigint[], max_running int[], rates double precision[], bursts double precision[],
    group_count int[], group_of int[]
) returns table (
    lane_id int, id text, attempt int, rank bigint, params text, options text, wait double precision
) language plpgsql as $$
#variable_conflict use_column
declare
    present timestamptz;
    room int[];
    pause double precision[];
    lane_slots text[] := '{}';
    mine bigint[];
    tightest int;
    quota int;
    place int := 0;
    g bigint;
begin
    if not policy_is(policy) or not exists (
        select from worker w where w.id = worker and w.state = 'active' and w.expires_at > clock_timestamp()
    ) then
        return;
    end if;
    for g in select u from unnest(groups) u order by u loop
        perform pg_advisory_xact_lock(g);
    end loop;
    present := clock_timestamp();
    select array_agg(least(x.slots_left, x.tokens_left) order by x.n), array_agg(x.pause order by x.n)
    into room, pause
    from (
        select u.n,
               coalesce(u.most - (select count(*) from slot s where s.group_id = u.group_id), 1000000)::int as slots_left,
               case when u.rate is null then 1000000 else floor(t.tokens)::int end as tokens_left,
               case when u.rate is null or t.tokens >= 1 then null else (1 - t.tokens) / u.rate end as pause
        from unnest(groups, max_running, rates, bursts) with ordinality as u (group_id, most, rate, burst, n)
        cross join lateral (
            select coalesce((
                select least(u.burst, b.tokens + extract(epoch from present - b.at) * u.rate)
                from bucket b where b.group_id = u.group_id
            ), u.burst) as tokens
        ) t
    ) x;
    for i in 1 .. array_length(lanes, 1) loop
        quota := quotas[i];
        tightest := null;
        mine := '{}';
        for k in place + 1 .. place + group_count[i] loop
            mine := mine || groups[group_of[k]];
            if room[group_of[k]] < quota then
                quota := greatest(room[group_of[k]], 0);
                tightest := group_of[k];
            end if;
        end loop;
        for k in place + 1 .. place + group_count[i] loop
            room[group_of[k]] := room[group_of[k]] - quota;
        end loop;
        place := place + group_count[i];
        quotas[i] := quota;
        lane_slots := lane_slots || mine::text;
        if tightest is not null then
            lane_id := lanes[i]; attempt := quota; rank := groups[tightest]; wait := pause[tightest];
            return next;
        end if;
    end loop;
    return query
    with picked as materialized (
        select r.place, w.lane_id, r.rank, r.id, r.attempt + 1 as attempt, w.tenant_id, w.slots::bigint[] as slots
        from unnest(lanes, tenants, floors, ceilings, quotas, lane_slots)
            as w (lane_id, tenant_id, floor, ceiling, quota, slots)
        cross join lateral (
            select q.ctid as place, q.rank, q.id, q.attempt from ready q
            where q.lane_id = w.lane_id and q.rank >= w.floor and q.rank <= w.ceiling
            order by q.rank, q.id
            limit w.quota
            for update skip locked
        ) r
        limit most
    ), gone as (
        delete from ready q where q.ctid = any (array(select p.place from picked p))
    ), leased as (
        insert into lease (granted_at, id, worker_id, lane_id, attempt, grant_number, slots)
        select clock_timestamp(), p.id, worker, p.lane_id, p.attempt, limited_claim.grant_number, nullif(p.slots, '{}')
        from picked p
    ), slotted as (
        insert into slot (group_id, id, lane_id)
        select s.group_id, p.id, p.lane_id from picked p cross join lateral unnest(p.slots) as s (group_id)
        returning slot.group_id
    ), charged as (
        insert into bucket as b (group_id, tokens, at)
        select u.group_id, u.burst - c.used, present
        from unnest(groups, rates, bursts) as u (group_id, rate, burst)
        join (select s.group_id, count(*) as used from slotted s group by s.group_id) c on c.group_id = u.group_id
        where u.rate is not null
        on conflict (group_id) do update
        set at = excluded.at,
            tokens = least(
                excluded.tokens,
                b.tokens + extract(epoch from excluded.at - b.at) * (
                    select u.rate from unnest(groups, rates) as u (group_id, rate) where u.group_id = b.group_id
                ) - (select count(*) from slotted s where s.group_id = b.group_id)
            )
    )
    select p.lane_id, p.id::text, p.attempt, p.rank, j.params, j.options, null::double precision
    from picked p
    left join lateral (
        select job.params, job.options from job where job.tenant_id = p.tenant_id and job.id = p.id limit 1
    ) j on true;
end $$;
