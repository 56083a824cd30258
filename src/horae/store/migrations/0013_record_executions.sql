-- What attempts at tasks that are data used, beside what `outcome` and `attempt` say of every attempt.

create table execution (
    id uuid not null,
    tenant_id int not null,
    attempt int not null,
    task_version int,
    isolation text not null,
    read_bytes bigint,
    written_bytes bigint,
    primary key (tenant_id, id, attempt)
) partition by range (id);
create table execution_default partition of execution default;

-- It comes and goes by days, as the other large tables do.

create or replace function partition_create(day date) returns int language plpgsql as $$
declare
    parent text;
    child text;
    made int := 0;
begin
    foreach parent in array array['job', 'outcome', 'attempt', 'log_chunk', 'execution'] loop
        child := parent || '_' || to_char(day, 'YYYYMMDD');
        if to_regclass('horae.' || child) is null then
            -- Rows of that day may lie in the default partition already, if no server ran for days: they move along.
            execute format('create table horae.%I (like horae.%I including all)', child, parent);
            execute format('with moved as (delete from horae.%I where id >= %L and id < %L returning *)
                            insert into horae.%I select * from moved',
                           parent || '_default', horae.day_bound(day), horae.day_bound(day + 1), child);
            execute format('alter table horae.%I attach partition horae.%I for values from (%L) to (%L)',
                           parent, child, horae.day_bound(day), horae.day_bound(day + 1));
            made := made + 1;
        end if;
    end loop;
    return made;
end $$;

select partition_create(to_date(right(c.relname, 8), 'YYYYMMDD'))
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'horae.job'::regclass and c.relname ~ '^job_\d{8}$';
