"""A real S3 server: SeaweedFS in one process, on free loopback ports, with a folder of its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from horae.store.embedded import launch
from horae.store.objects import ObjectsConfig
from horae.store.s3 import S3Access
from horae.testing.ports import free_ports

KEY, SECRET, BUCKET = "horae-test", "not-a-secret-at-all", "jobs"
READY_SECONDS = 40.0


class S3Server:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port",
                 "filer.port.grpc", "s3.port", "s3.port.grpc")  # fmt: skip
        # Each is named, so that no gRPC sibling (10,000 higher) is needed.
        self._ports = dict(zip(names, free_ports(len(names)), strict=True))
        self._process: subprocess.Popen[bytes] | None = None
        identity = {"name": KEY, "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
        (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._ports['s3.port']}"

    def access(self, **changes: object) -> S3Access:
        fields = {"endpoint": self.endpoint, "region": "test", "key": KEY, "secret": SECRET, "path_style": True}
        return S3Access(**(fields | changes))  # type: ignore[arg-type]

    def config(self, prefix: str) -> ObjectsConfig:
        return ObjectsConfig(f"s3://{BUCKET}/{prefix}", self.access())

    def start(self) -> None:
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Not in a thread that ends before the server shall: its life is bound to that thread's."""
        program = Path(sys.executable).parent / "weed"
        folder = str(self._folder)
        arguments = [
            f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3", "-volume.max=20",
            "-master.volumeSizeLimitMB=64", "-master.telemetry=false", "-s3.iam=false",
            "-s3.port.iceberg=0", "-s3.port.lance=0",
            f"-s3.config={folder}/s3.json", f"-filer.localSocket={folder}/filer.sock",
            *(f"-{name}={port}" for name, port in self._ports.items()),
        ]  # fmt: skip
        # Through the launcher of PostgreSQL, which binds its life to ours.
        launcher = [sys.executable, "-I", "-S", launch.__file__]
        identity = [str(number) for number in (os.geteuid(), os.getegid(), os.getpid())]
        self._process = subprocess.Popen(
            [*launcher, *identity, str(program), "-logtostderr=true", "server", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=(self._folder / "weed.log").open("wb"),
            cwd=folder,
        )

    def wait(self) -> None:
        """Ready when a byte can be written, which makes the bucket."""
        import obstore
        from obstore.store import S3Store

        deadline = time.monotonic() + READY_SECONDS
        options = {"timeout": "2s", "connect_timeout": "1s", "allow_http": True}
        store = S3Store(
            BUCKET, endpoint=self.endpoint, access_key_id=KEY, secret_access_key=SECRET, region="test",
            client_options=options, retry_config={"max_retries": 0},
        )  # fmt: skip
        while True:
            try:
                obstore.put(store, "ready", b"1")
            except Exception:
                if time.monotonic() > deadline or self._process is None or self._process.poll() is not None:
                    raise
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
