"""The only place with SQL. Statements live in `queries/*.sql` by name; each module is a thin face of an aggregate."""
