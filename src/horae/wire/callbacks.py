"""`POST /callbacks/{token}`: what services say of the jobs that called them."""

import msgspec

from horae.model.callbacks import CallbackProgress, CallbackReport, CallbackState
from horae.model.states import End

__all__ = ["CallbackAccepted", "CallbackProgress", "CallbackReport", "CallbackState"]


class CallbackAccepted(msgspec.Struct, kw_only=True, omit_defaults=True):
    job_id: str
    attempt: int
    end: End | None = None
    """How the attempt ended by this report; None: it goes on."""
