"""Use cases, named by the transition they make, and the duties every server does. All state here is soft: PostgreSQL
decides, and what a server remembers (backlogs, floors, who waits) are hints it can lose."""
