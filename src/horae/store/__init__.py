"""The only place with SQL. Statements live in `queries/*.sql` by name; each module here is a thin face of an aggregate."""
