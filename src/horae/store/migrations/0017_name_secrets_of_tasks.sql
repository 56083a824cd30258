-- Which secrets a task uses, so that it need not be read out of every definition again.

alter table task add column secrets text[] not null default '{}';

-- What horae.model.task.secrets_of finds, of the definitions that are there; a test compares the two.

update task t set secrets = array(
    select distinct named.secret
    from (
        select (regexp_matches((t.extra::jsonb #- '{script,source}')::text,
                               '(?<!\$)\$\{\{\s*secrets\.([A-Za-z_]\w*)\s*\}\}', 'g'))[1] as secret
        union all
        select use.one ->> 'name' from jsonb_path_query(t.extra::jsonb, '$.secrets[*]') as use (one)
        union all
        select t.extra::jsonb #>> '{http,sign_with}'
        union all
        select t.extra::jsonb #>> '{sink,dsn_secret}'
    ) named
    where named.secret is not null
    order by named.secret
)
where t.extra is not null;
