"""One file a scenario. Each takes a `Bench`, starts what it needs, and writes its figures down."""
