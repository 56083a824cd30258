"""Prints the API's description as JSON: what `npm run types` makes web/src/api/schema.ts from."""

import json

from horae.server.description import describe

print(json.dumps(describe(), sort_keys=True))
