"""Tasks that give their secret away in every way they can. Runs in the worker's children."""

import base64
import json
import os
import re
import subprocess
import sys
import urllib.parse

from horae.client.app import App
from horae.client.context import Context

app = App()
kept: list[str] = []


def shown(secret: str) -> list[str]:
    """The forms in which programs write a secret."""
    data = secret.encode()
    encoded = [base64.b64encode(b"x" * ahead + data + b"yz") for ahead in range(3)]
    encoded += [base64.urlsafe_b64encode(data), base64.b64encode(b"user:" + data)]
    quoted = [urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret), urllib.parse.quote(secret)]
    quoted.append(re.sub("%..", lambda found: found[0].lower(), quoted[0]))
    return [secret, json.dumps(secret), repr(secret), *quoted, *(text.decode() for text in encoded)]


@app.task(secrets=["TOKEN"])
def say(ctx: Context) -> None:
    secret = ctx.secret("TOKEN")
    for text in shown(secret):
        print("stdout", text)
        print("stderr", text, file=sys.stderr)
    subprocess.run([sys.executable, "-c", "import sys; print(sys.stdin.read())"], input=secret, text=True, check=True)
    for character in secret:
        os.write(1, character.encode())
    print(" and done")


@app.task(secrets=["TOKEN"])
def give_back(ctx: Context, size: int = 1) -> dict[str, object]:
    secret = ctx.secret("TOKEN")
    return {"forms": shown(secret) * size, secret: "as a key"}


@app.task(secrets=["TOKEN"])
def fail(ctx: Context, ahead: int = 0) -> None:
    raise ValueError("." * ahead + f"it did not work with {shown(ctx.secret('TOKEN'))}")


@app.task(secrets=["TOKEN"])
def crash(ctx: Context) -> None:
    os.write(2, f"the last words are {ctx.secret('TOKEN')}\n".encode() * 100)
    os.kill(os.getpid(), 9)


@app.task(secrets=["TOKEN"])
def keep(ctx: Context) -> None:
    kept.append(ctx.secret("TOKEN"))


@app.task
def say_what_another_kept() -> list[str]:
    print(kept)
    return kept


@app.task(secrets=["TOKEN"])
def ask_for_another(ctx: Context) -> str:
    return ctx.secret("OTHER")


@app.task(secrets=["TOKEN"])
def note(ctx: Context, ahead: int = 0) -> None:
    ctx.progress(1, 2, "." * ahead + f"using {ctx.secret('TOKEN')}")


@app.task(secrets=["TOKEN"])
async def say_from_a_coroutine(ctx: Context) -> str:
    secret = await ctx.asecret("TOKEN")
    assert secret == ctx.secret("TOKEN")
    print(secret)
    return secret[::-1]
