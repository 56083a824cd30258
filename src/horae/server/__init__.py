"""The HTTP side: parse, authorise, one engine call, encode. Nothing else happens here."""
