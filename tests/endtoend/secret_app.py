"""An app whose tasks print, return and raise their secret in several encodings."""

import base64
import json
import sys
from urllib.parse import quote

from horae import App, Context, RetryPolicy

app = App()


def shown(secret: str) -> list[str]:
    data = secret.encode()
    encoded = [base64.b64encode(b"u" * ahead + data + b"!") for ahead in range(3)]
    return [secret, json.dumps(secret), quote(secret, safe=""), *(text.decode() for text in encoded)]


@app.task(secrets=["TOKEN"], max_attempts=2, retry=RetryPolicy(first=0.1))
def careless(end: str, ctx: Context) -> list[str]:
    secret = ctx.secret("TOKEN")
    assert ctx.secret("TOKEN").startswith("s3cr3t")
    print(*shown(secret))
    print(*shown(secret), file=sys.stderr)
    ctx.progress(1, 1, f"with {secret}")
    if end == "raise":
        raise ValueError(f"refused: {shown(secret)}")
    return shown(secret) * (2000 if end == "return much" else 1)


@app.task(secrets=["TOKEN"])
async def knowing(ctx: Context) -> bool:
    return await ctx.asecret("TOKEN") == 's3cr3t/"T+ken"'
