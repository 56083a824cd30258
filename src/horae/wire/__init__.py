"""The API's request and response records, one module a resource; the same structs on both ends of the wire."""
