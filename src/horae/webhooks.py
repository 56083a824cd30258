"""For services that Horae calls: is this call really ours?

    from horae import webhooks

    webhooks.verify(request.body, request.headers, "whsec_…")

Needs nothing but the standard library and the base install; any other library for Standard Webhooks does as well.
"""

import time
from collections.abc import Mapping

from horae.model.webhooks import TOLERANCE_SECONDS, check_signature

__all__ = ["verify"]


def verify(body: bytes | str, headers: Mapping[str, str], secret: str, *, tolerance: float = TOLERANCE_SECONDS) -> str:
    """The id of the job that called. Raises `InvalidSignature` when the call is not signed by the secret, was changed,
    or is older (or newer) than `tolerance` seconds."""
    data = body.encode() if isinstance(body, str) else bytes(body)
    return check_signature(data, headers, secret, time.time(), tolerance)
